"""The forms in which a vector, an axis, a rotation, an inertia may be written; every door of the package takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import shapes
from linkwork.model.describe import UNTURNED, Inertial, Matrix, Vector
from linkwork.model.joints import Kind
from linkwork.model.units import quantity

AXES: dict[str, Vector] = {
    sign + name: tuple(factor if k == n else 0.0 for k in range(3))  # type: ignore[misc]
    for sign, factor in (("", 1.0), ("+", 1.0), ("-", -1.0))
    for n, name in enumerate("xyz")
}


@dataclass(frozen=True)
class Source:
    """Where an element was written, and where each of its keys was."""

    place: Place | None = None
    keys: Mapping[str, Place] = field(default_factory=dict)

    def at(self, key: str) -> Place | None:
        return self.keys.get(key, self.place)


def listed(given: Any, count: int | tuple[int, ...], where: Place | None, what: str, shape: str) -> list[Any]:
    """`given` as a list of `count` entries."""
    counts = (count,) if isinstance(count, int) else count
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise ModelError(f"{what} is {_brief(given)}, not a list", where=where, fix=f"give {shape}")
    if len(given) not in counts:
        raise ModelError(f"{what} has {len(given)} entries", where=where, fix=f"give {shape}")
    return list(given)


def vector(given: Any, dimension: str, where: Place | None, what: str) -> Vector:
    x, y, z = listed(given, 3, where, what, f"three numbers in {dimension}, or with units")
    return (
        quantity(x, dimension, where, f"{what}, x,"),
        quantity(y, dimension, where, f"{what}, y,"),
        quantity(z, dimension, where, f"{what}, z,"),
    )


def axis(given: Any, where: Place | None, what: str) -> Vector:
    """A unit vector from "x", "-y" or three numbers."""
    if isinstance(given, str):
        if given.strip() not in AXES:
            raise ModelError(f"{what} is '{given}'", where=where, fix="give x, y, z, -x, -y, -z or three numbers")
        return AXES[given.strip()]
    direction = vector(given, "1", where, what)
    length = math.sqrt(sum(e * e for e in direction))
    if length == 0:
        raise ModelError(f"{what} is zero", where=where, fix="give a direction, e.g. [0, 0, 1] or z")
    return direction if abs(length - 1) < 1e-15 else unit(direction)


def unit(direction: Vector) -> Vector:
    biggest = max(abs(e) for e in direction)
    scaled = [e / biggest for e in direction]
    length = math.sqrt(sum(e * e for e in scaled))
    return (scaled[0] / length, scaled[1] / length, scaled[2] / length)


# --- rotations ----------------------------------------------------------------------------------------------------------
def rotation(given: Mapping[str, Any], source: Source, what: str, key: str = "rotation") -> Matrix:
    """Rotation matrix from the one of `rotation`, `quat_wxyz`, `quat_xyzw` that is in `given`.

    `rotation`: roll, pitch, yaw (turns about fixed x, then y, then z), or 3 rows, or a SciPy Rotation.
    """
    used = [k for k in (key, "quat_wxyz", "quat_xyzw") if given.get(k) is not None]
    if not used:
        return UNTURNED
    where = source.at(used[-1])
    if len(used) > 1:
        raise ModelError(f"{what} is given twice, as {' and '.join(used)}", where=where, fix="keep one of them")
    value, what = given[used[0]], f"{used[0]} of {what}"
    if used[0] != key:
        return of_quaternion(wxyz(value, used[0][-4:], where, what))
    if hasattr(value, "as_matrix"):
        value = value.as_matrix()
    entries = listed(value, 3, where, what, "roll, pitch, yaw, or three rows of a rotation matrix")
    if isinstance(entries[0], (Sequence, np.ndarray)) and not isinstance(entries[0], str):
        return _orthogonal([vector(row, "1", where, what) for row in entries], where, what)
    return of_rpy(vector(entries, "rad", where, what))


def wxyz(given: Any, order: str, where: Place | None, what: str) -> tuple[float, float, float, float]:
    """A unit quaternion (w, x, y, z), from four numbers in the order "wxyz" or "xyzw"."""
    numbers = [
        quantity(e, "1", where, what) for e in listed(given, 4, where, what, f"four numbers in the order {order}")
    ]
    w, x, y, z = numbers if order == "wxyz" else (numbers[3], *numbers[:3])
    length = math.sqrt(w * w + x * x + y * y + z * z)
    if abs(length - 1) > 1e-3:
        raise ModelError(f"{what} has length {length:.6g}", where=where, fix="give a quaternion of length one")
    if abs(length - 1) < 1e-15:
        return (w, x, y, z)
    return (w / length, x / length, y / length, z / length)


def of_quaternion(quat: tuple[float, float, float, float]) -> Matrix:
    w, x, y, z = quat
    return clean(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def of_rpy(rpy: Vector) -> Matrix:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    if not any(rpy):
        return UNTURNED
    (sr, sp, sy), (cr, cp, cy) = [[_snap(f(a)) for a in rpy] for f in (math.sin, math.cos)]
    return clean(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def clean(rows: Any) -> Matrix:
    """Round-off near 0 and ±1 removed, so that zeros are zeros by structure."""
    a, b, c = [(_snap(float(x)), _snap(float(y)), _snap(float(z))) for x, y, z in rows]
    return (a, b, c)


def _snap(x: float) -> float:
    if abs(x) < 1e-15:
        return 0.0
    return math.copysign(1.0, x) if abs(abs(x) - 1) < 1e-15 else x


def _orthogonal(rows: list[Vector], where: Place | None, what: str) -> Matrix:
    R = np.array(rows)
    off = float(np.abs(R @ R.T - np.eye(3)).max())
    if off > 1e-4 or np.linalg.det(R) < 0:
        raise ModelError(
            f"{what} is not a rotation matrix",
            where=where,
            fix="its rows must be unit vectors at right angles that make a right-handed set",
        )
    if off > 1e-14:
        u, _, vt = np.linalg.svd(R)
        R = u @ vt
    return clean(R.tolist())


# --- inertia ------------------------------------------------------------------------------------------------------------
def inertia(given: Any, where: Place | None, what: str) -> shapes.Six:
    """(xx, yy, zz, xy, xz, yz) from 3 moments, those 6, or 3 rows of the tensor."""
    form = "3 moments, or 6 values xx, yy, zz, xy, xz, yz, or 3 rows of the tensor"
    entries = listed(given, (3, 6), where, what, form)
    if len(entries) == 3 and isinstance(entries[0], (Sequence, np.ndarray)) and not isinstance(entries[0], str):
        rows = [vector(row, "kg*m^2", where, what) for row in entries]
        biggest = max(abs(e) for row in rows for e in row)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if abs(rows[i][j] - rows[j][i]) > 1e-6 * biggest:
                raise ModelError(
                    f"{what} is not symmetric: {rows[i][j]:g} and {rows[j][i]:g} face each other",
                    where=where,
                    fix="write the same number on both sides of the diagonal",
                )
        return (rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])
    numbers = [quantity(e, "kg*m^2", where, what) for e in entries] + [0.0] * (6 - len(entries))
    return tuple(numbers)  # type: ignore[return-value]


PART_KEYS = ("name", "mass", "centre", "inertia", "axes", "about", "shape", "size", "density", "unchecked")


def part(given: Mapping[str, Any], source: Source, what: str) -> Inertial | None:
    """One part of a body's mass from its keys (`PART_KEYS`); None when no mass is told."""
    said = {k: v for k, v in given.items() if v is not None and k in PART_KEYS}
    if "shape" in said:
        return _solid(said, source, what)
    if stray := [k for k in ("size", "density") if k in said]:
        raise ModelError(f"{what} has a {stray[0]} but no shape", where=source.at(stray[0]), fix="add the shape, e.g. box")
    if "mass" not in said:
        if stray := [k for k in ("inertia", "centre", "axes", "about") if k in said]:
            raise ModelError(f"{what} has '{stray[0]}' but no mass", where=source.at(stray[0]), fix="add its mass")
        return None
    mass = quantity(said["mass"], "kg", source.at("mass"), f"mass of {what}")
    centre = vector(said.get("centre", (0, 0, 0)), "m", source.at("centre"), f"centre of {what}")
    moments = inertia(said.get("inertia", (0, 0, 0)), source.at("inertia"), f"inertia of {what}")
    moments = shapes.turned(moments, rotation(said, source, what, "axes"))
    about = said.get("about", "centre")
    if about not in ("centre", "origin"):
        raise ModelError(f"inertia of {what} is about '{about}'", where=source.at("about"), fix="write centre or origin")
    if about == "origin":
        moments = shapes.about_centre(mass, centre, moments)
    return Inertial(
        mass, centre, moments, str(said.get("name", "")), source.place, unchecked=said.get("unchecked") is True
    )


