"""Estimates with confidence intervals, from `plainmath` and sums in order.

Wilson 1927 for a share of successes; mean ± z s/√n; order statistics for a quantile (both ends by the normal
approximation of the binomial count below it).
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

from ..errors import RunError
from .normal import normal


class Interval(NamedTuple):
    """An estimate between two limits, from so many samples."""

    value: float
    low: float
    high: float
    samples: int

    @property
    def width(self) -> float:
        return self.high - self.low


def score(confidence: float) -> float:
    """z of a two-sided interval: 1.96 for 0.95."""
    return float(normal(0.5 + confidence / 2))


def wilson(successes: int, samples: int, confidence: float = 0.95) -> Interval:
    """Share of successes."""
    if not samples:
        return Interval(math.nan, 0.0, 1.0, 0)
    z, n, p = score(confidence), samples, successes / samples
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return Interval(p, low if successes else 0.0, high if successes < n else 1.0, n)


def mean(values: np.ndarray, confidence: float = 0.95) -> Interval:
    """Mean of the values that are numbers."""
    x = values[np.isfinite(values)]
    n = len(x)
    if n < 2:
        return Interval(float(x[0]) if n else math.nan, -math.inf, math.inf, n)
    middle = math.fsum(x) / n
    half = score(confidence) * math.sqrt(math.fsum((x - middle) * (x - middle)) / (n - 1) / n)
    return Interval(middle, middle - half, middle + half, n)


def quantile(values: np.ndarray, share: float, confidence: float = 0.95) -> Interval:
    """Quantile of the values that are numbers (linear between order statistics)."""
    x = np.sort(values[np.isfinite(values)])
    n = len(x)
    if not n:
        return Interval(math.nan, -math.inf, math.inf, 0)
    place = share * (n - 1)
    k = min(int(place), n - 2) if n > 1 else 0
    value = float(x[k] + (place - k) * (x[min(k + 1, n - 1)] - x[k]))
    half = score(confidence) * math.sqrt(n * share * (1 - share))
    low, high = math.floor(n * share - half) - 1, math.ceil(n * share + half)
    return Interval(value, float(x[low]) if low >= 0 else -math.inf, float(x[high]) if high < n else math.inf, n)


_OF = re.compile(r"(?:(success)|mean of (.+)|quantile ([0-9.]+) of (.+))")


def parse(of: str) -> tuple[str, float, str]:
    """("success", 0, ""), ("mean", 0, NAME) or ("quantile", share, NAME)."""
    match = _OF.fullmatch(of.strip())
    fix = "success, mean of NAME, or quantile 0.95 of NAME"
    if match is None:
        raise RunError(f"stop cannot look at '{of}'", fix=fix)
    if match[1]:
        return "success", 0.0, ""
    if match[2]:
        return "mean", 0.0, match[2].strip()
    share = float(match[3]) if re.fullmatch(r"[0-9]*\.?[0-9]+", match[3]) else math.nan
    if not 0 < share < 1:
        raise RunError(f"stop looks at a quantile {match[3]}", fix="give a share between 0 and 1")
    return "quantile", share, match[4].strip()


def interval(of: str, confidence: float, good: np.ndarray, success: np.ndarray, values: np.ndarray) -> Interval:
    """The interval of what is named `of`, over the samples that are `good`."""
    kind, share, _ = parse(of)
    if kind == "success":
        return wilson(int(np.sum(success[good])), int(np.sum(good)), confidence)
    return mean(values[good], confidence) if kind == "mean" else quantile(values[good], share, confidence)
