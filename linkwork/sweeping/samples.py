"""Samples of one model, computed in lanes: what `simulation.parted` asks of a runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from linkwork import outputs
from linkwork.compiler.kernel import Kernel, compile_function
from linkwork.compiler.ports import Port
from linkwork.compiler.running import cores
from linkwork.driven import Event, System
from linkwork.dynamics import energy
from linkwork.dynamics.aba import aba
from linkwork.dynamics.formulation import Formulation
from linkwork.errors import RunError
from linkwork.experiment import _fastest, _labelled, longest
from linkwork.export import energy_balance
from linkwork.model.model import Model
from linkwork.result import Result, Series
from linkwork.simulation.parted import BAD_START, GOOD, NOT_RUN, Tell
from linkwork.simulation.run import Integrator, Trajectories, build, run
from linkwork.sweeping.fingerprint import fingerprint
from linkwork.sweeping.inputs import Inputs, units
from linkwork.sweeping.record import Reading, Record, happened, over
from linkwork.sweeping.symbols import State

TRUST = {"steps": "1", "refusals": "1", "step_error": "1"}


@dataclass(frozen=True)
class Settings:
    """How samples are run; `times`: how many equal intervals extremes and the energy balance are taken over."""

    until: float
    method: str = "dop853"
    rtol: float = 1e-9
    atol: float = 1e-9
    step: float | None = None
    h_max: float | None = None
    max_steps: int = 1_000_000
    times: int = 200
    trust: bool = True


@dataclass(frozen=True, eq=False)
class ModelSamples:
    """A model, what varies in it, how it is run and what is kept."""

    model: Model
    names: tuple[str, ...]
    settings: Settings
    record: Record = field(default_factory=Record)
    events: tuple[Event, ...] = ()
    computed: Mapping[str, str] = field(default_factory=dict)
    formulation: Formulation = aba

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes what was given, not what was made of it."""
        given = (self.model, self.names, self.settings, self.record, self.events, dict(self.computed))
        return ModelSamples, (*given, self.formulation)

    @property
    def name(self) -> str:
        return self.model.name

    @cached_property
    def varied(self) -> Inputs:
        return Inputs(self.model, self.names, self.computed)

    @cached_property
    def system(self) -> System:
        return System(self.varied.declared(), self.formulation, self.events)

    @property
    def inputs(self) -> Mapping[str, str]:
        known = units(self.model)
        return {name: known.get(name) or "" for name in self.names}

    # --- when -------------------------------------------------------------------------------------------------
    @cached_property
    def grid(self) -> np.ndarray:
        """Every time at which the state is kept."""
        asked = [r.time for r in self.record.readings if r.how == "at"]
        for time in asked:
            if time > self.settings.until:
                fix = f"the samples end at {self.settings.until:g} s"
                raise RunError(f"record asks for a value at {time:g} s", fix=fix)
        return np.unique(np.concatenate([[0.0, self.settings.until], asked, self._regular, self.times]))

    @cached_property
    def _regular(self) -> np.ndarray:
        """Output times of extremes and of the energy balance."""
        wanted = self.settings.trust or self.record.over_time or self.record.times is None
        return equal(self.settings.until, self.settings.times) if wanted else np.zeros(0)

    @property
    def times(self) -> np.ndarray:
        """Times of the trajectories that are kept."""
        if not self.record.trajectory:
            return np.zeros(0)
        return equal(self.settings.until, self.record.times or self.settings.times)

    # --- what -------------------------------------------------------------------------------------------------
    @cached_property
    def _traced(self) -> tuple[list[Reading], list[tuple[str, str]], list[ca.SX], dict[str, str]]:
        """Readings of quantities, (name, unit) of trajectories, and all their symbols in that order."""
        tr = self.system.trace
        state = State(tr.model, tr.q, tr.v, tr.t)
        readings = [r for r in self.record.readings if r.how not in ("first", "last", "count")]
        symbols, labels, found = [], [], {}
        for r in readings:
            symbol, unit = state.trace(r.what, f"record of '{r.name}'")
            symbols.append(symbol)
            found[r.name] = "s" if r.how.startswith("time of") else r.unit or unit
        for name in self.record.trajectory:
            whole = state.vector(name)
            if whole is not None and whole[1]:
                own = "" if name in ("q", "v") else f"{name}."
                labels += [(f"{own}{c}", u) for c, u in zip(whole[1], whole[2], strict=True)]
                symbols += [whole[0][k] for k in range(len(whole[1]))]
            else:
                symbol, unit = state.trace(name, "record of the trajectory")
                labels.append((name, unit))
                symbols.append(symbol)
        return readings, labels, symbols, found

    @property
    def columns(self) -> Mapping[str, str]:
        """What is given, by column → unit."""
        return self._columns

    @cached_property
    def _columns(self) -> dict[str, str]:
        _, labels, _, told = self._traced
        found = {f"value:{r.name}": told.get(r.name, r.unit) for r in self.record.readings}
        for event in self.events:
            found |= {f"event:{event.name}": "s", f"count:{event.name}": "1"}
        found |= {f"trust:{name}": unit for name, unit in TRUST.items()}
        if self.settings.trust:
            found["trust:energy_error"] = "1"
        if self._drifts:
            found["trust:momentum_drift"] = "1"
        return found | {f"trajectory:{name}": unit for name, unit in labels}

    @cached_property
    def _drifts(self) -> bool:
        return self.settings.trust and not self.system.is_long and outputs.is_isolated(self.model)

    @cached_property
    def _checks(self) -> list[ca.SX]:
        """Kinetic and potential energy, and momentum where it must stay."""
        if not self.settings.trust or self.system.is_long:
            return []
        tr = self.system.trace
        both = [energy.kinetic_energy(tr.model, tr.q, tr.v, tr.t), energy.potential_energy(tr.model, tr.q, tr.t)]
        return [*both, energy.momentum(tr.model, tr.q, tr.v, None, tr.t)] if self._drifts else both

    @cached_property
    def _graph(self) -> ca.Function:
        tr, rows = self.system.trace, [*self._traced[2], *self._checks]
        values = ca.densify(ca.vertcat(*rows)) if rows else ca.SX(1, 1)
        p = ca.vertcat(*tr.parameters.values()) if tr.parameters else ca.SX(0, 1)
        return ca.Function("kept", [tr.q, tr.v, tr.t, p], [ca.densify(values)], {"cse": True})

    @cached_property
    def _kernel(self) -> Kernel:
        m, many = self.system.model, len(self.system.trace.parameters)
        ports = [Port("q", shape=(m.nq,)), Port("v", shape=(m.nv,)), Port("t"), Port("p", shape=(many,))]
        graph = self._graph if many else _without_last(self._graph)
        return compile_function(graph, ports if many else ports[:3], None)

    def _values(self, t: np.ndarray, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        """What is kept, at states y (…, rows) and times t of the same shape: (…, quantities)."""
        m, flat = self.system.model, y.reshape(-1, y.shape[-1])
        given: dict[str, Any] = {"q": flat[:, : m.nq], "v": flat[:, m.nq : m.nq + m.nv], "t": t.reshape(-1)}
        if p.shape[1]:
            given["p"] = np.repeat(p, len(flat) // len(p), axis=0)
        whole: dict[str, Any] = {name: np.ascontiguousarray(x) for name, x in given.items()}
        return np.asarray(self._kernel(**whole)).reshape(*y.shape[:-1], self._graph.numel_out(0))

    def fingerprint(self) -> str:
        """SHA-256 of the equations, of what is kept, of starts and parameters that do not vary."""
        return fingerprint(self.system, self._graph)

    # --- run --------------------------------------------------------------------------------------------------
    @cached_property
    def _integrator(self) -> Integrator:
        return build(self.system.motion, self.settings.method)

    def trajectories(
        self, y0: np.ndarray, p: np.ndarray, grid: np.ndarray, threads: int | None = None, progress: Tell | None = None
    ) -> Trajectories:
        s = self.settings
        return run(
            self._integrator, y0, p, grid, rtol=s.rtol, atol=s.atol, step=s.step, max_steps=s.max_steps,
            h_max=longest(s.h_max, self.system, s.method), threads=threads or cores(), progress=progress,
        )  # fmt: skip

    def run_samples(
        self, inputs: Mapping[str, np.ndarray], *, threads: int | None = None, progress: Tell | None = None
    ) -> dict[str, Any]:
        """One value for each sample of every column, and how it ended."""
        y0, p, faults = self.varied.arrays(self.system, inputs)
        good = np.array([i not in faults for i in range(len(y0))])
        gave: dict[str, Any] = {name: np.full(self._shape(name, len(y0)), np.nan) for name in self.columns}
        gave |= {"code": np.full(len(y0), BAD_START), "end": np.zeros(len(y0))}
        gave |= {"text": [faults[i][0] if i in faults else "" for i in range(len(y0))]}
        gave |= {"where": [faults[i][1] if i in faults else "" for i in range(len(y0))]}
        if not good.any():
            return gave
        found = self.trajectories(y0[good], p[good], self.grid, threads, progress)
        gave["code"][good], gave["end"][good] = found.status, found.t_end
        for k, i in enumerate(np.flatnonzero(good).tolist()):
            gave["text"][i] = found.reason(k).partition(" at t = ")[0].partition(":")[0]
            bad = int(found.bad[k])
            gave["where"][i] = found.names[bad] if bad >= 0 else _fastest(self.system, found, k, p[good])
        if not (found.status == NOT_RUN).any():
            for name, array in self._kept(found, p[good]).items():
                gave[name][good] = array
        return gave

    def _shape(self, name: str, n: int) -> tuple[int, ...]:
        return (n, len(self.times)) if name.startswith("trajectory:") else (n,)

    def _kept(self, found: Trajectories, p: np.ndarray) -> dict[str, np.ndarray]:
        n, ok = len(found.y), found.status <= GOOD
        values = self._values(np.broadcast_to(found.t, (n, len(found.t))), found.y, p)
        last = self._values(found.t_end, found.y_end, p)
        readings, labels, _, _ = self._traced
        kept: dict[str, np.ndarray] = {}
        for k, r in enumerate(readings):
            kept[f"value:{r.name}"] = np.where(ok, self._reading(r, found, values[:, :, k], last[:, k]), np.nan)
        at, first = np.searchsorted(found.t, self.times), len(readings)
        for k, (name, _) in enumerate(labels):
            kept[f"trajectory:{name}"] = values[:, at, first + k]
        kept |= happened(found, self.record.readings, ok)
        for name, array in (("steps", found.steps), ("refusals", found.refusals), ("step_error", found.error_max)):
            kept[f"trust:{name}"] = array.astype(np.float64)
        if self.settings.trust:
            kept |= self._trusted(found, p, values[:, :, first + len(labels) :], ok)
        return kept

    def _reading(self, r: Reading, found: Trajectories, values: np.ndarray, last: np.ndarray) -> np.ndarray:
        if r.how == "end":
            return last
        if r.how in ("start", "at"):
            return values[:, int(np.searchsorted(found.t, r.time))]
        there = np.searchsorted(found.t, self._regular)
        return over(r.how, self._regular, values[:, there], found.t_end, last)

    def _trusted(self, found: Trajectories, p: np.ndarray, checks: np.ndarray, ok: np.ndarray) -> dict[str, np.ndarray]:
        if self.system.is_long:
            names = ("kinetic_energy", "potential_energy")
            kinetic, potential = (self.system.quantity(name, found.t, found.y, p).values for name in names)
        else:
            kinetic, potential = checks[:, :, 0], checks[:, :, 1]
        work = found.y[:, :, -1] if self.system.has_work else np.where(np.isfinite(kinetic), 0.0, np.nan)
        arrays = {"kinetic_energy": kinetic, "potential_energy": potential, "work": work}
        with np.errstate(invalid="ignore"):  # of a sample that has failed
            error, play = energy_balance({k: Series(k, x) for k, x in arrays.items()})  # type: ignore[arg-type]
        kept = {"trust:energy_error": np.where(ok, np.fmax.reduce(np.abs(error), axis=1) / play, np.nan)}
        if self._drifts:
            momentum = checks[:, :, 2:]
            drift = np.fmax.reduce(np.abs(momentum - momentum[:, :1]), axis=(1, 2))
            size = np.fmax.reduce(np.abs(momentum), axis=(1, 2))
            kept["trust:momentum_drift"] = np.where(ok, drift / np.where(size > 0, size, 1.0), np.nan)
        return kept

    def replay(self, inputs: Mapping[str, np.ndarray], times: int | None = None) -> Result:
        """One sample with its whole motion."""
        y0, p, faults = self.varied.arrays(self.system, inputs)
        if faults:
            raise RunError(faults[0][0], fix="this sample cannot be run; look at its inputs")
        s = self.settings
        grid = np.union1d(self.grid, equal(s.until, times or s.times))
        found = self.trajectories(y0, p, grid, 1)
        told = {"rtol": s.rtol, "atol": s.atol} if s.step is None else {"step": s.step}
        about = {"formulation": self.formulation.__name__, "until": s.until, "samples": 1, **told}
        return _labelled(self.system, found, p, True, about, s.method)


def equal(until: float, count: int) -> np.ndarray:
    """Equal intervals; so written, the same times come out the same for counts that divide each other."""
    return until * np.arange(count + 1) / count


def _without_last(graph: ca.Function) -> ca.Function:
    """The same function without its last input, which is empty."""
    inputs = graph.sx_in()
    return ca.Function(graph.name(), inputs[:-1], graph.call(inputs), {"cse": True})
