"""The docking study next to the same study in MuJoCo and in Exudyn, and next to the times it is allowed.

A peer simulates first contacts with the mechanism before capture for the whole time: it is spared the capture, the
change of the mechanism, the events and most of what is recorded. Before it is timed, its peak contact forces up to our
capture are compared with ours, and its step is made as long as they allow.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from time import perf_counter

import numpy as np

import linkwork as lw
from bench import docking_exudyn, docking_mujoco
from bench.measure import Case, Row, Settings, Timed, Wrong, best, limit, one_core, row, smallest
from linkwork.docking import BOX, DockingStudy

BENCH = "docking, 10 s a sample"
PLAN = Path(__file__).absolute().parent.parent / "examples" / "docking" / "docking.yaml"
SECONDS = 10.0
SAMPLES = 1024
STARTS = 16
"""Starts on which peers choose their step."""
WATCHED = 4.0
"""Seconds of those starts in which peak forces are compared; most have met the cone, several times, by then."""
FINE = 1e-4
"""Step of a peer's reference, Runge-Kutta: half of it changes peak forces by less than 0.1 % [s]."""
LADDER = (3e-3, 2.5e-3, 2e-3, 1.75e-3, 1.5e-3, 1.25e-3, 1e-3, 7e-4, 5e-4, 4e-4, 3e-4, 2e-4)
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
ALLOWED = 0.05
"""Error of the peak force, mean over the starts, up to which a peer's step is short enough."""
AGREED = 0.02
"""Difference of a peer's peak forces to ours, median over the starts, where it has the same law. Exudyn's count
friction too, which adds half a percent."""
THERE = 50
"""Samples that Exudyn solves."""
WHOLE = 5000
Peaks = Callable[[float], np.ndarray]
"""Step or tolerance → a peer's peak forces of the starts."""


def cases() -> list[Case]:
    return [
        Case("docking", "next to MuJoCo", mujoco),
        Case("docking", "next to Exudyn", exudyn),
        Case("docking", "5,000 with report", whole),
        Case("docking", "one run", alone),
    ]


@cache
def study() -> DockingStudy:
    return DockingStudy(until=SECONDS)


def starts(count: int) -> dict[str, np.ndarray]:
    """Contact conditions, evenly from the study's box."""
    rng = np.random.default_rng(1)
    return {name: rng.uniform(low, high, count) for name, (low, high) in BOX.items()}


def ours(settings: Settings) -> Timed:
    """All samples on one thread, from contact conditions to recorded scalars."""
    count = 64 if settings.quick else SAMPLES
    return partial(study().run_samples, starts(count), threads=1), count


