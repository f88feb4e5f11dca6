"""The hinges of `kane_graph`: kind of joint → freedoms, constraint rows, active force, all in the axes of the joint.

Body i turns against its lower body with w = omega_i − omega_L(i); its point o_i moves by q from A_i, seen in B_L(i).

    w = Hw u + given       q' = Hv u + given          freedoms (section 6, solution b)
    bw, bv                 rates of w and q' seen in B_L(i) when u' = 0
    H w = 0                3 − n_rot rows             (32)–(36), H K of h hᵀ − E without the row of the largest |h_k|
    K q' = 0               3 − n_tr rows
    HK [w; q'] = 0         rows that tie a rotation to a translation: the screw
    T^a = Ta tau           active torque and force on B_i with T^a · w + F^a · q' = tau · u: Taᵀ Hw + Faᵀ Hv = E
    F^a = Fa tau

Ta, Fa are the dual axes of the freedoms; a screw is driven by its torque alone. What they leave is the ideal part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import casadi as ca
import numpy as np

from linkwork.errors import ModelError
from linkwork.model.describe import Joint
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, eye, quaternion_rotation, rotation, vector

PARALLEL = 1e-8  # |h1 × h2| below which two axes are one
NONE, ALL = SX(0, 3), SX(ca.DM.eye(3))


def _still() -> SX:
    return SX(3, 1)


@dataclass(frozen=True)
class Hinge:
    Hw: SX
    Hv: SX
    Ta: SX
    Fa: SX
    H: SX = NONE
    K: SX = NONE
    HK: SX = field(default_factory=lambda: SX(0, 6))
    turn: SX = field(default_factory=lambda: eye(3))  # body axes → joint axes
    q: SX = field(default_factory=_still)
    bw: SX = field(default_factory=_still)
    bv: SX = field(default_factory=_still)
    w_given: SX = field(default_factory=_still)  # prescribed motion, which no speed rules
    v_given: SX = field(default_factory=_still)

    def turned(self, R: SX) -> Hinge:
        """The same in inertial axes; R: joint axes → inertial axes. Rows are turned from the right."""
        rows = {"H": self.H @ R.T, "K": self.K @ R.T, "HK": self.HK @ ca.diagcat(R, R).T}
        return Hinge(**{f.name: rows[f.name] if f.name in rows else R @ getattr(self, f.name) for f in fields(self)})


def two_rows(h: Any) -> SX:
    """Two independent rows orthogonal to the unit vector h: those of h hᵀ − E without that of the largest |h_k|.

    The printed rows (33)–(36) divide by h_k and drop the third: no rows at all for an axis along x, y or z.
    """
    keep = [k for k in range(3) if k != int(np.argmax(np.abs(h)))]
    return _sparse(SX(ca.DM((np.outer(h, h) - np.eye(3))[keep])))


def _sparse(x: SX) -> SX:
    return ca.sparsify(SX(x))


def _axis(joint: Joint) -> SX:
    return _sparse(vector(joint.axis))


WELD = Hinge(*[SX(3, 0)] * 4, H=ALL, K=ALL)


def _fixed(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    return WELD


def _revolute(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    h, o = _axis(joint), SX(3, 1)
    return Hinge(h, o, h, o, H=two_rows(joint.axis), K=ALL, turn=rotation(vector(joint.axis), q[0]))


def _prismatic(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    h, o = _axis(joint), SX(3, 1)
    return Hinge(o, h, o, h, H=ALL, K=two_rows(joint.axis), q=h * q[0])


def _helical(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    h, o, two = _axis(joint), SX(3, 1), two_rows(joint.axis)
    tie = ca.horzcat(-joint.pitch * h.T, h.T)
    turn = rotation(vector(joint.axis), q[0])
    return Hinge(h, joint.pitch * h, h, o, H=two, K=two, HK=tie, turn=turn, q=h * (joint.pitch * q[0]))


def _cylindrical(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    h, o, two = _axis(joint), SX(3, 1), two_rows(joint.axis)
    Hw, Hv = ca.horzcat(h, o), ca.horzcat(o, h)
    return Hinge(Hw, Hv, Hw, Hv, H=two, K=two, turn=rotation(vector(joint.axis), q[0]), q=h * q[1])


def _universal(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    """h1 fixed in B_L(i), h2 in B_i; h1 · h2 never changes, so the axes lock only if they are given parallel."""
    first, second = rotation(vector(joint.axis), q[0]), rotation(vector(joint.axis2), q[1])
    h1, h2 = _axis(joint), first @ vector(joint.axis2)
    if np.linalg.norm(np.cross(joint.axis, joint.axis2)) < PARALLEL:
        raise ModelError(
            f"gimbal lock in hinge '{joint.name}': its two axes are parallel",
            where=joint.source,
            fix="give axis2 another direction, or make it a revolute joint",
        )
    cosine = float(np.dot(joint.axis, joint.axis2))
    dual = np.linalg.inv([[1.0, cosine], [cosine, 1.0]])
    Hw, o, normal = ca.horzcat(h1, h2), SX(3, 2), cross(h1, h2)
    return Hinge(
        Hw, o, Hw @ _sparse(SX(ca.DM(dual))), o, H=normal.T, K=ALL, turn=first @ second, bw=v[0] * v[1] * normal
    )


def _spherical(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    R, o = quaternion_rotation(q), SX(3, 3)
    return Hinge(R, o, R, o, K=ALL, turn=R)


def _planar(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    h, o = _axis(joint), SX(3, 1)
    e1, e2 = (_sparse(vector(e)) for e in across(joint.axis))
    Hw, Hv = ca.horzcat(o, o, h), ca.horzcat(e1, e2, o)
    turn = rotation(vector(joint.axis), q[2])
    return Hinge(Hw, Hv, Hw, Hv, H=two_rows(joint.axis), K=h.T, turn=turn, q=e1 * q[0] + e2 * q[1])


def _free(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    R, o = quaternion_rotation(q[3:7]), SX(3, 3)
    Hw, Hv = ca.horzcat(o, R), ca.horzcat(R, o)
    return Hinge(Hw, Hv, Hw, Hv, turn=R, q=q[:3], bv=cross(R @ v[3:], R @ v[:3]))


def _prescribed(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    """Moved as time tells: w~ = R' Rᵀ, and all rates are rates of components in joint axes."""
    assert joint.motion is not None
    position, quat = joint.motion(t)
    p, e = vector([position[k] for k in range(3)]), vector([quat[k] for k in range(4)])
    e = e / ca.norm_2(e)
    rate = ca.jacobian(e, t)
    w = 2 * (e[0] * rate[1:4] - rate[0] * e[1:4] + cross(e[1:4], rate[1:4]))
    p_dot = ca.jacobian(p, t)
    given = {"w_given": w, "v_given": p_dot, "bw": ca.jacobian(w, t), "bv": ca.jacobian(p_dot, t)}
    return replace(WELD, turn=quaternion_rotation(e), q=p, **given)


