"""What each kind of joint lets its body do: the table of separate bodies (section 3), in joint axes.

Hw, Hv     relative angular velocity, relative velocity of the joint point (the child's origin), per unit of speeds u
bw, bv     their derivatives seen from the parent with u' = 0
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from linkwork.model.describe import Joint
from linkwork.model.joints import across
from linkwork.spatial import SX, cross, eye, quaternion_rotation, rotation, vector, zeros


class Relative(NamedTuple):
    """Motion of a body seen from its parent, in joint axes (those the parent carries)."""

    A: SX  # child axes → joint axes
    d: SX  # joint frame → joint point
    Hw: SX
    Hv: SX
    bw: SX = zeros(3, 1)
    bv: SX = zeros(3, 1)
    w: SX = zeros(3, 1)  # given relative motion, of which no speed is part: prescribed joints
    v: SX = zeros(3, 1)


def relative(joint: Joint, q: SX, u: SX, t: SX) -> Relative:
    """The table of joints (section 3)."""
    e, E, o, none = vector(joint.axis), eye(3), zeros(3, 1), SX(3, 0)
    match joint.kind:
        case "fixed":
            return Relative(E, o, none, none)
        case "revolute" | "continuous":
            return Relative(rotation(e, q[0]), o, e, o)
        case "prismatic":
            return Relative(E, e * q[0], o, e)
        case "helical":
            h = joint.pitch * e
            return Relative(rotation(e, q[0]), h * q[0], e, h)
        case "cylindrical":
            return Relative(rotation(e, q[0]), e * q[1], ca.horzcat(e, o), ca.horzcat(o, e))
        case "universal":
            turn, child = rotation(e, q[0]), vector(joint.axis2)
            e2 = turn @ child
            bw = u[0] * u[1] * cross(e, e2)
            return Relative(turn @ rotation(child, q[1]), o, ca.horzcat(e, e2), zeros(3, 2), bw)
        case "planar":
            x, y = (vector(side) for side in across(joint.axis))
            return Relative(rotation(e, q[2]), x * q[0] + y * q[1], ca.horzcat(o, o, e), ca.horzcat(x, y, o))
        case "spherical":
            A = quaternion_rotation(q)
            return Relative(A, o, A, zeros(3, 3))
        case "free":
            A = quaternion_rotation(q[3:7])
            bv = cross(A @ u[3:], A @ u[:3])
            return Relative(A, q[:3], ca.horzcat(zeros(3, 3), A), ca.horzcat(A, zeros(3, 3)), o, bv)
        case "prescribed":
            return _prescribed(joint, t)
    raise NotImplementedError(f"joints of kind '{joint.kind}' have no row in this table")


def _prescribed(joint: Joint, t: SX) -> Relative:
    """Place and attitude by time; w is the vector part of 2 λ' λ* of the unit quaternion λ."""
    assert joint.motion is not None
    position, quaternion = joint.motion(t)
    d, turn = vector([position[i] for i in range(3)]), vector([quaternion[i] for i in range(4)])
    turn = turn / ca.norm_2(turn)
    l0, l, rate = turn[0], turn[1:4], SX(ca.densify(ca.jacobian(turn, t)))
    w = 2 * (l0 * rate[1:4] - rate[0] * l + cross(l, rate[1:4]))
    v = SX(ca.densify(ca.jacobian(d, t)))
    bw, bv = (SX(ca.densify(ca.jacobian(x, t))) for x in (w, v))
    return Relative(quaternion_rotation(turn), d, SX(3, 0), SX(3, 0), bw, bv, w, v)
