"""The docking study next to the same study in MuJoCo and in Exudyn, and next to the times it is allowed.

A peer simulates first contacts with the mechanism before capture for the whole time: it is spared the capture, the
change of the mechanism and what is recorded. Its peak force up to our capture is compared before it is timed.
"""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from bench import docking_mujoco
from bench.measure import Case, Row, Settings, Timed, Wrong, best, limit, row, smallest
from linkwork.docking import BOX, DockingStudy
from linkwork.docking.study import recorded

SECONDS = 10.0
SAMPLES = 1024
STARTS = 16
"""Starts on which peers choose their step."""
WATCHED = 4.0
"""Seconds of those starts in which peak forces are compared; most have met the cone, several times, by then."""
FINE = 1e-4
"""Step of a peer's reference: half of it changes peak forces by less than 0.1 % [s]."""
LADDER = (3e-3, 2.5e-3, 2e-3, 1.75e-3, 1.5e-3, 1.25e-3, 1e-3, 7e-4, 5e-4, 4e-4, 3e-4, 2e-4)
ALLOWED = 0.05
"""Error of the peak force, mean over the starts, up to which a peer's step is long enough to be fair."""
AGREED = 0.02
"""Difference of a peer's peak forces to ours, median over the starts, where it has the same force law."""
RATIOS = {"MuJoCo": 5.0, "Exudyn": 50.0}


def cases() -> list[Case]:
    return [Case("docking", "next to MuJoCo", mujoco), Case("docking", "real time", real_time)]


@cache
def study() -> DockingStudy:
    return DockingStudy(until=SECONDS)


def starts(count: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Contact conditions, evenly from the study's box."""
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(low, high, count) for name, (low, high) in BOX.items()}


def ours(settings: Settings) -> Timed:
    """All samples on one thread, from contact conditions to recorded scalars."""
    count = 64 if settings.quick else SAMPLES
    return partial(study().run_samples, starts(count), threads=1), count


class Watched:
    """Our peak forces of some starts, and until when each may be compared: up to capture."""

    def __init__(self, count: int, seconds: float):
        self.inputs = starts(count)
        run = DockingStudy(until=seconds).run(self.inputs, threads=1)
        self.seconds = seconds
        self.until = np.where(np.isfinite(run.entered["captured"]), run.entered["captured"], run.statuses.time)
        self.force = recorded(run)["contact_force"]
        self.met = self.force > 0
        if not self.met.any():
            raise Wrong("no start meets the cone")

    def peaks(self, force: np.ndarray, step: float) -> np.ndarray:
        """The greatest of a peer's forces (samples, steps) in the same time."""
        times = step * np.arange(force.shape[1])
        return np.where(times < self.until[:, None], force, 0.0).max(axis=1)

    def error(self, found: np.ndarray, reference: np.ndarray) -> float:
        """Mean over the starts that meet the cone."""
        return float(np.mean(np.abs(found[self.met] / reference[self.met] - 1)))


def mujoco(settings: Settings) -> list[Row]:
    """Each way and integrator at its longest step whose peak force holds."""
    few, fine = (4, 5e-4) if settings.quick else (STARTS, FINE)
    watched = Watched(few, 2.0 if settings.quick else WATCHED)
    things: dict[str, Timed] = {"ours": ours(settings)}
    told: dict[str, str] = {}
    gap = 0.0
    for way in docking_mujoco.WAYS:
        reference = _mujoco_peaks(watched, fine, way, "RK4")
        apart = float(np.median(np.abs(reference[watched.met] / watched.force[watched.met] - 1)))
        if way == "own":
            gap = apart
            if gap > AGREED:
                raise Wrong(f"peak contact forces here and in MuJoCo differ by {100 * gap:.1f} %")
        for integrator in ("RK4",) if settings.quick else docking_mujoco.INTEGRATORS:
            step, error = _longest(watched, reference, way, integrator)
            name = f"MuJoCo, {way} {integrator}"
            there = docking_mujoco.rollout(study(), starts(4), SECONDS, step, way, integrator)
            things[name] = (there.call, 4)
            told[name] = f"{1e3 * step:.3g} ms steps by {integrator}, peak force within {100 * error:.1f} %"
    ns = best(things, settings)
    way, theirs = smallest(ns, "MuJoCo")
    count = things["ours"][1]
    note = f"{count} samples; {told[way]} of its own converged, which differ from ours by {100 * gap:.2g} % (median)"
    return [
        row(
            "docking, 10 s a sample", "tier 1", ns["ours"], "mujoco.rollout", theirs, target=RATIOS["MuJoCo"], note=note
        )
    ]


def _mujoco_peaks(watched: Watched, step: float, way: str, integrator: str) -> np.ndarray:
    there = docking_mujoco.rollout(study(), watched.inputs, watched.seconds, step, way, integrator)
    there.call()
    return watched.peaks(there.force, step)


def _longest(watched: Watched, reference: np.ndarray, way: str, integrator: str) -> tuple[float, float]:
    """The longest step of the ladder with the peak force within what is allowed, and its error."""
    error = np.inf
    for step in LADDER:
        error = watched.error(_mujoco_peaks(watched, step, way, integrator), reference)
        if error <= ALLOWED:
            return step, error
    raise Wrong(f"MuJoCo's peak force is off by {100 * error:.0f} % even at {LADDER[-1]} s")


def real_time(settings: Settings) -> list[Row]:
    """One sample alone, with all that Python does around it."""
    one = {name: x[:1] for name, x in starts(64).items()}
    ns = best({"ours": (partial(study().run_samples, one, threads=1), 1)}, settings)
    note = f"one run of {SECONDS:g} s; a hundredth of its time is allowed"
    return [limit("docking, one run", "tier 1", ns["ours"], 1e9 * SECONDS / 100, note)]
