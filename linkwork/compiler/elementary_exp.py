"""Exponentials, logarithms, powers and hyperbolic functions, for lanes side by side.

The reductions by ln 2 and the logarithm's polynomial are those of fdlibm (e_exp.c, e_log.c). The
exponential's polynomial interpolates (exp(r) - 1 - r)/r² at Chebyshev points of |r| ≤ ln(2)/2, that of the
power's logarithm the series of 2 atanh(s) after its first two terms. Sums of two doubles carry what one
cannot (Dekker; as SLEEF does in its power).

Each function returns its result and the mask of the lanes that lie outside its domain.
"""

from __future__ import annotations

import sys

from .elementary_ir import Code, Value

EXP_LIMIT = 708.0
"""Up to this size of x, exp(x) is a normal number and so is its reciprocal."""

SMALLEST = sys.float_info.min
LARGEST = sys.float_info.max
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which stands in the low bits
ROUND_BITS = 0x4338000000000000
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD
LOG2_E = 1.4426950408889634
LN2 = float.fromhex("0x1.62E42FEEp-1")  # 32 bits: its products with exponents are exact
LN2_LOW = float.fromhex("0x1.A39EF35793C76p-33")
TWO_THIRDS_LOW = 3.700743415417188e-17

EXP = (
    0.5,
    0.1666666666666667,
    0.041666666666666664,
    0.00833333333332612,
    0.0013888888888885418,
    0.000198412698748724,
    2.4801587321111618e-05,
    2.7557255334571995e-06,
    2.755727838082122e-07,
    2.5105244305783113e-08,
    2.0912937361579663e-09,
)
LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
LOG_OF_POWER = (
    0.4,
    0.2857142857142938,
    0.22222222221651242,
    0.18181818336218783,
    0.15384594887714884,
    0.13334808296870526,
    0.11706148480508952,
    0.11724031230292335,
)


def _reduce(c: Code, x: str, x_low: Value = 0.0) -> tuple[str, str, str]:
    """2^n and r, with its tail, such that x + x_low = n ln 2 + r."""
    shifted = c.fma(x, LOG2_E, ROUND)
    n = c.sub(shifted, ROUND)
    head = c.fma(n, -LN2, x)  # exact
    r, tail = c.fast_two_sum(head, c.fma(n, -LN2_LOW, x_low))
    power = c.integer("add", c.integer("shl", c.bits(shifted), 52), 1023 << 52)
    return c.from_bits(power), r, tail


def _exponential(c: Code, x: str, x_low: Value = 0.0) -> str:
    power, r, tail = _reduce(c, x, x_low)
    one, lost = c.fast_two_sum(1.0, r)
    curve = c.fma(c.mul(r, r), c.horner(r, EXP), c.fma(tail, r, tail))
    return c.mul(c.add(one, c.add(lost, curve)), power)


def _exponential_less_one(c: Code, x: str) -> tuple[str, str]:
    """exp(x) - 1 as a sum of two."""
    power, r, tail = _reduce(c, x)
    curve = c.fma(c.mul(r, r), c.horner(r, EXP), c.fma(tail, r, tail))
    part, part_low = c.fast_two_sum(r, curve)
    base, base_low = c.two_sum(power, -1.0)
    total, lost = c.fast_two_sum(base, c.mul(part, power))
    return c.fast_two_sum(total, c.add(c.add(lost, base_low), c.mul(part_low, power)))


