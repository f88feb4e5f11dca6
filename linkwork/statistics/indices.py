"""Sobol indices of a Saltelli design: which share of the variance each input makes, alone and with all others.

A block is f(A), f(A with column k of B) for each k, f(B). About the mean of all of them, in the letters of Saltelli
et al., Comput. Phys. Commun. 181, 259 (2010), table 2 (b) and (f):

    first  Sₖ = mean f_B (f_ABₖ − f_A) / V,     total  Tₖ = mean ½ (f_A − f_ABₖ)² / V

Intervals take blocks as independent; for Sobol points they are on the safe side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwork.simulation.estimate import Interval
from linkwork.statistics.ratios import ratio


class Indices(NamedTuple):
    """One interval for each input, and the number of blocks whose members all are numbers."""

    first: tuple[Interval, ...]
    total: tuple[Interval, ...]
    blocks: int


def sobol_indices(values: np.ndarray, inputs: int, confidence: float = 0.95) -> Indices:
    """Of the values of samples in the order of the design; a block that is not whole is left out."""
    members = inputs + 2
    whole = values[: len(values) // members * members].reshape(-1, members)
    f = whole[np.isfinite(whole).all(axis=1)]
    f = f - (f.mean() if f.size else 0.0)
    f_A, f_B = f[:, 0], f[:, -1]
    V = (f_A * f_A + f_B * f_B) / 2
    first = tuple(ratio(f_B * (f[:, k] - f_A), V, confidence) for k in range(1, inputs + 1))
    total = tuple(ratio((f_A - f[:, k]) ** 2 / 2, V, confidence) for k in range(1, inputs + 1))
    return Indices(first, total, len(f))
