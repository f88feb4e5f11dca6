"""Studies of several phases: at an event a sample passes from one model to another, with its state.

A `Phase` is a system with events. An event that stops it either ends the sample, under the event's name, or lets it
go on in another phase: `goes`. Every phase has its own machine code; the samples that go on together do so in lanes,
each at its own time. What a sample does depends on that sample alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from linkwork.compiler.running import cores
from linkwork.driven import System
from linkwork.dynamics.forces import State
from linkwork.errors import RunError, nearest
from linkwork.experiment import longest
from linkwork.handover import Handover, Measure, Pass, handing_over
from linkwork.phase_run import Leg, StudyRun
from linkwork.simulation.control import Status
from linkwork.simulation.motion import Motion
from linkwork.simulation.run import Integrator, build, lanes_for
from linkwork.simulation.run import run as integrated

SX = ca.SX
FINEST = 1e-13
"""No phase asks for less of its own: smaller errors of a step are lost in rounding."""


@dataclass(frozen=True)
class Phase:
    """A stretch of a study. `goes`: event → the next phase; its other stopping events end the sample under their names.

    `limit`: longest stay in this phase [s]; a sample that reaches it, or the end of the run, is called `late`. The
    greatest values of `peaks` (functions of the state) are kept, whatever the output times. `h_max`: longest step,
    otherwise what laws and events ask for; `sharper`: how many times smaller than asked the tolerances are in this
    phase, down to what rounding leaves.
    """

    name: str
    system: System
    goes: Mapping[str, str | Pass] = field(default_factory=dict)
    limit: float = np.inf
    late: str = "time-out"
    peaks: Mapping[str, Measure] = field(default_factory=dict)
    h_max: float | None = None
    sharper: float = 1.0

    def passing(self, event: str) -> Pass:
        to = self.goes[event]
        return Pass(to) if isinstance(to, str) else to

    def sharp(self, tolerance: float) -> float:
        """The tolerance of this phase where `tolerance` was asked."""
        return min(tolerance, max(tolerance / self.sharper, FINEST))

    @cached_property
    def motion(self) -> Motion:
        """The system's, with the peaks."""
        motion = self.system.motion
        if not self.peaks:
            return motion
        tr = self.system.trace
        state = State(tr.model, tr.q, tr.v, tr.t)
        y = ca.vertcat(tr.q, tr.v, SX.sym("work", motion.n - tr.q.numel() - tr.v.numel()))
        p = ca.vertcat(*tr.parameters.values()) if tr.parameters else SX(0, 1)
        values = ca.densify(ca.vertcat(*[SX(f(state)) for f in self.peaks.values()]))
        if values.numel() != len(self.peaks):
            raise RunError(f"peaks of phase '{self.name}' give {values.numel()} numbers", fix="one number each")
        function = ca.Function("peaks", [tr.t, y, p], [values], {"cse": True})
        return replace(motion, peaks=function, peak_names=tuple(self.peaks))


