"""The numbers of a model: the first that no mechanism can have is told, with its part and place."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ModelError, Place
from linkwork.model import numbers
from linkwork.model.describe import UNTURNED, Body, Inertial, Joint, Matrix

if TYPE_CHECKING:
    from linkwork.model.model import Model

ROUNDING = 1e-6  # relative: inertias in files carry six or seven digits
LARGEST = 1e30
NEVER_NEGATIVE = ("damping", "stiffness", "friction", "armature", "effort", "velocity")


def check_numbers(model: Model) -> None:
    """Raise ModelError for the first number that no mechanism can have."""
    _finite(model.gravity, "gravity", model.source)
    for body in model.bodies:
        for part in body.inertials:
            _check_inertial(body, part)
        for marker in body.markers:
            where = marker.source or body.source
            _finite(marker.position, f"position of marker '{marker.name}'", where)
            _rotation(marker.rotation, f"marker '{marker.name}'", where)
    for i in model.tree:
        _check_joint(model.joint(i))
    for name, value in model.constants.items():
        _finite((value,), f"constant '{name}'", model.source)


def _finite(values: Iterable[Any], what: str, where: Place | None) -> None:
    for value in values:
        if not math.isfinite(value):
            raise ModelError(f"{what} is {value}, not a finite number", where=where, fix="give a finite number")
        if abs(value) > LARGEST:
            raise ModelError(f"{what} is {value:g}, beyond anything mechanical", where=where, fix="check the unit")


def _check_inertial(body: Body, part: Inertial) -> None:
    where = part.source or body.source
    what = f"body '{body.name}'" + (f", part '{part.name}'" if part.name else "")
    _finite((part.mass,), f"mass of {what}", where)
    _finite(part.centre, f"centre of {what}", where)
    _finite(part.inertia, f"inertia of {what}", where)
    if part.mass < 0:
        raise ModelError(f"mass of {what} is {part.mass:g} kg, below zero", where=where, fix="masses are zero or more")
    if not part.unchecked and (fault := inertia_fault(part)):
        raise ModelError(f"inertia of {what} {fault[0]}", where=where, fix=fault[1])


def moments(part: Inertial) -> tuple[float, float, float]:
    """Principal moments, smallest first."""
    xx, yy, zz, xy, xz, yz = (float(e) for e in part.inertia)
    if xy == xz == yz == 0:
        a, b, c = sorted((xx, yy, zz))
        return a, b, c
    a, b, c = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]).tolist()
    return a, b, c


def inertia_fault(part: Inertial) -> tuple[str, str] | None:
    """(what is wrong, how to mend it) with an inertia that no solid can have."""
    a, b, c = moments(part)
    slack = ROUNDING * max(c, 0.0)
    if a < -slack:
        fix = "check the signs of the products; xy is the entry I[0,1] of the tensor"
        return f"has a principal moment of {a:.4g} kg*m^2, below zero", fix
    if c > a + b + slack:
        fix = "no solid has such moments; check the tensor, its unit and that it is about the centre of mass"
        return f"breaks the triangle inequality: principal moments {a:.4g} + {b:.4g} < {c:.4g} kg*m^2", fix
    if part.mass == 0 and c > 0:
        return "is there but its mass is zero", "give it a mass, or zero inertia"
    return None


def _rotation(R: Matrix, what: str, where: Place | None) -> None:
    if R is UNTURNED:
        return
    x, y, z = R
    across = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
    off = [abs(a - b) for a, b in zip(across, z, strict=True)]
    off += [
        abs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1),
        abs(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] - 1),
    ]
    off += [abs(x[0] * y[0] + x[1] * y[1] + x[2] * y[2])]
    if not all(e < 1e-9 for e in off):
        raise ModelError(
            f"rotation of {what} is not a rotation",
            where=where,
            fix="give roll, pitch, yaw, or a unit quaternion, or an orthogonal right-handed matrix",
        )


def _check_joint(joint: Joint) -> None:
    what, where = f"joint '{joint.name}'", joint.source
    _finite(joint.position, f"position of {what}", where)
    for word, axis in (("axis", joint.axis), ("axis2", joint.axis2)):
        _finite(axis, f"{word} of {what}", where)
        length = math.sqrt(sum(float(a) ** 2 for a in axis))
        if abs(length - 1) > 1e-9:
            fix = "give a direction that is not zero"
            raise ModelError(f"{word} of {what} has length {length:g}", where=where, fix=fix)
    _rotation(joint.rotation, what, where)
    cosine = sum(a * b for a, b in zip(joint.axis, joint.axis2, strict=True))
    if joint.kind == "universal" and abs(cosine) > 1 - 1e-9:
        raise ModelError(
            f"the two axes of universal {what} are parallel", where=where, fix="give axis2 another direction"
        )
    if (joint.kind == "prescribed") != (joint.motion is not None):
        raise ModelError(
            f"{what} is {joint.kind} and has {'no' if joint.motion is None else 'a'} motion",
            where=where,
            fix="prescribed joints, and no others, have a motion: position and quaternion by time",
        )
    _check_freedoms(joint, what, where)
    _finite((joint.pitch, joint.friction_speed), f"pitch or friction speed of {what}", where)
    if joint.friction_speed <= 0:
        fix = "give a speed above zero"
        raise ModelError(f"friction_speed of {what} is {joint.friction_speed:g}", where=where, fix=fix)
    if joint.coupling is not None:
        place = joint.coupling.source or where
        _finite((joint.coupling.ratio, joint.coupling.offset), f"ratio or offset of {what}", place)


def _check_freedoms(joint: Joint, what: str, where: Place | None) -> None:
    for word in (*numbers.PER_FREEDOM, "lower", "upper", "effort", "velocity"):
        for value in getattr(joint, word):
            if word in numbers.PER_FREEDOM:
                _finite((value,), f"{word} of {what}", where)
            elif value != value:
                raise ModelError(f"{word} of {what} is {value}, not a number", where=where, fix="give a number")
            if word in NEVER_NEGATIVE and value < 0:
                raise ModelError(
                    f"{word} of {what} is {value:g}, below zero", where=where, fix=f"{word} is zero or more"
                )
    for low, high in zip(joint.lower, joint.upper, strict=True):
        if low > high:
            text = f"lower limit {low:g} of {what} is above its upper limit {high:g}"
            raise ModelError(text, where=where, fix="swap them")


def unmoved(model: Model) -> list[int]:
    """Joints that move no mass: a model may have them, but no formulation can say how they accelerate."""
    heavy = [any(map(_is_something, b.inertials)) for b in model.bodies]
    if all(heavy[1:]):
        return []
    for i in reversed(model.tree):
        heavy[model.parent[i]] |= heavy[i]
    moved = {i for i in model.tree if heavy[i] or not any(map(_is_zero, model.joint(i).armature))}
    moved |= {model.joint_index[c.leader] for i in moved if (c := model.joint(i).coupling) and not _is_zero(c.ratio)}
    return [i for i in model.independent if model.kind(i).nv and i not in moved]


def check_moves_mass(model: Model) -> None:
    """Raise ModelError for the first joint that moves no mass."""
    for i in unmoved(model):
        joint = model.joint(i)
        raise ModelError(
            f"joint '{joint.name}' moves no mass, so its acceleration is not defined",
            where=joint.source,
            fix=f"give body '{joint.child}' (or what it carries) a mass, or weld it with a fixed joint",
        )


def _is_something(part: Inertial) -> bool:
    if type(part.mass) is float and part.mass > 0:  # of most bodies there is no more to ask
        return True
    return not (_is_zero(part.mass) and all(map(_is_zero, part.inertia)))


def _is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0
