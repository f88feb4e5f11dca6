"""What an integrator needs to know of a system: functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import casadi as ca

from ..compiler.program import Callee, callee
from ..errors import RunError

Action = Literal["stop", "record", "reset"]


@dataclass(frozen=True)
class Event:
    """What happens when a component of `Motion.events` changes sign.

    `direction` +1: only when it grows through zero, −1: only when it falls, 0: both. `reset` (t, y, p) → y
    belongs to action "reset": it gives the state the motion goes on from.
    """

    name: str
    action: Action = "record"
    direction: int = 0
    reset: ca.Function | None = None

    def __post_init__(self) -> None:
        if self.action not in ("stop", "record", "reset"):
            raise RunError(f"event '{self.name}': unknown action '{self.action}'", fix="stop, record or reset")
        if self.direction not in (-1, 0, 1):
            raise RunError(f"event '{self.name}': direction is {self.direction}", fix="−1, 0 or +1")
        if (self.reset is not None) != (self.action == "reset"):
            raise RunError(f"event '{self.name}': action 'reset' and a reset function belong together")


@dataclass(frozen=True)
class Motion:
    """y' = rhs(t, y, p) with y = [q; v]; p is constant for each sample.

    The last `nv` rows of `rhs` are the accelerations. `advance` (q, v, h) → q moves q for a time h at
    constant speeds v on its manifold; without it q + h v is meant (then nq = nv). `project` (y) → y puts a
    state back on its manifold (norms of quaternions). `events` (t, y, p) → g has one row for each of
    `event_list`. `peaks` (t, y, p) → values has one row for each of `peak_names`; their greatest values are kept.
    """

    rhs: ca.Function | Callee
    nq: int
    nv: int
    names: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    advance: ca.Function | None = None
    project: ca.Function | None = None
    events: ca.Function | None = None
    event_list: tuple[Event, ...] = ()
    peaks: ca.Function | None = None
    peak_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        n, m = self.nq + self.nv, len(self.parameters)
        if len(self.names) != n:
            raise RunError(f"the state has {n} components and {len(self.names)} names")
        state = (1, n, m)
        _shape("rhs", self.rhs, state, n)
        if self.advance is not None:
            _shape("advance", self.advance, (self.nq, self.nv, 1), self.nq)
        if self.project is not None:
            _shape("project", self.project, (n,), n)
        if (self.events is None) != (not self.event_list):
            raise RunError("events and event_list belong together")
        if self.events is not None:
            _shape("events", self.events, state, len(self.event_list))
        if (self.peaks is None) != (not self.peak_names):
            raise RunError("peaks and peak_names belong together")
        if self.peaks is not None:
            _shape("peaks", self.peaks, state, len(self.peak_names))
        for event in self.event_list:
            if event.reset is not None:
                _shape(f"reset of event '{event.name}'", event.reset, state, n)

    @property
    def n(self) -> int:
        """Rows of the state."""
        return self.nq + self.nv


def _shape(what: str, function: ca.Function | Callee, rows_in: Sequence[int], rows_out: int) -> None:
    """The function takes and gives so many rows."""
    found = callee(function)
    if found.rows_in() != tuple(rows_in) or found.rows_out() != (rows_out,):
        raise RunError(
            f"{what}: inputs of {list(found.rows_in())} rows and outputs of {list(found.rows_out())}",
            fix=f"inputs of {list(rows_in)} rows and one output of {rows_out}",
        )
