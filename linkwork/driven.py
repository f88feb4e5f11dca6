"""A model under its own forces as y' = f(t, y, p), ready to be integrated.

The state is y = [q; v], and one row more, `work`, when something does work that no potential keeps: its integral is
needed for the energy balance and costs next to nothing beside the accelerations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from linkwork import outputs
from linkwork.compiler.kernel import Kernel, compile_function
from linkwork.compiler.ports import Port
from linkwork.dynamics import forces, kinematics, long
from linkwork.dynamics.aba import aba
from linkwork.dynamics.energy import energy
from linkwork.dynamics.formulation import Formulation, accelerations_of
from linkwork.dynamics.long import LONG
from linkwork.errors import RunError, nearest
from linkwork.events import Event, after, listed, watched
from linkwork.model import dimensions
from linkwork.model.forms import table
from linkwork.model.model import Model
from linkwork.model.start import ATTITUDE, expanded, starts, told_once, whole_state
from linkwork.result import Series
from linkwork.simulation import motion as numbers
from linkwork.simulation.run import rhs_callable
from linkwork.system import Trace, rolled_function, trace
from linkwork.traced import identifier

SX = ca.SX


@dataclass(frozen=True, eq=False)
class System:
    """A model under its own forces, ready to be integrated: y' = f(t, y, p) with y = [q; v (; work)]."""

    model: Model
    formulation: Formulation = aba
    events: tuple[Event, ...] = ()
    _kernels: dict[str, Kernel] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def trace(self) -> Trace:
        return trace(self.model)

    @cached_property
    def is_long(self) -> bool:
        """Too long to be unrolled: run in loops over tables."""
        return len(self.model.tree) > LONG and self.formulation is aba

    @cached_property
    def h_max(self) -> float:
        """Longest step of adaptive methods [s] that laws and events ask for."""
        asked = (getattr(law.function, "h_max", np.inf) for law in self.model.laws)
        return float(min((*asked, *(e.h_max for e in self.events)), default=np.inf))

    @cached_property
    def has_work(self) -> bool:
        if self.is_long:
            return True
        if not self.model.nv or any(e.reset for e in self.events):
            return True
        return outputs.work_rate(self.trace.model, self.trace.q, self.trace.v, self.trace.t) is not None

    @cached_property
    def motion(self) -> numbers.Motion:
        """What the integrators need."""
        if self.is_long:
            return self._long_motion()
        tr, m = self.trace, self.trace.model
        work = outputs.work_rate(m, tr.q, tr.v, tr.t)
        work = SX(0) if work is None and self.has_work else work  # resets do some; no state is without a row
        tau, wrenches = forces.totals(m, forces.applied(m, tr.q, tr.v, tr.t))
        v_dot = self.formulation(m, tr.q, tr.v, tau, wrenches, tr.t)
        extra = SX.sym("work", 0 if work is None else 1)
        y = ca.vertcat(tr.q, tr.v, extra)
        speeds, h = ca.vertcat(tr.v, extra), SX.sym("h")
        p = ca.vertcat(*tr.parameters.values()) if tr.parameters else SX(0, 1)
        rate = ca.vertcat(kinematics.q_dot(m, tr.q, tr.v), v_dot, *([] if work is None else [work]))
        state = (tr.t, y, p)

        def function(name: str, inputs: Sequence[SX], *results: SX) -> ca.Function:
            return ca.Function(name, list(inputs), [ca.densify(r) for r in results], {"cse": True})

        has_quaternions = self.model.nq != self.model.nv
        events = [watched(e, self._state()) for e in self.events]
        return numbers.Motion(
            rhs=function("rhs", state, rate),
            nq=self.model.nq,
            nv=self.model.nv + extra.numel(),
            names=(*self.model.q_names, *self.model.v_names, *(["work"] if extra.numel() else [])),
            parameters=tuple(tr.parameters),
            advance=function("advance", (tr.q, speeds, h), kinematics.integrate(m, tr.q, tr.v, h))
            if has_quaternions or extra.numel()
            else None,
            project=function("project", (y,), ca.vertcat(kinematics.normalise(m, tr.q), speeds))
            if has_quaternions
            else None,
            events=function("events", state, ca.vertcat(*events)) if events else None,
            event_list=tuple(
                numbers.Event(e.name, e.action, e.direction, self._reset(e, state, function) if e.reset else None)
                for e in self.events
            ),
        )

    def _long_motion(self) -> numbers.Motion:
        """The same in loops over the bodies: joint forces of the model's own, no laws, events or parameters."""
        m = self.model
        if self.events or m.parameters:
            raise RunError(
                f"'{m.name}' has {len(m.tree)} bodies; so long a model runs without events and parameters",
                fix="leave them out",
            )
        places = {
            "q": ("y", 0),
            "v": ("y", m.nq),
            "q_dot": ("rate", 0),
            "v_dot": ("rate", m.nq),
            "power_up": ("rate", m.nq + m.nv),
        }
        n = m.nq + m.nv + 1
        rhs = rolled_function(long.motion(m), {"t": 1, "y": n, "p": 0}, {"rate": n}, places)
        if m.nq != m.nv:
            raise RunError(
                f"'{m.name}' has {len(m.tree)} bodies and joints with quaternions; so long a model runs without them",
                fix="use other joints",
            )
        return numbers.Motion(rhs=rhs, nq=m.nq, nv=m.nv + 1, names=(*m.q_names, *m.v_names, "work"))

    def _state(self) -> forces.State:
        return forces.State(self.trace.model, self.trace.q, self.trace.v, self.trace.t)

    def _reset(self, event: Event, state: tuple[SX, SX, SX], function: Callable[..., ca.Function]) -> ca.Function:
        m, n, y = self.trace.model, self.model.nq, state[1]
        new = after(event, self._state(), self.model, y)
        old, new_q, new_v = y[n:][: self.model.nv], new[:n], new[n:][: self.model.nv]
        gained = energy(m, new_q, new_v, self.trace.t) - energy(m, self.trace.q, old, self.trace.t)
        return function(f"reset_{identifier(event.name)}", state, ca.vertcat(new_q, new_v, y[-1] + gained))

    # --- starts and parameters -------------------------------------------------------------------------------
    def start(self, given: Mapping[str, Any] | None = None) -> np.ndarray:
        """y0 (samples, rows): the model's own start, changed by `given`: names → numbers with units, or one a sample.

        `given` may also hold whole arrays "q" (…, nq) and "v" (…, nv).
        """
        model, given = self.model, dict(table(given, None, "start"))
        sizes = {"q": model.nq, "v": model.nv}
        whole = [k for k in sizes if k in given and (np.ndim(given[k]) or k not in model.q_names)]  # a joint may be "q"
        arrays = {k: whole_state(k, given.pop(k), sizes[k]) for k in whole}
        told_once(model, given, arrays)
        series = {k: starts(model, k, x) for k, x in given.items() if is_series(k, x, model)}
        single = {k: x for k, x in given.items() if k not in series}
        turned = {name.rpartition(".")[0] for name in given if name.rpartition(".")[2] in ATTITUDE}
        base = {k: x for k, x in model.start.items() if not (k.rpartition(".")[0] in turned and k[-3:-1] == ".q")}
        values = {**base, **expanded(model, single)}
        names = (*model.q_names, *model.v_names)
        for name in series:
            if name not in names:
                raise RunError(f"start names an unknown coordinate or speed '{name}'", fix=nearest(name, names))
        counts = {x.shape[0] for x in (*series.values(), *(a for a in arrays.values() if a.ndim == 2))}
        if len(counts) > 1:
            raise RunError(
                f"starts differ in their number of samples: {sorted(counts)}",
                fix="give one value for each sample, or one for all",
            )
        y0 = np.zeros((counts.pop() if counts else 1, self.motion.n))
        y0[:, : model.nq] = model.neutral
        for name, value in {**values, **series}.items():
            y0[:, names.index(name)] = value
        for key, at, n in (("q", 0, model.nq), ("v", model.nq, model.nv)):
            if key in arrays:
                y0[:, at : at + n] = arrays[key]
        self._unit_quaternions(y0)
        return y0

    def _unit_quaternions(self, y0: np.ndarray) -> None:
        at = 0
        for i in self.model.independent:
            kind = self.model.kind(i)
            if kind.quaternion is not None:
                quat = y0[:, at + kind.quaternion : at + kind.quaternion + 4]
                norm = np.linalg.norm(quat, axis=1, keepdims=True)
                if np.any(np.abs(norm - 1) >= 1e-3):  # NaN is data of its sample
                    raise RunError(
                        f"start of joint '{self.model.joint(i).name}': quaternion of length {_worst(norm):g}",
                        fix="give a unit quaternion (w, x, y, z)",
                    )
                quat /= norm
            at += kind.nq

    def parameters(self, given: Mapping[str, Any] | None = None) -> tuple[np.ndarray, int | None]:
        """p (parameters) or (samples, parameters), and the number of samples that `given` asks for."""
        given = table(given, None, "parameters")
        names = list(self.trace.parameters)
        for name in given:
            if name not in names:
                fix = (
                    nearest(name, names)
                    if name not in self.model.values
                    else f"declare it: model.replace(parameters=['{name}'])"
                )
                raise RunError(f"'{name}' is not a declared parameter of '{self.model.name}'", fix=fix)
        columns = {k: dimensions.series(self.model, k, given.get(k, self.trace.defaults[k])) for k in names}
        counts = {c.shape[0] for c in columns.values() if c.ndim}
        if len(counts) > 1:
            raise RunError(
                f"parameters differ in their number of samples: {sorted(counts)}",
                fix="give one value for each sample, or one for all",
            )
        samples = counts.pop() if counts else None
        p = np.empty((samples or 1, len(names)))
        for k, name in enumerate(names):
            p[:, k] = columns[name]
        return p, samples

    def rhs(self, t: float, y: np.ndarray) -> np.ndarray:
        """y' at one state: `scipy.integrate.solve_ivp(system.rhs, …)`. Parameters at their declared values."""
        return self._rhs(t, y)

    @cached_property
    def _rhs(self) -> Callable[[float, np.ndarray], np.ndarray]:
        return rhs_callable(self.motion, self.parameters()[0][0])

    # --- quantities ------------------------------------------------------------------------------------------
    def quantity(self, name: str, t: np.ndarray, y: np.ndarray, p: np.ndarray) -> Series:
        """A named quantity at every time of every sample; y (samples, times, rows)."""
        found = outputs.quantity(self.model, name)
        if self.is_long and name in LONG_ENERGIES:
            return self._long_energy(name, y)
        if name not in self._kernels:
            tr = self.trace
            expression = ca.densify(found.trace(tr.model, tr.q, tr.v, tr.t))
            symbols = [tr.q, tr.v, tr.t, *tr.parameters.values()]
            f = ca.Function("quantity", symbols, [expression], {"cse": True})
            shapes = ((self.model.nq,), (self.model.nv,))  # vectors, also where there is one coordinate
            ports = [
                Port("q", shape=shapes[0]),
                Port("v", shape=shapes[1]),
                Port("t"),
                *map(Port, tr.parameters),
            ]
            self._kernels[name] = compile_function(f, [replace(x, name=f"in{k}") for k, x in enumerate(ports)], None)
        samples, times, _ = y.shape
        nq, nv = self.model.nq, self.model.nv
        flat = np.ascontiguousarray(y.reshape(samples * times, -1))
        given = [flat[:, :nq], flat[:, nq : nq + nv], np.tile(t, samples)]
        given += [np.repeat(np.broadcast_to(p[:, k], (samples,)), times) for k in range(p.shape[1])]
        inputs: dict[str, Any] = {f"in{k}": np.ascontiguousarray(x) for k, x in enumerate(given)}
        values = self._kernels[name](**inputs)
        values = values.reshape(samples, times, *([len(found.components)] if found.components else []))
        if y.shape[2] and (over := np.isnan(y[:, :, 0])).any():  # also what does not depend on the motion
            values[over] = np.nan
        return Series(name, values, found.components, found.units, found.frame)

    def _long_energy(self, name: str, y: np.ndarray) -> Series:
        m, (samples, times, _) = self.model, y.shape
        if "energy" not in self._kernels:
            outs = {"kinetic_up": 1, "spring_up": 1, "moment_up": 3}
            self._kernels["energy"] = compile_function(rolled_function(long.energy(m), {"q": m.nq, "v": m.nv}, outs))
        flat = y.reshape(samples * times, -1)
        found = self._kernels["energy"](
            q=np.ascontiguousarray(flat[:, : m.nq]), v=np.ascontiguousarray(flat[:, m.nq : m.nq + m.nv])
        )
        kinetic, spring = (found[k].reshape(-1) for k in ("kinetic_up", "spring_up"))
        gravity = -(found["moment_up"] @ np.array(m.gravity, float))
        value = {
            "kinetic_energy": kinetic,
            "spring_energy": spring,
            "gravity_energy": gravity,
            "potential_energy": spring + gravity,
        }
        values = value.get(name, kinetic + spring + gravity)
        return Series(name, values.reshape(samples, times), (), ("J",))


def _worst(lengths: np.ndarray) -> float:
    """The one farthest from 1."""
    return float(lengths.flat[np.argmax(np.abs(lengths - 1))])


LONG_ENERGIES = ("kinetic_energy", "spring_energy", "gravity_energy", "potential_energy", "energy")


def is_series(name: str, value: Any, model: Model) -> bool:
    """One value a sample, as opposed to a vector of one start such as `base.position`."""
    return isinstance(value, (list, tuple, np.ndarray)) and (name in model.q_names or name in model.v_names)


def system(model: Model, formulation: Formulation = aba, events: Iterable[Event] = ()) -> System:
    """The model under its own forces as y' = f(t, y): `system(model).rhs` fits SciPy's `solve_ivp`."""
    if not isinstance(model, Model):
        raise RunError(f"a model is wanted, not {type(model).__name__}", fix='lw.read("arm.yaml") reads one')
    accelerations_of(formulation)
    return System(model, formulation, listed(events))
