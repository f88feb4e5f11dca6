"""Integrate many samples of a motion: build the program, share the samples among threads, collect."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

import numpy as np

from ..compiler.program import Layout, Program, call
from ..compiler.program_machine import CompiledProgram, State, compile_program
from ..compiler.target import host
from ..errors import RunError, nearest
from .control import Status
from .dop853 import DOP853
from .explicit import Euler, Explicit, Method
from .motion import Motion
from .rosenbrock import RODAS5P, Rosenbrock
from .sheet import RECORD
from .stepping import initialise, time_loop
from .tableaux import DOPRI5, RK4
from .trajectories import Events, Trajectories

METHODS: Mapping[str, Callable[[Motion], Method]] = {
    "euler": lambda motion: Euler(motion.advance),
    "rk4": lambda _: Explicit(RK4),
    "dopri5": lambda _: Explicit(DOPRI5),
    "dop853": lambda _: Explicit(DOP853),
    "rodas5p": lambda motion: Rosenbrock.of(motion, RODAS5P),
}
"""Integrators by name."""

STEPPED = ("euler", "rk4")
"""Those with steps of one length."""

EVENTS, LONGEST = 1 << 22, 1 << 16
"""Room for events: of all samples, and of one; where it is short a sample is run again with as much as it needs."""

SLICE = 0.05
"""Seconds between returns from machine code."""


@dataclass(frozen=True)
class Integrator:
    """A motion and a method as machine code, for any number of runs."""

    motion: Motion
    method: Method
    compiled: CompiledProgram


def build(motion: Motion, method: str = "dop853", *, lanes: int | None = None, cache: bool = True) -> Integrator:
    """Compile the time loop; `lanes` samples go side by side (default: what the processor holds)."""
    if method not in METHODS:
        raise RunError(f"there is no integrator '{method}'", fix=nearest(method, METHODS))
    if method == "euler" and motion.advance is None and motion.nq != motion.nv:
        raise RunError("euler needs `advance` where q and v differ in size", fix="give motion.advance, or use rk4")
    chosen = METHODS[method](motion)
    return Integrator(motion, chosen, compile_program(time_loop(motion, chosen), lanes, cache=cache))


def integrate(
    motion: Motion,
    y0: np.ndarray,
    p: np.ndarray | None,
    times: np.ndarray,
    method: str = "dop853",
    *,
    rtol: float = 1e-9,
    atol: float | np.ndarray = 1e-9,
    step: float | None = None,
    h0: float | None = None,
    h_max: float = np.inf,
    max_steps: int = 1_000_000,
    error_rows: Sequence[int] | None = None,
    event_tolerance: float = 1e-12,
    max_events: int | None = None,
    spans: np.ndarray | None = None,
    threads: int = 1,
    lanes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    cache: bool = True,
) -> Trajectories:
    """States of every sample at `times`, from y0 (batch × rows) at the first of them.

    Methods "euler" and "rk4" take steps of `step`, clipped at the last time only, and give cubic Hermite
    output in between; the others choose steps for rtol and atol (one number or one for each row) on the rows
    `error_rows` (all). `max_steps` counts refused steps too. `p` (batch × parameters, or one row for all) may
    be None when there are no parameters. `spans` (batch × 2) gives samples starts and ends of their own within the
    times; y is NaN outside. `max_events`: of how many events a sample keeps the times; left out: of all.
    `progress` is called with the number of samples done and of all.
    Ctrl-C ends the run; what is done is returned.
    """
    lanes = lanes or lanes_for(len(np.atleast_2d(y0)))
    integrator = build(motion, method, lanes=lanes, cache=cache)
    return run(
        integrator, y0, p, times, rtol=rtol, atol=atol, step=step, h0=h0, h_max=h_max, max_steps=max_steps,
        error_rows=error_rows, event_tolerance=event_tolerance, max_events=max_events, spans=spans,
        threads=threads, progress=progress,
    )  # fmt: skip


def lanes_for(batch: int) -> int:
    """The processor's lanes, or fewer for a small batch: bits do not depend on it."""
    lanes = 1
    while lanes < min(batch, host().lanes):
        lanes *= 2
    return min(lanes, host().lanes)


