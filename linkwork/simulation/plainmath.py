"""Logarithm, exponential and sine from + − × ÷ √ alone, which IEEE 754 rounds the same everywhere.

NumPy's own differ in their last bits from version to version and from processor to processor; a sample drawn with
these does not. The polynomials are those of fdlibm (Sun Microsystems, 1993), errors below one unit in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LN2_HI, LN2_LO, PER_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10, 1.44269504088896338700
LOG = (
    6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
    1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01,
)  # fmt: skip
EXP = (
    1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
    -1.65339022054652515390e-06, 4.13813679705723846039e-08,
)  # fmt: skip
SIN = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
    2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
HALF_LOG_2PI = 0.91893853320467274178
ROOT_HALF = 0.70710678118654752440


def polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    """c₀ + c₁ x + c₂ x² + …"""
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = total * x + c
    return total


def log(x: Any) -> Any:
    """Natural logarithm of positive finite numbers."""
    m, e = np.frexp(np.asarray(x, np.float64))
    low = m < ROOT_HALF
    m, e = np.where(low, 2 * m, m), np.where(low, e - 1, e).astype(np.float64)
    f = m - 1
    s = f / (2 + f)
    z = s * s
    r, half = z * polynomial(z, LOG), 0.5 * f * f
    return e * LN2_HI - ((half - (s * (half + r) + e * LN2_LO)) - f)


def exp(x: Any) -> Any:
    """Exponential; zero below −745."""
    x = np.maximum(np.asarray(x, np.float64), -746.0)
    k = np.rint(x * PER_LN2)
    high, low = x - k * LN2_HI, k * LN2_LO
    r = high - low
    t = r * r
    c = r - t * polynomial(t, EXP)
    return np.ldexp(1 - ((low - r * c / (2 - c)) - high), k.astype(np.int64))


def sine(x: Any) -> Any:
    """Sine of |x| ≤ π/4."""
    x = np.asarray(x, np.float64)
    z = x * x
    return x + x * z * polynomial(z, SIN)


def log_gamma(x: float) -> float:
    """log Γ(x) for x > 0 by Stirling's series, x moved beyond 15 by the recurrence."""
    product, shift = 1.0, 0.0
    while x < 15:
        product *= x
        x += 1
        if product > 1e200 or product < 1e-200:
            product, shift = 1.0, shift + float(log(product))
    shift += float(log(product))
    return (x - 0.5) * float(log(x)) - x + HALF_LOG_2PI + polynomial(1 / (x * x), STIRLING) / x - shift
