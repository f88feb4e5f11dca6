"""A model as links of one freedom each, in the letters of A. K. Kovalchuk, D. B. Kulakov and S. E. Semenov.

Link i hangs on its father f(i) < i (0: the surroundings). Two frames belong to its joint: "f(i),ns(i)", fixed in the
father, whose z axis is the joint's axis, and the main frame of link i, here the body's own frame. All vectors of a
`Link` are told in the absolute frame:

    R          main axes → absolute axes
    z          axis of frame f(i),ns(i); zero for a welded link, which has no freedom
    l          origin of f(i),ns(i) → origin of main frame i (contains q_i z_i when prismatic)
    r          origin of main frame f(i) → origin of f(i),ns(i)
    s          l_f(i) + r_i, zero for a link on the surroundings                                                    (4)
    c, m, J    main origin → centre of mass; mass; inertia about the centre
    sigma      1 revolute, 0 prismatic

A joint of several freedoms is a run of links, all massless but the last, which is the body:

    cylindrical   turn, slide                    universal   turn about axis, turn about axis2
    planar        slide, slide, turn             helical     turn, and a slide of rate pitch · v
    spherical     turns about x, y, z at zero angle, standing in the attitude that the quaternion tells
    free          slides along and turns about the child's axes, all at zero, standing in the child's present pose
    prescribed    as free, with rates and accelerations that are known functions of time

so that the rates of all links are q' = G v + g(t) and their accelerations q'' = G v_dot + q''_0. Three turns whose
rates are the child-axes components of omega have, by the product terms of (16),

    q''_0 = (−w_2 w_3, w_1 w_3, −w_1 w_2)         and three slides along child axes    q''_0 = omega × v.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca

from linkwork.dynamics.coupling import expand, expansion, spread
from linkwork.errors import ModelError
from linkwork.model.describe import Body, Joint, Vector
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, eye, matrix, quaternion_rotation, rotation, skew, symmetric, vector, zeros

AXES: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
NOTHING = SX(1, 1)  # zero by structure


class Freedom(NamedTuple):
    """One link of a joint's run. q' = ratio · v[speed] + given,  q'' = ratio · v_dot[speed] + rest."""

    name: str
    sigma: int
    axis: Vector  # in the axes that the links of the run share at zero
    q: SX = NOTHING
    speed: int | None = None  # among the joint's own
    ratio: Any = 1.0
    given: SX = NOTHING
    rest: SX = NOTHING


class Run(NamedTuple):
    """A joint: where its first link stands in joint axes, and its links."""

    p: SX
    Q: SX
    freedoms: tuple[Freedom, ...]


def _plain(*freedoms: Freedom) -> Run:
    return Run(SX(3, 1), eye(3), freedoms)


def _fixed(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return _plain()


def _revolute(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return _plain(Freedom("", 1, joint.axis, q[0], 0))


def _prismatic(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return _plain(Freedom("", 0, joint.axis, q[0], 0))


def _helical(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    advance = Freedom("advance", 0, joint.axis, joint.pitch * q[0], 0, joint.pitch)
    return _plain(Freedom("angle", 1, joint.axis, q[0], 0), advance)


def _cylindrical(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return _plain(Freedom("angle", 1, joint.axis, q[0], 0), Freedom("displacement", 0, joint.axis, q[1], 1))


def _universal(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return _plain(Freedom("angle1", 1, joint.axis, q[0], 0), Freedom("angle2", 1, joint.axis2, q[1], 1))


def _planar(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    (e1x, e1y, e1z), (e2x, e2y, e2z) = across(joint.axis)
    e1, e2 = (e1x, e1y, e1z), (e2x, e2y, e2z)
    return _plain(Freedom("x", 0, e1, q[0], 0), Freedom("y", 0, e2, q[1], 1), Freedom("angle", 1, joint.axis, q[2], 2))


def _turns(w: SX, first: int | None, w_dot: SX | None = None) -> tuple[Freedom, ...]:
    """About x, y, z at zero angle. `first`: where omega starts among the speeds; None: it is given, with its rate."""
    rest = (-w[1] * w[2], w[0] * w[2], -w[0] * w[1])
    if first is None:
        assert w_dot is not None
        return tuple(Freedom(f"turn_{x}", 1, AXES[k], given=w[k], rest=w_dot[k] + rest[k]) for k, x in enumerate("xyz"))
    return tuple(Freedom(f"turn_{x}", 1, AXES[k], speed=first + k, rest=rest[k]) for k, x in enumerate("xyz"))


def _spherical(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return Run(SX(3, 1), quaternion_rotation(q), _turns(v, 0))


def _free(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    rest = cross(v[3:6], v[:3])
    slides = tuple(Freedom(f"slide_{x}", 0, AXES[k], speed=k, rest=rest[k]) for k, x in enumerate("xyz"))
    return Run(q[:3], quaternion_rotation(q[3:7]), slides + _turns(v[3:6], 3))


def _prescribed(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    """Slides along axes that stand still beside the parent: their accelerations need no product terms."""
    assert joint.motion is not None
    position, quat = joint.motion(t)
    p, u = vector([position[k] for k in range(3)]), vector([quat[k] for k in range(4)])
    u = u / ca.norm_2(u)
    p_dot, u_dot = ca.jacobian(p, t), ca.jacobian(u, t)
    w = 2 * (u[0] * u_dot[1:4] - u_dot[0] * u[1:4] - cross(u[1:4], u_dot[1:4]))
    Q = quaternion_rotation(u)
    rate, rest = Q.T @ p_dot, Q.T @ ca.jacobian(p_dot, t)
    slides = tuple(Freedom(f"slide_{x}", 0, AXES[k], given=rate[k], rest=rest[k]) for k, x in enumerate("xyz"))
    return Run(p, Q, slides + _turns(w, None, ca.jacobian(w, t)))


RUNS: dict[str, Callable[[Joint, SX, SX, SX], Run]] = {
    "fixed": _fixed,
    "prescribed": _prescribed,
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "helical": _helical,
    "cylindrical": _cylindrical,
    "universal": _universal,
    "planar": _planar,
    "spherical": _spherical,
    "free": _free,
}


@dataclass(frozen=True)
class Link:
    """See the top of this file; `name` is the joint's, with the freedom's behind it where the joint has several."""

    name: str
    f: int
    sigma: int
    R: SX
    z: SX
    l: SX
    r: SX
    s: SX
    m: SX
    c: SX
    J: SX
    body: int = 0  # 0: a link of a run, massless


def hang(
    links: list[Link], name: str, f: int, sigma: int, place: SX, r: SX, axis: SX | None, q: SX, l: SX | None = None,
    body: tuple[SX, SX, SX] | None = None, index: int = 0,
) -> Link:  # fmt: skip
    """Link number len(links) + 1 on its father f, by what its author knows of it: `place` turns joint axes into the
    father's main axes, `r` is the joint's origin in them; `axis` (None: welded) and `l` are in joint axes, l turning
    with the link; body: mass, centre and inertia about it in main axes, which are the joint's axes after motion."""
    if not 0 <= f <= len(links):
        raise ModelError(
            f"link '{name}' hangs on link {f}, which does not come before it: D would not be lower triangular",
            fix="number the links so that every father comes before its sons",
        )
    father = links[f - 1] if f else None
    above = father.R @ place if father else place
    turn = rotation(axis, q) if axis is not None and sigma and q.nnz() else None
    R = above if turn is None else above @ turn
    z = SX(3, 1) if axis is None else ca.sparsify(above @ axis)
    r = ca.sparsify(father.R @ r if father else r)
    arm = SX(3, 1) if l is None else R @ l
    m, c, J = body or (SX(1, 1), SX(3, 1), SX(3, 3))
    return Link(
        name, f, sigma, R, z,
        l=ca.sparsify(arm if sigma else arm + z * q), r=r, s=father.l + r if father else SX(3, 1),
        m=m, c=R @ c, J=R @ J @ R.T, body=index,
    )  # fmt: skip


