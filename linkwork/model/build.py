"""Description → Model: put the tree in order, check everything, name every fault."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork.errors import ModelError, nearest
from linkwork.model import numbers
from linkwork.model.describe import Body, Description, Inertial, Joint
from linkwork.model.joints import KINDS
from linkwork.model.model import Model

ROUNDING = 1e-6  # relative: inertias in files carry six or seven digits


def build(description: Description) -> Model:
    """The Model of a Description. Input order is free; it is kept wherever a parent comes before its child."""
    d = description
    _names_unique(d)
    _ends_known(d)
    order = _ordered(d)
    carried = {joint.child: joint for joint in d.joints}
    bodies = {b.name: b for b in d.bodies} | {d.world.name: d.world}
    index = {name: i for i, name in enumerate([d.world.name, *order])}
    model = Model(
        name=d.name,
        gravity=d.gravity,
        bodies=tuple(bodies[name] for name in index),
        joints=(None, *(_filled(carried[name]) for name in order)),
        parent=(-1, *(index[carried[name].parent] for name in order)),
        laws=d.laws,
        constants=dict(d.constants),
        start=dict(d.start),
        notes=d.notes,
        folder=d.folder,
        source=d.source,
    )
    _couplings(model)
    check_numbers(model)
    return model.replace(parameters=tuple(dict.fromkeys(d.parameters)))


def _filled(joint: Joint) -> Joint:
    """Per-freedom numbers at full length, so that each can be addressed by name."""
    nv = KINDS[joint.kind].nv
    fill = {}
    for word, default in (*((w, 0.0) for w in numbers.PER_FREEDOM), ("lower", -math.inf), ("upper", math.inf),
                          ("effort", math.inf), ("velocity", math.inf)):  # fmt: skip
        given = getattr(joint, word)
        if len(given) == 1 and nv > 1:
            given = given * nv
        if given and len(given) != nv:
            raise ModelError(
                f"joint '{joint.name}' ({joint.kind}) has {nv} freedoms but {len(given)} values of '{word}'",
                where=joint.source,
                fix=f"give one value, or {nv}" if nv else f"remove '{word}'",
            )
        fill[word] = tuple(given) or (default,) * nv
    return replace(joint, **fill)


def _names_unique(d: Description) -> None:
    frames = [*d.bodies, d.world, *(m for b in (*d.bodies, d.world) for m in b.markers)]
    for what, things in (("body or marker", frames), ("joint", d.joints), ("law", d.laws)):
        count = Counter(t.name for t in things)
        for thing in things:
            if not thing.name:
                raise ModelError(f"a {what} has no name", where=thing.source, fix="give it one")
            if count[thing.name] > 1:
                places = [str(t.source) for t in things if t.name == thing.name and t.source]
                raise ModelError(
                    f"{count[thing.name]} times the name '{thing.name}' for a {what}" + (f" ({', '.join(places)})" if places else ""),
                    where=[t for t in things if t.name == thing.name][1].source,
                    fix="rename one of them",
                )


def _ends_known(d: Description) -> None:
    names = {b.name for b in d.bodies} | {d.world.name}
    carried: dict[str, Joint] = {}
    for joint in d.joints:
        if joint.kind not in KINDS:
            raise ModelError(f"joint '{joint.name}' is of unknown kind '{joint.kind}'", where=joint.source, fix=nearest(joint.kind, KINDS))
        for end in (joint.parent, joint.child):
            if end not in names:
                raise ModelError(f"joint '{joint.name}' names an unknown body '{end}'", where=joint.source, fix=nearest(end, sorted(names)))
        if joint.child == d.world.name:
            raise ModelError(f"joint '{joint.name}' carries the world", where=joint.source, fix="swap parent and child")
        if other := carried.get(joint.child):
            raise ModelError(
                f"body '{joint.child}' is carried by two joints, '{other.name}'{f' ({other.source})' if other.source else ''} and '{joint.name}'",
                where=joint.source,
                fix="a body hangs on one joint; loops are not part of this version, so remove one of the joints",
            )
        carried[joint.child] = joint
    for body in d.bodies:
        if body.name not in carried:
            raise ModelError(
                f"body '{body.name}' hangs on no joint",
                where=body.source,
                fix=f"add a joint with child '{body.name}' (kind 'free' if it floats, 'fixed' if it is welded to the world)",
            )


def _ordered(d: Description) -> list[str]:
    """Bodies with parents first; otherwise in the order of the joints as given."""
    left, done, order = list(d.joints), {d.world.name}, []
    while left:
        ready = [j for j in left if j.parent in done]
        if not ready:
            ring = _ring(left)
            raise ModelError(
                "these bodies carry one another in a ring: " + " → ".join(f"'{name}'" for name in ring),
                where=left[0].source,
                fix="a tree starts at the world: let one of these joints have the world (or a body that hangs on it) as parent",
            )
        if len(ready) == len(left):
            return order + [j.child for j in left]
        waiting = []
        for j in left:
            (order.append(j.child), done.add(j.child)) if j.parent in done else waiting.append(j)
        left = waiting
    return order


def _ring(joints: list[Joint]) -> list[str]:
    above = {j.child: j.parent for j in joints}
    path = [joints[0].child]
    while path[-1] in above and above[path[-1]] not in path:
        path.append(above[path[-1]])
    if path[-1] in above:
        path = path[path.index(above[path[-1]]) :]
    return [*path, path[0]]


def _couplings(model: Model) -> None:
    for i in model.coupled:
        joint = model.joint(i)
        coupling = joint.coupling
        assert coupling is not None
        place = coupling.source or joint.source
        leader = model.joint_index.get(coupling.leader)
        if leader is None:
            raise ModelError(f"joint '{joint.name}' follows an unknown joint '{coupling.leader}'", where=place, fix=nearest(coupling.leader, model.joint_index))
        if leader == i:
            raise ModelError(f"joint '{joint.name}' follows itself", where=place, fix="name another joint")
        if model.joint(leader).coupling is not None:
            raise ModelError(f"joint '{joint.name}' follows '{coupling.leader}', which follows another joint itself", where=place, fix="let both follow the same joint")
        for k in (i, leader):
            if model.kind(k).nv != 1:
                raise ModelError(f"coupling of '{joint.name}' with '{coupling.leader}': joint '{model.joint(k).name}' has {model.kind(k).nv} freedoms", where=place, fix="only joints of one freedom can be coupled")


# --- numbers ------------------------------------------------------------------------------------------------------------
def check_numbers(model: Model) -> None:
    """Raise ModelError for the first number that no mechanism can have."""
    _finite(model.gravity, "gravity", model.source)
    for body in model.bodies:
        for part in body.inertials:
            _check_inertial(body, part)
        for marker in body.markers:
            _finite(marker.position, f"position of marker '{marker.name}'", marker.source or body.source)
    for i in model.tree:
        _check_joint(model.joint(i))
    for name, value in model.constants.items():
        _finite((value,), f"constant '{name}'", model.source)


def _finite(values: Iterable[Any], what: str, where: Any) -> None:
    for value in values:
        if not math.isfinite(value):
            raise ModelError(f"{what} is {value}, not a finite number", where=where, fix="give a finite number")
        if abs(value) > 1e30:
            raise ModelError(f"{what} is {value:g}, beyond anything mechanical", where=where, fix="check the unit")


def _check_inertial(body: Body, part: Inertial) -> None:
    where, what = part.source or body.source, f"body '{body.name}'" + (f", part '{part.name}'" if part.name else "")
    _finite((part.mass,), f"mass of {what}", where)
    _finite(part.centre, f"centre of {what}", where)
    _finite(part.inertia, f"inertia of {what}", where)
    if part.mass < 0:
        raise ModelError(f"mass of {what} is {part.mass:g} kg, below zero", where=where, fix="masses are zero or more")
    xx, yy, zz, xy, xz, yz = (float(e) for e in part.inertia)
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    slack = ROUNDING * max(moments[2], 0.0) + 1e-300
    if moments[0] < -slack:
        raise ModelError(f"inertia of {what} has a principal moment of {moments[0]:.4g} kg*m^2, below zero", where=where, fix="check the signs of the products; xy is the entry I[0,1] of the tensor")
    if moments[2] > (moments[0] + moments[1]) * (1 + ROUNDING) + slack:
        raise ModelError(
            f"inertia of {what} breaks the triangle inequality: principal moments {moments[0]:.4g} + {moments[1]:.4g} < {moments[2]:.4g} kg*m^2",
            where=where,
            fix="no solid has such moments; check the tensor, its unit and that it is about the centre of mass",
        )
    if part.mass == 0 and moments[2] > 0:
        raise ModelError(f"{what} has inertia but no mass", where=where, fix="give it a mass, or zero inertia")


def _check_joint(joint: Joint) -> None:
    what, where = f"joint '{joint.name}'", joint.source
    _finite(joint.position, f"position of {what}", where)
    for word in ("axis", "axis2"):
        axis = getattr(joint, word)
        _finite(axis, f"{word} of {what}", where)
        length = math.sqrt(sum(float(a) ** 2 for a in axis))
        if abs(length - 1) > 1e-9:
            raise ModelError(f"{word} of {what} has length {length:g}", where=where, fix="give a direction that is not zero")
    R = np.array([[float(e) for e in row] for row in joint.rotation])
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
        raise ModelError(f"rotation of {what} is not a rotation", where=where, fix="give roll, pitch, yaw, or a unit quaternion, or an orthogonal right-handed matrix")
    if joint.kind == "universal" and abs(sum(a * b for a, b in zip(joint.axis, joint.axis2, strict=True))) > 1 - 1e-9:
        raise ModelError(f"the two axes of universal {what} are parallel", where=where, fix="give axis2 another direction")
    if joint.kind == "prescribed" and joint.motion is None:
        raise ModelError(f"prescribed {what} has no motion", where=where, fix="give motion = a function of time that returns position and quaternion")
    never_negative: dict[str, Callable[[Any], bool]] = {w: lambda x: x < 0 for w in ("damping", "stiffness", "friction", "armature", "effort", "velocity")}
    for word in (*numbers.PER_FREEDOM, "lower", "upper", "effort", "velocity"):
        for value in getattr(joint, word):
            if value != value or (word in numbers.PER_FREEDOM and not math.isfinite(value)):
                raise ModelError(f"{word} of {what} is {value}, not a finite number", where=where, fix="give a finite number")
            if word in never_negative and value < 0:
                raise ModelError(f"{word} of {what} is {value:g}, below zero", where=where, fix=f"{word} is zero or more")
    for low, high in zip(joint.lower, joint.upper, strict=True):
        if low > high:
            raise ModelError(f"lower limit {low:g} of {what} is above its upper limit {high:g}", where=where, fix="swap them")
    _finite((joint.pitch, joint.friction_speed), f"pitch or friction speed of {what}", where)
    if joint.friction_speed <= 0:
        raise ModelError(f"friction_speed of {what} is {joint.friction_speed:g}", where=where, fix="give a speed above zero")
