"""What a docking study says of itself, for reports: what its names mean, which maps it wants, what is built."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from linkwork.docking.probe_cone import Docking
from linkwork.docking.vehicles import Mode

UNITS: dict[str, str] = {
    "mass": "kg", "inertia": "kg*m^2", "port": "m", "length": "m", "head": "m", "sleeve_mass": "kg",
    "rod_mass": "kg", "axial_stiffness": "N/m", "axial_damping": "N*s/m", "stroke": "m", "stop_stiffness": "N/m",
    "lateral_stiffness": "N/m", "lateral_damping": "N*s/m", "swing": "rad", "swing_stiffness": "N*m/rad",
    "stop_onset": "m", "swing_onset": "rad", "stop_dissipation": "s/m", "half_angle": "rad", "mouth": "m",
    "seat": "m", "stiffness": "N/m", "onset": "m", "dissipation": "s/m", "friction": "1", "slip": "m/s",
    "near": "m", "speed": "m/s", "limit": "s", "retreat": "m", "port_mass": "kg", "port_inertia": "kg*m^2",
    "thrust": "N", "until": "s", "gap": "m", "rtol": "1", "atol": "1",
}  # fmt: skip
"""Of every number of a design that can be told, by its name; those of a latch are torsional."""
LATCH = {"stiffness": "N*m/rad", "damping": "N*m*s/rad"}

MEANINGS: dict[str, str] = {
    "closing": "speed of the head towards the cone, along its axis",
    "lateral_y": "speed of the head across the axis",
    "lateral_z": "speed of the head across the axis",
    "offset": "of the head from the cone's axis at the start",
    "clock": "direction of that offset, from y to z",
    "pitch": "attitude of the chaser about y",
    "yaw": "attitude of the chaser about z",
    "roll": "attitude of the chaser about x, its axis",
    "rate_x": "turning of the chaser about its own axis x",
    "rate_y": "turning of the chaser about its own axis y",
    "rate_z": "turning of the chaser about its own axis z",
    "thrust.x": "push along the chaser's axis from first contact to capture",
    "contact": "time of first contact",
    "capture": "time of capture",
    "capture_speed": "of the head into the seat when it is caught",
    "contact_force": "greatest force between head and cone, before capture",
    "absorber_force": "greatest axial force of the rod's absorber with its stops",
    "grip_force": "greatest force in the ball joint that holds the head, after capture",
    "stroke": "greatest compression of the absorber",
    "swing": "greatest swing of the rod from its middle",
    "end_speed": "chaser against target at the end of the sample",
    "end_rate": "turning of the chaser against the target at the end",
    "end_angle": "between the axes of both vehicles at the end",
    "energy_error": "change of kinetic and spring energy less all work, summed over the phases, "
    "as a part of the energy in play",
    "momentum_drift": "greatest change of total momentum over stretches without thrust, as a part of its size",
    "angular_drift": "the same of the angular momentum, over stretches without thrust and attitude control",
    "lever_energy": "what the levelling levers hold when they take effect at capture",
    "energy_lost": "kinetic and spring energy that is gone at the end, levers counted in",
}
"""Of inputs and recorded numbers, by name."""

TILT = "tilt = sqrt(pitch**2 + yaw**2)"
MAPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("closing, offset", ("closing", "offset")),
    (f"offset, {TILT}", ("offset", "pitch", "yaw")),
    ("closing, thrust.x", ("closing", "thrust.x")),
)
"""Maps that a docking wants, and the inputs that have to vary for each."""


def words(docking: Docking, until: float) -> dict[str, Any]:
    """What a report needs: meanings of names, maps with the inputs they need, the design in words."""
    c = docking.capture
    caught = f"the head within {1e3 * c.near:g} mm of the seat and moving in with {c.speed:g} m/s or more"
    late = f"not caught within {c.limit:g} s of first contact, or before the run ended at {until:g} s"
    return {
        "meanings": MEANINGS,
        "ends": {
            "capture": caught,
            "time-out": late,
            "bounce-out": f"the head came out of the cone again, by {100 * c.retreat:g} cm",
            "miss": "the head went past the mouth, outside the cone",
            "no contact": "the head touched nothing",
        },
        "maps": [[text, list(needs)] for text, needs in MAPS],
        "built": {"models": "read from files"} if docking.models else built(docking),
    }


def built(docking: Docking) -> dict[str, str]:
    """The design, part by part: "mass 7220 kg, inertia 6700, 32700, 32700 kg*m^2, port 3.5 m"."""
    d = docking.design
    told = {name: _record(getattr(d, name), UNITS) for name in ("chaser", "target", "probe", "cone")}
    told["latch"] = _record(d.latch, UNITS | LATCH)
    if d.modes:
        told["elastic modes"] = "; ".join(map(_mode, d.modes))
    told["thrust"] = _number(d.thrust, "N") + " from first contact to capture"
    told["attitude control"] = "none"
    if d.control is not None:
        told["attitude control"] = f"{d.control[0]:g} rad/s, damping ratio {d.control[1]:g}, until capture"
    return told


def _record(record: Any, units: Mapping[str, str]) -> str:
    parts = [(f.name, getattr(record, f.name), units[f.name]) for f in fields(record)]
    return ", ".join(f"{name.replace('_', ' ')} {_number(x, unit)}" for name, x, unit in parts)


def _mode(mode: Mode) -> str:
    return f"{mode.motion} {mode.axis} {mode.frequency:g} Hz, damping ratio {mode.damping:g}"


def _number(x: Any, unit: str) -> str:
    by, unit = (180 / math.pi, "°") if unit == "rad" else (1.0, unit)
    shown = ", ".join(f"{by * one:.7g}".replace("-", "−") for one in (x if isinstance(x, tuple) else (x,)))
    return shown if unit == "1" else f"{shown} {unit.replace('*', '·').replace('^2', '²')}"
