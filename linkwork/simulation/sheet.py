"""The rows an integrator works on, each one named: the state of the program of `stepping`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca

from ..compiler.program import Callee, Layout, Statement, View, call, callee, for_rows

RECORD = ("status", "t", "steps", "refused", "error_max", "bad", "events")
"""What is written down for each sample when it ends."""
SETTINGS = (
    "start", "until", "rtol", "norm", "step", "h0", "h_max", "max_steps",
    "samples", "outputs", "event_tolerance", "max_events",
)  # fmt: skip
"""Numbers that are the same for all samples: rows set before the program begins. The first two, `SPAN`, are each
sample's own: they come with it."""
SPAN = ("start", "until")

BIG = 1.7976931348623157e308
"""The largest double: |x| ≤ BIG holds for finite x only."""


def traced(name: str, rows: Sequence[int], formula: Callable[..., Sequence[ca.SX | float]]) -> ca.Function:
    """The function whose inputs have so many rows."""
    inputs = [ca.SX.sym(f"x{k}", r) for k, r in enumerate(rows)]
    return ca.Function(name, inputs, [ca.SX(x) for x in formula(*inputs)])


def finite(x: ca.SX) -> ca.SX:
    """1 where x is a finite number."""
    return ca.fabs(x) <= BIG


@dataclass(frozen=True)
class Sheet:
    """Views of every buffer that more than one part of an integrator uses."""

    layout: Layout
    rhs: Callee
    project: ca.Function | None
    n: int
    nq: int
    record: View
    settings: View
    atol: View
    """Per row of the state; infinite for rows without error control."""
    alive: View
    """Mask: the lane has a sample or may take one."""
    need: View
    """Mask: the lane wants a sample."""
    fresh: View
    """Mask: a motion begins here (first step of a sample, or after a reset)."""
    busy: View
    """Mask: the lane has a sample."""
    accepted: View
    ended: View
    index: View
    """Number of the sample."""
    t: View
    h: View
    """The step wanted, t to t1 the step tried, of size `size`."""
    t1: View
    size: View
    y: View
    y1: View
    p: View
    k: View
    """Stages: k[0 : n] is rhs(t, y)."""
    last: View
    """rhs(t1, y1), one of the stages."""
    sums: View
    """Sums of squares of scaled error estimates."""
    theta: View
    dense: View
    """Coefficients of dense output."""
    out: View
    """Dense output at theta."""
    work: View

    @property
    def span(self) -> View:
        """When the sample starts and ends."""
        return self.settings[: len(SPAN)]

    def setting(self, name: str) -> View:
        return self.settings[SETTINGS.index(name)]

    def noted(self, name: str) -> View:
        return self.record[RECORD.index(name)]

    def stage(self, i: int) -> View:
        return self.k[i * self.n : (i + 1) * self.n]

    def evaluate(self, t: View, y: View, to: View) -> Statement:
        """to = rhs(t, y, p)."""
        return call(self.rhs, (t, y, self.p), (to,))

    def projected(self, y: View) -> list[Statement]:
        """Put y back on its manifold."""
        if self.project is None:
            return []
        keep = traced("keep", (1,), lambda x: [x])
        return [
            call(self.project, (y,), (self.work,)),
            for_rows(self.n, keep, (self.work.each(),), (y.each(),)),
        ]


def sheet(
    rhs: ca.Function | Callee,
    project: ca.Function | None,
    *,
    nq: int,
    n: int,
    np: int,
    stages: int,
    last: int,
    sums: int,
    dense: int,
) -> Sheet:
    """Declare the buffers for a state of n rows, np parameters and so many stages."""
    layout = Layout()
    rows = layout.rows
    k = rows("k", stages * n)
    return Sheet(
        layout=layout, rhs=callee(rhs), project=project, n=n, nq=nq,
        record=rows("record", len(RECORD)), settings=rows("settings", len(SETTINGS)), atol=rows("atol", n),
        alive=rows("alive"), need=rows("need"), fresh=rows("fresh"), busy=rows("busy"),
        accepted=rows("accepted"), ended=rows("ended"), index=rows("index"),
        t=rows("t"), h=rows("h"), t1=rows("t1"), size=rows("size"),
        y=rows("y", n), y1=rows("y1", n), p=rows("p", np),
        k=k, last=k[last * n : (last + 1) * n], sums=rows("sums", max(sums, 1)),
        theta=rows("theta"), dense=rows("dense", dense * n), out=rows("out", n), work=rows("work", n),
    )  # fmt: skip
