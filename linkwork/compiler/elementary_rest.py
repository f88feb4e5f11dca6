"""Hypotenuse, remainders and the inverse of the error function, for lanes side by side.

A remainder x - n y is exact when n is the nearest integer to x/y, or one beside it, and below 2^52; a wrong
n is seen from the remainder and set right. The inverse error function starts from a rational guess, as
CasADi does, and is polished by three of Halley's steps, in the tail on the complement, where the argument
still tells values apart.

Each function returns its result and the mask of the lanes that lie outside its domain.
"""

from __future__ import annotations

from .elementary_ir import Code

ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, which stands in the low bits
QUOTIENT_LIMIT = 2.0**50
TWO_OVER_ROOT_PI = 1.1283791670955126

GUESS_TOP = (0.886226899, -1.645349621, 0.914624893, -0.140543331)
GUESS_BOTTOM = (1.0, -2.118377725, 1.442710462, 0.012229801, -0.329097515)
TAIL_TOP = (-1.970840454, -1.624906493, 3.429567803, 1.641345311)
TAIL_BOTTOM = (1.0, 3.543889200, 1.637067800)


def hypot(c: Code, x: str, y: str) -> tuple[tuple[str, ...], str]:
    """Fast where neither square runs out of range; both zero included."""
    a, b = c.fabs(x), c.fabs(y)
    larger = c.select(c.compare("ogt", a, b), a, b)
    some = c.compare("une", c.add(a, b), 0.0)
    root = c.sqrt(c.fma(a, a, c.mul(b, b)))
    return (root,), c.mask_and(some, c.outside(larger, 2.0**-400, 2.0**500))


def _division_outside(c: Code, top: str, bottom: str, quotient: str) -> str:
    """Where the quotient of two sizes is too large for its integer part, or a size is out of range."""
    sizes = c.mask_or(c.compare("ugt", top, 2.0**1000), c.outside(bottom, 2.0**-900, 2.0**1000))
    return c.mask_or(sizes, c.compare("ugt", quotient, QUOTIENT_LIMIT))


def fmod(c: Code, x: str, y: str) -> tuple[tuple[str, ...], str]:
    top, bottom = c.fabs(x), c.fabs(y)
    quotient = c.div(top, bottom)
    n = c.intrinsic("floor", quotient)
    rest = c.fma(c.neg(n), bottom, top)
    rest = c.select(c.compare("olt", rest, 0.0), c.add(rest, bottom), rest)
    return (c.copysign(rest, x),), _division_outside(c, top, bottom, quotient)


def remainder(c: Code, x: str, y: str) -> tuple[tuple[str, ...], str]:
    """The nearest multiple of y is taken off; of two equally near the even one."""
    top, bottom = c.fabs(x), c.fabs(y)
    quotient = c.div(top, bottom)
    shifted = c.add(quotient, ROUND)
    rest = c.fma(c.neg(c.sub(shifted, ROUND)), bottom, top)
    odd = c.same(c.integer("and", c.bits(shifted), 1), 1)
    twice = c.mul(c.fabs(rest), 2.0)
    tie = c.mask_and(odd, c.compare("oeq", twice, bottom))
    beside = c.mask_or(tie, c.compare("ogt", twice, bottom))
    rest = c.select(beside, c.sub(rest, c.copysign(bottom, rest)), rest)
    zero = c.compare("oeq", rest, 0.0)
    signed = c.flip_sign(rest, c.bits(x))
    return (c.select(zero, c.copysign(0.0, x), signed),), _division_outside(c, top, bottom, quotient)


def erfinv(c: Code, x: str) -> tuple[tuple[str, ...], None]:
    size = c.fabs(x)
    inside = c.compare("olt", size, 1.0)
    p = c.select(inside, size, 0.0)
    complement = c.sub(1.0, p)
    z = c.mul(p, p)
    centre = c.div(c.mul(p, c.horner(z, GUESS_TOP)), c.horner(z, GUESS_BOTTOM))
    z = c.sqrt(c.neg(c.call("log", c.mul(complement, 0.5))))
    tail = c.div(c.horner(z, TAIL_TOP), c.horner(z, TAIL_BOTTOM))
    large = c.compare("ogt", p, 0.7)
    y = c.select(large, tail, centre)
    for _ in range(3):
        lower = c.sub(c.call("erf", y), p)
        upper = c.sub(complement, c.call("erfc", y))
        slope = c.mul(c.call("exp", c.neg(c.mul(y, y))), TWO_OVER_ROOT_PI)
        step = c.div(c.select(large, upper, lower), slope)
        y = c.sub(y, c.div(step, c.fma(y, step, 1.0)))
    edge = c.div(c.select(c.compare("oeq", size, 1.0), 1.0, 0.0), 0.0)  # 1 has infinity, beyond there is none
    y = c.select(inside, y, edge)
    return (c.copysign(y, x),), None
