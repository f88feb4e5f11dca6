"""Motion of a docking that a sweep keeps: the head against the seat, the vehicles against each other, the stroke."""

from __future__ import annotations

import casadi as ca
import numpy as np

from linkwork.docking.probe_cone import approach_of_head
from linkwork.docking.recorded import relative_motion
from linkwork.dynamics.forces import State
from linkwork.model.model import Model
from linkwork.phase_run import StudyRun

MOTION: dict[str, str] = {
    "trajectory:head_along": "m", "trajectory:head_aside": "m", "trajectory:speed": "m/s", "trajectory:rate": "rad/s",
    "trajectory:angle": "rad", "trajectory:stroke": "m",
}  # fmt: skip
"""Columns and units. `head_…`: of its centre from the seat's, along the cone's axis and across it; `speed`, `rate`,
`angle`: chaser against target."""
STROKE = "trajectory:stroke"


def motion_columns(model: Model) -> dict[str, str]:
    """`MOTION`, without the stroke where there is no absorber."""
    return {name: unit for name, unit in MOTION.items() if name != STROKE or "slide" in model.joint_index}


def shown(s: State) -> ca.SX:
    """All of it, in that order."""
    at = approach_of_head(s)[0]
    stroke = [s.q("slide")] if "slide" in s._model.joint_index else []
    return ca.vertcat(at[2], ca.sqrt(at[0] * at[0] + at[1] * at[1]), relative_motion(s), *stroke)


def motion(run: StudyRun) -> dict[str, np.ndarray]:
    """The columns of each sample over the output times; NaN from its end on."""
    values = run.measure(shown).flat
    names = motion_columns(run.study.phases[0].system.model)
    return {name: np.ascontiguousarray(values[:, :, k]) for k, name in enumerate(names)}
