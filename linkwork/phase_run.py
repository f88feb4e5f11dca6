"""What a study of several phases gave: how and when each sample ended, peaks, quantities stitched over the phases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from linkwork import outputs
from linkwork.compiler.kernel import Kernel, compile_function
from linkwork.compiler.ports import Port
from linkwork.dynamics.forces import State
from linkwork.errors import ModelError, RunError, nearest
from linkwork.outputs import Quantity
from linkwork.result import Code, Series, Statuses
from linkwork.simulation.control import Status
from linkwork.simulation.run import Trajectories

if TYPE_CHECKING:
    from linkwork.phases import Phase, Study


@dataclass(frozen=True, eq=False)
class Leg:
    """One phase's run: which samples, when and with which states they entered, their parameters, their trajectories."""

    phase: Phase
    samples: np.ndarray
    t: np.ndarray
    y: np.ndarray
    p: np.ndarray
    found: Trajectories
    kernels: dict[Any, tuple[Kernel, Quantity]]

    @cached_property
    def stopped_by(self) -> np.ndarray:
        """Number of the event that stopped each sample, −1 where none did."""
        happened, room = self.found.events, self.found.events.numbers.shape[1]
        if not room:
            return np.full(len(self.samples), -1)
        last = np.clip(np.minimum(happened.counts, room) - 1, 0, None)
        number = happened.numbers[np.arange(len(last)), last]
        return np.where(self.found.status == Status.STOPPED, number, -1)

    def at_start(self, function: Callable[[State], Any]) -> np.ndarray:
        """A function of the state where each sample came in: (samples, components)."""
        return self._told(function, self.t, self.y)

    def at_end(self, function: Callable[[State], Any]) -> np.ndarray:
        """The same where each sample left."""
        return self._told(function, self.found.t_end, self.found.y_end)

    def over_time(self, function: Callable[[State], Any]) -> np.ndarray:
        """The same at the output times: (samples, times, components); NaN where a sample was not in this phase."""
        found = _values(self, function, self.found.t, self.found.y)
        assert found is not None
        return found.flat

    def _told(self, function: Callable[[State], Any], t: np.ndarray, y: np.ndarray) -> np.ndarray:
        found = _values(self, function, t, y[:, None, :])
        assert found is not None
        return found.flat[:, 0, :]


