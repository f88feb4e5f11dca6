"""Quantities with units, read at the door: `quantity("120 mm", "m")` is 0.12.

A unit is names joined by `*` (or a space, or `·`) and `/`, with whole powers and brackets: `kg*m^2`,
`N*m/(rad/s)`. `*` and `/` bind equally, from left to right. A number without a unit is in SI units.

Angles are a dimension of their own: `5 mm/rev` is a helical pitch, `5 mm` is not. Only where mass is involved
may the radian be left out: a torsional damper may be `3 N*m*s` or `3 N*m*s/rad`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import ModelError, Place, nearest

LONGEST = 100  # characters of a quantity

Where = Place | str | None


class Unit(NamedTuple):
    factor: Fraction  # to SI
    powers: tuple[int, int, int, int]  # m, kg, s, rad


def _unit(factor: Any, *powers: int) -> Unit:
    return Unit(Fraction(factor), (*powers, *(0,) * (4 - len(powers))))  # type: ignore[arg-type]


_PI = Fraction(math.pi)
_INCH, _POUND, _G0 = Fraction("0.0254"), Fraction("0.45359237"), Fraction("9.80665")
_FORCE = (1, 1, -2)

UNITS: dict[str, Unit] = {
    "1": _unit(1),
    "%": _unit("0.01"),
    **dict.fromkeys(("m", "metre", "meter"), _unit(1, 1)),
    **{name: _unit(size, 1) for name, size in (("km", 1000), ("cm", "0.01"), ("mm", "1e-3"), ("nm", "1e-9"))},
    **dict.fromkeys(("um", "µm", "μm"), _unit("1e-6", 1)),
    **dict.fromkeys(("in", "inch"), _unit(_INCH, 1)),
    **{name: _unit(_INCH * n, 1) for name, n in (("ft", 12), ("yd", 36), ("mi", 63360))},
    **{name: _unit(size, 0, 1) for name, size in (("kg", 1), ("g", "1e-3"), ("mg", "1e-6"), ("t", 1000))},
    **dict.fromkeys(("lb", "lbm"), _unit(_POUND, 0, 1)),
    "oz": _unit(_POUND / 16, 0, 1),
    "slug": _unit(_POUND * _G0 / (_INCH * 12), 0, 1),
    **{name: _unit(size, 0, 0, 1) for name, size in (("s", 1), ("ms", "1e-3"), ("us", "1e-6"), ("min", 60))},
    "h": _unit(3600, 0, 0, 1),
    "rad": _unit(1, 0, 0, 0, 1),
    "mrad": _unit("1e-3", 0, 0, 0, 1),
    **dict.fromkeys(("deg", "°"), _unit(_PI / 180, 0, 0, 0, 1)),
    "arcmin": _unit(_PI / 10800, 0, 0, 0, 1),
    "arcsec": _unit(_PI / 648000, 0, 0, 0, 1),
    **dict.fromkeys(("rev", "turn"), _unit(2 * _PI, 0, 0, 0, 1)),
    "rpm": _unit(2 * _PI / 60, 0, 0, -1, 1),
    "Hz": _unit(1, 0, 0, -1),
    "N": _unit(1, *_FORCE),
    "mN": _unit("1e-3", *_FORCE),
    "kN": _unit(1000, *_FORCE),
    "MN": _unit("1e6", *_FORCE),
    "lbf": _unit(_POUND * _G0, *_FORCE),
    "kgf": _unit(_G0, *_FORCE),
    "Nm": _unit(1, 2, 1, -2),
    "mNm": _unit("1e-3", 2, 1, -2),
    "kNm": _unit(1000, 2, 1, -2),
    "J": _unit(1, 2, 1, -2),
    "kJ": _unit(1000, 2, 1, -2),
    "W": _unit(1, 2, 1, -3),
    "kW": _unit(1000, 2, 1, -3),
    **{name: _unit(size, -1, 1, -2) for name, size in (("Pa", 1), ("kPa", 1000), ("MPa", "1e6"), ("GPa", "1e9"))},
    "g0": _unit(_G0, 1, 0, -2),
}

KINDS_OF_QUANTITY = {
    "m": "a length",
    "kg": "a mass",
    "s": "a time",
    "rad": "an angle",
    "m/s": "a speed",
    "rad/s": "an angular rate",
    "m/s^2": "an acceleration",
    "kg*m^2": "a moment of inertia",
    "kg/m^3": "a density",
    "N": "a force",
    "N*m": "a torque",
    "N/m": "a stiffness",
    "N*m/rad": "a torsional stiffness",
    "N*s/m": "a damping",
    "N*m*s/rad": "a torsional damping",
    "m/rad": "an advance per angle",
    "1": "a plain number",
}

_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")
_TOKEN = re.compile(r"\s*(?:(\*\*|\^)\s*([+-]?\d{1,2})|([²³])|([*/·()])|(1(?!\d)|[A-Za-zµμ]+0?|[°%]))")


def quantity(
    given: Any, dimension: str | None, where: Where = None, what: str = "a quantity", infinite: bool = False
) -> float:
    """A number in SI units. `given`: a number (SI already) or text such as "15 deg".

    `dimension`: the SI unit of what is expected ("m", "N*m/rad" …); None takes any. `infinite`: may it be?
    """
    if type(given) is float and -math.inf < given < math.inf:
        return given
    if isinstance(given, str):
        value = _read(given, dimension, where, what)
    elif isinstance(given, (int, float, np.number)) and not isinstance(given, bool):
        value = float(given) if not isinstance(given, int) or abs(given) < 2**1000 else math.inf
    else:
        raise ModelError(
            f"{what} is {_shown(given)}, not a number",
            where=where,
            fix=f"give {_wanted(dimension)}, e.g. {_example(dimension)}",
        )
    if math.isnan(value) or (math.isinf(value) and not infinite):
        raise ModelError(f"{what} is {value}, not a finite number", where=where, fix=f"give {_wanted(dimension)}")
    return value


def unit_factor(unit: str, dimension: str | None, where: Where = None, what: str = "a quantity") -> float:
    """How many SI units one `unit` is; checked like a quantity's unit."""
    return float(_checked(unit, dimension, where, what).factor)