def size_of(given: Mapping[str, Any], source: Source, what: str) -> tuple[str, tuple[float, ...]]:
    """Name and sizes of a solid."""
    shape = given["shape"]
    if shape not in shapes.SOLIDS:
        raise ModelError(f"{what} has an unknown shape '{shape}'", where=source.at("shape"), fix=nearest(str(shape), shapes.SOLIDS))
    words = shapes.SOLIDS[shape][1]
    where, size = source.at("size"), given.get("size")
    if size is None:
        raise ModelError(f"{what} is a {shape} without size", where=source.at("shape"), fix=f"add size: {', '.join(words)}")
    if len(words) == 1 and (isinstance(size, str) or not isinstance(size, (Sequence, np.ndarray))):
        size = [size]
    entries = listed(size, len(words), where, f"size of {what}", f"{len(words)} numbers: {', '.join(words)}")
    numbers = tuple(quantity(e, "m", where, f"{w} of {what}") for e, w in zip(entries, words, strict=True))
    if bad := [w for w, e in zip(words, numbers, strict=True) if e < 0]:
        raise ModelError(f"{bad[0]} of {what} is below zero", where=where, fix="sizes are zero or more")
    return shape, numbers


def _solid(said: Mapping[str, Any], source: Source, what: str) -> Inertial:
    shape, size = size_of(said, source, what)
    if "inertia" in said or "about" in said:
        raise ModelError(
            f"{what} has a shape and an inertia", where=source.at("inertia"), fix="the shape gives the inertia; keep one"
        )
    if ("mass" in said) == ("density" in said) or (shape in shapes.MASS_ONLY and "density" in said):
        choice = "mass" if shape in shapes.MASS_ONLY else "mass or density"
        raise ModelError(f"{what} is a {shape}: how heavy is it?", where=source.at("shape"), fix=f"give {choice}, one of them")
    word, unit_ = ("mass", "kg") if "mass" in said else ("density", "kg/m^3")
    heavy = quantity(said[word], unit_, source.at(word), f"{word} of {what}")
    centre = vector(said.get("centre", (0, 0, 0)), "m", source.at("centre"), f"centre of {what}")
    made = shapes.placed(shapes.SOLIDS[shape][0](*size, **{word: heavy}), centre, rotation(said, source, what, "axes"))
    return replace(made, name=str(said.get("name", "")), source=source.place)