@dataclass(frozen=True, eq=False)
class Study:
    """Phases in order: samples start in the first.

    study = lw.Study([lw.Phase("free", before, {"capture": "joined"}), lw.Phase("joined", after, late="capture")])
    run = study.run({"ship.v_x": speeds}, until=10)
    run.outcome, run.peaks["stroke"], run["momentum"]
    """

    phases: tuple[Phase, ...]
    name: str = "study"
    rounds: int = 64
    _transfers: dict[tuple[str, str], Handover] = field(default_factory=dict, init=False, repr=False)
    _measures: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)
    _integrators: dict[tuple[str, str, int], Integrator] = field(default_factory=dict, init=False, repr=False)

    def __init__(self, phases: Sequence[Phase], name: str = "study", rounds: int = 64):
        object.__setattr__(self, "phases", tuple(phases))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "rounds", rounds)
        object.__setattr__(self, "_transfers", {})
        object.__setattr__(self, "_measures", {})
        object.__setattr__(self, "_integrators", {})
        self._check()

    def _check(self) -> None:
        names = [phase.name for phase in self.phases]
        if not names or len(set(names)) < len(names):
            raise RunError(f"the phases of '{self.name}' are {names}", fix="give one or more, each with its own name")
        for phase in self.phases:
            stops = [e.name for e in phase.system.events if e.action == "stop"]
            for event in phase.goes:
                if event not in stops:
                    fix = nearest(event, stops)
                    raise RunError(f"phase '{phase.name}' has no event '{event}' that stops it", fix=fix)
                to = self.phase(phase.passing(event).to)
                for name in phase.passing(event).carry:
                    if name not in to.system.model.parameters:
                        fix = nearest(name, to.system.model.parameters)
                        raise RunError(f"'{name}' is not a parameter of phase '{to.name}'", fix=fix)

    def phase(self, name: str) -> Phase:
        found = {phase.name: phase for phase in self.phases}
        if name not in found:
            raise RunError(f"study '{self.name}' has no phase '{name}'", fix=nearest(name, found))
        return found[name]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Declared parameters of any phase, without those that are handed on."""
        carried = {n for phase in self.phases for e in phase.goes for n in phase.passing(e).carry}
        every = dict.fromkeys(n for phase in self.phases for n in phase.system.model.parameters)
        return tuple(n for n in every if n not in carried)

    # --- running ------------------------------------------------------------------------------------------------------
    def run(
        self,
        start: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        until: float = 10.0,
        *,
        times: Sequence[float] | np.ndarray | int = 1,
        method: str = "dop853",
        rtol: float = 1e-6,
        atol: float = 1e-6,
        max_steps: int = 1_000_000,
        threads: int | None = None,
        lanes: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> StudyRun:
        """Run samples from the first phase's start; `start`, `parameters` and `times` as those of `simulate`.

        A parameter is given to every phase that declares it. `progress` hears after each stretch how many samples of
        all have ended. Ctrl-C ends the run; what has not ended then is "not run".
        """
        grid = np.linspace(0.0, until, times + 1) if isinstance(times, int) else np.asarray(times, float)
        if grid[-1] < until:
            grid = np.append(grid, until)
        given = dict(parameters or {})
        for name in given:
            if name not in self.parameters:
                text = f"'{name}' is not a declared parameter of '{self.name}'"
                raise RunError(text, fix=nearest(name, self.parameters))
        first = self.phases[0].system.start(start)
        columns = {name: np.asarray(value, float) for name, value in given.items()}
        n = max([len(first), *(len(c) for c in columns.values() if c.ndim)])
        for what, count in (("start", len(first)), *((k, len(c)) for k, c in columns.items() if c.ndim)):
            if count not in (1, n) or (count == 1 < n and what != "start"):
                fix = "give one value for each sample, or one for all"
                raise RunError(f"'{what}' has {count} values for {n} samples", fix=fix)
        y0 = np.array(np.broadcast_to(first, (n, first.shape[1])))
        legs: list[Leg] = []
        torn: dict[int, str] = {}
        waiting = [_Waiting(0, np.arange(n), np.zeros(n), y0, {})]
        options = {"method": method, "rtol": rtol, "atol": atol, "max_steps": max_steps, "lanes": lanes}
        for _ in range(self.rounds):
            if not waiting:
                break
            at = min(w.phase for w in waiting)
            group = _joined([w for w in waiting if w.phase == at])
            waiting = [w for w in waiting if w.phase != at]
            leg = self._leg(group, columns, grid, until, options, threads or cores())
            legs.append(leg)
            if (leg.found.status == Status.NOT_RUN).any():
                return StudyRun(self, grid, n, tuple(legs), np.zeros(0, int), torn)
            waiting += self._onwards(leg, columns, torn)
            if progress is not None:
                progress(n - sum(len(w.samples) for w in waiting), n)
        stuck = np.concatenate([w.samples for w in waiting]) if waiting else np.zeros(0, int)
        return StudyRun(self, grid, n, tuple(legs), stuck, torn, {"until": until, "rtol": rtol, "method": method})

    def _leg(
        self, group: _Waiting, columns: Mapping[str, np.ndarray], grid: np.ndarray, until: float,
        options: Mapping[str, Any], threads: int,
    ) -> Leg:  # fmt: skip
        """Integrate the samples of a group through their phase."""
        phase = self.phases[group.phase]
        motion, model = phase.motion, phase.system.model
        p = np.empty((len(group.samples), len(model.parameters)))
        for k, name in enumerate(model.parameters):
            given = group.carried.get(name)
            p[:, k] = _own(columns, name, group.samples, phase.system.trace.defaults[name]) if given is None else given
        ends = np.minimum(group.t + phase.limit, until)
        spans = np.column_stack([group.t, np.maximum(ends, group.t)])
        lanes = options["lanes"] or lanes_for(len(group.samples))
        key = (phase.name, options["method"], lanes)
        if key not in self._integrators:
            self._integrators[key] = build(motion, options["method"], lanes=lanes)
        found = integrated(
            self._integrators[key], group.y, p, grid, spans=spans, threads=threads,
            h_max=longest(phase.h_max, phase.system, options["method"]),
            rtol=phase.sharp(options["rtol"]), atol=phase.sharp(options["atol"]), max_steps=options["max_steps"],
        )  # fmt: skip
        return Leg(phase, group.samples, group.t, group.y, p, found, self._measures)

    def _onwards(self, leg: Leg, columns: Mapping[str, np.ndarray], torn: dict[int, str]) -> list[_Waiting]:
        """The samples of a leg that go on, with their new states; those that cannot are noted in `torn`."""
        out = []
        names = [e.name for e in leg.phase.system.events]
        for event in leg.phase.goes:
            chosen = np.flatnonzero(leg.stopped_by == names.index(event))
            if not len(chosen):
                continue
            way = leg.phase.passing(event)
            to = next(k for k, phase in enumerate(self.phases) if phase.name == way.to)
            y, carried, jumps = self._passed(leg, chosen, columns, event, way)
            fit = self._fitting(leg, chosen, event, way, jumps, torn)
            chosen, y, carried = chosen[fit], y[fit], {name: x[fit] for name, x in carried.items()}
            if len(chosen):
                out.append(_Waiting(to, leg.samples[chosen], leg.found.t_end[chosen], y, carried))
        return out

    def _passed(
        self, leg: Leg, chosen: np.ndarray, columns: Mapping[str, np.ndarray], event: str, way: Pass
    ) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """States in the next phase, what is carried and how bodies would jump, for some samples of a leg."""
        to, key = self.phase(way.to), (leg.phase.name, event)
        if key not in self._transfers:
            self._transfers[key] = handing_over(leg.phase.system, to.system, way)
        hand = self._transfers[key]
        old, samples = leg.phase.system.model, leg.samples[chosen]
        more = [_own(columns, n, samples, to.system.trace.defaults[n]) for n in hand.more]
        y = leg.found.y_end[chosen]
        answer = np.asarray(
            hand.kernel(
                t=np.ascontiguousarray(leg.found.t_end[chosen]),
                q=np.ascontiguousarray(y[:, : old.nq]),
                v=np.ascontiguousarray(y[:, old.nq : old.nq + old.nv]),
                p=np.ascontiguousarray(np.column_stack([leg.p[chosen], *more, np.zeros(len(chosen))])),
            )
        )
        new = to.system.model
        y0 = np.zeros((len(chosen), to.motion.n))
        y0[:, : new.nq + new.nv] = answer[:, : new.nq + new.nv]
        after = new.nq + new.nv + len(way.carry)
        return y0, {name: answer[:, new.nq + new.nv + k] for k, name in enumerate(way.carry)}, answer[:, after:]

    def _fitting(
        self, leg: Leg, chosen: np.ndarray, event: str, way: Pass, jumps: np.ndarray, torn: dict[int, str]
    ) -> np.ndarray:
        """Which samples lie as the joints of the next phase need them to."""
        fit = ~np.any(jumps > way.within, axis=1)  # what is no number is told by the next phase
        for row in np.flatnonzero(~fit):
            worst = int(np.argmax(np.nan_to_num(jumps[row])))
            body = self._transfers[leg.phase.name, event].bodies[worst // 2]
            how = f"turn by {jumps[row, worst]:.2g} rad" if worst % 2 else f"jump by {jumps[row, worst]:.2g} m"
            torn[int(leg.samples[chosen[row]])] = f"cannot pass to '{way.to}': body '{body}' would {how}"
        return fit


def _own(columns: Mapping[str, np.ndarray], name: str, samples: np.ndarray, default: float) -> np.ndarray:
    """A parameter's values for these samples."""
    column = columns.get(name, np.asarray(default))
    return column[samples] if column.ndim else np.full(len(samples), float(column))


@dataclass(frozen=True)
class _Waiting:
    """Samples about to enter a phase."""

    phase: int
    samples: np.ndarray
    t: np.ndarray
    y: np.ndarray
    carried: Mapping[str, np.ndarray]


def _joined(groups: Sequence[_Waiting]) -> _Waiting:
    """One group, in the order of the samples."""
    samples = np.concatenate([g.samples for g in groups])
    order = np.argsort(samples, kind="stable")
    names = {name for g in groups for name in g.carried}
    if any(set(g.carried) != names for g in groups):
        raise RunError("two events that lead to the same phase carry different parameters", fix="let both carry all")

    def whole(parts: Sequence[np.ndarray]) -> np.ndarray:
        return np.concatenate(parts)[order]

    carried = {name: whole([g.carried[name] for g in groups]) for name in names}
    return _Waiting(
        groups[0].phase, samples[order], whole([g.t for g in groups]), whole([g.y for g in groups]), carried
    )
