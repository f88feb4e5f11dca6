"""The greatest values of functions of the state along a sample, and when they were reached.

They are looked at where a motion begins, at the quarters of every accepted step (on its cubic Hermite curve) and at its
end, so what is missed is of the order of (step/8)² of the curvature, whatever the output times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..compiler.program import Callee, Statement, View, call, callee, for_rows
from .events import QUARTERS
from .explicit import copy
from .sheet import Sheet, traced


@dataclass(frozen=True)
class Peaks:
    """Rows: greatest values so far, their times, and what is compared with them."""

    function: Callee
    most: View
    when: View
    value: View
    mask: View
    time: View
    begin: View
    least: View

    @property
    def count(self) -> int:
        return self.most.rows


def peaks(function: ca.Function | Callee, s: Sheet) -> Peaks:
    """Declare the rows."""
    found = callee(function)
    (m,) = found.rows_out()

    def rows(name: str, count: int) -> View:
        return s.layout.rows(f"peak {name}", count)

    return Peaks(
        found, rows("most", m), rows("when", m), rows("value", m), rows("mask", 1), rows("time", 1), rows("begin", 1),
        rows("least", m),
    )  # fmt: skip


def reset(p: Peaks, got: View) -> list[Statement]:
    """A new sample knows no value yet."""
    return [copy(got, p.most, p.least), copy(got, p.when, p.least)]


def look(p: Peaks, s: Sheet, mask: View, t: View, y: View) -> list[Statement]:
    """Compare the values at (t, y) in the lanes of the mask."""
    m = p.count

    def formula(mask, t, value, most, when):
        more = [ca.logic_and(mask, value[k] > most[k]) for k in range(m)]
        return [
            ca.vertcat(*[ca.if_else(more[k], value[k], most[k]) for k in range(m)]),
            ca.vertcat(*[ca.if_else(more[k], t, when[k]) for k in range(m)]),
        ]

    return [
        call(p.function, (t, y, s.p), (p.value,)),
        call(traced("greater", (1, 1, m, m, m), formula), (mask, t, p.value, p.most, p.when), (p.most, p.when)),
    ]


def within(p: Peaks, s: Sheet, limit: View) -> list[Statement]:
    """Compare at the quarters of the step that lie before `limit`. Needs the stages of the whole step."""
    body: list[Statement] = []
    for j in range(1, QUARTERS):
        x = j / QUARTERS
        moment = traced("quarter", (1,) * 4, lambda accepted, t, size, limit, x=x: [
            t + x * size, ca.logic_and(accepted, t + x * size < limit)
        ])  # fmt: skip
        inputs = (s.y.each(), s.y1.each(), s.size, s.stage(0).each(), s.last.each())
        body += [
            for_rows(s.n, traced("curve", (1,) * 5, _hermite(x)), inputs, (s.out.each(),)),
            call(moment, (s.accepted, s.t, s.size, limit), (p.time, p.mask)),
            *look(p, s, p.mask, p.time, s.out),
        ]
    return body


def _hermite(x: float):
    def formula(y: ca.SX, y1: ca.SX, size: ca.SX, k0: ca.SX, k1: ca.SX) -> Sequence[ca.SX]:
        r1 = y1 - y
        r2 = size * k0 - r1
        return [y + x * (r1 + (1 - x) * (r2 + x * (2 * r1 - size * (k0 + k1))))]

    return formula
