"""Sweeps for long mechanisms: each step traced once per group of like bodies, to be called in a loop over tables.

Bodies are alike when their joints are of one kind, their axes and placements have the same structure, and they stand
alike among their kin: a tip sums up nothing, and the child visited first writes what the others add to. Numbers that
all bodies of a group share are folded into its step; the others stand in a table, one row a body. What a body hands to
later sweeps, to its children or to its parent lies in its record, a column of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from linkwork.dynamics.sweeps import SYMMETRIC, Link, Results, Sweep, body_inertia, link
from linkwork.errors import ModelError
from linkwork.model.check import check_moves_mass
from linkwork.model.describe import Body, Inertial, Joint
from linkwork.model.joints import KINDS
from linkwork.model.model import Model
from linkwork.spatial import SX, zeros

Place = tuple[
    str, int
]  # where a step's number comes from or goes to: ("q" | "v" | "own" | "parent" | "table", first row)
PASSIVE = ("damping", "stiffness", "rest", "friction", "armature")


@dataclass(frozen=True)
class Step:
    """One step of one group: a function of rows, and where each of its arguments lies."""

    function: ca.Function
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]


@dataclass(frozen=True)
class Rolled:
    """Numbers only: what the compiler needs to run sweeps in a loop.

    by                names of what comes in and goes out per joint → "q" or "v", the offset it is taken at, or "root"
    steps[s][g]       the step of sweep s for group g
    inward[s]         direction
    record, root      rows of a record; the world's record
    kept              what the world's record holds in the end and goes out: name → first row, rows
    bodies            (bodies, 5) integers: group, parent, offset in q, offset in v, first number in `table`
    """

    name: str
    by: Mapping[str, str]
    steps: tuple[tuple[Step, ...], ...]
    inward: tuple[bool, ...]
    record: int
    root: np.ndarray
    kept: Mapping[str, tuple[int, int]]
    bodies: np.ndarray
    table: np.ndarray


def _flat(name: str, x: SX) -> SX:
    """A result as rows: symmetric matrices by their lower triangle."""
    x = ca.densify(x)
    return (
        ca.vertcat(*[x[i, j] for j in range(x.shape[1]) for i in range(j, x.shape[0])])
        if name in SYMMETRIC
        else ca.vec(x)
    )


def _shaped(name: str, rows: SX, shape: tuple[int, int]) -> SX:
    if name not in SYMMETRIC:
        return ca.reshape(rows, *shape)
    x, k = SX.zeros(*shape), 0
    for j in range(shape[1]):
        for i in range(j, shape[0]):
            x[i, j] = x[j, i] = rows[k]
            k += 1
    return x


def _rows(name: str, shape: tuple[int, int]) -> int:
    n, m = shape
    return n * (n + 1) // 2 if name in SYMMETRIC else n * m


class _Reader:
    """Stands for a record while a step is traced; remembers what the step read."""

    _shapes: Mapping[str, tuple[int, int]]
    _read: dict[str, tuple[SX, SX]]

    def __init__(self, shapes: Mapping[str, tuple[int, int]]):
        self.__dict__["_shapes"], self.__dict__["_read"] = shapes, {}

    def __getattr__(self, name: str) -> SX:
        if name not in self._shapes:
            raise AttributeError(name)
        if name not in self._read:
            rows = SX.sym(name, _rows(name, self._shapes[name]))
            self._read[name] = rows, _shaped(name, rows, self._shapes[name])
        return self._read[name][1]


class _Own(Link):
    """A link whose earlier results are read from its record."""

    def __getattr__(self, name: str) -> SX:
        return getattr(self.__dict__["_record"], name)


@dataclass
class _Traced:
    """A step before rows are given out."""

    group: int
    sweep: int
    symbols: dict[str, SX]
    own: dict[str, tuple[SX, SX]]
    other: dict[str, tuple[SX, SX]]
    results: dict[str, SX]


def rolled(
    model: Model,
    name: str,
    sweeps: Sequence[Sweep],
    root: Results,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
) -> Rolled:
    """`inputs`, `outputs`: names of what comes in per joint (q, v, tau …) and goes out (v_dot …) → "q" or "v".

    An output "root" is a sum that has reached the world.
    """
    _refuse(model)
    if "v_dot" in outputs:
        check_moves_mass(model)
    groups = _Groups(model)
    shapes: list[dict[str, tuple[int, int]]] = [{} for _ in groups.examples]
    root_shapes = {k: tuple(x.shape) for k, x in root.items()}
    traced = []
    for s, sweep in enumerate(sweeps):
        for g in range(len(groups.examples)):
            traced.append(_trace(groups, g, s, sweep, shapes[g], root_shapes, inputs))
        for t in traced[-len(groups.examples) :]:
            shapes[t.group].update({k: tuple(x.shape) for k, x in t.results.items() if k not in dict(sweep.passes)})
    return _laid_out(model, name, sweeps, groups, traced, root, inputs, outputs)


def _refuse(model: Model) -> None:
    if model.coupled:
        raise ModelError(
            f"'{model.name}' has coupled joints and too many bodies to be unrolled",
            fix="remove the couplings; long mechanisms run in loops over bodies",
        )
    if model.is_moved:
        raise ModelError(
            f"'{model.name}' has prescribed motions and too many bodies to be unrolled",
            fix="fix the base; long mechanisms run in loops over bodies",
        )
    if model.laws:
        raise ModelError(
            f"'{model.name}' has laws and too many bodies to be unrolled",
            fix="remove the laws; long mechanisms run in loops over bodies",
        )


def _trace(
    groups: _Groups, g: int, s: int, sweep: Sweep, shapes: Mapping, root: Mapping, inputs: Mapping[str, str]
) -> _Traced:
    kind = KINDS[groups.examples[g][0].kind]
    joint, body, table = groups.symbolic(g)
    symbols = {n: SX.sym(n, kind.nq if by == "q" else kind.nv) for n, by in inputs.items()}
    record = _Reader(shapes)
    turn = _again(kind.motion(joint, symbols["q"], symbols["v"], SX(0)).R, record) if s else None
    b = link(
        joint,
        body,
        symbols["q"],
        symbols["v"],
        SX(0),
        turn,
        **{k: x for k, x in symbols.items() if k not in "qv"},
    )
    own = _Own(**b.__dict__, _record=record, joint=joint, kind=kind)
    for known in shapes:
        own.__dict__.pop(known, None)
    sums = dict(sweep.passes)
    if sweep.direction == "inward" and groups.kin[g].tip:
        other, read = SimpleNamespace(**{n: zeros(*shape) for n, shape in sums.items()}), {}
    else:
        other = _Reader(sums if sweep.direction == "inward" else {**root, **shapes})
        read = other._read
    results = dict(sweep.step(own, other))
    if s == 0:
        moving = _moving(b.X.turn)
        results["turn"] = ca.vertcat(*moving) if moving else SX(0, 1)
    return _Traced(g, s, {**symbols, "table": table}, record._read, read, results)


def _moving(R: SX) -> list[SX]:
    """The different entries of a rotation that are not constant, up to sign."""
    found: list[SX] = []
    for k in range(9):
        e = R[k // 3, k % 3]
        if not e.is_constant() and not any(_same(e, f) for f in found):
            found.append(e)
    return found


def _same(a: SX, b: SX) -> int:
    return 1 if ca.is_equal(a, b, 4) else -1 if ca.is_equal(a, -b, 4) or ca.is_equal(-a, b, 4) else 0


def _again(R: SX, record: _Reader) -> SX:
    """The rotation made of the entries stored by the first sweep."""
    moving = _moving(R)
    if not moving:
        return R
    out, stored = SX(R), record.turn
    for k in range(9):
        e = R[k // 3, k % 3]
        for m, f in enumerate(moving):
            if not e.is_constant() and (sign := _same(e, f)):
                out[k // 3, k % 3] = sign * stored[m]
                break
    return out


class _Kin(NamedTuple):
    tip: bool  # has no children, so its sums are zero
    first: bool  # writes its parent's sums; its brothers add to them


class _Groups:
    """Bodies sorted by structure; numbers shared within a group, numbers in the table."""

    def __init__(self, model: Model):
        keys: dict[tuple, int] = {}
        alike: dict[tuple, int] = {}  # the fields themselves → group, so that a structure is looked at once
        members: list[list[tuple[Joint, Body]]] = []
        self.of: list[int] = []
        self.kin: list[_Kin] = []
        last = {p: i for i, p in enumerate(model.parent)}  # the child that is visited first on the way inwards
        for i in model.tree:
            joint, body = model.joint(i), _one_part(model.bodies[i])
            kin = i not in last, last[model.parent[i]] == i
            fields = (*kin, joint.kind, joint.axis, joint.rotation, *(getattr(joint, w) for w in PASSIVE))
            g = alike.get(fields)
            if g is None:
                g = alike[fields] = keys.setdefault((kin, _structure(joint)), len(keys))
                if g == len(members):
                    members.append([])
                    self.kin.append(_Kin(*kin))
            self.of.append(g)
            members[g].append((joint, body))
        self.examples = [m[0] for m in members]
        self.rows = [_numbers(m) for m in members]
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
    if len(body.inertials) == 1:
        return body
    m, md, I = (np.array(ca.DM(x)) for x in (ca.evalf(e) for e in body_inertia(body)))
    mass = float(m[0, 0])
    c = md[:, 0] / mass if mass else np.zeros(3)
    I = I - mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    inertia = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return Body(body.name, (Inertial(mass, tuple(map(float, c)), tuple(map(float, inertia))),))


def _numbers(members: Sequence[tuple[Joint, Body]]) -> np.ndarray:
    """One row of numbers for each body, in the order in which `_renumbered` takes them."""
    joints, parts = [j for j, _ in members], [b.inertials[0] for _, b in members]
    words = ("position", "rotation", "axis", "axis2", "pitch", "friction_speed", *PASSIVE)
    columns = [[getattr(j, w) for j in joints] for w in words]
    columns += [[getattr(p, w) for p in parts] for w in ("mass", "centre", "inertia")]
    return np.hstack([np.array(c, float).reshape(len(members), -1) for c in columns])


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


def _laid_out(
    model: Model,
    name: str,
    sweeps: Sequence[Sweep],
    groups: _Groups,
    traced: list[_Traced],
    root: Results,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
) -> Rolled:
    """Give out rows of the record to what is read by anyone, and make the functions."""
    needed = {n for t in traced for n in (*t.own, *t.other)} | {n for n, by in outputs.items() if by == "root"}
    sizes: dict[str, int] = {}
    for t in traced:
        for n, (rows, _) in (*t.own.items(), *t.other.items()):
            sizes[n] = max(sizes.get(n, 0), rows.numel())
        for n, x in t.results.items():
            if n in needed:
                sizes[n] = max(sizes.get(n, 0), _flat(n, x).numel())
    passed = [n for sweep in sweeps for n in dict(sweep.passes) if n in sizes]
    order = [*passed, *(n for n in sizes if n not in passed)]
    row = dict(zip(order, np.concatenate([[0], np.cumsum([sizes[n] for n in order])]).tolist(), strict=False))
    record = sum(sizes.values())

    def made(t: _Traced) -> Step:
        passes = dict(sweeps[t.sweep].passes)
        ins: list[tuple[SX, Place]] = [(x, (n, 0)) for n, x in t.symbols.items()]
        ins += [(rows, ("own", row[n])) for n, (rows, _) in t.own.items()]
        side = "own" if sweeps[t.sweep].direction == "inward" else "parent"
        ins += [(rows, (side, row[n])) for n, (rows, _) in t.other.items()]
        outs: list[tuple[SX, Place]] = []
        for n, x in t.results.items():
            flat = _flat(n, x)
            if n in passes and n in row and groups.kin[t.group].first:
                outs.append((flat, ("parent", row[n])))
            elif n in passes and n in row:
                above = SX.sym(f"{n}_above", flat.numel())
                ins.append((above, ("parent", row[n])))
                outs.append((above + flat, ("parent", row[n])))
            elif n in row and flat.numel():
                outs.append((flat, ("own", row[n])))
            if outputs.get(n, "root") != "root" and flat.numel():
                outs.append((flat, (n, 0)))
        ins = [(x, p) for x, p in ins if x.numel()]
        f = ca.Function(f"s{t.sweep}_g{t.group}", [x for x, _ in ins], [ca.densify(x) for x, _ in outs], {"cse": True})
        return Step(f, tuple(p for _, p in ins), tuple(p for _, p in outs))

    count = len(groups.examples)
    start = np.zeros(record)
    for n, x in root.items():
        if n in row:
            start[row[n] : row[n] + sizes[n]] = np.array(ca.DM(ca.evalf(_flat(n, x)))).ravel()
    first, table = groups.table()
    kinds = [model.kind(i) for i in model.tree]
    offsets = [np.cumsum(n) - n for n in (np.array([k.nq for k in kinds], int), np.array([k.nv for k in kinds], int))]
    integers = np.stack([np.array(groups.of, int), np.array(model.parent[1:], int), *offsets, first], axis=1)
    return Rolled(
        name,
        {**inputs, **outputs},
        tuple(tuple(made(t) for t in traced[s * count : (s + 1) * count]) for s in range(len(sweeps))),
        tuple(s.direction == "inward" for s in sweeps),
        record,
        start,
        {n: (row[n], sizes[n]) for n, by in outputs.items() if by == "root"},
        integers.astype(np.int64),
        table,
    )
