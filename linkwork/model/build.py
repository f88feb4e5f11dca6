"""Description → Model: put the tree in order, check everything, name every fault."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from linkwork.errors import ModelError, nearest
from linkwork.model import numbers
from linkwork.model.check import check_numbers
from linkwork.model.check_laws import check_laws
from linkwork.model.describe import Description, Joint
from linkwork.model.joints import KINDS
from linkwork.model.model import Model

LONGEST_NAME = 200


def build(description: Description) -> Model:
    """The Model of a Description. Input order is free; it is kept where parents come before children."""
    d = description
    _names_unique(d)
    _ends_known(d)
    carried = {joint.child: joint for joint in d.joints}
    order = _ordered(d, carried)
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
    _coordinates_unique(model)
    check_numbers(model)
    check_laws(model)
    _start_known(model)
    for name in d.parameters:
        model.require_number(name)
    return replace(model, parameters=tuple(dict.fromkeys(d.parameters)))


_FILL: Mapping[str, float] = {
    **dict.fromkeys(numbers.PER_FREEDOM, 0.0),
    "lower": -math.inf,
    "upper": math.inf,
    "effort": math.inf,
    "velocity": math.inf,
}


def _filled(joint: Joint) -> Joint:
    """Per-freedom numbers at full length, so that each can be addressed by name."""
    nv = KINDS[joint.kind].nv
    fill = {}
    for word, default in _FILL.items():
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


# --- names ---
def _names_unique(d: Description) -> None:
    _name_readable("model", d)
    frames = [*d.bodies, d.world, *(m for b in (*d.bodies, d.world) for m in b.markers)]
    for what, things in (("body or marker", frames), ("joint", d.joints), ("law", d.laws)):
        count = Counter(t.name for t in things)
        for thing in things:
            _name_readable(what, thing)
            if count[thing.name] > 1:
                same = [t for t in things if t.name == thing.name]
                places = ", ".join(str(t.source) for t in same if t.source)
                raise ModelError(
                    f"the name '{thing.name}' is given to {len(same)} of the kind {what}"
                    + (f" ({places})" if places else ""),
                    where=same[1].source,
                    fix="rename one of them",
                )
    for name in d.constants:
        if "." in name or not name.isprintable() or not name:
            raise ModelError(f"a constant is named '{name}'", where=d.source, fix="use a name without a dot")


def _name_readable(what: str, thing: object) -> None:
    name, where = getattr(thing, "name"), getattr(thing, "source")  # noqa: B009
    if not name:
        raise ModelError(f"a {what} has no name", where=where, fix="give it one")
    if len(name) > LONGEST_NAME:
        raise ModelError(f"a {what} has a name of {len(name)} characters", where=where, fix=f"at most {LONGEST_NAME}")
    if not name.isprintable() or name != name.strip():
        text = f"a {what} has the name {name!r}"
        raise ModelError(text, where=where, fix="no control characters, no spaces at either end")


def _ends_known(d: Description) -> None:
    names = {b.name for b in d.bodies} | {d.world.name}
    carried: dict[str, Joint] = {}
    for joint in d.joints:
        what, where = f"joint '{joint.name}'", joint.source
        if joint.kind not in KINDS:
            fix = nearest(joint.kind, KINDS)
            raise ModelError(f"{what} is of unknown kind '{joint.kind}'", where=where, fix=fix)
        for end in (joint.parent, joint.child):
            if end not in names:
                raise ModelError(f"{what} names an unknown body '{end}'", where=where, fix=nearest(end, sorted(names)))
        if joint.child == d.world.name:
            raise ModelError(f"{what} carries the world", where=where, fix="swap parent and child")
        if other := carried.get(joint.child):
            at = f" ({other.source})" if other.source else ""
            raise ModelError(
                f"body '{joint.child}' is carried by two joints, '{other.name}'{at} and '{joint.name}'",
                where=where,
                fix="a body hangs on one joint; loops are not part of this version: remove one of them",
            )
        carried[joint.child] = joint
    for body in d.bodies:
        if body.name not in carried:
            raise ModelError(
                f"body '{body.name}' hangs on no joint",
                where=body.source,
                fix=f"add a joint with child '{body.name}' (kind 'free' or 'fixed', say)",
            )


# --- order ---
def _ordered(d: Description, carried: Mapping[str, Joint]) -> list[str]:
    """Bodies with parents first; otherwise in the order of the joints as given."""
    below: dict[str, list[int]] = {}
    for k, joint in enumerate(d.joints):
        below.setdefault(joint.parent, []).append(k)
    ready, order = list(below.get(d.world.name, ())), []
    while ready:
        child = d.joints[heapq.heappop(ready)].child
        order.append(child)
        for k in below.get(child, ()):
            heapq.heappush(ready, k)
    if len(order) < len(d.joints):
        done = set(order)
        joint = next(j for j in d.joints if j.child not in done)
        raise ModelError(
            "these bodies carry one another in a ring: " + _ring(joint, carried),
            where=joint.source,
            fix="a tree starts at the world: let one of these joints have the world as parent",
        )
    return order


def _ring(joint: Joint, carried: Mapping[str, Joint]) -> str:
    path = {joint.child: None}  # keeps its order
    above = joint.parent
    while above not in path:
        path[above] = None
        above = carried[above].parent
    names = list(path)
    ring = names[names.index(above) :]
    shown = [f"'{name}'" for name in (*ring, ring[0])]
    return " → ".join(shown if len(shown) <= 12 else [*shown[:10], "…", shown[-1]])


# --- between parts ---
def _couplings(model: Model) -> None:
    for i in model.coupled:
        joint = model.joint(i)
        coupling = joint.coupling
        assert coupling is not None
        what, place = f"joint '{joint.name}'", coupling.source or joint.source
        leader = model.joint_index.get(coupling.leader)
        if leader is None:
            fix = nearest(coupling.leader, model.joint_index)
            raise ModelError(f"{what} follows an unknown joint '{coupling.leader}'", where=place, fix=fix)
        if leader == i:
            raise ModelError(f"{what} follows itself", where=place, fix="name another joint")
        if model.joint(leader).coupling is not None:
            text = f"{what} follows '{coupling.leader}', which follows another joint itself"
            raise ModelError(text, where=place, fix="let both follow the same joint")
        for k in (i, leader):
            if model.kind(k).nv != 1:
                nv, name = model.kind(k).nv, model.joint(k).name
                text = f"{what} follows '{coupling.leader}': joint '{name}' has {nv} freedoms"
                raise ModelError(text, where=place, fix="only joints of one freedom can be coupled")


def _coordinates_unique(model: Model) -> None:
    """Joints 'elbow' and 'elbow.rate' would both have an 'elbow.rate'."""
    if not any("." in model.joint(i).name for i in model.tree):
        return
    name, many = Counter((*model.q_names, *model.v_names)).most_common(1)[0] if model.nv else ("", 1)
    if many > 1:
        joint = next(model.joint(i) for i in model.tree if "." in model.joint(i).name and name in model.joint(i).name)
        text = f"'{name}' stands for {many} coordinates or speeds"
        raise ModelError(text, where=joint.source, fix=f"rename joint '{joint.name}'")


def _start_known(model: Model) -> None:
    known = {*model.q_names, *model.v_names} if model.start else set()
    for name in model.start:
        if name not in known:
            fix = nearest(name, (*model.q_names, *model.v_names))
            raise ModelError(f"start names an unknown coordinate or speed '{name}'", where=model.source, fix=fix)
