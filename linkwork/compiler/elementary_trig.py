"""Circular functions and their inverses, for lanes side by side.

Angles are reduced by multiples of pi/2 in three steps with fused multiply-adds (Cody and Waite). The
polynomials of sine and cosine and the rational function of the arcsine are those of fdlibm (k_sin.c,
k_cos.c, e_asin.c). The arctangent's polynomial interpolates (atan(q)/q - 1)/q² at Chebyshev points of 0 ≤
q² ≤ 0.1716.

Each function returns its results and the mask of the lanes that lie outside its domain.
"""

from __future__ import annotations

from .elementary_ir import Code

ANGLE_LIMIT = 1e5
"""Up to this size the reduction of an angle is as exact as the polynomials that follow it."""

ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which stands in the low bits
TWO_OVER_PI = float.fromhex("0x1.45F306DC9C883p-1")
HALF_PI = (  # 53 bits; 33 bits, so that its products with small integers are exact; the rest
    float.fromhex("0x1.921FB54442D18p+0"),
    float.fromhex("0x1.1A626331p-54"),
    float.fromhex("0x1.1701B839A2520p-88"),
)
QUARTER_PI = float.fromhex("0x1.921FB54442D18p-1")
QUARTER_PI_LOW = float.fromhex("0x1.1A62633145C07p-55")
TAN_EIGHTH_PI = 0.4142135623730950

SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
ATAN = (
    -0.3333333333333333,
    0.19999999999999804,
    -0.14285714285659748,
    0.11111111105147763,
    -0.09090908753118555,
    0.07692296363979034,
    -0.06666424687232571,
    0.05878926715617913,
    -0.052304374633495514,
    0.0455151655990825,
    -0.03456859058292932,
    0.016283572269789107,
)
ASIN_TOP = (
    1.66666666666666657415e-01,
    -3.25565818622400915405e-01,
    2.01212532134862925881e-01,
    -4.00555345006794114027e-02,
    7.91534994289814532176e-04,
    3.47933107596021167570e-05,
)
ASIN_BOTTOM = (
    1.0,
    -2.40339491173441421878e00,
    2.02094576023350569471e00,
    -6.88283971605453293030e-01,
    7.70381505559019352791e-02,
)


def _reduce(c: Code, size: str) -> tuple[str, str, str]:
    """The integer bits of n = round(size / (pi/2)), and size - n pi/2 as a sum of two."""
    shifted = c.fma(size, TWO_OVER_PI, ROUND)
    n = c.sub(shifted, ROUND)
    first = c.fma(n, -HALF_PI[0], size)  # exact
    r = c.fma(n, -HALF_PI[1], first)
    tail = c.fma(n, -HALF_PI[1], c.sub(first, r))  # exact: what the line above rounded off
    tail = c.fma(n, -HALF_PI[2], tail)
    return c.bits(shifted), r, tail


