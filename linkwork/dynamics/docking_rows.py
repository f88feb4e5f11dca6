"""A mechanism as tables of rows with one freedom each, and the kinematics of a row (docking-tree, sections 2 to 5).

A joint with several freedoms is a run of rows on massless bodies; only the last row of a run carries the body. Letters
of row j with parent row p, about its pole O_j in its own link axes; e_k is its axis, p_j its coordinate:

    r^J, alpha^J   origin and direction cosines of the joint's proximal axes in the parent's link axes
    t_j = e_k p_j or 0,   alpha_j = C_k(p_j) or E,   beta_j = alpha_j alpha^J_j,   r_j = r^J_j + (alpha^J_j)ᵀ t_j
    om_j = om_p^(j) + om^r_j,   om_p^(j) = beta_j om_p,   v^r_j, om^r_j = e_k p'_j or 0

    a_j = B_j a_p + S_j p''_j + h_j                                                                       (1)
    B_j = [[beta_j, −beta_j r~_j], [0, beta_j]]
    h_j = [ beta_j om_p~ om_p~ r_j + 2 om_p^(j)~ v^r_j ;  om_p^(j)~ om^r_j ]                              (2)
    M_j = [[m E, −m d~], [m d~, I]],   s_j = [F^e ; T^e] − [ m om_j~ om_j~ d ; om_j~ I om_j ]             (3)

Beside rotations and translations there are screws, S = [pitch e_k; e_k], and welds without freedom, whose motion may be
given. An axis that is no coordinate axis is made one by the choice of alpha^J; `turn` leads from the link axes of the
row to the axes of the model's body.

Quaternions: the joint's attitude is part of alpha^J, and three rows e_1, e_2, e_3 stand at zero angle. Their rates are
the speeds of the joint (child axes), but each axis is carried by the rotation before it: v_dot = p'' + `excess`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from linkwork.model.describe import Body, Joint
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, matrix, quaternion_rotation, skew, symmetric, vector

O3 = SX(3, 1)
E3 = SX.eye(3)


@dataclass(frozen=True)
class Base:
    """Motion of the base, the world of the model: angular velocity, acceleration [linear; angular] of its pole O_0 and
    (for energies only) its velocity, in base axes. The world's axes are the base's axes at the present instant."""

    omega: Any = (0.0, 0.0, 0.0)
    a: Any = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    v: Any = (0.0, 0.0, 0.0)


@dataclass
class Row:
    """A line of the tables. `joint`: number of the model's joint, 0: the base; `freedom`: number among the speeds."""

    type: str  # rotation, translation, screw, weld
    k: int = 0
    p: SX = field(default_factory=lambda: SX(1, 1))
    p_dot: SX = field(default_factory=lambda: SX(1, 1))
    alpha_J: SX = field(default_factory=lambda: SX.eye(3))
    r_J: SX = field(default_factory=lambda: SX(3, 1))
    pitch: Any = 0.0
    given: tuple[SX, SX] = (SX(6, 1), SX(6, 1))  # of a weld: [v^r; om^r] and what it adds to h
    joint: int = 0
    parent: int = 0
    freedom: int | None = None
    carries: bool = False  # the last of its run
    armature: SX = field(default_factory=lambda: SX(1, 1))
    excess: SX = field(default_factory=lambda: SX(1, 1))
    tau: SX = field(default_factory=lambda: SX(1, 1))
    free: bool = True  # tau is its whole generalised force: not tied to another joint
    m: SX = field(default_factory=lambda: SX(1, 1))
    md: SX = field(default_factory=lambda: SX(3, 1))
    I: SX = field(default_factory=lambda: SX(3, 3))
    F_e: SX = field(default_factory=lambda: SX(6, 1))  # external wrench, gravity not included
    turn: SX = field(default_factory=lambda: SX.eye(3))
    # found by `move`
    r: SX = field(default_factory=lambda: SX(3, 1))
    beta: SX = field(default_factory=lambda: SX.eye(3))
    om: SX = field(default_factory=lambda: SX(3, 1))
    v: SX = field(default_factory=lambda: SX(3, 1))
    g: SX = field(default_factory=lambda: SX(3, 1))
    B: SX = field(default_factory=lambda: SX(6, 6))
    S: SX = field(default_factory=lambda: SX(6, 0))
    n: SX = field(default_factory=lambda: SX(6, 0))  # wrench of the row's drive, Sᵀ n = 1
    h: SX = field(default_factory=lambda: SX(6, 1))
    M: SX = field(default_factory=lambda: SX(6, 6))
    s: SX = field(default_factory=lambda: SX(6, 1))

    @property
    def g_j(self) -> SX:
        """S_jᵀ f^a_j without p'': the joint force, less what the rotor inertia takes of the excess."""
        return self.tau - self.armature * self.excess


