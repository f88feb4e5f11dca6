"""One docking with its whole motion, as a `Result`: what pages, pictures, tables and files are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from linkwork.docking.probe_cone import approach_of_head, strokes
from linkwork.docking.recorded import KINETIC, SPRINGS, relative_motion, told, trust
from linkwork.dynamics.forces import State
from linkwork.errors import RunError
from linkwork.phase_run import StudyRun
from linkwork.result import Result, Series, Statuses, Trust, assess, provenance

SX = ca.SX
XYZ = ("x", "y", "z")
MATRIX = tuple(f"{a}{b}" for a in XYZ for b in XYZ)


class Shown(NamedTuple):
    """A quantity over time: components, their units, the frame it is told in, how it follows from the state."""

    components: tuple[str, ...]
    units: tuple[str, ...]
    frame: str | None
    trace: Callable[[State], Any]


SHOWN: dict[str, Shown] = {
    "head": Shown(XYZ, ("m",), "axes of the cone", lambda s: approach_of_head(s)[0]),
    "inwards": Shown((), ("m/s",), None, lambda s: approach_of_head(s)[1]),
    "relative": Shown(("speed", "rate", "angle"), ("m/s", "rad/s", "rad"), None, relative_motion),
    "chaser.position": Shown(XYZ, ("m",), "world", lambda s: s.position("chaser")),
    "target.position": Shown(XYZ, ("m",), "world", lambda s: s.position("target")),
    "chaser.rotation": Shown(MATRIX, ("1",), "world", lambda s: ca.vec(s.rotation("chaser").T)),
    "target.rotation": Shown(MATRIX, ("1",), "world", lambda s: ca.vec(s.rotation("target").T)),
    "head.position": Shown(XYZ, ("m",), "world", lambda s: s.position("head")),
    "seat.position": Shown(XYZ, ("m",), "world", lambda s: s.position("seat")),
    "seat.rotation": Shown(MATRIX, ("1",), "world", lambda s: ca.vec(s.rotation("seat").T)),
}
PEAKED = {"contact_force": "N", "absorber_force": "N", "grip_force": "N", "stroke": "m", "swing": "rad"}
ASKED = ("chaser.rotation", "target.rotation", "head.position", "seat.position", "seat.rotation")
"""Computed only when asked for: to draw the vehicles, not to be plotted."""


def result_of(run: StudyRun, **about: Any) -> Result:
    """The motion of a run's only sample."""
    if run.samples != 1:
        raise RunError(f"a docking of {run.samples} samples is no single motion", fix="run one sample")
    series = {name: _series(run, name) for name in SHOWN if name not in ASKED}
    series |= {name: Series(name, _peaked(run, name), (), (unit,)) for name, unit in PEAKED.items()}
    momentum = run["momentum"]
    kinetic, potential, work = energies(run)
    series |= {
        "momentum": momentum,
        "kinetic_energy": Series("kinetic_energy", kinetic, (), ("J",)),
        "potential_energy": Series("potential_energy", potential, (), ("J",)),
        "work": Series("work", work, (), ("J",)),
    }
    ended, caught = run.statuses[0], float(run.entered["captured"][0])
    text, where = ended.text, ended.where
    if np.isfinite(caught) and run.ok[0]:
        text, where = f"{text} at t = {caught:.4g} s, the end", ""
    last = "end" if np.isfinite(caught) else text
    known = [(float(run.entered["contact"][0]), "contact"), (caught, "capture"), (ended.time, last)]
    events = tuple((t, name) for t, name in known if np.isfinite(t))
    statuses = Statuses(run.statuses.code, (text,), run.statuses.time, (where,))
    return Result(
        time=run.time, series=series, statuses=statuses, provenance=provenance("docking", **about),
        outputs=lambda name: _series(run, name), known=ASKED, checks=lambda r: _checked(r, run), single=True,
        events=(events,),
    )  # fmt: skip


def _checked(result: Result, run: StudyRun) -> Trust:
    drift = float(trust(run)["trust:momentum_drift"][0])
    refusals = sum(int(leg.found.refusals.sum()) for leg in run.legs)
    worst = max(float(leg.found.error_max.max()) for leg in run.legs)
    drifts = {} if np.isnan(drift) else {"momentum_drift": drift}
    return assess(result, step_error=worst, steps=int(run.steps[0]), refusals=refusals, **drifts)


def _series(run: StudyRun, name: str) -> Series:
    shown = SHOWN[name]
    values = run.measure(shown.trace, name).flat
    return Series(name, values if shown.components else values[:, :, 0], shown.components, shown.units, shown.frame)


def _peaked(run: StudyRun, name: str) -> np.ndarray:
    """What phases keep the greatest value of, over time; NaN in phases that do not have it."""
    whole = np.full((1, len(run.time)), np.nan)
    for leg in run.legs:
        known = {**strokes(leg.phase.system.model), **leg.phase.peaks}
        if name in known:
            found = leg.over_time(known[name])[:, :, 0]
            whole = np.where(np.isnan(found), whole, found)
    return whole


def energies(run: StudyRun) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kinetic and spring energy, and the work of all else; what a passage between phases takes or brings is work."""
    kinetic, springs, work = (np.full((1, len(run.time)), np.nan) for _ in range(3))
    begun = None
    for leg in run.legs:
        first, found = leg.at_start(told), leg.over_time(told)
        own = leg.found.y[:, :, -1] if leg.phase.system.has_work else np.where(np.isfinite(found[:, :, 0]), 0.0, np.nan)
        total = first[0, KINETIC] + first[0, SPRINGS]
        begun = total if begun is None else begun
        known = {KINETIC: kinetic, SPRINGS: springs}
        for whole, new in (*((x, found[:, :, k]) for k, x in known.items()), (work, own + total - begun)):
            whole[:] = np.where(np.isnan(new), whole, new)
    return kinetic, springs, work
