"""Forward dynamics by closed block matrices: q'' = A⁻¹ (tau − B q' + C f_g + Dn n_g).

The matrices are those of `block_letters`, for the links of one freedom of `block_links`. Their accelerations follow
from the model's by q'' = G v_dot + q''_0 (multi-freedom, helical, coupled and prescribed joints), so that

    M = Gᵀ A G + rotor inertias
    M v_dot = tau − Gᵀ (A q''_0 + B q' − C f_g − Dn n_g)

For models whose joints have one freedom each and are neither coupled nor helical, G = E and q''_0 = 0.
"""

from __future__ import annotations

import casadi as ca

from linkwork.dynamics.block_letters import by_links, letters, told
from linkwork.dynamics.block_links import chain
from linkwork.dynamics.formulation import gives
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.spatial import SX, vector


def mass_matrix(model: Model, q: SX, t: SX) -> SX:
    """Gᵀ A G with rotor inertias."""
    links = chain(model, q, SX(model.nv, 1), t)
    return links.G.T @ letters(model, links, None).A @ links.G + links.armature


def solve(M: SX, b: SX) -> SX:
    """M⁻¹ b; zeros between branches stay zeros."""
    return ca.ldl_solve(b, *ca.ldl(M)) if M.shape[0] else SX(0, 1)


@gives(
    "v_dot",
    "wrenches",
    "base_wrench",
    "M",
    "energy_rate",
    "D",
    "A",
    "B",
    "C",
    "Dn",
    "l_D",
    "w",
    "eps",
    "v_l",
    "a",
    "f",
    "n",
    by_pairs=True,
)
def block_matrix(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None) -> dict[str, SX]:
    """Accelerations and whatever else the closed equations hold.

    Own quantities are of the N links of `block_links.chain`, vectors in the absolute frame: D, A, B (N × N), C, Dn
    (N × 3N), l_D (3N × N); N × 3 each: f, n, force and moment on each link from its father about the origin of its
    joint frame; w, eps, angular velocity and acceleration; v_l, velocity of the main frame's origin; a, acceleration
    of the centre of mass.
    """
    check_moves_mass(model)
    links = chain(model, q, v, SX.sym("t") if t is None else t)
    x, G = letters(model, links, f_ext), links.G
    M = G.T @ x.A @ G + links.armature
    forces = x.A @ links.q_ddot_0 + x.bias(x.zs @ x.q_dot) - x.C @ x.f_g - x.Dn @ x.n_g
    v_dot = solve(M, tau - G.T @ forces)
    q_ddot = G @ v_dot + links.q_ddot_0
    a, eps = x.a(q_ddot), x.eps(q_ddot)
    f, n = x.f(a), x.n(a, eps)
    wrenches, base = told(model, links, f, n)
    weight = x.m_d @ ca.repmat(vector(model.gravity), len(links.links), 1)
    rate = x.v_c.T @ (x.m_d @ a - weight) + x.w.T @ (x.J_d @ eps + x.gyroscopic) + v.T @ links.armature @ v_dot
    return {
        "v_dot": v_dot, "wrenches": wrenches, "base_wrench": base, "M": M, "energy_rate": rate,
        "D": SX(x.D), "A": x.A, "B": x.B, "C": x.C, "Dn": x.Dn, "l_D": x.l_D,
        "w": by_links(x.w), "eps": by_links(eps), "v_l": by_links(x.v), "a": by_links(a),
        "f": by_links(f), "n": by_links(n),
    }  # fmt: skip