# --- joint kind → run of rows -----------------------------------------------------------------------------------------
Run = tuple[list[Row], SX]  # rows in joint axes, and the turn from the last row's axes to body axes


def _axis(axis: Any) -> tuple[int, SX]:
    """(k, K): coordinates K x in which the unit vector `axis` is e_k. Coordinate axes stay with k."""
    n = np.array([float(x) for x in axis])
    for k in range(3):
        if np.count_nonzero(n) == 1 and n[k]:
            K = np.eye(3)
            if n[k] < 0:
                K[k, k] = K[(k + 1) % 3, (k + 1) % 3] = -1.0
            return k, ca.sparsify(SX(K))
    x, y, z = n
    sign = 1.0 if z >= 0 else -1.0  # keeps sign + z away from zero
    a, b = -1 / (sign + z), -x * y / (sign + z)
    K = np.array([[1 + sign * x * x * a, sign * b, -sign * x], [b, sign + y * y * a, -y], n])
    return 2, ca.sparsify(SX(K))


def _single(type: str) -> Callable[[Joint, SX, SX, SX], Run]:
    def rows(joint: Joint, q: SX, v: SX, t: SX) -> Run:
        k, K = _axis(joint.axis)
        return [Row(type, k, q[0], v[0], K, pitch=joint.pitch)], K.T

    return rows


