"""What is kept of a docking sample: `COLUMNS`, and how they follow from the run of its phases.

Momentum is looked at where phases begin and end, and told as drift over the stretches on which nothing from outside
acts: linear where there is no thrust, angular (about the world's origin) where there is no attitude control either.
The energy error is |change of kinetic and spring energy − work of contact, stops, dampers, thrust and control|, summed
over the phases, as a part of the energy in play.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from linkwork.docking.probe_cone import approach_of_head
from linkwork.dynamics import energy
from linkwork.dynamics.forces import State
from linkwork.impacts import independent
from linkwork.model.contact_laws import Cup, Funnel, Limiter, Stop
from linkwork.model.laws import PD, Hold, Spring
from linkwork.phase_run import Leg, StudyRun

SX = ca.SX

COLUMNS: dict[str, str] = {
    "event:contact": "s", "event:capture": "s", "value:capture_speed": "m/s", "value:contact_force": "N",
    "value:absorber_force": "N", "value:grip_force": "N", "value:stroke": "m", "value:swing": "rad",
    "value:end_speed": "m/s", "value:end_rate": "rad/s", "value:end_angle": "rad", "value:lever_energy": "J",
    "value:energy_lost": "J", "trust:energy_error": "1", "trust:momentum_drift": "1", "trust:angular_drift": "1",
    "trust:steps": "1",
}  # fmt: skip
"""Columns of a sweep and their units. Forces, stroke and swing are the greatest of the sample; `end_…` are chaser
against target; `lever_energy` is what the levelling levers hold when they take effect at capture, and `energy_lost` the
decrease of kinetic and spring energy with it (and with the work of thrust and control, where there are any)."""
PEAKS = ("contact_force", "absorber_force", "grip_force", "stroke", "swing")
WITHIN = (Cup, Funnel, Stop, Limiter, Spring, PD)
"""Laws between parts of the mechanism: they keep both momenta. An attitude control keeps the linear one."""

KINETIC, SPRINGS, LINEAR, ANGULAR, RELATIVE, INWARDS = 0, 1, slice(2, 5), slice(5, 8), slice(8, 11), 11


def told(s: State) -> SX:
    """Everything that is asked for where a phase begins and ends, in the order of the names above."""
    (q, v), m = independent(s), s._model
    energies = ca.vertcat(energy.kinetic_energy(m, q, v, s.t), energy.potential_energy(m, q, s.t))
    return ca.vertcat(energies, energy.momentum(m, q, v, None, s.t), relative_motion(s), approach_of_head(s)[1])


def relative_motion(s: State) -> SX:
    """Speed of the chaser against the target's frame, their relative turning rate, the angle between their axes."""
    away = s.position("chaser") - s.position("target")
    rate = s.velocity("chaser") - s.velocity("target") - ca.cross(s.omega("target"), away)
    turning = s.omega("chaser") - s.omega("target")
    ahead, along = s.rotation("chaser")[:, 0], s.rotation("target")[:, 0]
    angle = ca.atan2(ca.norm_2(ca.cross(ahead, along)), ca.dot(ahead, along))
    return ca.vertcat(ca.norm_2(rate), ca.norm_2(turning), angle)


def recorded(run: StudyRun) -> dict[str, np.ndarray]:
    """`COLUMNS` of each sample."""
    none = np.full(run.samples, np.nan)
    found: dict[str, Any] = {f"value:{name}": run.peaks.get(name, none) for name in PEAKS}
    found |= {"event:contact": run.entered["contact"], "event:capture": run.entered["captured"]}
    start, last, before = (np.full((run.samples, INWARDS + 1), np.nan) for _ in range(3))
    levers, speed = none.copy(), none.copy()
    for leg in run.legs:
        own, first, end = leg.samples, leg.at_start(told), leg.at_end(told)
        if leg.phase.name == "captured":
            speed[own], levers[own] = before[own, INWARDS], first[:, SPRINGS] - before[own, SPRINGS]
        fresh = np.isnan(start[own, KINETIC])
        start[own[fresh]] = first[fresh]
        last[own] = before[own] = end
    found |= {"value:capture_speed": speed, "value:lever_energy": levers}
    found |= {f"value:end_{name}": last[:, 8 + k] for k, name in enumerate(("speed", "rate", "angle"))}
    lost = start[:, KINETIC] + start[:, SPRINGS] - last[:, KINETIC] - last[:, SPRINGS]
    found["value:energy_lost"] = lost + np.nan_to_num(levers)
    found |= trust(run) | {"trust:steps": run.steps}
    return {name: np.asarray(found[name], float) for name in COLUMNS}


def trust(run: StudyRun) -> dict[str, np.ndarray]:
    """Energy error and drifts of momentum of each sample."""
    error, play = np.zeros(run.samples), np.zeros(run.samples)
    drifts = {name: np.full(run.samples, np.nan) for name in ("momentum_drift", "angular_drift")}
    sizes = {name: np.zeros(run.samples) for name in drifts}
    before: dict[str, np.ndarray] = {}
    for leg in run.legs:
        own, first, end = leg.samples, leg.at_start(told), leg.at_end(told)
        work = leg.found.y_end[:, -1] if leg.phase.system.has_work else np.zeros(len(own))
        change = end[:, KINETIC] + end[:, SPRINGS] - first[:, KINETIC] - first[:, SPRINGS]
        error[own] += np.abs(change - work)
        play[own] = np.fmax(play[own], np.fmax(first[:, KINETIC], np.abs(work)))
        for name, rows in (("momentum_drift", LINEAR), ("angular_drift", ANGULAR)):
            old = before.setdefault(name, np.full((run.samples, 3), np.nan))
            still = ~acts(leg, WITHIN if rows == ANGULAR else (*WITHIN, Hold))
            off = np.fmax(_size(first[:, rows] - old[own]), np.where(still, _size(end[:, rows] - first[:, rows]), 0))
            drifts[name][own] = np.fmax(drifts[name][own], np.where(still | np.isfinite(old[own, 0]), off, np.nan))
            sizes[name][own] = np.fmax(sizes[name][own], np.fmax(_size(first[:, rows]), _size(end[:, rows])))
            old[own] = end[:, rows]
    relative = {name: drifts[name] / np.where(sizes[name] > 0, sizes[name], 1.0) for name in drifts}
    whole = {"energy_error": error / np.where(play > 0, play, 1.0), **relative}
    return {f"trust:{name}": np.where(run.ok, x, np.nan) for name, x in whole.items()}


def _size(x: np.ndarray) -> np.ndarray:
    return np.sqrt(x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1] + x[:, 2] * x[:, 2])


def acts(leg: Leg, within: tuple[type, ...]) -> np.ndarray:
    """In which samples of the leg does any other law than these act?"""
    model, found = leg.phase.system.model, np.zeros(len(leg.samples), bool)
    for law in model.laws:
        if isinstance(law.function, within):
            continue
        words = getattr(law.function, "numbers", None)
        if words is None:
            return np.ones(len(leg.samples), bool)
        for word in words:
            name = f"{law.name}.{word}"
            given = leg.p[:, model.parameters.index(name)] if name in model.parameters else getattr(law.function, word)
            found |= np.asarray(given, float) != 0
    return found
