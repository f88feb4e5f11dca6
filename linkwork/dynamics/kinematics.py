"""Where every body is and how it moves: poses, velocities, accelerations, Jacobians of named frames.

A frame is a marker or a body, by name. Motions are [linear; angular] of the frame's origin, told in one of three ways:

    mixed   velocity of the frame's origin, world axes (the default)
    body    the same in the frame's own axes
    world   the twist at the world's origin, world axes
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.dynamics.aba import time
from linkwork.dynamics.coupling import expand, expansion, spread
from linkwork.dynamics.formulation import returns
from linkwork.dynamics.sweeps import Link, Results, Sweep, links, run
from linkwork.errors import ModelError, nearest
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, eye, matrix, vector, zeros

FRAMES = ("mixed", "body", "world")


def pose(b: Link, p: Any) -> Results:
    return {"R": p.R @ b.X.R, "r": p.r + p.R @ b.X.r}


def velocity_of_pole(b: Link, p: Any) -> Results:
    return {"vel": b.X.motion(p.vel) + b.v_rel}


def acceleration_of_pole(b: Link, p: Any) -> Results:
    w_p, v_rel, w_rel = b.X.into(p.vel[3:]), b.v_rel[:3], b.v_rel[3:]
    centripetal = b.X.into(cross(p.vel[3:], cross(p.vel[3:], b.X.r)))
    h = ca.vertcat(centripetal + cross(2 * w_p + w_rel, v_rel), cross(w_p, w_rel)) + b.c
    return {"a": b.X.motion(p.a) + h + (b.S @ b.v_dot if b.v.numel() else 0)}


AT_REST: dict[str, Any] = {"R": eye(3), "r": zeros(3, 1), "vel": zeros(6, 1), "a": zeros(6, 1)}


def poses(model: Model, q: SX, t: SX | None = None) -> list[Link]:
    """Every body's R (body axes → world axes) and r (origin in world axes)."""
    bodies = links(model, expand(model, q), SX(model.v_slices[-1].stop, 1), time(t))
    return run(model, (Sweep("outward", pose),), bodies, AT_REST)


def moving(model: Model, q: SX, v: SX, t: SX | None = None, v_dot: SX | None = None) -> list[Link]:
    """Poses and `vel` (6, body axes), and with v_dot also `a` (6, body axes, conventional, without gravity)."""
    given = {} if v_dot is None else {"v_dot": spread(model, v_dot)}
    bodies = links(model, expand(model, q), spread(model, v), time(t), **given)
    sweeps = [Sweep("outward", pose), Sweep("outward", velocity_of_pole)]
    if v_dot is not None:
        sweeps.append(Sweep("outward", acceleration_of_pole))
    return run(model, sweeps, bodies, AT_REST)


def find(model: Model, frame: str) -> tuple[int, SX, SX]:
    """Body, rotation and origin (in the body) of a named frame."""
    if frame not in model.markers:
        raise ModelError(f"the model '{model.name}' has no body or marker '{frame}'", fix=nearest(frame, model.markers))
    i, marker = model.markers[frame]
    return i, matrix(marker.rotation), vector(marker.position)


@returns("position")
def position(model: Model, q: SX, frame: str, t: SX | None = None) -> SX:
    """Origin of a frame in world axes [m]."""
    i, _, r = find(model, frame)
    b = poses(model, q, t)[i]
    return b.r + b.R @ r


@returns("rotation")
def rotation_of(model: Model, q: SX, frame: str, t: SX | None = None) -> SX:
    """Rotation matrix, frame axes → world axes."""
    i, R, _ = find(model, frame)
    return poses(model, q, t)[i].R @ R


@returns("velocity")
def velocity(model: Model, q: SX, v: SX, frame: str, told: str = "mixed", t: SX | None = None) -> SX:
    """[linear; angular] velocity of a frame [m/s, rad/s]."""
    i, R, r = find(model, frame)
    b = moving(model, q, v, t)[i]
    linear, angular = b.vel[:3] + cross(b.vel[3:], r), b.vel[3:]
    return _told(ca.horzcat(ca.vertcat(b.R @ linear, b.R @ angular)), b.R @ R, b.r + b.R @ r, told)