def run(
    integrator: Integrator,
    y0: np.ndarray,
    p: np.ndarray | None,
    times: np.ndarray,
    *,
    rtol: float = 1e-9,
    atol: float | np.ndarray = 1e-9,
    step: float | None = None,
    h0: float | None = None,
    h_max: float = np.inf,
    max_steps: int = 1_000_000,
    error_rows: Sequence[int] | None = None,
    event_tolerance: float = 1e-12,
    max_events: int | None = None,
    spans: np.ndarray | None = None,
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Trajectories:
    """`integrate` with machine code that is there already."""
    motion, adaptive = integrator.motion, integrator.method.controller is not None
    if adaptive == (step is not None):
        what = "chooses its own steps" if adaptive else "needs a step"
        raise RunError(f"'{integrator.method.name}' {what}", fix="leave out step=" if adaptive else "give step=")
    times = _times(times)
    y0, p = _samples(motion, y0, p)
    tolerances = _tolerances(motion.n, atol, error_rows)
    spans = _spans(spans, times, len(y0))
    room = max(max_events, 1) if max_events is not None else min(max(64, EVENTS // max(len(y0), 1)), LONGEST)
    span = float(np.max(spans[:, 1] - spans[:, 0]))
    settings = {
        "rtol": rtol,
        "norm": 1 / max(int(np.isfinite(tolerances).sum()), 1),
        "step": step or 0.0, "h0": h0 or 0.0, "h_max": min(h_max, span), "max_steps": max_steps,
        "samples": len(y0), "outputs": len(times),
        "event_tolerance": event_tolerance, "max_events": room,
    }  # fmt: skip
    arrays = _arrays(motion, y0, p, spans, times, room)
    workers = max(1, min(threads, -(-len(y0) // integrator.compiled.lanes)))
    states = [integrator.compiled.state() for _ in range(workers)]
    for state in states:
        initialise(state.views, settings, tolerances)
    _drive(states, arrays, progress)
    found = _collect(integrator, times, arrays)
    short = np.flatnonzero((found.events.counts > room) & (max_events is None))
    if not len(short):
        return found
    again = run(
        integrator, y0[short], p[short], times, rtol=rtol, atol=atol, step=step, h0=h0, h_max=h_max,
        max_steps=max_steps, error_rows=error_rows, event_tolerance=event_tolerance,
        max_events=int(found.events.counts.max()), spans=spans[short], threads=threads,
    )  # fmt: skip
    return replace(found, events=found.events.with_those_of(again.events, short))


def _times(times: np.ndarray) -> np.ndarray:
    times = np.ascontiguousarray(np.atleast_1d(times), dtype=np.float64)
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) < 0).any():
        raise RunError("times must be finite and must not decrease")
    return times


def _samples(motion: Motion, y0: np.ndarray, p: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Batch-first arrays of the right width."""
    y0 = np.ascontiguousarray(np.atleast_2d(y0), dtype=np.float64)
    width = len(motion.parameters)
    if y0.ndim != 2 or y0.shape[1] != motion.n:
        raise RunError(f"y0 has shape {y0.shape}", fix=f"(samples, {motion.n})")
    if p is None and width:
        raise RunError("values of the parameters are missing: " + ", ".join(motion.parameters), fix="give p")
    given = np.zeros((1, width)) if p is None else np.atleast_2d(np.asarray(p, dtype=np.float64))
    if given.ndim != 2 or given.shape[1] != width or given.shape[0] not in (1, len(y0)):
        raise RunError(f"p has shape {given.shape}", fix=f"({len(y0)}, {width}) or (1, {width})")
    return y0, np.ascontiguousarray(np.broadcast_to(given, (len(y0), width)))


def _spans(spans: np.ndarray | None, times: np.ndarray, batch: int) -> np.ndarray:
    """Start and end of each sample."""
    if spans is None:
        return np.tile([times[0], times[-1]], (batch, 1))
    spans = np.ascontiguousarray(spans, dtype=np.float64)
    inside = spans.shape == (batch, 2) and np.isfinite(spans).all() and (spans[:, 0] <= spans[:, 1]).all()
    if not inside or spans.min(initial=times[0]) < times[0] or spans.max(initial=times[-1]) > times[-1]:
        raise RunError("spans do not fit", fix=f"({batch}, 2): start and end of each sample within the times")
    return spans


def _tolerances(n: int, atol: float | np.ndarray, error_rows: Sequence[int] | None) -> np.ndarray:
    """atol of each row; infinite where the error does not count."""
    tolerances = np.array(np.broadcast_to(np.asarray(atol, dtype=np.float64), (n,)))
    if error_rows is not None:
        ignored = np.ones(n, dtype=bool)
        ignored[list(error_rows)] = False
        tolerances[ignored] = np.inf
    return tolerances


def _arrays(
    motion: Motion, y0: np.ndarray, p: np.ndarray, spans: np.ndarray, times: np.ndarray, most: int
) -> dict[str, np.ndarray]:
    """The memory outside the program."""
    batch = len(y0)
    record = np.full((batch, len(RECORD)), np.nan)
    record[:, RECORD.index("status")] = Status.NOT_RUN
    most = most if motion.event_list else 0
    return {
        "queue": np.zeros(1, dtype=np.int64), "y0": y0, "p": p, "spans": spans, "times": times, "record": record,
        "y": np.full((batch, len(times), motion.n), np.nan), "y_end": np.full((batch, motion.n), np.nan),
        "event_times": np.full((batch, most), np.nan), "event_numbers": np.full((batch, most), -1.0),
        "peaks": np.full((batch, len(motion.peak_names)), np.nan),
        "peak_times": np.full((batch, len(motion.peak_names)), np.nan),
    }  # fmt: skip


def _drive(
    states: Sequence[State], arrays: Mapping[str, np.ndarray], progress: Callable[[int, int], None] | None
) -> None:
    """Run every worker to its end, in slices of time; Ctrl-C stops them all."""
    stop = threading.Event()
    status = arrays["record"][:, RECORD.index("status")]

    def tell() -> None:
        if progress is not None:
            progress(int((status != Status.NOT_RUN).sum()), len(status))

    def work(state: State, after: Callable[[], None]) -> None:
        turns, going = 64, True
        while going and not stop.is_set():
            begin = time.perf_counter()
            going = state.run(arrays, turns)
            spent = time.perf_counter() - begin
            turns = int(min(max(turns * min(SLICE / max(spent, 1e-6), 4.0), 1), 1 << 40))
            after()

    try:
        if len(states) == 1:
            work(states[0], tell)
            return
        with ThreadPoolExecutor(len(states)) as pool:
            futures: list[Future[None]] = [pool.submit(work, state, lambda: None) for state in states]
            try:
                while wait(futures, timeout=SLICE).not_done:
                    tell()
            finally:
                stop.set()
            for future in futures:
                future.result()
        tell()
    except KeyboardInterrupt:
        stop.set()


def _collect(integrator: Integrator, times: np.ndarray, arrays: Mapping[str, np.ndarray]) -> Trajectories:
    column: dict[str, np.ndarray] = dict(zip(RECORD, arrays["record"].T, strict=True))

    def whole(name: str) -> np.ndarray:
        return np.nan_to_num(column[name], nan=0.0).astype(np.int64)

    motion = integrator.motion
    bad = np.nan_to_num(column["bad"], nan=-1.0).astype(np.int64)
    names = tuple(event.name for event in motion.event_list)
    happened = Events(names, arrays["event_times"], arrays["event_numbers"].astype(np.int64), whole("events"))
    arrays["y"][times < arrays["spans"][:, :1]] = np.nan
    return Trajectories(
        t=times, y=arrays["y"], status=whole("status").astype(np.int8), t_end=column["t"].copy(),
        y_end=arrays["y_end"], steps=whole("steps"), refusals=whole("refused"),
        error_max=column["error_max"].copy(), bad=bad, events=happened,
        names=motion.names, method=integrator.method.name, peak_names=motion.peak_names, peaks=arrays["peaks"],
        peak_times=arrays["peak_times"],
    )  # fmt: skip


def rhs_callable(motion: Motion, p: np.ndarray | None = None) -> Callable[[float, np.ndarray], np.ndarray]:
    """f(t, y) for `scipy.integrate.solve_ivp`: the compiled right-hand side with parameters p."""
    layout = Layout()
    t, y, rate = layout.rows("t"), layout.rows("y", motion.n), layout.rows("rate", motion.n)
    rows_p, once = layout.rows("p", len(motion.parameters)), layout.rows("once")
    program = Program("rhs", layout.buffers, (), once, (call(motion.rhs, (t, y, rows_p), (rate,)),))
    state = compile_program(program, lanes=1).state()
    state["once"][:] = 1.0
    if len(motion.parameters):
        state["p"][:, 0] = np.asarray(p, dtype=np.float64).ravel()
    time_row, state_row, result = state["t"], state["y"][:, 0], state["rate"][:, 0]

    def f(t: float, y: np.ndarray) -> np.ndarray:
        time_row[0, 0] = t
        state_row[:] = y
        state.run({}, 1)
        return result.copy()

    return f
