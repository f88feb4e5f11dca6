"""Articulated body: joint accelerations from joint forces in O(n), link axes.

Letters, of body j with parent p, about its own origin O_j in its own axes:

    w       angular velocity                     W = w~ w~
    h       acceleration left when a_p = 0 and v_dot = 0: h = [B W_p r + (2 w_p + w_rel) × v_rel; w_p × w_rel] + c
    M, s    inertia M_j + what the children add; forces s_j = f_ext − [W m d; w × I w] + what the children add
    U = M S,  D = Sᵀ U + rotor inertia,  u = tau + Sᵀ s

    a_j = B_j a_p + S_j v_dot_j + h_j                     conventional acceleration of the pole O_j
    M_a = M − U D⁻¹ Uᵀ,    s_a = s − M_a h − U D⁻¹ u      what the parent feels: Bᵀ M_a B, Bᵀ s_a

Gravity enters as the acceleration −g of the world. After Featherstone (2008), table 7.1, with conventional instead of
spatial accelerations, which spares the linear velocities.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.dynamics.formulation import returns
from linkwork.dynamics.sweeps import Link, Results, Sweep, links, run
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.model.reframe import simplest
from linkwork.spatial import SX, cross, eliminate, gyroscopic, solve_symmetric, spin, vector, zeros


def world(model: Model) -> Results:
    """What the world's body offers: no rotation, and the acceleration −g."""
    at_rest = zeros(3, 1)
    return {"w": at_rest, "W": zeros(3, 3), "a": ca.vertcat(-vector(model.gravity), at_rest)}


def velocities(b: Link, p: Any) -> Results:
    """Outward: angular velocity, velocity-product acceleration h, forces of the body itself."""
    w_p = b.X.into(p.w)
    v_rel, w_rel = b.v_rel[:3], b.v_rel[3:]
    w = w_p + w_rel
    W = spin(w)
    h = ca.vertcat(b.X.into(p.W @ b.X.r) + cross(w_p + w, v_rel), cross(w_p, w_rel)) + b.c
    s = -ca.vertcat(W @ b.md, gyroscopic(b.I, W)) + getattr(b, "f_ext", 0)
    return {"w": w, "W": W, "h": h, "s": s}


def articulated(b: Link, children: Any) -> Results:
    """Inward: articulated inertia and force, and what of them the parent feels."""
    M, s = b.M + children.M_up, b.s + children.s_up
    if b.v.numel() == 0:
        return {"M_up": b.X.inertia(M), "s_up": b.X.force(s - M @ b.h)}
    U = M @ b.S
    D = b.S.T @ U + b.armature
    u = b.tau + b.S.T @ s
    M_a = eliminate(M, b.S, U, D)
    k = solve_symmetric(D, u)
    return {"U": U, "D": D, "u": u, "M_up": b.X.inertia(M_a), "s_up": b.X.force(s - M_a @ b.h - U @ k)}


def accelerations(b: Link, p: Any) -> Results:
    """Outward: joint accelerations, body accelerations."""
    a = b.X.motion(p.a) + b.h
    if b.v.numel() == 0:
        return {"v_dot": SX(0, 1), "a": a}
    v_dot = solve_symmetric(b.D, b.u - b.U.T @ a)
    return {"v_dot": v_dot, "a": a + b.S @ v_dot}


SWEEPS = (
    Sweep("outward", velocities),
    Sweep("inward", articulated, {"M_up": (6, 6), "s_up": (6, 1)}),
    Sweep("outward", accelerations),
)


@returns("v_dot", sweeps=SWEEPS, root=world)
def aba(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None) -> SX:
    """Joint accelerations v_dot [rad/s², m/s²] from the whole joint forces tau [N·m, N], O(n).

    f_ext: (bodies × 6) external wrenches [force; moment] at each body's origin in its axes. A model with coupled
    joints has no tree of articulated bodies; it takes the factorised mass matrix (`crba.forward`) instead.
    """
    if model.coupled:
        from linkwork.dynamics.crba import forward

        return forward(model, q, v, tau, f_ext, t)
    check_moves_mass(model)
    given = {"tau": tau}
    if f_ext is None:
        model = simplest(model)
    else:
        given["f_ext"] = f_ext
    bodies = links(model, q, v, time(t), **given)
    run(model, SWEEPS, bodies, world(model))
    return ca.vertcat(*[bodies[i].v_dot for i in model.tree])


def time(t: SX | None) -> SX:
    return SX.sym("t") if t is None else t
