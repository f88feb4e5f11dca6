"""The state of one model told in the coordinates of another: bodies keep their poses, and momentum is kept.

Every body of the new tree is found by its name among those of the old one, with its pose R_b, r_b and its velocity
V_b (body axes). Coordinates follow joint by joint from R = (R_p R_j)ᵀ R_b, p = (R_p R_j)ᵀ (r_b − r_p − R_p r_j), the
child's pose in joint axes. With V_b = J_b v in the new tree, its speeds are those nearest to the old velocities in
the metric of the masses,

    Σ_b J_bᵀ M_b J_b v = Σ_b J_bᵀ M_b V_b,       that is       M v = Σ_b J_bᵀ M_b V_b.

When the new tree can move as the old one did, these are its speeds. When it has fewer freedoms, they are what a
plastic impact of the new joints leaves: M (v⁺ − v⁻) is made up of the impulses of those joints alone. A free root has
J_b with all motions of the whole, so total linear and angular momentum are kept. M is `crba`, rotor inertias
included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from linkwork.dynamics import kinematics
from linkwork.dynamics.coupling import expand, expansion, spread
from linkwork.dynamics.crba import crba, solve_branches
from linkwork.errors import ModelError, nearest
from linkwork.model.describe import Joint
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.spatial import SX, matrix, vector, zeros

Pose = tuple[SX, SX]


def same_motions(old: Model, new: Model) -> bool:
    """The two trees have the same joints in the same places, so coordinates and speeds mean the same."""
    return len(old.joints) == len(new.joints) and all(
        old.bodies[i].name == new.bodies[i].name and _same_joint(old, new, i, i) for i in new.tree
    )


def _same_joint(old: Model, new: Model, i: int, k: int) -> bool:
    """Joint i of the old model is joint k of the new one."""
    a, b = (replace(m.joint(n), **_FORCES) for m, n in ((old, i), (new, k)))
    numbers = (*a.position, *b.position)
    return a == b if all(isinstance(x, float | int) for x in numbers) else False


_FORCES: dict[str, Any] = {
    **dict.fromkeys(("damping", "stiffness", "rest", "friction", "armature", "effort", "velocity"), ()),
    **dict.fromkeys(("lower", "upper"), ()),
    "friction_speed": 1.0,
    "source": None,
}


def transfer(
    old: Model, q: SX, v: SX, new: Model, frames: Mapping[str, Pose] | None = None, t: SX | None = None
) -> tuple[SX, SX]:
    """q, v of the new model. `frames` tells the poses (R, r) of massless bodies that only the new model has."""
    if same_motions(old, new):
        return q, v
    bodies = kinematics.moving(old, q, v, t)
    poses: dict[str, Pose] = {b.name: (bodies[i].R, bodies[i].r) for i, b in enumerate(old.bodies)}
    poses[new.bodies[0].name] = poses[old.bodies[0].name]
    poses |= dict(frames or {})
    q_new = _coordinates(old, q, new, poses)
    known = {b.name: bodies[i].vel for i, b in enumerate(old.bodies)}
    momentum = zeros(new.v_slices[-1].stop, 1)
    if new.coupled:
        momentum = expansion(new).T @ momentum
    moved = kinematics.moving(new, q_new, SX(new.nv, 1), t)
    for k in new.tree:
        name = new.bodies[k].name
        if not new.bodies[k].inertials:
            continue
        if name not in known:
            fix = nearest(name, known)
            raise ModelError(f"body '{name}' has mass and is not in the model '{old.name}' before it", fix=fix)
        J = kinematics.jacobian(new, q_new, name, "body", t)
        momentum = momentum + J.T @ (moved[k].M @ known[name])
    return q_new, solve_branches(crba(new, q_new), momentum + _rotors(old, v, new))


def misfits(old: Model, q: SX, new: Model, q_new: SX, t: SX | None = None) -> dict[str, SX]:
    """Body with mass → how far it lies from where it was, and how far it is turned: [m; rad], small angles."""
    if same_motions(old, new):
        return {}
    before, after = kinematics.moving(old, q, SX(old.nv, 1), t), kinematics.moving(new, q_new, SX(new.nv, 1), t)
    found = {}
    for k in new.tree:
        name = new.bodies[k].name
        if new.bodies[k].inertials and name in old.body_index:
            a, b = before[old.body_index[name]], after[k]
            found[name] = ca.vertcat(ca.norm_2(a.r - b.r), ca.norm_fro(a.R - b.R) / ca.sqrt(2))
    return found


def _rotors(old: Model, v: SX, new: Model) -> SX:
    """Momentum of the rotors: armature times the speed of the joint of the same name."""
    parts, speeds = [], spread(old, v)
    for k in new.tree:
        joint = new.joint(k)
        armature = vector(joint.armature) if joint.armature else SX(0, 1)
        i = old.joint_index.get(joint.name)
        same = i is not None and old.joint(i).kind == joint.kind and armature.numel()
        parts.append(armature * speeds[old.v_slices[i]] if same and i is not None else SX(new.kind(k).nv, 1))
    total = ca.densify(ca.vertcat(*parts))
    return expansion(new).T @ total if new.coupled else total


def _coordinates(old: Model, q: SX, new: Model, poses: Mapping[str, Pose]) -> SX:
    """Joint by joint; a joint that is in both models keeps its coordinates, whole turns included."""
    parts, before = [], expand(old, q)
    for k in new.independent:
        kind, joint = new.kind(k), new.joint(k)
        if not kind.nq:
            continue
        i = old.joint_index.get(joint.name)
        if i is not None and _same_joint(old, new, i, k):
            parts.append(before[old.q_slices[i]])
            continue
        if kind.name not in COORDINATES:
            raise ModelError(f"the coordinates of {kind.name} joint '{joint.name}' cannot follow from poses")
        (Rp, rp), (Rb, rb) = (_pose(poses, new.bodies[n].name, old) for n in (new.parent[k], k))
        axes = Rp @ matrix(joint.rotation)
        R, p = axes.T @ Rb, axes.T @ (rb - rp - Rp @ vector(joint.position))
        parts.append(COORDINATES[kind.name](joint, R, p))
    return ca.vertcat(*parts)


def _pose(poses: Mapping[str, Pose], name: str, old: Model) -> Pose:
    if name not in poses:
        raise ModelError(
            f"body '{name}' is not in the model '{old.name}' before it", fix="tell its frame, or name it as there"
        )
    return poses[name]


# --- coordinates of a joint from the child's pose R, p in joint axes ---
def _turned(axis: SX, a: SX, b: SX) -> SX:
    """The angle about `axis` from a to b."""
    return ca.atan2(ca.dot(axis, ca.cross(a, b)), ca.dot(a, b) - ca.dot(axis, a) * ca.dot(axis, b))


def _angle(joint: Joint, R: SX, p: SX) -> SX:
    e = vector(across(joint.axis)[0])
    return _turned(vector(joint.axis), e, R @ e)


def _universal(joint: Joint, R: SX, p: SX) -> SX:
    """R = R_a(q₁) R_b(q₂): b goes where the first turn takes it, a where the second takes it back."""
    a, b = vector(joint.axis), vector(joint.axis2)
    return ca.vertcat(_turned(a, b, R @ b), -_turned(b, a, R.T @ a))


def _planar(joint: Joint, R: SX, p: SX) -> SX:
    e1, e2 = (vector(e) for e in across(joint.axis))
    return ca.vertcat(ca.dot(e1, p), ca.dot(e2, p), _angle(joint, R, p))


def quaternion_of(R: SX) -> SX:
    """Unit quaternion (w, x, y, z) of a rotation matrix: of four ways the one that divides by the largest."""
    xx, yy, zz = R[0, 0], R[1, 1], R[2, 2]
    x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    xy, xz, yz = R[1, 0] + R[0, 1], R[0, 2] + R[2, 0], R[2, 1] + R[1, 2]
    ways = [
        (1 + xx + yy + zz, lambda s: (s, x, y, z)),
        (1 + xx - yy - zz, lambda s: (x, s, xy, xz)),
        (1 - xx + yy - zz, lambda s: (y, xy, s, yz)),
        (1 - xx - yy + zz, lambda s: (z, xz, yz, s)),
    ]
    best, square = ca.vertcat(*ways[0][1](ways[0][0])), ways[0][0]
    for size, way in ways[1:]:
        better = size > square
        best, square = ca.if_else(better, ca.vertcat(*way(size)), best), ca.if_else(better, size, square)
    return best / ca.norm_2(best)


COORDINATES: dict[str, Callable[[Joint, SX, SX], SX]] = {
    "revolute": _angle,
    "continuous": _angle,
    "prismatic": lambda joint, R, p: ca.dot(vector(joint.axis), p),
    "helical": lambda joint, R, p: ca.dot(vector(joint.axis), p) / joint.pitch,
    "cylindrical": lambda joint, R, p: ca.vertcat(_angle(joint, R, p), ca.dot(vector(joint.axis), p)),
    "universal": _universal,
    "planar": _planar,
    "spherical": lambda joint, R, p: quaternion_of(R),
    "free": lambda joint, R, p: ca.vertcat(p, quaternion_of(R)),
}
