"""How far the answers of several ways lie apart, state by state."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

EPS = float(np.finfo(float).eps)
CLOSE = 1e-10
"""Relative to the largest entry of the state; joint-space equations keep so many digits of well-conditioned models."""
LOST = 100.0
"""Roundings, times the condition of M, that solving with M may cost; random mechanisms were seen to take up to 20."""
LOOSEST = 1e-6
"""Whatever the condition: what differs by more is no agreement."""


class Worst(NamedTuple):
    """A relative difference, between which two ways, in which state, and what is allowed in that state."""

    difference: float
    way: str
    other: str
    sample: int
    allowed: float

    @property
    def rank(self) -> tuple[float, float]:
        """The largest difference is the worst, unless some are more than allowed: then the one that is so most."""
        share = self.difference / self.allowed
        return (share, self.difference) if share > 1 else (0.0, self.difference)


@dataclass(frozen=True)
class Differences:
    """Of one quantity. names: the ways that give it; largest: largest relative difference of every pair;
    shares: the same as a part of what its state allows (above 1: no agreement)."""

    names: tuple[str, ...]
    largest: np.ndarray
    shares: np.ndarray
    worst: Worst


def allowed(condition: np.ndarray) -> np.ndarray:
    """Largest relative difference that counts as agreement, state by state."""
    return np.minimum(CLOSE + LOST * EPS * condition, LOOSEST)


def compared(
    answers: Mapping[str, Sequence[np.ndarray]],
    told: Mapping[str, np.ndarray],
    least: np.ndarray,
    allow: np.ndarray,
    numbers: Sequence[int],
) -> Differences:
    """Every pair of ways, relative to the largest entry of the state, or to `least` where that is larger.

    told: of ways that do not tell all entries of the quantity, which ones they tell. NaN is a difference without end.
    """
    names = tuple(answers)
    flat = [np.stack([np.ravel(x) for x in answers[n]]) for n in names]
    masks = [np.ravel(told.get(n, np.ones(flat[0].shape[1], bool))) for n in names]
    size = np.maximum(
        least, np.max([np.max(np.abs(x[:, m]), axis=1, initial=0) for x, m in zip(flat, masks, strict=True)], axis=0)
    )
    largest, shares = np.zeros((2, len(names), len(names)))
    worst = Worst(-1.0, names[0], names[1], numbers[0], 1.0)
    for a, b in itertools.combinations(range(len(names)), 2):
        both = masks[a] & masks[b]
        gap = np.max(np.abs(flat[a] - flat[b])[:, both], axis=1, initial=0)
        with np.errstate(invalid="ignore"):  # of what is not finite
            off = np.divide(gap, size, out=np.where(gap == 0, 0.0, np.inf), where=size > 0)
        off = np.where(np.isnan(off), np.inf, off)
        share = off / allow
        largest[a, b] = largest[b, a] = np.max(off)
        shares[a, b] = shares[b, a] = np.max(share)
        at = int(np.argmax(share if np.max(share) > 1 else off))
        found = Worst(float(off[at]), names[a], names[b], numbers[at], float(allow[at]))
        worst = max(worst, found, key=lambda w: w.rank)
    return Differences(names, largest, shares, worst)


def condition(M: np.ndarray) -> float:
    """Of a mass matrix with its diagonal scaled to 1, so that units do not count."""
    if not M.size or not np.isfinite(M).all():
        return 1.0
    d = np.sqrt(np.abs(np.diag(M)))
    scale = np.where(d > 0, d, 1.0)
    values = np.linalg.eigvalsh(M / np.outer(scale, scale))
    return float(values[-1] / max(values[0], values[-1] * EPS))
