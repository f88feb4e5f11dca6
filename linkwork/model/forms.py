"""The forms in which a vector, an axis, a rotation may be written; every door of the package takes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import ModelError, Place
from linkwork.model.describe import UNTURNED, Matrix, Vector
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


def word(given: Any, where: Place | None, what: str) -> str:
    """A name."""
    if not isinstance(given, str):
        raise ModelError(f"{what} is {brief(given)}, not text", where=where, fix="give a name, e.g. 'elbow'")
    return given


def table(given: Any, where: Place | None, what: str) -> Mapping[str, Any]:
    """Names → values; nothing at all counts as none."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"{what} is {brief(given)}", where=where, fix="give names → values, e.g. {'elbow': 0.3}")
    for name in given:
        word(name, where, f"a name in {what}")
    return given


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
    if off <= 1e-14:
        return (rows[0], rows[1], rows[2])
    u, _, vt = np.linalg.svd(R)
    return clean((u @ vt).tolist())


def brief(given: Any) -> str:
    if given is None:
        return "empty"
    text = repr(given)
    return text if len(text) <= 60 else text[:57] + "…"
