"""The normal distribution's inverse and itself, from `plainmath` alone.

Wichura's PPND16 (Applied Statistics 37, 477, AS 241, 1988), relative error about 1e-16, in the letters of the source.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .plainmath import log, polynomial

A = (
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
)  # fmt: skip
B = (
    1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
    2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
)  # fmt: skip
C = (
    1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
    1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
)  # fmt: skip
D = (
    1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
)  # fmt: skip
E = (
    6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
    2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
)  # fmt: skip
F = (
    1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
)  # fmt: skip
HALF = int(np.float64(0.5).view(np.int64))


def normal(u: Any) -> np.ndarray:
    """z with Φ(z) = u, 0 < u < 1."""
    u = np.asarray(u, np.float64)
    q = u - 0.5
    middle = np.abs(q) <= 0.425
    r = 0.180625 - q * q
    central = q * polynomial(r, A) / polynomial(r, B)
    r = np.sqrt(-log(np.where(middle, 0.5, np.where(q < 0, u, 1 - u))))
    near, far = r - 1.6, r - 5
    tail = np.where(r <= 5, polynomial(near, C) / polynomial(near, D), polynomial(far, E) / polynomial(far, F))
    return np.where(middle, central, np.where(q < 0, -tail, tail))


def normal_probability(z: Any) -> np.ndarray:
    """Φ(z) as the inverse of `normal`: by bisection over all doubles up to ½; for z > 0 it is 1 − Φ(−z)."""
    z = np.asarray(z, np.float64)
    below = -np.abs(z)
    low, high = np.ones(z.shape, np.int64), np.full(z.shape, HALF)
    for _ in range(62):
        middle = (low + high) >> 1
        less = normal(middle.view(np.float64)) < below
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    p = np.where(below < -37.5, 0.0, high.view(np.float64))
    return np.where(z > 0, 1 - p, p)
