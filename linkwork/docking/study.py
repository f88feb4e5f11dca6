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

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from linkwork.compiler.kernel import Kernel, compile_function
from linkwork.compiler.ports import Port
from linkwork.display.scene import Scene
from linkwork.docking.check import impossible, with_dissipation
from linkwork.docking.motion import motion, motion_columns
from linkwork.docking.probe_cone import Docking
from linkwork.docking.recorded import COLUMNS, recorded, told
from linkwork.docking.replay import result_of
from linkwork.docking.scene import scene
from linkwork.docking.words import words
from linkwork.dynamics import kinematics
from linkwork.dynamics.forces import State
from linkwork.errors import RunError, nearest
from linkwork.model.contact_laws import Cup
from linkwork.model.model import Model
from linkwork.phase_run import StudyRun
from linkwork.phases import Phase, Study
from linkwork.result import Code, Result
from linkwork.spatial import quaternion_rotation
from linkwork.sweeping.fingerprint import fingerprint

Tell = Callable[[int, int], None]
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


@dataclass(frozen=True, eq=False)
class DockingStudy:
    """`run_samples(inputs)` gives what a sweep keeps; `run(inputs)` the whole run of the same samples.

    Inputs are the contact conditions and every number of the models by its name (`contact.friction`, `target.mass`).
    """

    docking: Docking = field(default_factory=Docking)
    until: float = 12.0
    gap: float = 0.01
    method: str = "dop853"
    rtol: float = 1e-6
    atol: float = 1e-6
    max_steps: int = 100_000
    intervals: int = 0
    """How many equal stretches the motion is kept at the ends of; 0: no motion."""
    options: Mapping[str, Any] | None = None
    """As a plan told them, to be kept beside the results."""
    _variants: dict[tuple[str, ...], DockingStudy] = field(default_factory=dict, init=False, repr=False)

    name: ClassVar[str] = "docking"
    shown: ClassVar[tuple[str, ...]] = ("contact_force", "grip_force", "stroke", "inwards")
    """What is told beside a sample in motion."""

    def __post_init__(self) -> None:
        for word in ("until", "rtol", "atol", "max_steps"):
            if not getattr(self, word) > 0:
                raise RunError(f"{word} of the docking is {getattr(self, word):g}", fix="give one above zero")
        if self.gap < 0:
            raise RunError(f"gap of the docking is {self.gap:g} m", fix="start in front of the mouth: zero or more")

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes what was given, not what was made of it."""
        return DockingStudy, (
            self.docking, self.until, self.gap, self.method, self.rtol, self.atol, self.max_steps, self.intervals,
            self.options,
        )  # fmt: skip

    @cached_property
    def study(self) -> Study:
        return self.docking.study()

    @cached_property
    def inputs(self) -> dict[str, str]:
        """Names → units of everything that may vary."""
        return {**UNITS, "restitution": "1", **self.docking.units()}

    @cached_property
    def columns(self) -> dict[str, str]:
        """What is kept of each sample → its unit."""
        return COLUMNS | (motion_columns(self.docking.contact_model) if self.intervals else {})

    @cached_property
    def times(self) -> np.ndarray:
        """Times at which the motion is kept."""
        return np.linspace(0.0, self.until, self.intervals + 1) if self.intervals else np.zeros(0)

    @property
    def words(self) -> dict[str, Any]:
        """What a report needs to tell of the study."""
        return words(self.docking, self.until)

    def fingerprint(self) -> str:
        """SHA-256 of the equations of all phases, of the passages' rules, of starts and settings."""
        settings = (self.until, self.gap, self.method, self.rtol, self.atol, self.max_steps, self.intervals)
        whole = hashlib.sha256(repr(settings).encode())
        whole.update(repr((self.docking.design, self.docking.capture, self._start_graph.serialize())).encode())
        for phase in self.study.phases:
            ways = [(event, phase.passing(event).to) for event in phase.goes]
            rest = (phase.name, ways, phase.limit, phase.late, phase.h_max, phase.sharper)
            whole.update(f"{rest} {fingerprint(phase.system, _kept(phase))}".encode())
        return whole.hexdigest()

    # --- running ------------------------------------------------------------------------------------------------------
    def run(self, inputs: Mapping[str, Any], *, times: Any = 1, threads: int | None = None, **more: Any) -> StudyRun:
        """The samples of `inputs` (name → numbers, one a sample or one for all)."""
        for name in inputs:
            if name not in self.inputs:
                raise RunError(f"a docking has no input '{name}'", fix=nearest(name, self.inputs))
        inputs = with_dissipation(inputs)
        varied = tuple(sorted(name for name in inputs if name not in DEFAULTS))
        if not set(varied) <= set(self.docking.parameters):
            return self._with(varied).run(inputs, times=times, threads=threads, **more)
        parameters = {name: x for name, x in inputs.items() if name not in DEFAULTS}
        options = {"method": self.method, "rtol": self.rtol, "atol": self.atol, "max_steps": self.max_steps, **more}
        return self.study.run(self.starts(inputs), parameters, self.until, times=times, threads=threads, **options)

    def _with(self, varied: tuple[str, ...]) -> DockingStudy:
        """The same with these numbers of the models as parameters."""
        if varied not in self._variants:
            self._variants[varied] = replace(self, docking=replace(self.docking, parameters=varied))
        return self._variants[varied]

    def run_samples(
        self, inputs: Mapping[str, Any], *, threads: int | None = None, progress: Tell | None = None
    ) -> dict[str, Any]:
        """`COLUMNS`, and how each sample ended: code (of `linkwork.result.Code`), end, text, where."""
        faults = impossible(self.docking, inputs)
        if not faults:
            return self._kept(self.run(inputs, times=self.intervals or 1, threads=threads, progress=progress))
        n = max(len(x) for x in inputs.values() if np.ndim(x))
        good = np.array([i not in faults for i in range(n)])
        gave: dict[str, Any] = {
            name: np.full((n, len(self.times)) if name.startswith("trajectory:") else n, np.nan)
            for name in self.columns
        }
        gave |= {"code": np.full(n, int(Code.BAD_START)), "end": np.zeros(n)}
        words = {"text": [faults.get(i, ("", ""))[0] for i in range(n)]}
        words["where"] = [faults.get(i, ("", ""))[1] for i in range(n)]
        if good.any():
            chosen = {name: x[good] if np.ndim(x) else x for name, x in inputs.items()}
            found = self._kept(self.run(chosen, times=self.intervals or 1, threads=threads, progress=progress))
            for name in gave:
                gave[name][good] = found[name]
            for k, i in enumerate(np.flatnonzero(good).tolist()):
                words["text"][i], words["where"][i] = found["text"][k], found["where"][k]
        return gave | words

    def _kept(self, run: StudyRun) -> dict[str, Any]:
        ended, moving = run.statuses, motion(run) if self.intervals else {}
        how = {"code": ended.code, "end": ended.time, "text": ended.text, "where": ended.where}
        return {**recorded(run), **moving, **how}

    def replay(self, inputs: Mapping[str, np.ndarray], times: int = 400) -> Result:
        """One sample with its whole motion."""
        if faults := impossible(self.docking, inputs):
            raise RunError(faults[0][0], fix="this sample cannot be run; look at its inputs")
        about = {"until": self.until, "rtol": self.rtol, "atol": self.atol, "samples": 1}
        return result_of(self.run(inputs, times=times, threads=1), method=self.method, **about)

    def scene(self) -> Scene:
        """What is drawn of a docking in motion."""
        return scene(self.docking.design)

    # --- starts -------------------------------------------------------------------------------------------------------
    def starts(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """q and v of the two free vehicles."""
        n = max([1, *(len(x) for x in inputs.values() if np.ndim(x))])
        model = self.docking.contact_model
        known = {**DEFAULTS, **{name: model.values[name] for name in model.parameters}}
        columns = [np.broadcast_to(np.asarray(inputs.get(k, known[k]), float), (n,)) for k in known]
        y = np.asarray(self._start(x=np.column_stack(columns)))
        return {"q": y[:, : model.nq], "v": y[:, model.nq :]}

    @cached_property
    def _start(self) -> Kernel:
        """Inputs → [q; v] in machine code, whose bits do not depend on how many samples there are."""
        f = self._start_graph
        return compile_function(f, [Port("x", shape=(f.numel_in(0),))], [Port("y", shape=(f.numel_out(0),))])

    @cached_property
    def _start_graph(self) -> ca.Function:
        model = self.docking.contact_model
        symbols = SX.sym("x", len(DEFAULTS) + len(model.parameters))
        x = dict(zip((*DEFAULTS, *model.parameters), ca.vertsplit(symbols), strict=True))
        model = model.replace({name: x[name] for name in model.parameters})
        quat = moving_attitude(x["roll"], x["pitch"], x["yaw"])
        R, still = quaternion_rotation(quat), SX(ca.DM(model.neutral))
        cup = contact_of(model)
        arm = R @ kinematics.position(model, still, "head")
        omega = ca.vertcat(x["rate_x"], x["rate_y"], x["rate_z"])
        ahead = kinematics.position(model, still, "seat")[0] - cup.height - cup.radius - self.gap
        head = ca.vertcat(ahead, x["offset"] * ca.cos(x["clock"]), x["offset"] * ca.sin(x["clock"]))
        speed = ca.vertcat(x["closing"], x["lateral_y"], x["lateral_z"]) - ca.cross(R @ omega, arm)
        q, v = SX(ca.DM(model.neutral)), SX.zeros(model.nv)
        at, rate = model.q_names.index("ship.x"), model.v_names.index("ship.v_x")
        q[at : at + 7], v[rate : rate + 6] = ca.vertcat(head - arm, quat), ca.vertcat(R.T @ speed, omega)
        return ca.Function("start", [symbols], [ca.densify(ca.vertcat(q, v))], ["x"], ["y"])


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


def _kept(phase: Phase) -> ca.Function:
    """What a phase tells of a sample, as a graph."""
    tr = phase.system.trace
    state = State(tr.model, tr.q, tr.v, tr.t)
    values = [told(state), *(SX(f(state)) for f in phase.peaks.values())]
    return ca.Function("kept", [tr.q, tr.v, tr.t, *tr.parameters.values()], [ca.densify(ca.vertcat(*values))])
