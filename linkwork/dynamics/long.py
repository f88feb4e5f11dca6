"""What long mechanisms need besides accelerations, as sweeps: own joint forces, energies, rates of coordinates.

Used by the runs of models too long to be unrolled; short ones trace `forces`, `energy` and `kinematics` instead, which
say the same of the whole model at once.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.dynamics.aba import SWEEPS, world
from linkwork.dynamics.energy import joint_spring_energy
from linkwork.dynamics.forces import joint_forces
from linkwork.dynamics.kinematics import AT_REST, pose, velocity_of_pole
from linkwork.dynamics.rolled import Rolled, rolled
from linkwork.dynamics.sweeps import Link, Results, Sweep
from linkwork.model.lump import lumped
from linkwork.model.model import Model
from linkwork.spatial import SX, vector

LONG = 150
"""Bodies from which on a model is run in loops over tables instead of being unrolled."""


def drive(b: Link, p: Any) -> Results:
    """Outward: the joint's own force, the rate of its coordinates, the power that no potential keeps."""
    found = joint_forces(b.joint, b.kind, b.q, b.v) if b.v.numel() else {}
    tau = sum(found.values(), SX.zeros(b.v.numel()))
    lost = sum((ca.dot(f, b.v) for name, f in found.items() if name != "springs"), SX(0))
    return {"tau": tau, "q_dot": b.kind.q_dot(b.q, b.v) if b.v.numel() else SX(0, 1), "power": lost}


def add_power(b: Link, children: Any) -> Results:
    return {"power_up": b.power + children.power_up}


def energies(b: Link, children: Any) -> Results:
    """Inward: kinetic energy; gravity and spring energy."""
    kinetic = (ca.dot(b.vel, b.M @ b.vel) + (ca.dot(b.v, b.armature @ b.v) if b.v.numel() else 0)) / 2
    stored = joint_spring_energy(b.joint, b.kind, b.q) if b.v.numel() else SX(0)
    height = b.m * b.r + b.R @ b.md
    return {
        "kinetic_up": kinetic + children.kinetic_up,
        "spring_up": stored + children.spring_up,
        "moment_up": height + children.moment_up,
    }


ONE = (1, 1)


def motion(model: Model) -> Rolled:
    """q, v → q_dot, v_dot under the joints' own forces, and the power they bring in ("power_up")."""
    sweeps = (Sweep("outward", drive), *SWEEPS, Sweep("inward", add_power, {"power_up": ONE}))
    outputs = {"q_dot": "q", "v_dot": "v", "power_up": "root"}
    return rolled(lumped(model), "motion", sweeps, world(model), {"q": "q", "v": "v"}, outputs)


def energy(model: Model) -> Rolled:
    """q, v → "kinetic_up", "spring_up" and "moment_up", the sum of mass times place, from which gravity's follows."""
    passes = {"kinetic_up": ONE, "spring_up": ONE, "moment_up": (3, 1)}
    sweeps = (Sweep("outward", pose), Sweep("outward", velocity_of_pole), Sweep("inward", energies, passes))
    root = {k: AT_REST[k] for k in ("R", "r", "vel")}
    return rolled(model, "energy", sweeps, root, {"q": "q", "v": "v"}, {name: "root" for name in passes})


def gravity_of(model: Model, moment: SX) -> SX:
    return -ca.dot(vector(model.gravity), moment)
