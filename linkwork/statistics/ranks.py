"""How two columns of numbers go together: rank correlation, and what one explains of the other whatever its shape."""

from __future__ import annotations

import math

import numpy as np

from linkwork.simulation.estimate import Interval, score
from linkwork.statistics.ratios import ratio

CLASSES = (8, 40)  # few and many: a sine is blurred by 1 % of its variance at most by 40 of them


def ranks(x: np.ndarray) -> np.ndarray:
    """1 … n; equal numbers share the mean of their ranks."""
    from scipy.stats import rankdata  # half a second to import

    return rankdata(x)


def correlation(a: np.ndarray, b: np.ndarray, confidence: float = 0.95) -> Interval:
    """Spearman's correlation of two columns of ranks.

    Interval: Fisher's z with the variance (1 + r²/2)/(n − 3) (Bonett and Wright, Psychometrika 65, 23, 2000).
    """
    n = len(a)
    a, b = a - np.mean(a) if n else a, b - np.mean(b) if n else b
    size = math.sqrt(float(a @ a) * float(b @ b))
    if size == 0:
        return Interval(math.nan, -1.0, 1.0, n)
    r = min(max(float(a @ b) / size, -1.0), 1.0)
    if n <= 3 or abs(r) == 1:
        return Interval(r, *((-1.0, 1.0) if n <= 3 else (r, r)), n)
    half = score(confidence) * math.sqrt((1 + r * r / 2) / (n - 3))
    return Interval(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), n)


def explained(a: np.ndarray, y: np.ndarray, confidence: float = 0.95) -> Interval:
    """Share of the variance of y that follows from an input alone, given as ranks: the first-order Sobol index.

    From classes of equal count (Plischke, Reliab. Eng. Syst. Saf. 95, 354, 2010), less what chance alone would give:
    1 − (variance within classes, with its degrees of freedom) / (variance of all). Unlike a correlation it sees an
    effect that rises on both sides.
    """
    n = len(a)
    count = min(max(n // 40, CLASSES[0]), CLASSES[1], max(n // 5, 2))
    at = np.unique(np.minimum(((a - 0.5) * count / max(n, 1)).astype(np.int64), count - 1), return_inverse=True)[1]
    members = np.bincount(at) if n else np.zeros(0)
    if n <= len(members) or len(members) < 2:
        return Interval(math.nan, 0.0, 1.0, n)
    inner = y - (np.bincount(at, y) / members)[at]
    outer = y - np.mean(y)
    within = ratio(inner * inner * (n - 1) / (n - len(members)), outer * outer, confidence)
    return Interval(1 - within.value, max(1 - within.high, 0.0), min(1 - within.low, 1.0), n)
