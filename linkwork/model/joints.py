"""The table of joint kinds. No other file asks what kind a joint is, but the independent formulations' own tables.

`motion(joint, q, v, t)` returns what the recursions need, about the child's frame:

    R     child axes → joint axes
    p     child origin in joint axes
    S     6 × nv, in child axes: relative motion = S v, [linear; angular]
    c     6, in child axes: what is left of the relative acceleration components when v_dot = 0, dS/dt v

Universal: first axis in joint axes (`axis`), second in the child (`axis2`).
Spherical, free: q holds a unit quaternion (w, x, y, z), v is in child axes. Planar: q = (x, y, angle),
v = dq/dt.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca

from linkwork.model.describe import Joint
from linkwork.spatial import (
    SX,
    cross,
    eye,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    quaternion_rotation,
    rotation,
    vector,
    zeros,
)


class Motion(NamedTuple):
    R: SX
    p: SX
    S: SX
    c: SX
    given: SX  # 6, relative motion that no speed rules: zero except for prescribed joints


@dataclass(frozen=True)
class Kind:
    """One row of the table."""

    name: str
    coordinates: tuple[tuple[str, str], ...]  # (component, unit); one nameless component for a single freedom
    speeds: tuple[tuple[str, str], ...]
    motion: Callable[[Joint, SX, SX, SX], Motion]
    quaternion: int | None = None  # where in q a quaternion starts
    q_dot: Callable[[SX, SX], SX] = lambda q, v: v
    step: Callable[[SX, SX], SX] = lambda q, dv: q + dv
    difference: Callable[[SX, SX], SX] = lambda q0, q1: q1 - q0
    plane: bool = False  # `axis` is used as plain numbers, so joints of different axes never share code

    @property
    def nq(self) -> int:
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        return len(self.speeds)

    @property
    def neutral(self) -> tuple[float, ...]:
        return tuple(1.0 if i == self.quaternion else 0.0 for i in range(self.nq))


def _column(*parts: Any) -> SX:
    return SX(ca.vertcat(*parts))


def _still(R: SX, p: SX, S: SX) -> Motion:
    return Motion(R, p, S, zeros(6, 1), zeros(6, 1))


def _fixed(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    return _still(eye(3), zeros(3, 1), SX(6, 0))


def _revolute(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    a = vector(joint.axis)
    return _still(rotation(a, q[0]), zeros(3, 1), _column(zeros(3, 1), a))


def _prismatic(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    a = vector(joint.axis)
    return _still(eye(3), a * q[0], _column(a, zeros(3, 1)))


def _helical(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    a = vector(joint.axis)
    return _still(rotation(a, q[0]), a * (joint.pitch * q[0]), _column(joint.pitch * a, a))


def _cylindrical(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    a, o = vector(joint.axis), zeros(3, 1)
    S = SX(ca.blockcat([[o, a], [a, o]]))
    return _still(rotation(a, q[0]), a * q[1], S)


def _universal(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    a, b, o = vector(joint.axis), vector(joint.axis2), zeros(3, 1)
    R2 = rotation(b, q[1])
    a_child = R2.T @ a
    S = SX(ca.blockcat([[o, o], [a_child, b]]))
    c = _column(o, -cross(b * v[1], a_child) * v[0])
    return Motion(rotation(a, q[0]) @ R2, o, S, c, zeros(6, 1))


def _spherical(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    return _still(quaternion_rotation(q), zeros(3, 1), _column(zeros(3, 3), eye(3)))


def across(axis: tuple[Any, Any, Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Two unit vectors that make a right-handed set with a unit axis: x and y turned the shortest way."""
    x, y, z = (float(e) for e in axis)
    sine2 = x * x + y * y
    if z < 0 and sine2 < 1e-30:
        return (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    k = 1 / (1 + z) if z >= 0 else (1 - z) / sine2  # the same number; 1 + z would lose its digits near −z
    return (1 - x * x * k, -x * y * k, -x), (-x * y * k, 1 - y * y * k, -y)


def _planar(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    n = vector(joint.axis)
    e1, e2 = (vector(e) for e in across(joint.axis))
    R = rotation(n, q[2])
    S = SX(ca.blockcat([[R.T @ e1, R.T @ e2, zeros(3, 1)], [zeros(3, 1), zeros(3, 1), n]]))
    along = S[:3, :] @ v
    return Motion(R, e1 * q[0] + e2 * q[1], S, _column(-cross(n * v[2], along), zeros(3, 1)), zeros(6, 1))


def _free(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    return _still(quaternion_rotation(q[3:7]), q[:3], eye(6))


def _prescribed(joint: Joint, q: SX, v: SX, t: SX) -> Motion:
    assert joint.motion is not None
    position, quat = joint.motion(t)
    p, u = vector([position[i] for i in range(3)]), vector([quat[i] for i in range(4)])
    u = u / ca.norm_2(u)
    R = quaternion_rotation(u)
    u_dot = ca.jacobian(u, t)
    spin = 2 * quaternion_product(_column(u[0], -u[1:4]), u_dot)[1:4]
    given = _column(R.T @ ca.jacobian(p, t), spin)
    return Motion(R, p, SX(6, 0), SX(ca.densify(ca.jacobian(given, t))), SX(ca.densify(given)))


def _quaternion_rate(quat: SX, w: SX) -> SX:
    return 0.5 * quaternion_product(quat, ca.vertcat(0, w))


def _turn(quat: SX, dv: SX) -> SX:
    turned = quaternion_product(quat, quaternion_exp(dv))
    return turned / ca.norm_2(turned)


def _turn_between(a: SX, b: SX) -> SX:
    return quaternion_log(quaternion_product(ca.vertcat(a[0], -a[1:4]), b))


def _free_rate(q: SX, v: SX) -> SX:
    return ca.vertcat(quaternion_rotation(q[3:7]) @ v[:3], _quaternion_rate(q[3:7], v[3:]))


def _free_step(q: SX, dv: SX) -> SX:
    """Position moves along the middle attitude's axes: second order; attitude stays uncoupled."""
    middle = _turn(q[3:7], 0.5 * dv[3:])
    return ca.vertcat(q[:3] + quaternion_rotation(middle) @ dv[:3], _turn(q[3:7], dv[3:]))


def _free_difference(a: SX, b: SX) -> SX:
    turn = _turn_between(a[3:7], b[3:7])
    middle = _turn(a[3:7], 0.5 * turn)
    return ca.vertcat(quaternion_rotation(middle).T @ (b[:3] - a[:3]), turn)


_ANGLE, _LENGTH = (("", "rad"),), (("", "m"),)
_RATE, _SPEED = (("rate", "rad/s"),), (("rate", "m/s"),)
_QUAT = (("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"))
_OMEGA = (("omega_x", "rad/s"), ("omega_y", "rad/s"), ("omega_z", "rad/s"))
_POSITION = (("x", "m"), ("y", "m"), ("z", "m"))
_VELOCITY = (("v_x", "m/s"), ("v_y", "m/s"), ("v_z", "m/s"))

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("fixed", (), (), _fixed),
        Kind("prescribed", (), (), _prescribed),
        Kind("revolute", _ANGLE, _RATE, _revolute),
        Kind("continuous", _ANGLE, _RATE, _revolute),
        Kind("prismatic", _LENGTH, _SPEED, _prismatic),
        Kind("helical", _ANGLE, _RATE, _helical),
        Kind(
            "cylindrical",
            (("angle", "rad"), ("displacement", "m")),
            (("angle_rate", "rad/s"), ("displacement_rate", "m/s")),
            _cylindrical,
        ),
        Kind(
            "universal",
            (("angle1", "rad"), ("angle2", "rad")),
            (("angle1_rate", "rad/s"), ("angle2_rate", "rad/s")),
            _universal,
        ),
        Kind(
            "planar",
            (("x", "m"), ("y", "m"), ("angle", "rad")),
            (("x_rate", "m/s"), ("y_rate", "m/s"), ("angle_rate", "rad/s")),
            _planar,
            plane=True,
        ),
        Kind("spherical", _QUAT, _OMEGA, _spherical, 0, _quaternion_rate, _turn, _turn_between),
        Kind("free", _POSITION + _QUAT, _VELOCITY + _OMEGA, _free, 3, _free_rate, _free_step, _free_difference),
    )
}
