"""Bodies of long mechanisms sorted by structure: each group's step is lowered once, its members differ by a table.

Bodies are alike when their joints are of one kind, their axes and placements have the same structure, and they stand
alike among their kin: a tip sums up nothing, and the child visited first writes what the others add to. Numbers that
all bodies of a group share are folded into its step; the others stand in a table, one row a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from linkwork.dynamics.sweeps import body_inertia
from linkwork.model.describe import Body, Inertial, Joint
from linkwork.model.joints import KINDS
from linkwork.model.model import Model
from linkwork.spatial import SX

PASSIVE = ("damping", "stiffness", "rest", "friction", "armature")
LOOKS = attrgetter("kind", "axis", "rotation", *PASSIVE)


class Kin(NamedTuple):
    tip: bool  # has no children, so its sums are zero
    first: bool  # writes its parent's sums; its brothers add to them


class Groups:
    """Bodies sorted by structure; numbers shared within a group, numbers in the table."""

    def __init__(self, model: Model):
        keys: dict[tuple, int] = {}
        alike: tuple[dict[tuple, int], ...] = ({}, {}, {}, {})  # fields → group, so that a structure is looked at once
        self.kin: list[Kin] = []
        self.of: list[int] = []
        last = {p: i for i, p in enumerate(model.parent)}  # the child that is visited first on the way inwards
        for i, p, looks in zip(model.tree, model.parent[1:], map(LOOKS, model.joints[1:]), strict=True):
            kin = Kin(i not in last, last[p] == i)
            like = alike[2 * kin.tip + kin.first]
            g = like.get(looks)
            if g is None:
                g = like[looks] = keys.setdefault((kin, _structure(model.joint(i))), len(keys))
                if g == len(self.kin):
                    self.kin.append(kin)
            self.of.append(g)
        of = np.array(self.of, int)
        bodies = [b if len(b.inertials) == 1 else _one_part(b) for b in model.bodies]
        joints, self.examples, self.rows = model.joints, [], []
        for g in range(len(keys)):
            members = (np.flatnonzero(of == g) + 1).tolist()
            self.examples.append((model.joint(members[0]), bodies[members[0]]))
            self.rows.append(_numbers([joints[i] for i in members], [bodies[i].inertials[0] for i in members]))
        self.varying = [np.flatnonzero(np.any(n != n[0], axis=0)).tolist() for n in self.rows]

    def symbolic(self, g: int) -> tuple[Joint, Body, SX]:
        """The group's joint and body, with symbols for the numbers that vary."""
        joint, body = self.examples[g]
        table = SX.sym("table", len(self.varying[g]))
        values: list[Any] = list(self.rows[g][0])
        for k, at in enumerate(self.varying[g]):
            values[at] = table[k]
        return *_renumbered(joint, body, [float(x) if not isinstance(x, SX) else x for x in values]), table

    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """First number of each body, all numbers."""
        of = np.array(self.of, int)
        width = np.array([len(v) for v in self.varying], int)[of] if len(of) else np.zeros(0, int)
        first = np.cumsum(width) - width
        out = np.empty(int(width.sum()))
        for g, varying in enumerate(self.varying):
            out[first[of == g][:, None] + np.arange(len(varying))] = self.rows[g][:, varying]
        return first, out


def _structure(joint: Joint) -> tuple:
    """What must be equal for two joints to share a step."""
    plain = all(e in (-1.0, 0.0, 1.0) for row in joint.rotation for e in row)
    aligned = sorted(map(abs, joint.axis)) == [0.0, 0.0, 1.0]
    used = tuple(any(getattr(joint, w)) for w in PASSIVE)
    return (
        joint.kind,
        joint.axis if aligned or KINDS[joint.kind].plane else None,
        joint.rotation if plain else None,
        used,
    )


def _one_part(body: Body) -> Body:
    """All inertial parts as one, by numbers."""
    m, md, I = (np.array(ca.DM(x)) for x in (ca.evalf(e) for e in body_inertia(body)))
    mass = float(m[0, 0])
    c = md[:, 0] / mass if mass else np.zeros(3)
    I = I - mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    inertia = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return Body(body.name, (Inertial(mass, tuple(map(float, c)), tuple(map(float, inertia))),))


def _numbers(joints: Sequence[Joint | None], parts: Sequence[Inertial]) -> np.ndarray:
    """One row of numbers for each body, in the order in which `_renumbered` takes them."""
    words = ("position", "rotation", "axis", "axis2", "pitch", "friction_speed", *PASSIVE)
    columns = [_column(list(map(attrgetter(w), joints))) for w in words]
    columns += [_column(list(map(attrgetter(w), parts))) for w in ("mass", "centre", "inertia")]
    return np.hstack(columns)


def _column(values: list[Any]) -> np.ndarray:
    if values.count(values[0]) == len(values):
        return np.tile(np.array(values[0], float).ravel(), (len(values), 1))
    return np.array(values, float).reshape(len(values), -1)


def _renumbered(joint: Joint, body: Body, values: list[Any]) -> tuple[Joint, Body]:
    at = iter(values)

    def take(n: int) -> tuple:
        return tuple(next(at) for _ in range(n))

    changes: dict[str, Any] = {
        "position": take(3),
        "rotation": (take(3), take(3), take(3)),
        "axis": take(3),
        "axis2": take(3),
    }
    changes["pitch"], changes["friction_speed"] = take(2)
    changes.update({w: take(len(getattr(joint, w))) for w in PASSIVE})
    part = Inertial(next(at), take(3), take(6))
    return replace(joint, **changes), Body(body.name, (part,))
