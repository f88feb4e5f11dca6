"""Sweeps for long mechanisms: each step traced once per group of like bodies, to be called in a loop over tables.

What a body hands to later sweeps, to its children or to its parent lies where `records.py` says; what makes bodies
alike, and the tables of the numbers in which they differ, stand in `groups.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import casadi as ca
import numpy as np

from linkwork.dynamics.groups import Groups
from linkwork.dynamics.records import Areas, inward_slots, outward_slots, sorted_by_area
from linkwork.dynamics.sweeps import SYMMETRIC, Link, Results, Sweep, link
from linkwork.errors import ModelError
from linkwork.model.check import check_moves_mass
from linkwork.model.joints import KINDS
from linkwork.model.model import Model
from linkwork.spatial import SX, zeros

Place = tuple[str, int]
"""Where a step's numbers come from or go to: ("q" | "v" | "table" | a side of `records.py`, first row)."""


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
    areas, slots      rows of a record, of an outward and of an inward slot (see `records.py`); slots of either way
    root              what the world holds in the three areas, one after the other
    kept              what the world holds in the end and goes out: name → first row, rows, through the three areas
    bodies            (bodies, 9) integers: group, parent, offset in q, offset in v, first number in `table`, and the
                      slots: outward own and parent's, inward own and parent's
    """

    name: str
    by: Mapping[str, str]
    steps: tuple[tuple[Step, ...], ...]
    inward: tuple[bool, ...]
    areas: tuple[int, int, int]
    slots: tuple[int, ...]
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
    groups = Groups(model)
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
    groups: Groups, g: int, s: int, sweep: Sweep, shapes: Mapping, root: Mapping, inputs: Mapping[str, str]
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


def _handed_on(traced: Sequence[_Traced]) -> set[str]:
    """Results that nobody reads but the children in the sweep that makes them."""
    made = {n: t.sweep for t in traced for n in t.results}
    kept = {n for t in traced for n in t.own} | {n for t in traced for n in t.other if made.get(n) != t.sweep}
    return {n for t in traced for n in t.other} - kept


def _laid_out(
    model: Model,
    name: str,
    sweeps: Sequence[Sweep],
    groups: Groups,
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
    passed = {n for sweep in sweeps for n in dict(sweep.passes)}
    handed_on = _handed_on(traced) - passed
    row, rows_of = sorted_by_area(sizes, handed_on, passed)
    slots = outward_slots(model.parent), inward_slots(model.parent)
    areas = Areas(rows_of, (int(slots[0].max()) + 1, int(slots[1].max()) + 1))

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
            elif n in row and flat.numel() and not (n in handed_on and groups.kin[t.group].tip):
                outs.append((flat, ("own", row[n])))
            if outputs.get(n, "root") != "root" and flat.numel():
                outs.append((flat, (n, 0)))
        ins = [(x, p) for x, p in ins if x.numel()]
        f = ca.Function(f"s{t.sweep}_g{t.group}", [x for x, _ in ins], [ca.densify(x) for x, _ in outs], {"cse": True})
        return Step(f, tuple(lies(p) for _, p in ins), tuple(lies(p) for _, p in outs))

    def lies(place: Place) -> Place:
        return areas.where(*place) if place[0] in ("own", "parent") else place

    count = len(groups.examples)
    start = np.zeros(sum(areas.sizes))
    for n, x in root.items():
        if n in row:
            start[row[n] : row[n] + sizes[n]] = np.array(ca.DM(ca.evalf(_flat(n, x)))).ravel()
    first, table = groups.table()
    kinds = [model.kind(i) for i in model.tree]
    offsets = [np.cumsum(n) - n for n in (np.array([k.nq for k in kinds], int), np.array([k.nv for k in kinds], int))]
    parent = np.array(model.parent[1:], int)
    near = [x for slot in slots for x in (slot[1:], slot[parent])]
    integers = np.stack([np.array(groups.of, int), parent, *offsets, first, *near], axis=1)
    return Rolled(
        name,
        {**inputs, **outputs},
        tuple(tuple(made(t) for t in traced[s * count : (s + 1) * count]) for s in range(len(sweeps))),
        tuple(s.direction == "inward" for s in sweeps),
        areas.sizes,
        areas.slots,
        start,
        {n: (row[n], sizes[n]) for n, by in outputs.items() if by == "root"},
        integers.astype(np.int32),
        table,
    )
