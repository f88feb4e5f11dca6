"""Docking samples: from drawn contact conditions to recorded scalars. What a sweep calls, part by part.

Inputs are told at the head of the probe relative to the seat of the cone, in the target's axes (x: closing
direction), at the start: the head's sphere is `gap` in front of the plane of the mouth and the target rests at the
origin.

closing, lateral_y, lateral_z [m/s]     velocity of the head's centre
offset [m], clock [rad]                 of the head from the cone's axis: (y, z) = offset (cos clock, sin clock)
pitch, yaw, roll [rad]                  attitude of the chaser: turns about y, z, x; R = Rz(yaw) Ry(pitch) Rx(roll)
rate_x, rate_y, rate_z [rad/s]          of the chaser about its own axes
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from linkwork.compiler.kernel import Kernel, compile_function
from linkwork.compiler.ports import Port
from linkwork.docking.probe_cone import Docking, approach_of_head
from linkwork.dynamics import kinematics
from linkwork.dynamics.forces import State
from linkwork.errors import RunError, nearest
from linkwork.model.contact_laws import Cup
from linkwork.model.model import Model
from linkwork.phase_run import StudyRun
from linkwork.phases import Study
from linkwork.spatial import quaternion_rotation

SX = ca.SX

DEFAULTS: dict[str, float] = {
    "closing": 0.2, "lateral_y": 0.0, "lateral_z": 0.0, "offset": 0.0, "clock": 0.0,
    "pitch": 0.0, "yaw": 0.0, "roll": 0.0, "rate_x": 0.0, "rate_y": 0.0, "rate_z": 0.0,
}  # fmt: skip
UNITS: dict[str, str] = {
    **dict.fromkeys(("closing", "lateral_y", "lateral_z"), "m/s"), "offset": "m",
    **dict.fromkeys(("clock", "pitch", "yaw", "roll"), "rad"), **dict.fromkeys(("rate_x", "rate_y", "rate_z"), "rad/s"),
}  # fmt: skip
DEG = np.pi / 180
BOX: dict[str, tuple[float, float]] = {
    "closing": (0.10, 0.35), "lateral_y": (-0.10, 0.10), "lateral_z": (-0.10, 0.10), "offset": (0.0, 0.30),
    "clock": (0.0, 2 * np.pi), "pitch": (-7 * DEG, 7 * DEG), "yaw": (-7 * DEG, 7 * DEG), "roll": (-7 * DEG, 7 * DEG),
    "rate_x": (-DEG, DEG), "rate_y": (-DEG, DEG), "rate_z": (-DEG, DEG),
}  # fmt: skip
"""Contact conditions of the APAS-75 and SSVP class (docs/docking.md); draws go from end to end of each."""
RECORDED: dict[str, str] = {
    "contact_time": "s", "capture_time": "s", "capture_speed": "m/s", "contact_force": "N", "absorber_force": "N",
    "grip_force": "N", "stroke": "m", "swing": "rad", "end_speed": "m/s", "end_rate": "rad/s", "end_angle": "rad",
    "lever_energy": "J", "energy_lost": "J", "momentum_drift": "1", "steps": "1",
}  # fmt: skip
"""Recorded scalars and their units. Forces, stroke and swing are the greatest of the sample; `end_…` are chaser against
target; `lever_energy` is what the levelling levers hold when they take effect at capture, and `energy_lost` the
decrease of kinetic and spring energy with it (and with the work of thrust and control, where there are any)."""


@dataclass(frozen=True, eq=False)
class DockingStudy:
    """`run_samples(inputs)` gives what the sweep stores; `run(inputs)` the whole run of the same samples."""

    docking: Docking = field(default_factory=Docking)
    until: float = 12.0
    gap: float = 0.01
    method: str = "dop853"
    rtol: float = 1e-6
    atol: float = 1e-6

    @cached_property
    def study(self) -> Study:
        return self.docking.study()

    @property
    def inputs(self) -> dict[str, str]:
        """Names → units of everything that may vary."""
        return {**UNITS, **dict.fromkeys(self.docking.parameters, "")}

    def run(self, inputs: Mapping[str, Any], *, times: Any = 1, threads: int | None = None, **more: Any) -> StudyRun:
        """The samples of `inputs` (name → numbers, one a sample or one for all)."""
        for name in inputs:
            if name not in self.inputs:
                raise RunError(f"a docking has no input '{name}'", fix=nearest(name, self.inputs))
        own = {name: x for name, x in inputs.items() if name in DEFAULTS}
        parameters = {name: x for name, x in inputs.items() if name not in DEFAULTS}
        options = {"method": self.method, "rtol": self.rtol, "atol": self.atol, **more}
        return self.study.run(self.starts(own), parameters, self.until, times=times, threads=threads, **options)

    def starts(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """q and v of the two free vehicles."""
        n = max([1, *(len(x) for x in inputs.values() if np.ndim(x))])
        columns = [np.broadcast_to(np.asarray(inputs.get(k, DEFAULTS[k]), float), (n,)) for k in DEFAULTS]
        model = self.docking.contact_model
        y = np.asarray(self._start(x=np.column_stack(columns)))
        return {"q": y[:, : model.nq], "v": y[:, model.nq :]}

    @cached_property
    def _start(self) -> Kernel:
        """Inputs → [q; v] in machine code, whose bits do not depend on how many samples there are."""
        model = self.docking.contact_model.replace(parameters=())
        symbols = SX.sym("x", len(DEFAULTS))
        x = dict(zip(DEFAULTS, ca.vertsplit(symbols), strict=True))
        quat = moving_attitude(x["roll"], x["pitch"], x["yaw"])
        R, still = quaternion_rotation(quat), SX(ca.DM(model.neutral))
        mouth = kinematics.position(model, still, "seat")[0] - float(contact_of(model).height)
        arm = R @ kinematics.position(model, still, "head")
        omega = ca.vertcat(x["rate_x"], x["rate_y"], x["rate_z"])
        ahead = mouth - float(contact_of(model).radius) - self.gap
        head = ca.vertcat(ahead, x["offset"] * ca.cos(x["clock"]), x["offset"] * ca.sin(x["clock"]))
        speed = ca.vertcat(x["closing"], x["lateral_y"], x["lateral_z"]) - ca.cross(R @ omega, arm)
        q, v = SX(ca.DM(model.neutral)), SX.zeros(model.nv)
        at, rate = model.q_names.index("ship.x"), model.v_names.index("ship.v_x")
        q[at : at + 7], v[rate : rate + 6] = ca.vertcat(head - arm, quat), ca.vertcat(R.T @ speed, omega)
        f = ca.Function("start", [symbols], [ca.densify(ca.vertcat(q, v))], ["x"], ["y"])
        return compile_function(f, [Port("x", shape=(len(DEFAULTS),))], [Port("y", shape=(model.nq + model.nv,))])

    def run_samples(self, inputs: Mapping[str, Any], *, threads: int | None = None) -> dict[str, Any]:
        """`RECORDED` by name, and "status" (codes of `linkwork.result.Code`), "outcome" (words), "time" of the end."""
        return recorded(self.run(inputs, threads=threads))


def contact_of(model: Model) -> Cup:
    """The law of the head in the cone."""
    return next(law.function for law in model.laws if law.name == "contact")  # type: ignore[return-value]


def moving_attitude(roll: SX, pitch: SX, yaw: SX) -> SX:
    """Quaternion (w, x, y, z) of Rz(yaw) Ry(pitch) Rx(roll)."""
    (sr, cr), (sp, cp), (sy, cy) = [(ca.sin(a / 2), ca.cos(a / 2)) for a in (roll, pitch, yaw)]
    return ca.vertcat(
        cy * cp * cr + sy * sp * sr, cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr, sy * cp * cr - cy * sp * sr,
    )  # fmt: skip


def recorded(run: StudyRun) -> dict[str, Any]:
    """The scalars of each sample."""
    none, entered, peaks = np.full(run.samples, np.nan), run.entered, run.peaks
    out: dict[str, Any] = {"contact_time": entered["contact"], "capture_time": entered["captured"]}
    for name in ("contact_force", "absorber_force", "grip_force", "stroke", "swing"):
        out[name] = peaks.get(name, none)
    out["capture_speed"] = out["lever_energy"] = none
    if _caught(run):
        caught = np.isfinite(entered["captured"])
        out["capture_speed"] = np.where(caught, run.leaving("contact", inwards), np.nan)
        out["lever_energy"] = run.entering("captured", "spring_energy") - run.leaving("contact", "spring_energy")
    out["end_speed"], out["end_rate"], out["end_angle"] = run.end(relative_motion).T
    out["energy_lost"] = run["energy"].values[:, 0] - run.end("energy") + np.nan_to_num(out["lever_energy"])
    start, end = run["momentum"].values[:, 0, :3], run.end("momentum")[:, :3]
    out["momentum_drift"] = np.abs(end - start).max(axis=1) / np.sqrt(sum(p * p for p in start.T))
    out["steps"] = run.steps
    ended = run.statuses
    scalars = {name: np.asarray(out[name], float) for name in RECORDED}
    return {**scalars, "status": ended.code, "outcome": ended.text, "time": ended.time}


def _caught(run: StudyRun) -> bool:
    return any(leg.phase.name == "captured" for leg in run.legs)


def inwards(s: State) -> SX:
    """Speed of the head into the cone, along its axis."""
    return approach_of_head(s)[1]


def relative_motion(s: State) -> SX:
    """Speed of the chaser against the target's frame, their relative turning rate, the angle between their axes."""
    away = s.position("chaser") - s.position("target")
    rate = s.velocity("chaser") - s.velocity("target") - ca.cross(s.omega("target"), away)
    turning = s.omega("chaser") - s.omega("target")
    ahead, along = s.rotation("chaser")[:, 0], s.rotation("target")[:, 0]
    angle = ca.atan2(ca.norm_2(ca.cross(ahead, along)), ca.dot(ahead, along))
    return ca.vertcat(ca.norm_2(rate), ca.norm_2(turning), angle)