TABLE: dict[str, Callable[[Joint, SX, SX, SX], Hinge]] = {
    "fixed": _fixed,
    "prescribed": _prescribed,
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "helical": _helical,
    "cylindrical": _cylindrical,
    "universal": _universal,
    "spherical": _spherical,
    "planar": _planar,
    "free": _free,
}


def hinge(joint: Joint, q: SX, v: SX, t: SX) -> Hinge:
    return TABLE[joint.kind](joint, q, v, t)


def _quaternion_rate(e: SX, w: SX) -> SX:
    """½ e ∘ (0, w), w in body axes."""
    return 0.5 * ca.vertcat(-ca.dot(e[1:4], w), e[0] * w + cross(e[1:4], w))


def rates(model: Model, q: SX, v: SX) -> SX:
    """dq/dt of the independent coordinates."""
    parts, at, to = [SX(0, 1)], 0, 0
    for i in model.independent:
        kind = model.kind(i)
        own, u = q[at : at + kind.nq], v[to : to + kind.nv]
        at, to = at + kind.nq, to + kind.nv
        if kind.name == "spherical":
            parts.append(_quaternion_rate(own, u))
        elif kind.name == "free":
            parts += [quaternion_rotation(own[3:7]) @ u[:3], _quaternion_rate(own[3:7], u[3:])]
        elif kind.nv:
            parts.append(u)
    return ca.vertcat(*parts)
