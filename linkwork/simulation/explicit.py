"""Explicit methods as statements of a program: a step, its error, its dense output."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from ..compiler.program import Assign, Statement, View, call, for_rows
from . import control
from .sheet import Sheet, traced
from .tableaux import Controller, Row, Tableau


class Method(Protocol):
    """A one-step method. Every one begins with stage 0 = rhs(t, y) and ends with `last` = rhs(t1, y1)."""

    @property
    def name(self) -> str: ...
    @property
    def order(self) -> int: ...
    @property
    def dense_order(self) -> int: ...
    @property
    def controller(self) -> Controller | None:
        """None: the step is fixed."""
        ...

    @property
    def stages(self) -> int:
        """Rows of n kept in `Sheet.k`."""
        ...

    @property
    def last(self) -> int:
        """Which of them is rhs(t1, y1)."""
        ...

    @property
    def sums(self) -> int: ...
    @property
    def dense(self) -> int:
        """Rows of n that dense output needs."""
        ...

    @property
    def error(self) -> Callable[[ca.SX, ca.SX, ca.SX], ca.SX]:
        """(size, sums, norm) → the error, 1 being just good enough."""
        ...

    def attempt(self, s: Sheet) -> list[Statement]:
        """(t, size, y, stage 0) → y1, last, sums."""
        ...

    def prepare(self, s: Sheet) -> list[Statement]:
        """What dense output over the step needs, in the lanes where the step was accepted."""
        ...

    def interpolate(self, s: Sheet) -> list[Statement]:
        """`s.out` = the state at t + theta size, not projected."""
        ...


def weighted(weights: Row, stages: dict[int, ca.SX]) -> ca.SX:
    """Σ w_i k_i in the order of the stages."""
    total = ca.SX(0)
    for i in sorted(weights):
        total = total + weights[i] * stages[i]
    return total


def combine(s: Sheet, weights: Row, to: View, name: str) -> Statement:
    """to = y + size Σ w_i k_i, row by row."""
    used = sorted(weights)

    def formula(y, size, *k):
        return [y + size * weighted(weights, dict(zip(used, k, strict=True)))]

    function = traced(name, (1,) * (2 + len(used)), formula)
    return for_rows(s.n, function, (s.y.each(), s.size, *(s.stage(i).each() for i in used)), (to.each(),))


def clear(views: Iterable[View]) -> list[Statement]:
    """Rows of zeros."""
    zero = traced("zero", (), lambda: [ca.SX(0)])
    return [call(zero, (), (row,)) for view in views for row in view]


def sum_if_finite(s: Sheet) -> list[Statement]:
    """sums = 0, or infinity if y1 is not finite."""
    function = control.add_unless_finite()
    return [*clear((s.sums,)), for_rows(s.n, function, (s.sums[0], s.y1.each()), (s.sums[0],))]


def prepare_hermite(s: Sheet, rows: Iterable[Row] = ()) -> Statement:
    """r₁, r₂, r₃ and the further rows of dense output."""
    rows = tuple(rows)
    used = sorted({0} | {i for row in rows for i in row})
    at_end = (s.last.first - s.k.first) // s.n
    used = sorted({*used, at_end})

    def formula(y, y1, size, *k):
        stages = dict(zip(used, k, strict=True))
        r1 = y1 - y
        r2 = size * stages[0] - r1
        r3 = 2 * r1 - size * (stages[0] + stages[at_end])
        return [r1, r2, r3, *(size * weighted(row, stages) for row in rows)]

    function = traced("prepare", (1,) * (3 + len(used)), formula)
    inputs = (s.y.each(), s.y1.each(), s.size, *(s.stage(i).each() for i in used))
    parts = [s.dense[i * s.n : (i + 1) * s.n].each() for i in range(3 + len(rows))]
    return for_rows(s.n, function, inputs, parts)


def interpolate_nested(s: Sheet, count: int) -> Statement:
    """out = y + θ (r₁ + (1−θ) (r₂ + θ (r₃ + …))), and y₁ itself at θ = 1."""

    def formula(theta, y, y1, *r):
        total = r[-1]
        for i in range(count - 2, -1, -1):
            total = r[i] + (theta if i % 2 else 1 - theta) * total
        return [ca.if_else(theta >= 1, y1, y + theta * total)]

    function = traced("interpolate", (1,) * (3 + count), formula)
    parts = [s.dense[i * s.n : (i + 1) * s.n].each() for i in range(count)]
    return for_rows(s.n, function, (s.theta, s.y.each(), s.y1.each(), *parts), (s.out.each(),))


@dataclass(frozen=True)
class Explicit:
    """The method of a tableau."""

    tableau: Tableau

    @property
    def name(self) -> str:
        return self.tableau.name

    @property
    def order(self) -> int:
        return self.tableau.order

    @property
    def dense_order(self) -> int:
        return self.tableau.dense_order

    @property
    def controller(self) -> Controller | None:
        return self.tableau.controller

    @property
    def stages(self) -> int:
        return self.tableau.rows

    @property
    def last(self) -> int:
        return self.tableau.stages

    @property
    def sums(self) -> int:
        return len(self.tableau.errors)

    @property
    def dense(self) -> int:
        return 3 + len(self.tableau.dense)

    @property
    def error(self) -> Callable[[ca.SX, ca.SX, ca.SX], ca.SX]:
        return control.rms_of_two if self.sums == 2 else control.rms

    def attempt(self, s: Sheet) -> list[Statement]:
        tableau = self.tableau
        nodes = (*tableau.c, *tableau.extra_c)
        times = s.layout.rows("times", len(nodes))
        function = traced("times", (1, 1), lambda t, size: [ca.vertcat(*(t + c * size for c in nodes))])
        body: list[Statement] = [call(function, (s.t, s.size), (times,))]
        for i in range(1, tableau.stages):
            body.append(combine(s, tableau.a[i], s.y1, f"stage{i}"))
            body.append(s.evaluate(times[i], s.y1, s.stage(i)))
        body.append(combine(s, tableau.b, s.y1, "step"))
        body += s.projected(s.y1)
        body.append(s.evaluate(s.t1, s.y1, s.last))
        return body + (self._errors(s) if tableau.errors else sum_if_finite(s))

    def _errors(self, s: Sheet) -> list[Statement]:
        """sums[i] = Σ (size Σ_j e_ij k_j / scale)² over the rows; infinite if y1 is not finite."""
        rows = self.tableau.errors
        used = sorted({i for row in rows for i in row})

        def formula(sums, y, y1, atol, rtol, size, *k):
            stages = dict(zip(used, k, strict=True))
            factor = size / control.scale(y, y1, atol, rtol)
            terms = [(factor * weighted(row, stages)) ** 2 for row in rows]
            terms[0] = ca.if_else(control.finite(y1), terms[0], ca.SX.inf())
            return [sums + ca.vertcat(*terms)]

        function = traced("errors", (len(rows), *(1,) * (5 + len(used))), formula)
        inputs = (s.sums, s.y.each(), s.y1.each(), s.atol.each(), s.setting("rtol"), s.size)
        stages = (s.stage(i).each() for i in used)
        return [*clear((s.sums,)), for_rows(s.n, function, (*inputs, *stages), (s.sums,))]

    def prepare(self, s: Sheet) -> list[Statement]:
        tableau = self.tableau
        body: list[Statement] = []
        if tableau.extra_a:
            times = View("times", 0, len(tableau.c) + len(tableau.extra_c))
            for i, row in enumerate(tableau.extra_a):
                body.append(combine(s, row, s.out, f"extra{i}"))
                body.append(s.evaluate(times[tableau.stages + i], s.out, s.stage(tableau.stages + 1 + i)))
        return [*body, prepare_hermite(s, tableau.dense)]

    def interpolate(self, s: Sheet) -> list[Statement]:
        return [interpolate_nested(s, self.dense)]


@dataclass(frozen=True)
class Euler:
    """Semi-implicit: v₁ = v + h a(t, q, v), q₁ = advance(q, v₁, h). Dense output is cubic Hermite."""

    advance: ca.Function | None
    name: str = "euler"
    order: int = 1
    dense_order: int = 3
    controller: Controller | None = None
    stages: int = 2
    last: int = 1
    sums: int = 0
    dense: int = 3

    @property
    def error(self) -> Callable[[ca.SX, ca.SX, ca.SX], ca.SX]:
        return control.rms

    def attempt(self, s: Sheet) -> list[Statement]:
        nq, nv = s.nq, s.n - s.nq
        go = traced("go", (1, 1, 1), lambda x, h, rate: [x + h * rate])
        q, v, q1, v1 = s.y[:nq], s.y[nq:], s.y1[:nq], s.y1[nq:]
        body: list[Statement] = [
            for_rows(nv, go, (v.each(), s.size, s.stage(0)[nq:].each()), (v1.each(),)),
        ]
        if self.advance is None:
            body.append(for_rows(nq, go, (q.each(), s.size, v1.each()), (q1.each(),)))
        else:
            body.append(call(self.advance, (q, v1, s.size), (q1,)))
        return [*body, *s.projected(s.y1), s.evaluate(s.t1, s.y1, s.last), *sum_if_finite(s)]

    def prepare(self, s: Sheet) -> list[Statement]:
        return [prepare_hermite(s)]

    def interpolate(self, s: Sheet) -> list[Statement]:
        return [interpolate_nested(s, 3)]


def copy(mask: View, target: View, source: View) -> Statement:
    """target = source in the lanes of the mask."""
    return Assign(mask, target, source)
