"""Separate bodies: accelerations and joint wrenches of a tree in O(n), inertial axes, centres of mass.

Letters, of body k with parent p = p(k); vectors in inertial axes, six-vectors [linear; angular] about centres of mass:

    A          axes of body k → inertial axes          om       angular velocity, carried outwards: om_k = om_p + w
    rho        centre of p → centre of k               c        joint point (origin of k) → centre of k
    Hw, Hv     relative angular velocity, relative velocity of the joint point, per unit of the speeds u
    bw, bv     their derivatives seen from p with u' = 0;      w = Hw u,   v = Hv u + w × c
    M = diag(m E, J),    Q = [F; T − om × J om]        inertia (2); active wrench, gravity included

    C  = [[E, −rho~], [0, E]]                                                                                (5)
    S  = [Hv − c~ Hw; Hw]
    a' = [om_p × (om_p × rho) + 2 om_p × v + bv + bw × c + w × (w × c);  om_p × w + bw]                      (27)

    inward     U    = Sᵀ M* S + armature,   K = M* S U⁻¹                                                     (19)
               M*_p += Cᵀ (M* − K Sᵀ M*) C                                                                   (17)
               Q*_p −= Cᵀ (K [tau + Sᵀ (Q* − M* a')] + M* a' − Q*)                                           (18)
    outward    u'   = U⁻¹ (tau + Sᵀ [Q* − M* (C a_p + a')])                                                  (20)
               a    = C a_p + S u' + a'                                                                      (21)
               R    = M* a − Q*         wrench of joint k on body k                                          (15)

V. V. Yudintsev's lecture on the method of separate bodies, after A. F. Vereshchagin (1974). In (18) the source prints
`+=`, and its inward loop ends at k = 2: both are corrected. Armature is added to U: then Sᵀ R = tau − armature · u'.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from linkwork.dynamics.formulation import gives
from linkwork.dynamics.separate_bodies_joints import relative
from linkwork.dynamics.separate_bodies_pivots import check_pivots
from linkwork.model.check import check_moves_mass
from linkwork.model.describe import Body, Inertial
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, eye, skew, solve_symmetric, symmetric, vector, zeros
from linkwork.spatial import matrix as rows

COUPLED = {"coupled joint": "a coupling binds bodies that are not neighbours, and they are then not separate"}


def mass_of(body: Body) -> tuple[SX, SX, SX]:
    """Mass, centre of mass, inertia about it, in body axes. Where there is no mass, the centre is the origin."""
    heavy = [part for part in body.inertials if not (isinstance(part.mass, (int, float)) and part.mass == 0)]
    m = sum((SX(part.mass) for part in heavy), SX(0))
    centre = zeros(3, 1)
    if len(heavy) == 1:
        centre = vector(heavy[0].centre)
    elif heavy:
        centre = sum((part.mass * vector(part.centre) for part in heavy), centre)
        centre = centre / (m if m.is_constant() else ca.if_else(m == 0, 1, m))
    J = zeros(3, 3)
    for part in body.inertials:
        J += symmetric(part.inertia)
        if len(heavy) > 1:
            off = skew(vector(part.centre) - centre)
            J -= part.mass * (off @ off)
    return m, centre, J


def is_solid(part: Inertial) -> bool:
    """A mass that resists in all six directions; what stands for a parameter is taken to do so."""
    if any(not isinstance(x, (int, float)) for x in (part.mass, *part.inertia)):
        return True
    xx, yy, zz, xy, xz, yz = part.inertia
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return bool(part.mass > 0 and moments[0] > 1e-12 * moments[2])


# --- the three sweeps ---------------------------------------------------------------------------------------------
def outward(model: Model, q: SX, u: SX, t: SX, f_ext: SX | None = None) -> list[Any]:
    """Step 1, base to tips: A, om, rho, M, Q, C, S, a' of every body, and the velocity of its centre."""
    E, o = eye(3), zeros(3, 1)
    still, none = zeros(6, 1), zeros(6, 6)
    bodies: list[Any] = [SimpleNamespace(A=E, om=o, velocity=o, centre=o, a=still, M=none, M_s=none, Q_s=still)]
    g = vector(model.gravity)
    for k in model.tree:
        p, joint, moves = bodies[model.parent[k]], model.joint(k), model.kind(k).nv > 0
        m, centre, J = mass_of(model.bodies[k])
        u_k = u[model.v_slices[k]] if moves else SX(0, 1)
        rel = relative(joint, q[model.q_slices[k]] if moves else SX(0, 1), u_k, t)
        A_J = p.A @ rows(joint.rotation)
        A, Hw, Hv, bw, bv = (A_J @ x for x in (rel.A, rel.Hw, rel.Hv, rel.bw, rel.bv))
        c = A @ centre
        rho = p.A @ (vector(joint.position) - p.centre) + A_J @ rel.d + c
        w = Hw @ u_k + A_J @ rel.w
        v = Hv @ u_k + A_J @ rel.v + cross(w, c)
        om = p.om + w
        J = lower_half(A @ J @ A.T)
        F, T = m * g, zeros(3, 1)
        if f_ext is not None:
            force, moment = f_ext[k - 1, :3].T, f_ext[k - 1, 3:].T
            F, T = F + A @ force, A @ (moment - cross(centre, force))
        linear = cross(p.om, cross(p.om, rho)) + 2 * cross(p.om, v) + bv + cross(bw, c) + cross(w, cross(w, c))
        M = ca.blockcat([[m * E, zeros(3, 3)], [zeros(3, 3), J]])
        Q = ca.vertcat(F, T - cross(om, J @ om))
        bodies.append(
            SimpleNamespace(
                A=A, om=om, u=u_k, centre=centre, c=c, m=m, J=J, M=M, Q=Q, M_s=M, Q_s=Q,
                velocity=p.velocity + cross(p.om, rho) + v,
                C=ca.blockcat([[E, -skew(rho)], [zeros(3, 3), E]]),
                S=ca.vertcat(Hv - skew(c) @ Hw, Hw),
                a_prime=ca.vertcat(linear, cross(p.om, w) + bw),
                armature=ca.diag(vector(joint.armature)) if joint.armature else SX(u_k.numel(), u_k.numel()),
            )
        )  # fmt: skip
    return bodies


