"""A model and a start → a Result: `simulate` builds what it needs with the public verbs, runs, labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from linkwork import outputs
from linkwork.compiler.running import cores
from linkwork.driven import Event, System, is_series, system
from linkwork.dynamics.aba import aba
from linkwork.dynamics.formulation import Formulation
from linkwork.errors import RunError
from linkwork.model.model import Model
from linkwork.model.units import quantity
from linkwork.result import Result, Series, Statuses, assess, provenance
from linkwork.simulation.control import Status
from linkwork.simulation.run import STEPPED, Trajectories, integrate


def simulate(
    model: Model | System,
    start: Mapping[str, Any] | None = None,
    until: float | str | None = None,
    *,
    method: str | Formulation = "dop853",
    formulation: Formulation | None = None,
    parameters: Mapping[str, Any] | None = None,
    times: Sequence[float] | np.ndarray | int | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-9,
    step: float | str | None = None,
    h_max: float | str | None = None,
    max_steps: int = 1_000_000,
    events: Iterable[Event] = (),
    threads: int | None = None,
    progress: bool | Callable[..., None] | None = None,
) -> Result:
    """Run one start or many.

    start       names → values: {"elbow": "30 deg", "elbow.rate": 2.0}; an array gives one value a sample
    until       end time [s]; default: the last of `times`, else 10
    times       when to record: an array of times up to `until`, or how many equal steps (200)
    method      "dop853", "dopri5" (adaptive), "rk4", "euler" (fixed `step`), "rodas5p" (stiff); or a formulation
    h_max       longest step of adaptive methods; default: none, and 0.01 s with a law of contact
    formulation whose accelerations are integrated: `lw.aba`, `lw.kane_graph` …; also `method=lw.kane_graph`
    parameters  declared parameters → value, or one value a sample
    Samples that fail do not disturb the others: see `run.failures()`.
    """
    method, formulation = _told_apart(method, formulation)
    sys = _driven(model, formulation, events)
    grid, end = _grid(times, until)
    _possible(rtol, atol, max_steps, threads)
    p, samples = sys.parameters(parameters)
    y0 = sys.start(start)
    single = (
        samples is None
        and len(y0) == 1
        and not any(is_series(k, x, sys.model) or np.ndim(x) == 2 for k, x in (start or {}).items())
    )
    y0, p = _matched(y0, p)
    from linkwork.progress import reporter

    with reporter(progress, len(y0)) as report:
        found = integrate(
            sys.motion, y0, p, grid if grid[-1] == end else np.append(grid, end), method=method, rtol=rtol, atol=atol,
            step=None if step is None else _seconds(step, "step"), h_max=longest(h_max, sys, method),
            max_steps=max_steps, threads=threads or cores(), progress=report,
        )  # fmt: skip
    found = replace(found, t=found.t[: len(grid)], y=found.y[:, : len(grid)])
    settings = {"rtol": rtol, "atol": atol} if step is None else {"step": step}
    return _labelled(
        sys,
        found,
        p,
        single,
        {"formulation": sys.formulation.__name__, "until": end, "samples": len(y0), **settings},
        method,
    )


def _told_apart(method: str | Formulation, formulation: Formulation | None) -> tuple[str, Formulation | None]:
    """Integrator and formulation; `method` may be either."""
    if not callable(method):
        return method, formulation
    if formulation is not None and formulation is not method:
        raise RunError(
            f"method={method.__name__} and formulation={formulation.__name__} are two formulations",
            fix=f'give one of them; an integrator is named by text: method="dop853", formulation={method.__name__}',
        )
    return "dop853", method


def _driven(model: Model | System, formulation: Formulation | None, events: Iterable[Event]) -> System:
    if not isinstance(model, System):
        return system(model, aba if formulation is None else formulation, events)
    if formulation is not None and formulation is not model.formulation:
        raise RunError(
            f"the system of '{model.model.name}' was made with {model.formulation.__name__}, "
            f"and {formulation.__name__} comes too late",
            fix=f"lw.system(model, {formulation.__name__}), or give simulate the model itself",
        )
    return model


def longest(h_max: float | str | None, sys: System, method: str) -> float:
    """The longest step that is allowed: what is told, else what laws and events ask for."""
    if h_max is None:
        return sys.h_max
    if method in STEPPED:
        raise RunError(f"{method} takes steps of one length, and h_max is told", fix="leave out h_max, or shorten step")
    return _seconds(h_max, "h_max")


def _seconds(value: float | str, what: str) -> float:
    seconds = quantity(value, "s", None, what)
    if not seconds > 0:
        raise RunError(f"{what} is {seconds:g} s", fix="give a time above zero")
    return seconds


def _grid(times: Any, until: float | str | None) -> tuple[np.ndarray, float]:
    """When to record, from 0 on, and when to end."""
    if times is None or isinstance(times, (int, np.integer)):
        count, end = 200 if times is None else int(times), _seconds(10.0 if until is None else until, "until")
        if count < 1:
            raise RunError(f"times = {count}", fix="give at least one step, or an array of times")
        return np.linspace(0.0, end, count + 1), end
    fault = RunError("times must be a rising list of numbers from zero on", fix="np.linspace(0, until, 101)")
    try:
        said = [quantity(x, "s", None, "times") if isinstance(x, str) else x for x in times]
        grid = np.asarray(said, float)
    except (TypeError, ValueError):
        raise fault from None
    if grid.ndim != 1 or not len(grid) or not np.all(np.isfinite(grid)) or np.any(np.diff(grid) <= 0) or grid[0] < 0:
        raise fault
    end = float(grid[-1]) if until is None else _seconds(until, "until")
    if end <= 0 or grid[-1] > end:
        what = f"the last of times is {grid[-1]:g} s, " + ("the start" if end <= 0 else f"after until = {end:g} s")
        raise RunError(what, fix="leave out until, or let it be the last time or later")
    return grid if grid[0] == 0.0 else np.concatenate([[0.0], grid]), end


def _possible(rtol: Any, atol: Any, max_steps: Any, threads: Any) -> None:
    """Settings that an integrator can hold to."""
    for name, value in (("rtol", rtol), ("atol", atol)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
            raise RunError(f"{name} is {value!r}", fix="give a number, zero or more, e.g. 1e-9")
    if rtol == atol == 0:
        raise RunError("rtol and atol are both zero", fix="give one of them above zero, e.g. 1e-9")
    for name, value in (("max_steps", max_steps), ("threads", 1 if threads is None else threads)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise RunError(f"{name} is {value!r}", fix="give a whole number, one or more")


def _matched(y0: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = max(len(y0), len(p))
    for what, x in (("starts", y0), ("parameters", p)):
        if len(x) not in (1, n):
            raise RunError(f"{len(x)} {what} for {n} samples", fix="give one for each sample, or one for all")
    return np.array(np.broadcast_to(y0, (n, y0.shape[1]))), np.array(np.broadcast_to(p, (n, p.shape[1])))


def _place(sys: System, found: Trajectories, sample: int, p: np.ndarray) -> str:
    """The coordinate or speed to look at where a sample failed."""
    k, first = found.bad[sample], found.y[sample, 0]
    if k >= 0 and not np.all(np.isfinite(first)):
        return found.names[int(np.argmin(np.isfinite(first)))]  # it was given so
    own = 0 <= k < sys.model.nq + sys.model.nv  # not `work`, which grows with what drives it
    return found.names[k] if own else _fastest(sys, found, sample, p)


def _fastest(sys: System, found: Trajectories, sample: int, p: np.ndarray) -> str:
    """Of a sample that failed elsewhere than in a coordinate: the one that changes fastest for its size, there."""
    rhs, n = sys.motion.rhs, sys.model.nq + sys.model.nv
    failed = found.status[sample] in (Status.UNDERFLOW, Status.DIVERGED)
    if not (failed and n and isinstance(rhs, ca.Function)):
        return ""
    y = found.y_end[sample]
    rate = np.array(rhs(found.t_end[sample], y, p[sample])).ravel()
    pace = np.abs(rate[:n]) / (1.0 + np.abs(y[:n]))
    return found.names[int(np.argmax(np.where(np.isnan(pace), np.inf, pace)))]


def _labelled(
    sys: System, found: Trajectories, p: np.ndarray, single: bool, settings: dict[str, Any], method: str
) -> Result:
    m, y = sys.model, found.y
    series = {
        "q": Series("q", y[:, :, : m.nq], m.q_names, m.q_units),
        "v": Series("v", y[:, :, m.nq : m.nq + m.nv], m.v_names, m.v_units),
        "work": Series(
            "work",
            y[:, :, -1] if sys.has_work else np.where(np.isfinite(y[:, :, 0]), 0.0, np.nan),
            (),
            ("J",),
        ),
    }
    where = [_place(sys, found, s, p) for s in range(len(y))]
    texts = [found.reason(k).partition(" at t = ")[0].partition(":")[0] for k in range(len(y))]
    statuses = Statuses(found.status, tuple(texts), found.t_end, tuple(where))

    def checks(run: Result) -> Any:
        known: dict[str, Any] = {
            "step_error": float(np.nanmax(found.error_max)) if np.any(np.isfinite(found.error_max)) else None,
            "steps": int(found.steps.sum()),
            "refusals": int(found.refusals.sum()),
        }
        if outputs.is_isolated(m):
            drift = run["momentum"].values
            scale = np.nanmax(np.abs(drift)) or 1.0
            known["momentum_drift"] = float(np.nanmax(np.abs(drift - drift[:, :1]))) / scale
        return assess(run, **known)

    return Result(
        time=found.t,
        series=series,
        statuses=statuses,
        provenance=provenance(m.name, method, **settings),
        outputs=lambda name: sys.quantity(name, found.t, y, p),
        known=tuple(outputs.names(m)),
        checks=checks,
        single=single,
        events=tuple(tuple(found.events.of(k)) for k in range(len(y))),
        last=found.y_end[:, : m.nq + m.nv],
    )
