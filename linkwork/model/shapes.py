"""Mass, centre and inertia of solids, and how inertias move and turn. Floats; z is the axis of symmetry.

The inertia of a part is (xx, yy, zz, xy, xz, yz) about its own centre of mass, as in `describe.Inertial`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from linkwork.model.describe import ORIGIN, UNTURNED, Inertial, Matrix, Vector

Six = tuple[float, float, float, float, float, float]
Array = NDArray[np.float64]


def box(x: float, y: float, z: float, *, mass: float | None = None, density: float | None = None) -> Inertial:
    """A solid box with edges x, y, z."""
    m = _mass(mass, density, x * y * z)
    return _diagonal(m, m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12)


def sphere(radius: float, *, mass: float | None = None, density: float | None = None) -> Inertial:
    """A solid ball."""
    m = _mass(mass, density, 4 / 3 * math.pi * radius**3)
    i = 0.4 * m * radius**2
    return _diagonal(m, i, i, i)


def shell(radius: float, *, mass: float) -> Inertial:
    """A thin hollow ball."""
    i = 2 / 3 * mass * radius**2
    return _diagonal(mass, i, i, i)


def cylinder(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> Inertial:
    """A solid cylinder along z."""
    return tube(radius, 0.0, length, mass=mass, density=density)


def tube(
    outer: float, inner: float, length: float, *, mass: float | None = None, density: float | None = None
) -> Inertial:
    """A cylinder along z with a bore: radii `outer` and `inner`."""
    m = _mass(mass, density, math.pi * (outer**2 - inner**2) * length)
    square = outer**2 + inner**2
    across = m * (3 * square + length**2) / 12
    return _diagonal(m, across, across, m * square / 2)


def capsule(radius: float, length: float, *, mass: float | None = None, density: float | None = None) -> Inertial:
    """A solid cylinder of `length` along z with a half ball on each end."""
    rod, ball = math.pi * radius**2 * length, 4 / 3 * math.pi * radius**3
    m = _mass(mass, density, rod + ball)
    m_rod, m_ball = (m * rod / (rod + ball), m * ball / (rod + ball)) if rod + ball else (m, 0.0)
    across = m_rod * (3 * radius**2 + length**2) / 12
    across += m_ball * (0.4 * radius**2 + length**2 / 4 + 3 / 8 * length * radius)
    return _diagonal(m, across, across, m_rod * radius**2 / 2 + 0.4 * m_ball * radius**2)


def rod(length: float, *, mass: float) -> Inertial:
    """A thin rod along z."""
    across = mass * length**2 / 12
    return _diagonal(mass, across, across, 0.0)


SOLIDS = {
    "box": (box, ("x", "y", "z")),
    "sphere": (sphere, ("radius",)),
    "cylinder": (cylinder, ("radius", "length")),
    "tube": (tube, ("outer radius", "inner radius", "length")),
    "capsule": (capsule, ("radius", "length")),
    "rod": (rod, ("length",)),
    "shell": (shell, ("radius",)),
}
MASS_ONLY = ("rod", "shell")  # they have no volume, so density means nothing


def _mass(mass: float | None, density: float | None, volume: float) -> float:
    if (mass is None) == (density is None):
        raise ValueError("give either mass or density")
    return mass if mass is not None else density * volume  # type: ignore[operator]


def _diagonal(mass: float, xx: float, yy: float, zz: float) -> Inertial:
    return Inertial(mass, ORIGIN, (xx, yy, zz, 0.0, 0.0, 0.0))


# --- tensors ---
def tensor(six: Sequence[float]) -> Array:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], float)


def six(tensor: Array) -> Six:
    I = tensor
    return (float(I[0, 0]), float(I[1, 1]), float(I[2, 2]), float(I[0, 1]), float(I[0, 2]), float(I[1, 2]))


def turned(inertia: Sequence[float], rotation: Matrix) -> Six:
    """The tensor told in other axes: `rotation` turns its axes into the new ones (R I Rᵀ)."""
    if rotation == UNTURNED:
        return tuple(float(e) for e in inertia)  # type: ignore[return-value]
    R = np.array(rotation, float)
    return six(R @ tensor(inertia) @ R.T)


def steiner(mass: float, centre: Vector) -> Array:
    """What a mass at `centre` adds to the inertia about the origin: m (d·d E − d dᵀ)."""
    d = np.array(centre, float)
    return mass * (d @ d * np.eye(3) - np.outer(d, d))


def about_origin(part: Inertial) -> Six:
    """Inertia about the body's origin instead of the centre of mass."""
    return six(tensor(part.inertia) + steiner(part.mass, part.centre))


def about_centre(mass: float, centre: Vector, inertia: Sequence[float]) -> Six:
    """Inertia about the centre of mass, of one that was given about the body's origin."""
    return six(tensor(inertia) - steiner(mass, centre))


def placed(part: Inertial, position: Vector = ORIGIN, rotation: Matrix = UNTURNED) -> Inertial:
    """The part moved: its frame is set at `position`, turned by `rotation` (part axes → body axes)."""
    R = np.array(rotation, float)
    centre = np.array(position, float) + R @ np.array(part.centre, float)
    return replace(part, centre=tuple(float(e) for e in centre), inertia=turned(part.inertia, rotation))


def total(parts: Sequence[Inertial]) -> Inertial:
    """All parts of a body as one."""
    if len(parts) == 1:
        return parts[0]
    mass = float(sum(p.mass for p in parts))
    moment = sum((p.mass * np.array(p.centre, float) for p in parts), np.zeros(3))
    centre = tuple(float(e) for e in (moment / mass if mass else moment))
    origin = sum((tensor(about_origin(p)) for p in parts), np.zeros((3, 3)))
    return Inertial(mass, centre, six(origin - steiner(mass, centre)))  # type: ignore[arg-type]