def sincos(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    outside = c.compare("ugt", size, ANGLE_LIMIT)
    n, r, tail = _reduce(c, size)
    z = c.mul(r, r)
    sine = c.add(r, c.fma(c.mul(z, r), c.horner(z, SIN), tail))
    cosine = c.fma(z, c.fma(z, c.horner(z, COS), -0.5), 1.0)  # the tail is worth 0.04 ulp here

    even = c.same(c.integer("and", n, 1), 0)
    quadrant = c.integer("shl", n, 62)
    sine_sign = c.integer("xor", quadrant, c.bits(x))
    cosine_sign = c.integer("add", quadrant, 1 << 62)
    return (
        c.flip_sign(c.select(even, sine, cosine), sine_sign),
        c.flip_sign(c.select(even, cosine, sine), cosine_sign),
    ), outside


def tan(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    outside = c.compare("ugt", size, ANGLE_LIMIT)
    n, r, tail = _reduce(c, size)
    z = c.mul(r, r)
    minus_half = c.mul(r, -0.5)
    near_one = c.fma(minus_half, r, 1.0)
    lost = c.fma(minus_half, r, c.sub(1.0, near_one))
    lost = c.fma(c.neg(r), tail, lost)
    cosine = c.fast_two_sum(near_one, c.fma(c.mul(z, z), c.horner(z, COS), lost))
    sine = c.fast_two_sum(r, c.fma(c.mul(z, r), c.horner(z, SIN), c.mul(tail, near_one)))

    odd = c.integer("shl", n, 63)
    even = c.same(odd, 0)
    top = [c.select(even, s, o) for s, o in zip(sine, cosine, strict=True)]
    bottom = [c.select(even, o, s) for s, o in zip(sine, cosine, strict=True)]
    result = c.add(*c.ratio(top[0], top[1], bottom[0], bottom[1]))
    return (c.flip_sign(result, c.integer("xor", odd, c.bits(x))),), outside


def _angle(c: Code, low: str, high: str, swapped: str, back: str | None) -> str:
    """atan(low/high) for low ≤ high, mirrored at pi/4 where `swapped`, then at pi/2 where `back`."""
    folded = c.compare("ogt", low, c.mul(high, TAN_EIGHTH_PI))
    total, total_low = c.fast_two_sum(high, low)
    gap, gap_low = c.fast_two_sum(high, c.neg(low))
    tangent, tangent_low = c.ratio(
        c.select(folded, gap, low),
        c.select(folded, gap_low, 0.0),
        c.select(folded, total, high),
        c.select(folded, total_low, 0.0),
    )
    z = c.mul(tangent, tangent)
    rest = c.fma(c.mul(tangent, z), c.horner(z, ATAN), tangent_low)

    quarters = c.select(folded, 1.0, 0.0)
    quarters = c.select(swapped, c.sub(2.0, quarters), quarters)
    minus = c.mask_xor(folded, swapped)
    if back is not None:
        quarters = c.select(back, c.sub(4.0, quarters), quarters)
        minus = c.mask_xor(minus, back)
    tangent = c.select(minus, c.neg(tangent), tangent)
    rest = c.select(minus, c.neg(rest), rest)
    base = c.mul(quarters, QUARTER_PI)
    base_low = c.fma(quarters, QUARTER_PI_LOW, c.fma(quarters, QUARTER_PI, c.neg(base)))
    angle, lost = c.fast_two_sum(base, tangent)
    return c.add(angle, c.add(lost, c.add(base_low, rest)))


def atan(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    steep = c.compare("ogt", size, 1.0)
    angle = _angle(c, c.select(steep, 1.0, size), c.select(steep, size, 1.0), steep, None)
    return (c.copysign(angle, x),), c.compare("ugt", size, 2.0**400)


def atan2(c: Code, y: str, x: str) -> tuple[tuple[str, ...], str]:
    up, along = c.fabs(y), c.fabs(x)
    steep = c.compare("ogt", up, along)
    low, high = c.select(steep, along, up), c.select(steep, up, along)
    angle = _angle(c, low, high, steep, c.compare("olt", x, 0.0))
    tiny = c.mask_and(c.compare("ult", low, 2.0**-500), c.compare("une", low, 0.0))
    return (c.copysign(angle, y),), c.mask_or(tiny, c.outside(high, 2.0**-400, 2.0**400))


def _arcsine(c: Code, size: str) -> tuple[str, str, str, str]:
    """Where size > 1/2; u, a root or the size itself; what the root rounded off; (asin(u) - u) / u."""
    large = c.compare("ogt", size, 0.5)
    z = c.select(large, c.fma(size, -0.5, 0.5), c.mul(size, size))
    root = c.sqrt(z)
    bottom = c.select(c.compare("ogt", root, 0.0), c.add(root, root), 1.0)
    root_low = c.select(large, c.div(c.fma(c.neg(root), root, z), bottom), 0.0)
    curve = c.div(c.mul(z, c.horner(z, ASIN_TOP)), c.horner(z, ASIN_BOTTOM))
    return large, c.select(large, root, size), root_low, curve


def _shifted(c: Code, quarters: str, u: str, u_low: str, curve: str) -> str:
    """quarters * pi/4 + u (1 + curve) + u_low, for quarters 0, 2 or 4."""
    base, base_low = c.mul(quarters, QUARTER_PI), c.mul(quarters, QUARTER_PI_LOW)
    total, lost = c.fast_two_sum(base, u)
    return c.add(total, c.add(lost, c.add(base_low, c.fma(u, curve, u_low))))


def asin(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    large, u, u_low, curve = _arcsine(c, size)
    factor = c.select(large, -2.0, 1.0)
    angle = _shifted(c, c.select(large, 2.0, 0.0), c.mul(u, factor), c.mul(u_low, factor), curve)
    return (c.copysign(angle, x),), c.compare("ugt", size, 1.0)


def acos(c: Code, x: str) -> tuple[tuple[str, ...], str]:
    size = c.fabs(x)
    large, u, u_low, curve = _arcsine(c, size)
    negative = c.compare("olt", x, 0.0)
    factor = c.select(large, c.select(negative, -2.0, 2.0), c.select(negative, 1.0, -1.0))
    quarters = c.select(large, c.select(negative, 4.0, 0.0), 2.0)
    return (_shifted(c, quarters, c.mul(u, factor), c.mul(u_low, factor), curve),), c.compare("ugt", size, 1.0)