# --- one number per freedom -----------------------------------------------------------------------------------------------
FREEDOM_UNITS = {  # word → (unit along a translation, unit about a rotation)
    "damping": ("N*s/m", "N*m*s/rad"),
    "stiffness": ("N/m", "N*m/rad"),
    "rest": ("m", "rad"),
    "friction": ("N", "N*m"),
    "armature": ("kg", "kg*m^2"),
    "lower": ("m", "rad"),
    "upper": ("m", "rad"),
    "effort": ("N", "N*m"),
    "velocity": ("m/s", "rad/s"),
}


def per_freedom(given: Any, word: str, kind: Kind, where: Place | None, what: str) -> tuple[float, ...]:
    """One number for each freedom of a joint; a single one serves them all."""
    if kind.nv == 0:
        raise ModelError(f"{what} is {kind.name} and has no freedom for '{word}'", where=where, fix=f"remove '{word}'")
    if isinstance(given, (str, bool)) or not isinstance(given, (Sequence, np.ndarray)):
        given = [given] * kind.nv
    freedoms = ", ".join(name or "its freedom" for name, _ in kind.speeds)
    entries = listed(given, kind.nv, where, f"{word} of {what}", f"one number, or {kind.nv}: {freedoms}")
    return tuple(
        quantity(e, FREEDOM_UNITS[word][unit_ != "m/s"], where, f"{word} of {what}", infinite=word in _MAY_BE_INFINITE)
        for e, (_, unit_) in zip(entries, kind.speeds, strict=True)
    )


_MAY_BE_INFINITE = ("lower", "upper", "effort", "velocity")


def limits(given: Any, kind: Kind, where: Place | None, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(lower, upper) of each freedom from (low, high) or a list of such pairs; None: no limit on that side."""
    if kind.quaternion is not None or kind.nv == 0:
        raise ModelError(f"{what} is {kind.name}, whose coordinates have no limits", where=where, fix="remove 'limits'")
    form = "a lower and an upper limit, e.g. [-90 deg, 90 deg]"
    pairs = [given] if kind.nv == 1 else listed(given, kind.nv, where, f"limits of {what}", f"{kind.nv} pairs of limits")
    low: list[float] = []
    high: list[float] = []
    for pair, (_, unit_) in zip(pairs, kind.speeds, strict=True):
        a, b = (None, None) if pair is None else listed(pair, 2, where, f"limits of {what}", form)
        dimension = FREEDOM_UNITS["lower"][unit_ != "m/s"]
        low.append(-math.inf if a is None else quantity(a, dimension, where, f"lower limit of {what}", infinite=True))
        high.append(math.inf if b is None else quantity(b, dimension, where, f"upper limit of {what}", infinite=True))
    return tuple(low), tuple(high)


def _brief(given: Any) -> str:
    if given is None:
        return "empty"
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"