class Watched:
    """Our peak forces of some starts, and until when each may be compared: up to capture."""

    def __init__(self, settings: Settings):
        self.inputs = starts(4 if settings.quick else STARTS)
        self.seconds, self.fine = (2.0, 5e-4) if settings.quick else (WATCHED, FINE)
        run = DockingStudy(until=self.seconds).run(self.inputs, threads=1)
        caught = run.entered["captured"]
        self.until = np.where(np.isfinite(caught), caught, run.statuses.time)
        self.force = run.peaks["contact_force"]
        self.met = self.force > 0
        if not self.met.any():
            raise Wrong("no start meets the cone")

    def error(self, found: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """Of the starts that meet the cone."""
        return np.abs(found[self.met] / reference[self.met] - 1)

    def gap(self, found: np.ndarray, peer: str) -> float:
        """Difference to ours; too large a one ends the comparison."""
        gap = float(np.median(self.error(found, self.force)))
        if gap > AGREED:
            raise Wrong(f"peak contact forces here and in {peer} differ by {100 * gap:.1f} %")
        return gap

    def coarsest(self, peaks: Peaks, ladder: Sequence[float], reference: np.ndarray) -> tuple[float, float]:
        """The first of the ladder with the peak force within what is allowed, and its error; or the last."""
        step, error = 0.0, np.inf
        for step in ladder:
            error = float(np.mean(self.error(peaks(step), reference)))
            if error <= ALLOWED:
                break
        return step, error


# --- MuJoCo -----------------------------------------------------------------------------------------------------------
def mujoco(settings: Settings) -> list[Row]:
    """Each way and integrator at its longest step whose peak force holds."""
    watched = Watched(settings)
    things: dict[str, Timed] = {"ours": ours(settings)}
    told: dict[str, str] = {}
    gap = 0.0
    ways = docking_mujoco.WAYS[:1] if settings.quick else docking_mujoco.WAYS
    for way in ways:
        reference = _mujoco_peaks(watched, way, "RK4", watched.fine)
        gap = watched.gap(reference, "MuJoCo") if way == "own" else gap
        for integrator in ("RK4",) if settings.quick else docking_mujoco.INTEGRATORS:
            peaks = partial(_mujoco_peaks, watched, way, integrator)
            step, error = watched.coarsest(peaks, LADDER, reference)
            name, count = f"MuJoCo, {way} {integrator}", 1 if settings.quick else 4
            things[name] = docking_mujoco.rollout(study(), starts(count), SECONDS, step, way, integrator).call, count
            law = "our law of contact" if way == "own" else "its soft contact"
            told[name] = f"{law}, steps of {1e3 * step:.3g} ms by {integrator}, peak force within {100 * error:.1f} %"
    ns = best(things, settings)
    way, theirs = smallest(ns, "MuJoCo")
    note = f"batch of {things['ours'][1]}; {told[way]}; converged, with our law, it differs by {100 * gap:.1g} %"
    return [row(BENCH, "tier 1", ns["ours"], "mujoco.rollout", theirs, target=5, note=note)]


def _mujoco_peaks(watched: Watched, way: str, integrator: str, step: float) -> np.ndarray:
    there = docking_mujoco.rollout(study(), watched.inputs, watched.seconds, step, way, integrator)
    there.call()
    times = step * np.arange(there.force.shape[1])
    return np.where(times < watched.until[:, None], there.force, 0.0).max(axis=1)


# --- Exudyn -----------------------------------------------------------------------------------------------------------
def exudyn(settings: Settings) -> list[Row]:
    """The solver that is fastest on a few starts, each with its longest step, then some samples with that one."""
    watched = Watched(settings)
    peer = docking_exudyn.mechanism(study(), watched.inputs)
    reference = _exudyn_peaks(watched, peer, "RK44", watched.fine)
    gap = watched.gap(reference, "Exudyn")
    found: list[tuple[float, str, float, float]] = []
    for solver in ("RK44",) if settings.quick else docking_exudyn.SOLVERS:
        ladder = TOLERANCES if solver == "DOPRI5" else LADDER
        fineness, error = watched.coarsest(partial(_exudyn_peaks, watched, peer, solver), ladder, reference)
        begin = perf_counter()
        _exudyn_peaks(watched, peer, solver, fineness)
        found.append((perf_counter() - begin, solver, fineness, error))
    _, solver, fineness, error = min(found)
    count = 1 if settings.quick else THERE
    ours_ns, theirs, free = _in_turn(settings, count, solver, fineness)
    how = f"tolerance {fineness:g}" if solver == "DOPRI5" else f"steps of {1e3 * fineness:.3g} ms"
    note = (
        f"{count} samples there; {solver}, {how}, peak force within {100 * error:.1f} %, converged it differs by "
        f"{100 * gap:.1g} %; without any contact, and so without Python, it takes {free / 1e6:.0f} ms"
    )
    return [row(BENCH, "tier 1", ours_ns, "Exudyn", theirs, target=50, note=note)]


def _exudyn_peaks(watched: Watched, peer: docking_exudyn.Mechanism, solver: str, fineness: float) -> np.ndarray:
    found = []
    for i, until in enumerate(watched.until):
        times, force = peer.run(i, watched.seconds, solver, fineness)
        found.append(force[times < until].max(initial=0.0))
    return np.array(found)


def _in_turn(settings: Settings, count: int, solver: str, fineness: float) -> tuple[float, float, float]:
    """Nanoseconds a sample: ours, Exudyn's, and Exudyn's without contact; two passes of each, the better counts."""
    call, samples = ours(settings)
    peers = [docking_exudyn.mechanism(study(), starts(count), touching) for touching in (True, False)]
    seconds = 0.5 if settings.quick else SECONDS

    def there(peer: docking_exudyn.Mechanism) -> None:
        for i in range(count):
            peer.run(i, seconds, solver, fineness)

    things = [(call, samples), *((partial(there, peer), count * seconds / SECONDS) for peer in peers)]
    found = [np.inf] * len(things)
    call()
    with one_core():
        for _ in range(2):
            for k, (thing, work) in enumerate(things):
                begin = perf_counter()
                thing()
                found[k] = min(found[k], 1e9 * (perf_counter() - begin) / work)
    return found[0], found[1], found[2]


# --- limits -----------------------------------------------------------------------------------------------------------
def whole(settings: Settings) -> list[Row]:
    """The plan of the examples as a user runs it: samples kept in a folder, the report written."""
    from linkwork.sweeping.report import report

    count = 64 if settings.quick else WHOLE
    with tempfile.TemporaryDirectory() as folder:
        begin = perf_counter()
        found = lw.sweep(PLAN, samples=count, out=folder, threads=2)
        middle = perf_counter()
        report(folder, Path(folder) / "report.html")
        end = perf_counter()
        done = len(found)
    note = f"{count} samples on two threads, {middle - begin:.1f} s, and their report, {end - middle:.1f} s"
    if done != count:
        raise Wrong(f"{done} of {count} samples were run")
    return [limit("docking with report", f"{count} samples", 1e9 * (end - begin), 60e9, note)]


def alone(settings: Settings) -> list[Row]:
    """One sample, with all that Python does around it."""
    one = {name: x[:1] for name, x in starts(1).items()}
    ns = best({"ours": (partial(study().run_samples, one, threads=1), 1)}, settings)
    note = f"one run of {SECONDS:g} s; a hundredth of that is allowed"
    return [limit("docking, one run", "tier 1", ns["ours"], 1e9 * SECONDS / 100, note)]
