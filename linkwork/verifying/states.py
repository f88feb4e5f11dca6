"""Random states of a model: state i depends on (seed, i) alone.

Forces are as large as what they act on is heavy, so that accelerations are of the order of 1: a newton means something
else to a finger than to a space station, and what is small beside the terms it is the difference of loses digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from linkwork.dynamics import kinematics
from linkwork.model.model import Model

LEAST_ARM = 0.01
"""[m] of the moment of inertia a mass is taken to have at least: points at their own origin."""
REACH = 1.5
"""Coordinates lie between −1.5 and 1.5 rad or m, and within limits."""

State = dict[str, np.ndarray]


@dataclass(frozen=True)
class States:
    """`States(model, seed)[i]`: q with unit quaternions, v, tau, f_ext (bodies × 6), t."""

    model: Model
    seed: int

    def __getitem__(self, i: int) -> State:
        model, rng = self.model, np.random.default_rng((self.seed, i))
        q = [x for k in model.independent for x in self._coordinates(rng, k)]
        forces, wrenches = self.scales
        return {
            "q": np.array(q),
            "v": rng.normal(size=model.nv),
            "tau": forces * rng.normal(size=model.nv),
            "f_ext": wrenches * rng.normal(size=wrenches.shape),
            "t": rng.uniform(0, 3, 1) if model.is_moved else np.zeros(1),
        }

    def _coordinates(self, rng: np.random.Generator, k: int) -> list[float]:
        joint, kind = self.model.joint(k), self.model.kind(k)
        own = rng.uniform(-1, 1, kind.nq)
        if kind.quaternion is not None:
            own *= REACH
            at = slice(kind.quaternion, kind.quaternion + 4)
            own[at] = rng.normal(size=4)
            own[at] /= np.linalg.norm(own[at])
            return own.tolist()
        low, high = np.maximum(joint.lower, -REACH), np.minimum(joint.upper, REACH)
        beyond = low > high  # limits that hold no part of −1.5 … 1.5
        low, high = np.where(beyond, joint.lower, low), np.where(beyond, joint.upper, high)
        low, high = np.where(np.isinf(low), high - REACH, low), np.where(np.isinf(high), low + REACH, high)
        return (low + (high - low) * (own + 1) / 2).tolist()

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Of tau, and of the wrenches: mass and mean moment of inertia of what moves with a joint, or with a body."""
        model = self.model
        carried = _carried(model)
        forces = []
        for k in model.independent:
            m, J = carried[k]
            sizes = [m if unit == "m/s" else J for _, unit in model.kind(k).speeds]
            forces += [size + a for size, a in zip(sizes, map(float, model.joint(k).armature), strict=True)]
        top = list(range(len(model.bodies)))
        for i in model.tree:
            if not model.kind(i).nv and model.parent[i]:
                top[i] = top[model.parent[i]]
        rows = [[m] * 3 + [J] * 3 for m, J in (carried[top[i]] for i in model.tree)]
        return np.array(forces), np.array(rows)


def _carried(model: Model) -> list[tuple[float, float]]:
    """Of each body with all it carries, at neutral coordinates: mass, mean moment of inertia about its origin."""
    t = ca.SX.sym("t")
    bodies = kinematics.poses(model, ca.SX(ca.DM(model.neutral)), t)[1:]
    told = [ca.vertcat(b.m, b.r, b.m * b.r + b.R @ b.md, ca.trace(b.I), ca.dot(b.md, b.md)) for b in bodies]
    rows = np.array(ca.Function("numbers", [t], [ca.densify(ca.horzcat(*told))])(0)).T
    below = [[i] for i in range(len(model.bodies))]
    for i in reversed(model.tree):
        below[model.parent[i]] += below[i]
    out = [(0.0, 0.0)]
    for i in model.tree:
        m = J = 0.0
        for mass, *numbers in rows[[j - 1 for j in below[i]]]:
            if mass > 0:
                first, trace, spread = np.array(numbers[3:6]), numbers[6], numbers[7]
                arm = first / mass - rows[i - 1][1:4]
                m, J = m + mass, J + (trace - 2 * spread / mass) / 3 + 2 / 3 * mass * (arm @ arm)
        out.append((m, max(J, LEAST_ARM**2 * m)))
    return out