@returns("acceleration")
def acceleration(model: Model, q: SX, v: SX, v_dot: SX, frame: str, t: SX | None = None) -> SX:
    """[linear; angular] acceleration of a frame's origin in world axes [m/s², rad/s²]: the rate of its velocity."""
    i, _, r = find(model, frame)
    b = moving(model, q, v, t, v_dot)[i]
    w, alpha = b.vel[3:], b.a[3:]
    return ca.vertcat(b.R @ (b.a[:3] + cross(alpha, r) + cross(w, cross(w, r))), b.R @ alpha)


@returns("J")
def jacobian(model: Model, q: SX, frame: str, told: str = "mixed", t: SX | None = None) -> SX:
    """J (6 × nv) with velocity = J v (+ what prescribed motions add)."""
    k, R_frame, r = find(model, frame)
    bodies = poses(model, q, t)
    at = bodies[k].r + bodies[k].R @ r
    J = zeros(6, model.v_slices[-1].stop)
    i = k
    while i > 0:
        b, cols = bodies[i], model.v_slices[i]
        if model.kind(i).nv:
            angular = b.R @ b.S[3:, :]
            linear = b.R @ b.S[:3, :] + ca.horzcat(*[cross(angular[:, c], at - b.r) for c in range(angular.shape[1])])
            J[:3, cols], J[3:, cols] = linear, angular
        i = model.parent[i]
    if model.coupled:
        J = J @ expansion(model)
    return _told(J, bodies[k].R @ R_frame, at, told)


def _told(columns: SX, R: SX, at: SX, told: str) -> SX:
    """Mixed columns in another telling."""
    linear, angular = columns[:3, :], columns[3:, :]
    if told == "body":
        return ca.vertcat(R.T @ linear, R.T @ angular)
    if told == "world":
        shift = ca.horzcat(*[cross(at, angular[:, c]) for c in range(angular.shape[1])])
        return ca.vertcat(linear + shift, angular)
    if told != "mixed":
        raise ModelError(f"a velocity cannot be told in '{told}'", fix=nearest(told, FRAMES))
    return columns


def q_dot(model: Model, q: SX, v: SX) -> SX:
    """Rates of the coordinates."""
    return _each(model, q, v, lambda kind, qi, vi: kind.q_dot(qi, vi))


@returns("q")
def integrate(model: Model, q: SX, v: SX, dt: SX) -> SX:
    """Coordinates after moving with constant speeds v for dt; quaternions stay unit."""
    return _each(model, q, v * dt, lambda kind, qi, dv: kind.step(qi, dv))


@returns("dv")
def difference(model: Model, q0: SX, q1: SX) -> SX:
    """The speeds that lead from q0 to q1 in unit time: integrate(q0, difference(q0, q1), 1) = q1."""
    parts, at = [], 0
    for i in model.independent:
        kind = model.kind(i)
        if kind.nq == 0:
            continue
        parts.append(kind.difference(q0[at : at + kind.nq], q1[at : at + kind.nq]))
        at += kind.nq
    return ca.vertcat(*parts)


@returns("q")
def normalise(model: Model, q: SX) -> SX:
    """Quaternions scaled to unit length."""
    parts, at = [], 0
    for i in model.independent:
        kind = model.kind(i)
        if kind.nq == 0:
            continue
        own = q[at : at + kind.nq]
        if kind.quaternion is not None:
            k = kind.quaternion
            quat = own[k : k + 4]
            own = ca.vertcat(own[:k], quat / ca.norm_2(quat))
        parts.append(own)
        at += kind.nq
    return ca.vertcat(*parts)


def _each(model: Model, q: SX, v: SX, step: Any) -> SX:
    parts, iq, iv = [], 0, 0
    for i in model.independent:
        kind = model.kind(i)
        if kind.nq == 0:
            continue
        parts.append(step(kind, q[iq : iq + kind.nq], v[iv : iv + kind.nv]))
        iq, iv = iq + kind.nq, iv + kind.nv
    return ca.vertcat(*parts)