def inward(model: Model, bodies: list[Any], tau: SX) -> None:
    """Step 2, tips to base: U, and M*, Q* of each body with all it carries; Q* of the world is the load on it."""
    for k in reversed(model.tree):
        b, p = bodies[k], bodies[model.parent[k]]
        M, Q = b.M_s, b.M_s @ b.a_prime - b.Q_s
        if b.u.numel():
            b.tau = tau[model.v_slices[k]]
            SM = b.S.T @ b.M_s
            b.U = lower_half(SM @ b.S) + b.armature
            K = solve_symmetric(b.U, SM).T
            M, Q = b.M_s - K @ SM, K @ (b.tau - b.S.T @ Q) + Q
        p.M_s += lower_half(b.C.T @ lower_half(M) @ b.C)
        p.Q_s -= b.C.T @ Q


def accelerations(model: Model, bodies: list[Any]) -> None:
    """Step 3, base to tips: u', a, R."""
    for k in model.tree:
        b = bodies[k]
        b.a, b.u_dot = b.C @ bodies[model.parent[k]].a + b.a_prime, SX(0, 1)
        if b.u.numel():
            b.u_dot = solve_symmetric(b.U, b.tau + b.S.T @ (b.Q_s - b.M_s @ b.a))
            b.a += b.S @ b.u_dot
        b.R = b.M_s @ b.a - b.Q_s


def lower_half(X: SX) -> SX:
    """X, known to be symmetric: its upper half is not formed."""
    return ca.tril2symm(ca.tril(X))


def composite(model: Model, bodies: list[Any]) -> dict[int, SX]:
    """Sᵀ M^c S + armature of each joint: M^c is the inertia of all that the joint carries, held stiff."""
    M_c, found = [b.M for b in bodies], {}
    for k in reversed(model.tree):
        b = bodies[k]
        if b.u.numel():
            found[k] = b.S.T @ M_c[k] @ b.S + b.armature
        M_c[model.parent[k]] = M_c[model.parent[k]] + b.C.T @ M_c[k] @ b.C
    return found