def _read(text: str, dimension: str | None, where: Where, what: str) -> float:
    if len(text) > LONGEST:
        raise ModelError(
            f"{what} is a text of {len(text)} characters, not a number",
            where=where,
            fix="give a number and a unit",
        )
    text = text.replace("−", "-").strip()
    match = _NUMBER.match(text)
    if match is None:
        if text.lower().lstrip("+-.") in ("inf", "infinity", "nan"):
            return float(text.replace(".", ""))
        raise ModelError(
            f"{what} is '{text}', not a number",
            where=where,
            fix=f"give {_wanted(dimension)}, e.g. {_example(dimension)}",
        )
    plain = float(match[1])
    rest = text[match.end() :]
    if not rest:
        return plain
    unit = _checked(rest, dimension, where, what)
    if plain == 0 or not math.isfinite(plain) or unit.factor == 1:
        return plain
    try:
        return float(Fraction(match[1]) * unit.factor)  # rounded once
    except OverflowError:
        return math.copysign(math.inf, plain)


def _checked(text: str, dimension: str | None, where: Where, what: str) -> Unit:
    try:
        unit = parse(text)
    except _UnknownUnit as error:
        raise ModelError(
            f"{what} has an unknown unit '{error.name}'",
            where=where,
            fix=f"{nearest(error.name, UNITS)} It wants {_wanted(dimension)}",
        ) from None
    except ValueError:
        raise ModelError(
            f"{what} has an unreadable unit '{text}'",
            where=where,
            fix=f"write units like kg*m^2 or N*m/rad; it wants {_wanted(dimension)}",
        ) from None
    if dimension is not None and not fits(unit, parse(dimension)):
        raise ModelError(
            f"{what} has the unit '{text.strip()}', which is not one of {_kind(dimension)}",
            where=where,
            fix=f"give {_wanted(dimension)}, e.g. {_example(dimension)}",
        )
    return unit