def exp(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    return (_exponential(c, x),), c.compare("ugt", c.fabs(x), EXP_LIMIT)


def expm1(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    result, _ = _exponential_less_one(c, x)
    return (c.copysign(result, x),), c.compare("ugt", c.fabs(x), EXP_LIMIT)


def sinh(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    e, e_low = _exponential_less_one(c, size)
    other, lost = c.fast_two_sum(e, c.div(e, c.add(e, 1.0)))
    half = c.mul(c.add(other, c.add(lost, e_low)), 0.5)
    return (c.copysign(half, x),), c.compare("ugt", size, EXP_LIMIT)


def cosh(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    e = _exponential(c, size)
    return (c.fma(e, 0.5, c.div(0.5, e)),), c.compare("ugt", size, EXP_LIMIT)


def tanh(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    capped = c.select(c.compare("olt", size, 22.0), size, 22.0)  # beyond, tanh rounds to 1
    e, e_low = _exponential_less_one(c, c.add(capped, capped))
    bottom, lost = c.two_sum(e, 2.0)
    result = c.add(*c.ratio(e, e_low, bottom, c.add(lost, e_low)))
    return (c.copysign(result, x),), c.compare("uno", x, x)


def _exponent(c: Code, x: str) -> tuple[str, str, str]:
    """The integer k, the same as a value, and m in [1/√2, √2) with x = m 2^k, for normal x > 0."""
    bits = c.bits(x)
    k = c.integer("ashr", c.integer("sub", bits, ROOT_HALF_BITS), 52)
    m = c.from_bits(c.integer("sub", bits, c.integer("shl", k, 52)))
    value = c.sub(c.from_bits(c.integer("add", k, ROUND_BITS)), ROUND)
    return k, value, m


def _logarithm(c: Code, k: str, f: str, correction: Value) -> str:
    """k ln 2 + log(1 + f) + a small correction."""
    s = c.div(f, c.add(f, 2.0))
    z = c.mul(s, s)
    half_square = c.mul(c.mul(f, f), 0.5)
    curve = c.fma(z, c.horner(z, LOG), half_square)
    low = c.fma(s, curve, c.fma(k, LN2_LOW, correction))
    return c.fma(k, LN2, c.sub(f, c.sub(half_square, low)))


def log(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    _, k, m = _exponent(c, x)
    return (_logarithm(c, k, c.sub(m, 1.0), 0.0),), c.outside(x, SMALLEST, LARGEST)


def _logarithm_of_one_plus(c: Code, x: str, x_low: Value = 0.0) -> str:
    """log(1 + x + x_low) for x + x_low > -1 and below 2^1000."""
    total, lost = c.two_sum(1.0, x)
    if x_low != 0.0:
        lost = c.add(lost, x_low)
    whole, k, m = _exponent(c, total)
    shrink = c.from_bits(c.integer("shl", c.integer("sub", c.operand_whole(1023), whole), 52))
    return _logarithm(c, k, c.sub(m, 1.0), c.div(c.mul(lost, shrink), m))


def log1p(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    outside = c.mask_or(c.compare("ule", x, -1.0), c.compare("ugt", x, 2.0**1000))
    return (c.copysign(_logarithm_of_one_plus(c, x), x),), outside


def asinh(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    root = c.sqrt(c.fma(size, size, 1.0))
    inner = c.fast_two_sum(size, c.div(c.mul(size, size), c.add(root, 1.0)))
    return (c.copysign(_logarithm_of_one_plus(c, *inner), x),), c.compare("ugt", size, 2.0**500)


def acosh(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    above, lost = c.two_sum(x, -1.0)
    root = c.sqrt(c.fma(above, above, c.add(above, above)))
    inner, inner_low = c.two_sum(root, above)
    return (_logarithm_of_one_plus(c, inner, c.add(inner_low, lost)),), c.outside(x, 1.0, 2.0**500)


def atanh(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    bottom, lost = c.fast_two_sum(1.0, c.neg(size))
    inner = c.ratio(c.add(size, size), 0.0, bottom, lost)
    half = c.mul(_logarithm_of_one_plus(c, *inner), 0.5)
    return (c.copysign(half, x),), c.compare("uge", size, 1.0)


def _long_logarithm(c: Code, x: str) -> tuple[str, str]:
    """log(x) as a sum of two, good to about 2^-65."""
    _, k, m = _exponent(c, x)
    bottom, bottom_low = c.fast_two_sum(1.0, m)
    s, s_low = c.ratio(c.sub(m, 1.0), 0.0, bottom, bottom_low)
    w = c.mul(s, s)
    w_low = c.fma(c.add(s, s), s_low, c.fma(s, s, c.neg(w)))
    third = c.fma(w, c.horner(w, LOG_OF_POWER), c.fma(w_low, 0.4, TWO_THIRDS_LOW))
    third, third_low = c.fast_two_sum(2.0 / 3.0, third)
    cube, cube_low = _product(c, (s, s_low), (w, w_low))
    term, term_low = _product(c, (cube, cube_low), (third, third_low))
    one, lost = c.fast_two_sum(c.add(s, s), term)
    low = c.add(lost, c.add(c.add(s_low, s_low), term_low))
    total, lost = c.fast_two_sum(c.mul(k, LN2), one)
    return c.fast_two_sum(total, c.add(lost, c.fma(k, LN2_LOW, low)))


def _product(c: Code, a: tuple[str, str], b: tuple[str, str]) -> tuple[str, str]:
    """The product of two sums of two, as such a sum."""
    high = c.mul(a[0], b[0])
    cross = c.fma(a[0], b[1], c.mul(a[1], b[0]))
    return high, c.add(c.fma(a[0], b[0], c.neg(high)), cross)


def power(c: Code, x: str, y: str) -> tuple[tuple[str, ...], str]:
    """x to the y; a negative x has a power where y is an integer."""
    size = c.fabs(x)
    log_high, log_low = _long_logarithm(c, size)
    exponent = c.mul(y, log_high)
    exponent_low = c.fma(y, log_low, c.fma(y, log_high, c.neg(exponent)))
    result = _exponential(c, exponent, exponent_low)

    shifted = c.add(y, ROUND)
    odd = c.integer("shl", c.bits(shifted), 63)
    result = c.flip_sign(result, c.integer("and", odd, c.bits(x)))
    whole = c.mask_and(c.compare("oeq", c.sub(shifted, ROUND), y), c.compare("olt", c.fabs(y), 2.0**51))
    defined = c.mask_or(whole, c.compare("ogt", x, 0.0))
    fits = c.mask_and(defined, c.compare("ole", c.fabs(exponent), EXP_LIMIT))
    outside = c.outside(size, SMALLEST, LARGEST)
    return (result,), c.mask_or(outside, c.invert(fits))
