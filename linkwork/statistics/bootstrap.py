"""Quantiles with bootstrap intervals, without drawing n numbers for each resample.

A resample takes the sorted values at ⌊n U⌋ for n uniform U. A quantile of it, (1 − g) x*₍ₖ₎ + g x*₍ₖ₊₁₎, looks at two
of these alone, and of two neighbours among n sorted uniform numbers the law is known:

    U₍ₖ₎ ~ Beta(k, n + 1 − k),     1 − U₍ₖ₊₁₎ = (1 − U₍ₖ₎) V^(1/(n − k)),  V uniform

(Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; order statistics: David and Nagaraja 2003,
chapter 2). Two numbers a resample give what resampling all values gives, whatever n. Intervals are percentile ones: a
share (1 − confidence)/2 of the resampled quantiles lies on each side. Where the true quantile lies beyond all samples
more often than that, as the 99 % one of 100 samples does, no sample can be the limit: it is ∞.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from linkwork.simulation import stream
from linkwork.simulation.estimate import Interval

RESAMPLES = 2000


def quantiles(values: np.ndarray, shares: Sequence[float], seed: int = 0, confidence: float = 0.95) -> list[Interval]:
    """Quantiles of the values that are numbers, each with the interval that resampling gives."""
    x = np.sort(values[np.isfinite(values)])
    return [_quantile(x, share, seed, confidence) for share in shares]


def _quantile(x: np.ndarray, share: float, seed: int, confidence: float) -> Interval:
    n = len(x)
    if not n:
        return Interval(math.nan, -math.inf, math.inf, 0)
    k, part = place(n, share)
    value = float(x[k] + part * (x[min(k + 1, n - 1)] - x[k]))
    low, high = _resampled(n, share, seed)
    again = x[low] + part * (x[high] - x[low])
    out = (1 - confidence) / 2
    least, most = (float(end) for end in np.quantile(again, (out, 1 - out)))
    return Interval(value, -math.inf if (1 - share) ** n > out else least, math.inf if share**n > out else most, n)


def place(n: int, share: float) -> tuple[int, float]:
    """Where the quantile of n sorted values lies: after value k (from 0), a part of the way to the next."""
    at = share * (n - 1)
    k = min(int(at), n - 1)
    return k, at - k


@lru_cache(maxsize=64)
def _resampled(n: int, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of n sorted values stand at the quantile's two places in each resample."""
    k = place(n, share)[0] + 1
    index = np.arange(RESAMPLES)
    from scipy.special import betaincinv  # a tenth of a second to import

    below = betaincinv(k, n + 1 - k, stream.uniform(seed, "bootstrap of quantiles", index))
    gap = stream.uniform(seed, "bootstrap of quantiles, next", index)
    above = 1 - (1 - below) * gap ** (1 / (n - k)) if k < n else below
    return tuple(np.minimum((n * u).astype(np.int64), n - 1) for u in (below, above))  # type: ignore[return-value]
