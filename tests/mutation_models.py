"""The models on which mutants are judged: between them they hold whatever a formulation may get wrong.

Every kind of joint, about coordinate axes and others; rotors, couplings, a way given by time, several inertial parts, a
body without mass, welds, branches; and planar ones with frames turned in space.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from mechanisms import random_inertial, random_joint, random_rotation, rows

from linkwork.model.build import build
from linkwork.model.describe import Body, Coupling, Description, Joint
from linkwork.model.model import Model


def _way(t: Any) -> Any:
    """A place and an attitude by time, the quaternion of unit length."""
    x, y, z = 0.3 * ca.sin(t), 0.2 * ca.cos(t), 0.2 * ca.cos(2 * t)
    return (0.3 * ca.sin(t), 0.2 * t, 0.1 * ca.cos(t)), (ca.sqrt(1 - x * x - y * y - z * z), x, y, z)


def tree(
    seed: int, *kinds: tuple[str, int], parts: int = 1, massless: int = 0, follows: Any = None, skew: bool = False
) -> Model:
    """Joints (kind, number of the parent) with random places, axes and rotors. follows: joint → the one that leads it;
    skew: no axis is a coordinate axis."""
    rng, follows = np.random.default_rng(seed), follows or {}
    bodies, joints = [], []
    for k, (kind, p) in enumerate(kinds, 1):
        joint = random_joint(rng, f"j{k}", kind, f"b{p}" if p else "world", f"b{k}", passive=k not in follows)
        more: dict[str, Any] = {}
        if skew:
            R = random_rotation(rng)
            more |= {"axis": tuple(map(float, R[0])), "axis2": tuple(map(float, (R[1] + 0.3 * R[0]) / np.sqrt(1.09)))}
        if kind == "prescribed":
            more |= {"motion": _way}
        if k in follows:
            more |= {"coupling": Coupling(f"j{follows[k]}", float(rng.uniform(0.5, 2)), 0.3)}
        joints.append(Joint(**(joint.__dict__ | more)))
        bodies.append(Body(f"b{k}", tuple(random_inertial(rng, f"p{i}") for i in range(parts if k != massless else 0))))
    return build(Description(f"tree{seed}", (1.0, -2.0, -9.0), tuple(bodies), tuple(joints)))


@cache
def in_space() -> dict[str, Model]:
    return {
        "tree": tree(1, ("revolute", 0), ("universal", 1), ("prismatic", 1), ("spherical", 3), parts=2),
        "floating": tree(2, ("free", 0), ("cylindrical", 1), ("helical", 1), ("planar", 2), skew=True),
        "coupled": tree(3, ("helical", 0), ("prismatic", 1), ("spherical", 2), ("revolute", 3), follows={2: 1, 4: 1}),
        "moved": tree(4, ("prescribed", 0), ("revolute", 1), ("fixed", 2), ("universal", 1), ("free", 0), massless=2),
        "axes": tree(5, ("revolute", 0), ("prismatic", 1), ("universal", 1), ("revolute", 0), skew=True),
    }


def plane(seed: int, *kinds: tuple[str, int], pull: tuple[float, float]) -> Model:
    """Joints about, or slides across, one direction of space, frames turned at random; gravity in the plane."""
    rng = np.random.default_rng(seed)
    sides = random_rotation(rng)  # its rows: x, y and the normal
    attitude, bodies, joints = [np.eye(3)], [], []
    for k, (kind, p) in enumerate(kinds, 1):
        R = random_rotation(rng)
        attitude.append(attitude[p] @ R)
        angle = rng.uniform(0, 6)
        slide = np.cos(angle) * sides[0] + np.sin(angle) * sides[1]
        axis = attitude[k].T @ (slide if kind == "prismatic" else sides[2] * rng.choice([-1, 1]))
        rotors = tuple(rng.uniform(0, 0.2, {"planar": 3, "fixed": 0}.get(kind, 1)).tolist())
        joints.append(
            Joint(f"j{k}", kind, f"b{p}" if p else "world", f"b{k}", position=tuple(map(float, rng.normal(size=3))),
                  rotation=rows(R), axis=tuple(map(float, axis)), armature=rotors)
        )  # fmt: skip
        bodies.append(Body(f"b{k}", tuple(random_inertial(rng, f"p{i}") for i in range(1 + k % 2))))
    gravity = tuple(map(float, pull[0] * sides[0] + pull[1] * sides[1]))
    return build(Description(f"plane{seed}", gravity, tuple(bodies), tuple(joints)))


@cache
def in_a_plane() -> dict[str, Model]:
    turns = (("revolute", 0), ("prismatic", 1), ("planar", 1), ("continuous", 2), ("fixed", 3), ("revolute", 5))
    return {
        "turns": plane(5, *turns, pull=(3.0, -9.0)),
        "planar first": plane(6, ("planar", 0), ("revolute", 1), ("prismatic", 1), pull=(0.0, -9.0)),
        "slides": plane(7, ("prismatic", 0), ("prismatic", 1), ("prismatic", 1), pull=(2.0, -9.0)),
    }