@dataclass(frozen=True, eq=False)
class StudyRun:
    """`outcome[i]` is how sample i ended: the name of an event, a phase's `late`, or what went wrong.

    `run["momentum"]` and other quantities are stitched over the phases; where a phase's model does not know them they
    are NaN. `entered["captured"]` is when each sample came into that phase (NaN: never), `peaks` the greatest values.
    """

    study: Study
    time: np.ndarray
    samples: int
    legs: tuple[Leg, ...]
    stuck: np.ndarray
    torn: Mapping[int, str]
    settings: Mapping[str, Any] = field(default_factory=dict)
    _kept: dict[Any, Series] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def statuses(self) -> Statuses:
        code, t = np.full(self.samples, int(Code.NOT_RUN)), np.full(self.samples, np.nan)
        text, where = ["not run"] * self.samples, [""] * self.samples
        for leg in self.legs:
            names = [e.name for e in leg.phase.system.events]
            for k, sample in enumerate(leg.samples):
                status = int(leg.found.status[k])
                code[sample], t[sample] = status, leg.found.t_end[k]
                where[sample] = leg.phase.name
                if status == Status.STOPPED:
                    text[sample] = names[leg.stopped_by[k]]
                elif status == Status.OK:
                    text[sample] = leg.phase.late
                else:
                    text[sample] = leg.found.reason(k).partition(" at t = ")[0]
        for sample, why in self.torn.items():
            code[sample], text[sample] = int(Code.DIVERGED), why
        for sample in self.stuck:
            code[sample], text[sample] = int(Code.TOO_MANY_STEPS), "too many phases"
        return Statuses(code, tuple(text), t, tuple(where))

    @property
    def outcome(self) -> tuple[str, ...]:
        return self.statuses.text

    @property
    def ok(self) -> np.ndarray:
        return self.statuses.ok

    def counts(self) -> dict[str, int]:
        """How many samples ended in which way."""
        return self.statuses.counts()

    @cached_property
    def entered(self) -> dict[str, np.ndarray]:
        """When each sample first came into each phase; NaN: never."""
        out = {phase.name: np.full(self.samples, np.nan) for phase in self.study.phases}
        for leg in self.legs:
            known = out[leg.phase.name]
            known[leg.samples] = np.where(np.isnan(known[leg.samples]), leg.t, known[leg.samples])
        return out

    @cached_property
    def peaks(self) -> dict[str, np.ndarray]:
        """The greatest value of each peak over the phases that watch it; NaN where none did."""
        return self._extremes[0]

    @cached_property
    def peak_times(self) -> dict[str, np.ndarray]:
        return self._extremes[1]

    @cached_property
    def _extremes(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        most: dict[str, np.ndarray] = {}
        when: dict[str, np.ndarray] = {}
        for leg in self.legs:
            for k, name in enumerate(leg.found.peak_names):
                best = most.setdefault(name, np.full(self.samples, np.nan))
                time = when.setdefault(name, np.full(self.samples, np.nan))
                value, own = leg.found.peaks[:, k], leg.samples
                more = np.isnan(best[own]) | (value > best[own])
                best[own[more]], time[own[more]] = value[more], leg.found.peak_times[more, k]
        return most, when

    @property
    def steps(self) -> np.ndarray:
        """Accepted steps of each sample, refused ones not counted."""
        total = np.zeros(self.samples, int)
        for leg in self.legs:
            np.add.at(total, leg.samples, leg.found.steps)
        return total

    def end(self, quantity: str | Callable[[State], Any]) -> np.ndarray:
        """A quantity where each sample ended: (samples,) or (samples, components)."""
        return self._at(quantity)

    def entering(self, phase: str, quantity: str | Callable[[State], Any]) -> np.ndarray:
        """A quantity where each sample came into the phase; NaN where it never did."""
        self.study.phase(phase)
        return self._at(quantity, phase, entering=True)

    def leaving(self, phase: str, quantity: str | Callable[[State], Any]) -> np.ndarray:
        """A quantity where each sample left the phase; NaN where it never was in it."""
        self.study.phase(phase)
        return self._at(quantity, phase)

    def _at(self, quantity: Any, only: str | None = None, entering: bool = False) -> np.ndarray:
        out = None
        for leg in self.legs:
            if only is not None and leg.phase.name != only:
                continue
            t, y = (leg.t, leg.y) if entering else (leg.found.t_end, leg.found.y_end)
            found = _values(leg, quantity, t, y[:, None, :])
            if found is None:
                continue
            values = found.flat[:, 0, :]
            out = np.full((self.samples, values.shape[1]), np.nan) if out is None else out
            out[leg.samples] = values
        if out is None:
            raise RunError(f"no phase that was run has a quantity '{quantity}'")
        return out[:, 0] if out.shape[1] == 1 else out

    def __getitem__(self, name: str) -> Series:
        if name not in self._kept:
            self._kept[name] = self._stitched(name)
        return self._kept[name]

    def measure(self, function: Callable[[State], Any], name: str = "measured") -> Series:
        """Any function of the state, as laws read it, over time."""
        return self._stitched(function, name)

    def _stitched(self, quantity: Any, name: str | None = None) -> Series:
        whole: Series | None = None
        values = np.zeros(0)
        for leg in self.legs:
            found = _values(leg, quantity, leg.found.t, leg.found.y)
            if found is None:
                continue
            if whole is None:
                whole = found
                values = np.full((self.samples, len(self.time), found.flat.shape[2]), np.nan)
            new = found.flat
            values[leg.samples] = np.where(np.isnan(new), values[leg.samples], new)
        if whole is None:
            every = [n for leg in self.legs for n in outputs.names(leg.phase.system.model)]
            raise RunError(f"this study has no quantity '{quantity}'", fix=nearest(str(quantity), dict.fromkeys(every)))
        shaped = values if whole.components else values[:, :, 0]
        return Series(name or whole.name, shaped, whole.components, whole.units, whole.frame)


def _values(leg: Leg, quantity: str | Callable[[State], Any], t: np.ndarray, y: np.ndarray) -> Series | None:
    """A quantity by name or by a function of the state; None where the phase's model has none of that name.

    `t` is the time of each column of y, or, when y has one column, of each sample.
    """
    system = leg.phase.system
    try:
        kernel, made = _kernel(leg, quantity)
    except ModelError:
        return None
    samples, times, _ = y.shape
    flat, m = y.reshape(samples * times, -1), system.model
    moments = t if times == 1 and len(t) == samples else np.tile(t, samples)
    given = np.column_stack([np.repeat(leg.p, times, axis=0), np.zeros(samples * times)])
    x = np.asarray(
        kernel(
            q=np.ascontiguousarray(flat[:, : m.nq]), v=np.ascontiguousarray(flat[:, m.nq : m.nq + m.nv]),
            t=np.ascontiguousarray(moments), p=np.ascontiguousarray(given),
        )
    )  # fmt: skip
    there = np.all(np.isfinite(flat[:, : m.nq + m.nv]), axis=1)  # what takes the greater of NaN and 0 gives 0
    x = np.where(there[:, None], x.reshape(len(flat), -1), np.nan)
    x = x.reshape(samples, times, *([len(made.components)] if made.components else []))
    return Series(made.name, x, made.components, made.units, made.frame)


def _kernel(leg: Leg, quantity: str | Callable[[State], Any]) -> tuple[Kernel, Quantity]:
    """Machine code of a quantity of the leg's model, and how it is told."""
    key = (leg.phase.name, quantity)
    if key not in leg.kernels:
        tr, m = leg.phase.system.trace, leg.phase.system.model
        if callable(quantity):
            value = ca.SX(quantity(State(tr.model, tr.q, tr.v, tr.t)))
            components = tuple(map(str, range(value.numel()))) if value.numel() > 1 else ()
            made = Quantity("measured", components, ("",) * max(len(components), 1), None, lambda m, q, v, t: value)
        else:
            made = outputs.quantity(m, quantity)
        value = ca.densify(made.trace(tr.model, tr.q, tr.v, tr.t))
        own = list(tr.parameters.values())
        p = ca.SX.sym("p", len(own) + 1)
        value = ca.substitute(value, ca.vertcat(*own), p[: len(own)]) if own else value
        f = ca.Function("measure", [tr.q, tr.v, tr.t, p], [value], ["q", "v", "t", "p"], ["x"], {"cse": True})
        shapes = {"q": (m.nq,), "v": (m.nv,), "t": (), "p": (p.numel(),)}
        out = Port("x", shape=(value.numel(),))
        leg.kernels[key] = compile_function(f, [Port(k, shape=s) for k, s in shapes.items()], [out]), made
    return leg.kernels[key]