def each(value: Any, what: str, read: Callable[[Any], float]) -> np.ndarray:
    """A number, or a list of one a sample, as an array; text goes through `read`."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of different lengths
        raise ModelError(f"{what} is {_shown(value)}", fix="give a number, or one for each sample") from None
    if found.dtype.kind in "OUS":
        found = np.array([read(x) for x in found.flat]).reshape(found.shape)
    if found.dtype.kind not in "fiu" or found.ndim > 1 or not found.size:
        kind = f"has shape {found.shape}" if found.dtype.kind in "fiu" else f"is {_shown(value)}"
        raise ModelError(f"{what} {kind}", fix="give a number, or one for each sample")
    return found.astype(float)


def fits(unit: Unit, wanted: Unit) -> bool:
    if unit.powers == wanted.powers:
        return True
    return unit.powers[:3] == wanted.powers[:3] and wanted.powers[1] != 0 and unit.powers[3] == 0


class _UnknownUnit(ValueError):
    def __init__(self, name: str):
        self.name = name


@lru_cache(maxsize=1024)
def parse(text: str) -> Unit:
    """A unit expression; ValueError when it is none."""
    tokens: list[str] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _UnknownUnit(text[at:].strip()) if text[at].isalnum() else ValueError(text)
        power, square, sign, name = match[2], match[3], match[4], match[5]
        tokens.append(f"^{power}" if power else {"²": "^2", "³": "^3"}[square] if square else sign or name)
        at = match.end()
    unit, rest = _product(tokens, 0, 0)
    if rest != len(tokens) or not tokens:
        raise ValueError(text)
    return unit


def _product(tokens: list[str], at: int, depth: int) -> tuple[Unit, int]:
    factor, powers, sign = Fraction(1), [0, 0, 0, 0], 1
    expects = True
    while at < len(tokens) and tokens[at] != ")":
        token = tokens[at]
        if token in ("*", "·", "/"):
            if expects:
                raise ValueError(token)
            sign, expects, at = (-1 if token == "/" else 1), True, at + 1
            continue
        if token == "(" and depth < 4:
            one, at = _product(tokens, at + 1, depth + 1)
            if at >= len(tokens):
                raise ValueError("(")
        elif token[0] in "^(":
            raise ValueError(token)
        elif token in UNITS:
            one = UNITS[token]
        else:
            raise _UnknownUnit(token)
        at += 1
        power = sign
        if at < len(tokens) and tokens[at][0] == "^":
            power, at = sign * int(tokens[at][1:]), at + 1
        factor *= one.factor**power
        powers = [a + power * b for a, b in zip(powers, one.powers, strict=True)]
        sign, expects = 1, False
    if expects:
        raise ValueError("nothing after an operator")
    return Unit(factor, (powers[0], powers[1], powers[2], powers[3])), at


# --- words for messages ---
def _kind(dimension: str | None) -> str:
    return "any kind" if dimension is None else KINDS_OF_QUANTITY.get(dimension, f"the kind {dimension}")


def _wanted(dimension: str | None) -> str:
    if dimension is None:
        return "a number, with a unit if it has one"
    kind = KINDS_OF_QUANTITY.get(dimension, f"a quantity in {dimension}")
    return kind if dimension == "1" else f"{kind}, as a number in {dimension} or with a unit"


def _example(dimension: str | None) -> str:
    samples = {
        "m": "120 mm",
        "rad": "15 deg",
        "m/rad": "5 mm/rev",
        "rad/s": "30 rpm",
        "1": "0.5",
        "kg": "250 g",
    }
    return f"'{samples.get(dimension or '', f'2.5 {dimension}' if dimension else '2.5 m')}'"


def _shown(given: Any) -> str:
    if isinstance(given, bool):
        return "true" if given else "false"
    text = repr(given)
    return "empty" if given is None else text if len(text) <= 60 else text[:57] + "…"
