"""A ratio of two means with an interval, from the spread of its influence: r = ā/b̄, var r ≈ var(a − r b)/(n b̄²)."""

from __future__ import annotations

import math

import numpy as np

from linkwork.simulation.estimate import Interval, score


def ratio(a: np.ndarray, b: np.ndarray, confidence: float = 0.95) -> Interval:
    """Mean of a over mean of b, of independent pairs (Cochran, Sampling Techniques, 1977, section 6.4)."""
    n = len(a)
    below = float(np.mean(b)) if n else 0.0
    if below == 0:
        return Interval(math.nan, math.nan, math.nan, n)
    value = float(np.mean(a)) / below
    if n < 2:
        return Interval(value, -math.inf, math.inf, n)
    half = score(confidence) * float(np.std(a - value * b, ddof=1)) / math.sqrt(n) / below
    return Interval(value, value - half, value + half, n)