@dataclass(frozen=True)
class Chain:
    """All links of a model at one state, with q' and what is known of q'' = G v_dot + q''_0."""

    links: list[Link]
    q_dot: SX
    q_ddot_0: SX
    G: SX
    armature: SX  # of the independent speeds
    last: list[int]  # body → its link; the world's is 0


def chain(model: Model, q: SX, v: SX, t: SX) -> Chain:
    q_all, v_all = expand(model, q), spread(model, v)
    links: list[Link] = []
    rates, rests, rows = [], [], []
    last = [0]
    for i in model.tree:
        joint, at = model.joint(i), model.v_slices[i]
        run = RUNS[joint.kind](joint, q_all[model.q_slices[i]], v_all[at], t)
        place = matrix(joint.rotation)
        f, r, place = last[model.parent[i]], vector(joint.position) + place @ run.p, place @ run.Q
        freedoms = run.freedoms or (None,)
        for k, x in enumerate(freedoms):
            tip = k == len(freedoms) - 1
            data = {"body": mass(model.bodies[i]), "index": i} if tip else {}
            if x is None:
                x, axis, name = Freedom("", 1, AXES[2]), None, joint.name
            else:
                axis, name = vector(x.axis), f"{joint.name}.{x.name}" if x.name else joint.name
            links.append(hang(links, name, f, x.sigma, place, r, axis, x.q, **data))
            f, r, place = len(links), SX(3, 1), eye(3)
            row = SX(1, model.v_slices[-1].stop)
            if x.speed is not None:
                row[0, at.start + x.speed] = x.ratio
            rows.append(row)
            rates.append(row @ v_all + x.given)
            rests.append(x.rest)
        last.append(len(links))
    T = ca.vertcat(*rows)
    K = expansion(model) if model.coupled else ca.SX.eye(T.shape[1])
    armature = ca.sparsify(
        ca.diag(vector([e for i in model.tree for e in model.joint(i).armature]) if T.shape[1] else SX(0, 1))
    )
    return Chain(
        links, ca.sparsify(ca.vertcat(*rates)), ca.sparsify(ca.vertcat(*rests)), ca.sparsify(T @ K),
        ca.sparsify(K.T @ armature @ K), last,
    )  # fmt: skip


def mass(body: Body) -> tuple[SX, SX, SX] | None:
    """Mass, centre and inertia about the centre of all parts together; None when there is nothing."""
    parts = [p for p in body.inertials if not all(isinstance(x, (int, float)) and x == 0 for x in (p.mass, *p.inertia))]
    if not parts:
        return None
    if len(parts) == 1:
        return SX(parts[0].mass), vector(parts[0].centre), symmetric(parts[0].inertia)
    m = sum((SX(p.mass) for p in parts), SX(0))
    c = sum((p.mass * vector(p.centre) for p in parts), zeros(3, 1)) / ca.if_else(m > 0, m, 1.0)  # masses may be inputs
    J = zeros(3, 3)
    for p in parts:
        d = skew(vector(p.centre) - c)
        J = J + symmetric(p.inertia) - p.mass * (d @ d)
    return m, c, J
