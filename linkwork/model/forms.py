"""The forms in which a vector, an axis, a rotation, a number per freedom may be written; every door of the package takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import ModelError, Place
from linkwork.model.describe import UNTURNED, Matrix, Vector
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
        raise ModelError(f"{what} is {brief(given)}, not a list", where=where, fix=f"give {shape}")
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
            raise ModelError(
                f"{what} is '{given}'", where=where, fix="give x, y, z, -x, -y, -z or three numbers"
            )
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


# --- rotations ---
def rotation(given: Mapping[str, Any], source: Source, what: str, key: str = "rotation") -> Matrix:
    """Rotation matrix from the one of `rotation`, `quat_wxyz`, `quat_xyzw` that is in `given`.

    `rotation`: roll, pitch, yaw (turns about fixed x, then y, then z), or 3 rows, or a SciPy Rotation.
    """
    used = [k for k in (key, "quat_wxyz", "quat_xyzw") if given.get(k) is not None]
    if not used:
        return UNTURNED
    where = source.at(used[-1])
    if len(used) > 1:
        raise ModelError(
            f"{what} is given twice, as {' and '.join(used)}", where=where, fix="keep one of them"
        )
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
        quantity(e, "1", where, what)
        for e in listed(given, 4, where, what, f"four numbers in the order {order}")
    ]
    w, x, y, z = numbers if order == "wxyz" else (numbers[3], *numbers[:3])
    length = math.sqrt(w * w + x * x + y * y + z * z)
    if abs(length - 1) > 1e-3:
        raise ModelError(
            f"{what} has length {length:.6g}", where=where, fix="give a quaternion of length one"
        )
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


# --- one number per freedom ---
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
        raise ModelError(
            f"{what} is {kind.name} and has no freedom for '{word}'", where=where, fix=f"remove '{word}'"
        )
    if isinstance(given, (str, bool)) or not isinstance(given, (Sequence, np.ndarray)):
        given = [given] * kind.nv
    freedoms = ", ".join(name or "its freedom" for name, _ in kind.speeds)
    entries = listed(given, kind.nv, where, f"{word} of {what}", f"one number, or {kind.nv}: {freedoms}")
    return tuple(
        quantity(
            e,
            FREEDOM_UNITS[word][unit_ != "m/s"],
            where,
            f"{word} of {what}",
            infinite=word in _MAY_BE_INFINITE,
        )
        for e, (_, unit_) in zip(entries, kind.speeds, strict=True)
    )


_MAY_BE_INFINITE = ("lower", "upper", "effort", "velocity")


def limits(
    given: Any, kind: Kind, where: Place | None, what: str
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(lower, upper) of each freedom from (low, high) or a list of such pairs; None: no limit on that side."""
    if kind.quaternion is not None or kind.nv == 0:
        raise ModelError(
            f"{what} is {kind.name}, whose coordinates have no limits", where=where, fix="remove 'limits'"
        )
    form = "a lower and an upper limit, e.g. [-90 deg, 90 deg]"
    pairs = (
        [given]
        if kind.nv == 1
        else listed(given, kind.nv, where, f"limits of {what}", f"{kind.nv} pairs of limits")
    )
    low: list[float] = []
    high: list[float] = []
    for pair, (_, unit_) in zip(pairs, kind.speeds, strict=True):
        a, b = (None, None) if pair is None else listed(pair, 2, where, f"limits of {what}", form)
        dimension = FREEDOM_UNITS["lower"][unit_ != "m/s"]
        low.append(
            -math.inf if a is None else quantity(a, dimension, where, f"lower limit of {what}", infinite=True)
        )
        high.append(
            math.inf if b is None else quantity(b, dimension, where, f"upper limit of {what}", infinite=True)
        )
    return tuple(low), tuple(high)


def geared(armature: Any, rotor: Any, ratio: Any, kind: Kind, source: Source, what: str) -> tuple[float, ...]:
    """Armature of a rotor behind a gear: rotor inertia · ratio²."""
    if armature is not None:
        raise ModelError(
            f"{what} has an armature and a rotor", where=source.at("armature"), fix="keep one of them"
        )
    if rotor is None:
        raise ModelError(
            f"{what} has a gear ratio but no rotor inertia", where=source.at("gear_ratio"), fix="add it"
        )
    if kind.nv != 1:
        fix = "give armature, one number for each freedom"
        raise ModelError(
            f"{what} is {kind.name}: a rotor drives one freedom", where=source.at("rotor_inertia"), fix=fix
        )
    inertia = quantity(rotor, "kg*m^2", source.at("rotor_inertia"), f"rotor inertia of {what}")
    unit_ = "1" if kind.speeds[0][1] == "rad/s" else "rad/m"
    gear = 1.0 if ratio is None else quantity(ratio, unit_, source.at("gear_ratio"), f"gear ratio of {what}")
    return (inertia * gear * gear,)


_WITHOUT_AXIS = ("fixed", "free", "spherical", "prescribed")


def directions(axis_: Any, axis2: Any, kind: Kind, source: Source, what: str) -> dict[str, Vector]:
    """`axis` and `axis2` of a joint; z if none is given, and for the second one across it."""
    out: dict[str, Vector] = {}
    if axis_ is not None:
        if kind.name in _WITHOUT_AXIS:
            text = f"{what} is {kind.name} and has no axis"
            raise ModelError(text, where=source.at("axis"), fix="remove 'axis', or choose another kind")
        out["axis"] = axis(axis_, source.at("axis"), f"axis of {what}")
    if axis2 is not None:
        if kind.name != "universal":
            text = f"{what} is {kind.name} and has no second axis"
            raise ModelError(text, where=source.at("axis2"), fix="remove 'axis2', or make it universal")
        out["axis2"] = axis(axis2, source.at("axis2"), f"second axis of {what}")
    elif kind.name == "universal" and abs(out.get("axis", AXES["z"])[1]) > 0.9:
        out["axis2"] = AXES["z"]
    return out


def pitch(given: Any, kind: Kind, source: Source, what: str) -> float:
    where = source.at("pitch")
    if (given is not None) != (kind.name == "helical"):
        fix = "give pitch, e.g. '5 mm/rev'" if given is None else "remove 'pitch', or make it helical"
        raise ModelError(
            f"{what} is {kind.name} and has {'no' if given is None else 'a'} pitch", where=where, fix=fix
        )
    return 0.0 if given is None else quantity(given, "m/rad", where, f"pitch of {what}")


def brief(given: Any) -> str:
    if given is None:
        return "empty"
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"
