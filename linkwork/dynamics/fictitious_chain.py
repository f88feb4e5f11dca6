"""The source's way to a mechanism that is not attached to the ground: six fictitious joints of one freedom.

A free joint becomes three prismatic joints (x, y, z of the joint frame), then three revolute ones about axes that each
turn with the joints before: massless links 1 to 5, and link 6, the body. The equations are then those of a grounded
tree with tau_1 … tau_6 = 0. The price is gimbal lock where the middle angle is ±90°: A is singular there.

With angles α, β, γ of the order "xyz", and v, omega in child axes:

    R = R_x(α) R_y(β) R_z(γ),     p' = R v,     omega = R_zᵀ(γ) [R_yᵀ(β) e_x α' + e_y β'] + e_z γ'
"""

from __future__ import annotations

import math
from dataclasses import fields, replace
from itertools import permutations
from typing import Any

import numpy as np

from linkwork.dynamics.block_links import AXES
from linkwork.errors import ModelError, nearest
from linkwork.model.build import build
from linkwork.model.describe import ORIGIN, UNTURNED, Body, Description, Joint
from linkwork.model.model import Model
from linkwork.model.numbers import PER_FREEDOM

ORDERS = tuple("".join(p) for p in permutations("xyz"))
LOCKED = 1e-6  # cosine of the middle angle; cond(A) grows with its inverse square


def fictitious_chain(model: Model, order: str = "xyz") -> Model:
    """The model with every free joint, `base` say, as six joints of one freedom: prismatic `base_x`, `base_y`,
    `base_z`, then revolute `base_rx`, `base_ry`, `base_rz` (or in another `order`). A start is converted."""
    if order not in ORDERS:
        raise ModelError(f"'{order}' is no order of three different axes", fix=nearest(order, ORDERS))
    free = [i for i in model.tree if model.joint(i).kind == "free"]
    if not free:
        raise ModelError(f"the model '{model.name}' has no free joint", where=model.source, fix="use it as it is")
    bodies, joints = list(model.bodies[1:]), []
    for i in model.tree:
        if i in free:
            run, links = _run(model.joint(i), order)
            joints += run
            bodies += links
        else:
            joints.append(model.joint(i))
    kept = {f.name: getattr(model, f.name) for f in fields(Description) if hasattr(model, f.name)}
    made = {"bodies": tuple(bodies), "joints": tuple(joints), "world": model.bodies[0], "start": {}}
    made = build(Description(**(kept | made)))
    return replace(made, start=_start(model, made, order)) if model.start else made


def _run(joint: Joint, order: str) -> tuple[list[Joint], list[Body]]:
    for word in ("damping", "stiffness", "friction", "armature", "lower", "upper", "effort", "velocity"):
        idle = (lambda x: x == 0) if word in PER_FREEDOM else math.isinf
        if not all(map(idle, getattr(joint, word))):
            raise ModelError(
                f"joint '{joint.name}' has {word} along its child's axes, which no fictitious joint can have",
                where=joint.source,
                fix=f"remove '{word}', or tell it as a law",
            )
    kinds = [("prismatic", x, f"{joint.name}_{x}") for x in "xyz"]
    kinds += [("revolute", x, f"{joint.name}_r{x}") for x in order]
    ends = [joint.parent, *(f"{joint.name}_link{k}" for k in range(1, 6)), joint.child]
    joints = [
        Joint(
            name, kind, ends[k], ends[k + 1], axis=AXES["xyz".index(x)], source=joint.source,
            position=ORIGIN if k else joint.position, rotation=UNTURNED if k else joint.rotation,
        )
        for k, (kind, x, name) in enumerate(kinds)
    ]  # fmt: skip
    return joints, [Body(name, source=joint.source) for name in ends[1:-1]]


def chain_state(model: Model, q: Any, v: Any, order: str = "xyz") -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds of `fictitious_chain(model, order)` for those of the model."""
    q, v = np.asarray(q, float), np.asarray(v, float)
    positions, speeds, iq, iv = [], [], 0, 0
    for i in model.independent:
        kind = model.kind(i)
        qi, vi = q[iq : iq + kind.nq], v[iv : iv + kind.nv]
        if kind.name == "free":
            qi, vi = _six(model.joint(i), qi, vi, order)
        positions.append(qi)
        speeds.append(vi)
        iq, iv = iq + kind.nq, iv + kind.nv
    return np.concatenate(positions), np.concatenate(speeds)


def _six(joint: Joint, q: np.ndarray, v: np.ndarray, order: str) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial.transform import Rotation

    attitude = Rotation.from_quat(q[[4, 5, 6, 3]])
    R = attitude.as_matrix()
    cosines = {o: _middle_cosine(R, o) for o in ORDERS}
    if cosines[order] < LOCKED:
        raise ModelError(
            f"joint '{joint.name}_r{order[1]}' would stand at ±90 deg, where '{joint.name}_r{order[0]}' and "
            f"'{joint.name}_r{order[2]}' turn about one axis (gimbal lock)",
            where=joint.source,
            fix=f"take the order '{max(cosines, key=lambda o: cosines[o])}'",
        )
    angles = attitude.as_euler(order.upper())
    e = [np.array(AXES["xyz".index(x)]) for x in order]
    back = [Rotation.from_rotvec(-a * axis).as_matrix() for a, axis in zip(angles, e, strict=True)]
    E = np.column_stack([back[2] @ back[1] @ e[0], back[2] @ e[1], e[2]])
    return np.concatenate([q[:3], angles]), np.concatenate([R @ v[:3], np.linalg.solve(E, v[3:])])


def _middle_cosine(R: np.ndarray, order: str) -> float:
    """The sine of the middle angle of R_i R_j R_k is ± R[i, k]."""
    i, k = "xyz".index(order[0]), "xyz".index(order[2])
    return math.sqrt(max(0.0, 1 - R[i, k] ** 2))


def _start(model: Model, made: Model, order: str) -> dict[str, float]:
    """A start by names, all coordinates and speeds told."""
    given = [model.start.get(n, e) for n, e in zip(model.q_names, model.neutral, strict=True)]
    q, v = chain_state(model, given, [model.start.get(n, 0.0) for n in model.v_names], order)
    told = zip((*made.q_names, *made.v_names), (*q, *v), strict=True)
    return {name: float(x) for name, x in told}