def _cylindrical(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    k, K = _axis(joint.axis)
    return [Row("rotation", k, q[0], v[0], K), Row("translation", k, q[1], v[1])], K.T


def _universal(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    (k, K), (k2, K2) = _axis(joint.axis), _axis(joint.axis2)
    return [Row("rotation", k, q[0], v[0], K), Row("rotation", k2, q[1], v[1], K2 @ K.T)], K2.T


def _planar(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    K = ca.sparsify(SX(np.array([*across(joint.axis), joint.axis])))  # x and y as the model counts them
    return [
        Row("translation", 0, q[0], v[0], K),
        Row("translation", 1, q[1], v[1]),
        Row("rotation", 2, q[2], v[2]),
    ], K.T


def _at_zero(type: str, rates: SX, excess: SX) -> list[Row]:
    return [Row(type, k, p_dot=rates[k], excess=excess[k]) for k in range(3)]


def _turning(w: SX) -> SX:
    """v_dot − p'' of rotations e_1, e_2, e_3 at zero angle: e_2 is carried by the first, e_3 by both."""
    return vector([w[1] * w[2], -w[0] * w[2], w[0] * w[1]])


def _spherical(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    rows = _at_zero("rotation", v, _turning(v))
    rows[0].alpha_J = quaternion_rotation(q).T
    return rows, E3


def _free(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    """Translations along axes that do not turn with the child: v = Rᵀ r', so v' = p'' − omega × v."""
    v_r, w = v[:3], v[3:]
    rows = _at_zero("translation", v_r, -cross(w, v_r)) + _at_zero("rotation", w, _turning(w))
    rows[0].alpha_J, rows[0].r_J = quaternion_rotation(q[3:7]).T, q[:3]
    return rows, E3


def _fixed(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    return [Row("weld")], E3


def _prescribed(joint: Joint, q: SX, v: SX, t: SX) -> Run:
    """om = 2 G u', om' = 2 G u'' of a unit quaternion u, child axes."""
    assert joint.motion is not None
    position, quat = joint.motion(t)
    p, u = vector([position[i] for i in range(3)]), vector([quat[i] for i in range(4)])
    u = u / ca.norm_2(u)
    w, x, y, z = u[0], u[1], u[2], u[3]
    G = matrix([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    alpha = quaternion_rotation(u).T
    p_dot, u_dot = ca.jacobian(p, t), ca.jacobian(u, t)
    moved = ca.vertcat(alpha @ p_dot, 2 * G @ u_dot)
    rest = ca.vertcat(alpha @ ca.jacobian(p_dot, t), 2 * G @ ca.jacobian(u_dot, t))
    return [Row("weld", alpha_J=alpha, r_J=p, given=(moved, rest))], E3


ROWS: dict[str, Callable[[Joint, SX, SX, SX], Run]] = {
    "fixed": _fixed,
    "prescribed": _prescribed,
    "revolute": _single("rotation"),
    "continuous": _single("rotation"),
    "prismatic": _single("translation"),
    "helical": _single("screw"),
    "cylindrical": _cylindrical,
    "universal": _universal,
    "planar": _planar,
    "spherical": _spherical,
    "free": _free,
}


# --- model → tables ---------------------------------------------------------------------------------------------------
def tables(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None, t: SX | None) -> list[Row]:
    """The rows of a model, row 0 the base; q, v, tau of all joints, coupled ones too. p(j) < j."""
    t = SX.sym("t") if t is None else t
    tied = {model.joint_index[c.leader] for i in model.coupled if (c := model.joint(i).coupling)} | set(model.coupled)
    rows, last, freedom = [Row("weld", carries=True)], {0: 0}, 0
    for i in model.tree:
        joint, own = model.joint(i), model.v_slices[i]
        run, turn = ROWS[joint.kind](joint, q[model.q_slices[i]], v[own], t)
        p, place = last[model.parent[i]], ca.sparsify(matrix(joint.rotation))
        run[0].alpha_J, run[0].r_J = (
            run[0].alpha_J @ place.T @ rows[p].turn,
            rows[p].turn.T @ ca.sparsify(vector(joint.position) + place @ run[0].r_J),
        )
        for k, row in enumerate(run):
            row.joint, row.parent, row.free = i, p, i not in tied
            p = len(rows)
            if row.type != "weld":
                row.freedom, row.tau = freedom, tau[freedom]
                row.armature = ca.sparsify(SX(joint.armature[k])) if joint.armature else SX(1, 1)
                freedom += 1
            rows.append(row)
        last[i] = p
        rows[p].carries, rows[p].turn = True, turn
        _load(rows[p], model.bodies[i], None if f_ext is None else f_ext[i - 1, :].T)
    return rows


def _load(row: Row, body: Body, f_ext: SX | None) -> None:
    """Mass, first moment, inertia about O_j and external wrench, from body axes to link axes."""
    T = row.turn.T
    for part in body.inertials:
        m, d = ca.sparsify(SX(part.mass)), ca.sparsify(T @ vector(part.centre))
        row.m, row.md = row.m + m, row.md + m * d
        row.I = row.I + ca.sparsify(T @ symmetric(part.inertia) @ T.T - m * (skew(d) @ skew(d)))
    row.m, row.md, row.I = ca.sparsify(row.m), ca.sparsify(row.md), ca.sparsify(row.I)
    if f_ext is not None:
        row.F_e = ca.vertcat(T @ f_ext[:3], T @ f_ext[3:])


# --- kinematics of the rows -------------------------------------------------------------------------------------------
def C(k: int, p: SX) -> SX:
    """Direction cosines of axes turned by p about e_k: the rotation matrix, transposed."""
    if p.nnz() == 0:
        return E3
    i, j = (k + 1) % 3, (k + 2) % 3
    c, s = ca.cos(p), ca.sin(p)
    return SX.triplet([k, i, i, j, j], [k, i, j, i, j], ca.vertcat(1, c, s, -s, c), 3, 3)


def e(k: int) -> SX:
    return SX.triplet([k], [0], SX(1), 3, 1)


def tilde(r: SX) -> SX:
    return ca.sparsify(skew(r))


def move(rows: Sequence[Row], base: Base, gravity: Any) -> None:
    """Sections 3 and 4 for every row, from the base outwards."""
    rows[0].om, rows[0].v, rows[0].g = (ca.sparsify(vector(x)) for x in (base.omega, base.v, gravity))
    for b in rows[1:]:
        p = rows[b.parent]
        turns, slides = b.type in ("rotation", "screw"), b.type in ("translation", "screw")
        e_k, advance = e(b.k), b.pitch if b.type == "screw" else 1.0
        alpha = C(b.k, b.p) if turns else E3
        t = e_k @ (advance * b.p) if slides else O3
        b.beta = alpha @ b.alpha_J
        b.r = b.r_J + b.alpha_J.T @ t
        v_S, om_S = (advance * e_k if slides else O3), (e_k if turns else O3)
        b.S = ca.vertcat(v_S, om_S) if b.freedom is not None else SX(6, 0)
        b.n = (ca.vertcat(O3, e_k) if turns else ca.vertcat(e_k, O3)) if b.freedom is not None else SX(6, 0)
        rel = b.S @ b.p_dot if b.freedom is not None else b.given[0]
        om_p, v_r, om_r = b.beta @ p.om, rel[:3], rel[3:]
        b.om = om_p + om_r
        b.v = b.beta @ (p.v + tilde(p.om) @ b.r) + v_r
        b.B = ca.blockcat([[b.beta, -b.beta @ tilde(b.r)], [SX(3, 3), b.beta]])
        b.h = b.given[1] + ca.vertcat(
            b.beta @ (tilde(p.om) @ (tilde(p.om) @ b.r)) + 2 * tilde(om_p) @ v_r, tilde(om_p) @ om_r
        )
        b.g = b.beta @ p.g
        if b.m.nnz() or b.I.nnz():
            om = tilde(b.om)
            b.M = ca.blockcat([[b.m * E3, -tilde(b.md)], [tilde(b.md), b.I]])
            weight = ca.vertcat(b.m * b.g, tilde(b.md) @ b.g)
            b.s = weight - ca.vertcat(om @ (om @ b.md), om @ (b.I @ b.om))
        b.s = b.s + b.F_e
