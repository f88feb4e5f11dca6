"""The regularised incomplete beta function and its inverse, from `plainmath` alone.

    I_x(a, b) = xᵃ (1−x)ᵇ / (a B(a, b)) · 1 / (1 + d₁ / (1 + d₂ / (1 + …)))          DLMF 8.17.22
    d_2m = m (b−m) x / ((a+2m−1)(a+2m)),   d_2m+1 = −(a+m)(a+b+m) x / ((a+2m)(a+2m+1))

for x ≤ (a+1)/(a+b+2), else 1 − I_1−x(b, a). The depth of the fraction and the number of bisections depend on a and b
alone, so a number does not depend on those beside it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .plainmath import exp, log, log_gamma

ONE = int(np.float64(1.0).view(np.int64))


def incomplete_beta(a: float, b: float, x: Any) -> np.ndarray:
    """I_x(a, b) for x within [0, 1]."""
    x = np.asarray(x, np.float64)
    log_beta = log_gamma(a) + log_gamma(b) - log_gamma(a + b)
    turned = x > (a + 1) / (a + b + 2)
    inner = np.clip(x, 5e-324, 1 - 2.0**-53)
    # of both ends, the one at which the fraction converges
    straight, mirrored = _fraction(a, b, np.where(turned, 0.0, x)), _fraction(b, a, np.where(turned, 1 - x, 0.0))
    front = exp(a * log(inner) + b * log(1 - inner) - log_beta)
    found = np.where(turned, 1 - front / b * mirrored, front / a * straight)
    return np.where(x <= 0, 0.0, np.where(x >= 1, 1.0, np.clip(found, 0.0, 1.0)))


def _fraction(a: float, b: float, x: np.ndarray) -> np.ndarray:
    total = np.ones_like(x)
    for m in range(20 + int(5 * math.sqrt(max(a, b))), -1, -1):
        odd = -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)) * x
        total = 1 + odd / total
        if m:
            total = 1 + m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)) * x / total
    return 1 / total


def inverse(a: float, b: float, u: Any) -> np.ndarray:
    """x with I_x(a, b) = u, by bisection over all doubles between 0 and 1."""
    u = np.asarray(u, np.float64)
    low, high = np.zeros(u.shape, np.int64), np.full(u.shape, ONE)
    for _ in range(62):
        middle = (low + high) >> 1
        below = incomplete_beta(a, b, middle.view(np.float64)) < u
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high.view(np.float64)