# --- results ------------------------------------------------------------------------------------------------------
@gives("v_dot", "wrenches", "base_wrench", "energy_rate", "U", "a", "R", refuses=COUPLED)
def separate_bodies(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None) -> dict[str, SX]:
    """Joint accelerations of a tree in O(n), every joint wrench with them; no mass matrix is formed.

    U  (nv × nv, block-diagonal)  apparent inertia: what each joint's drive feels of all that the joint carries
    a  (bodies × 6)  acceleration of the centre of mass, angular acceleration; inertial axes
    R  (bodies × 6)  wrench of each joint on its body at the body's centre of mass; inertial axes
    """
    check_moves_mass(model)
    bodies = outward(model, q, v, SX.sym("t") if t is None else t, f_ext)
    inward(model, bodies, tau)
    if not all(any(is_solid(part) for part in body.inertials) for body in model.bodies[1:]):
        check_any_state(model)
    accelerations(model, bodies)
    tree, g = bodies[1:], ca.vertcat(vector(model.gravity), zeros(3, 1))
    return {
        "v_dot": ca.vertcat(*[b.u_dot for b in tree]),
        "wrenches": ca.vertcat(*[at_origin(b).T for b in tree]),
        "base_wrench": bodies[0].Q_s - bodies[0].M_s @ bodies[0].a,
        "energy_rate": sum((power(b, g) for b in tree), SX(0)),
        "U": ca.diagcat(*[b.U for b in tree if b.u.numel()]),
        "a": ca.vertcat(*[b.a.T for b in tree]),
        "R": ca.vertcat(*[b.R.T for b in tree]),
    }


def at_origin(b: Any) -> SX:
    """R, told at the body's origin in its own axes."""
    force = b.A.T @ b.R[:3]
    return ca.vertcat(force, b.A.T @ b.R[3:] + cross(b.centre, force))


def power(b: Any, g: SX) -> SX:
    """Rate of kinetic and gravity energy of one body and the rotors of its joint."""
    angular = b.J @ b.a[3:] + cross(b.om, b.J @ b.om)
    own = ca.dot(b.u, b.armature @ b.u_dot) if b.u.numel() else 0
    return b.m * ca.dot(b.a[:3] - g[:3], b.velocity) + ca.dot(b.om, angular) + own


# --- states that have no accelerations ----------------------------------------------------------------------------
def pivots(model: Model, q: Any, t: float = 0.0) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
    """U and Sᵀ M^c S of each joint that moves (by its number in the tree), in numbers, at one state.

    Parameters that are symbols, as they are while equations are traced, take numbers near 1 at random.
    """
    at, time = SX.sym("q", model.nq), SX.sym("t")
    bodies = outward(model, at, SX(model.nv, 1), time)
    inward(model, bodies, SX(model.nv, 1))
    found = [ca.densify(x) for k, stiff in composite(model, bodies).items() for x in (bodies[k].U, stiff)]
    free = ca.vertcat(*[s for s in ca.symvar(ca.veccat(SX(), *found)) if not ca.depends_on(ca.vertcat(at, time), s)])
    drawn = np.random.default_rng(0).uniform(0.5, 1.5, free.numel())
    f = ca.Function("pivots", [at, time, free], found)
    values = [np.array(x) for x in f.call([ca.DM(np.asarray(q, float)), ca.DM(t), ca.DM(drawn)])]
    joints = [k for k in reversed(model.tree) if model.kind(k).nv]
    return dict(zip(joints, values[::2], strict=True)), dict(zip(joints, values[1::2], strict=True))


def check_state(model: Model, q: Any, t: float = 0.0) -> None:
    """Raise ModelError for a joint that nothing resists in some direction at coordinates q, as `pivots` tells."""
    check_moves_mass(model)
    check_pivots(model, *pivots(model, q, t))


def check_any_state(model: Model) -> None:
    """The same at coordinates drawn at random: what nothing resists there, nothing resists anywhere."""
    rng = np.random.default_rng(0)
    q = rng.uniform(0.5, 1.5, model.nq)
    for k in model.tree:
        if (start := model.kind(k).quaternion) is not None:
            at = slice(model.q_slices[k].start + start, model.q_slices[k].start + start + 4)
            q[at] /= np.linalg.norm(q[at])
    check_state(model, q, rng.uniform(0.5, 1.5))
