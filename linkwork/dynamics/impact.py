"""A blow between two bodies at one point: speeds after it, with restitution and friction.

J (3 × nv) gives the velocity of the one body relative to the other at the point, u = J v, with the normal n towards
the first. An impulse λ (3) there changes the speeds by v⁺ − v = M⁻¹ Jᵀ λ and u by K λ, K = J M⁻¹ Jᵀ; 1 / nᵀ K n is
the equivalent mass. Restitution is Newton's: nᵀ u⁺ = −e nᵀ u.

    sticking    λ = −K⁻¹ (u + e (nᵀu) n), which leaves no tangential velocity, if |λ_t| ≤ μ λ_n
    sliding     λ = λ_n (n − μ s),  λ_n = −(1 + e) nᵀu / (nᵀ K (n − μ s)),  s the direction of sliding before the blow

Without friction λ = −(1 + e) nᵀu / (nᵀ K n) n. Bodies that part already (nᵀ u ≥ 0) get no impulse.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.dynamics import kinematics
from linkwork.dynamics.crba import crba, solve_branches
from linkwork.model.model import Model
from linkwork.spatial import SX, cross


def relative_jacobian(model: Model, q: SX, first: str, second: str, point: SX, t: SX | None = None) -> SX:
    """J of frame `first` relative to frame `second`, both moving with their bodies, at a point in the world."""

    def at(frame: str) -> SX:
        J = kinematics.jacobian(model, q, frame, "mixed", t)
        arm = point - kinematics.position(model, q, frame, t)
        return J[:3, :] + ca.horzcat(*[cross(J[3:, k], arm) for k in range(J.shape[1])])

    return at(first) - at(second)


def inverse_times(model: Model, q: SX, J: SX) -> SX:
    """M⁻¹ Jᵀ."""
    M = crba(model, q)
    return ca.horzcat(*[solve_branches(M, J[k, :].T) for k in range(J.shape[0])])


def equivalent_mass(model: Model, q: SX, J: SX, n: SX) -> SX:
    """1 / nᵀ K n [kg]."""
    return 1 / ca.dot(n, J @ inverse_times(model, q, J) @ n)


def impact(model: Model, q: SX, v: SX, J: SX, n: SX, restitution: Any, friction: Any = 0.0) -> tuple[SX, SX]:
    """v after the blow, and λ in the axes of J's rows."""
    e, mu = restitution, friction
    spread = inverse_times(model, q, J)
    K, u = J @ spread, J @ v
    u_n = ca.dot(n, u)
    along = u - u_n * n
    s = along / ca.sqrt(ca.dot(along, along) + 1e-30)
    sliding = n - mu * s
    slid = -(1 + e) * u_n / ca.dot(n, K @ sliding) * sliding
    stuck = -_solve(K, u + e * u_n * n)
    part = stuck - ca.dot(n, stuck) * n
    holds = ca.dot(part, part) <= (mu * ca.dot(n, stuck)) ** 2
    impulse = ca.if_else(u_n < 0, ca.if_else(ca.logic_and(holds, mu > 0), stuck, slid), 0)
    return v + spread @ impulse, impulse


def _solve(K: SX, b: SX) -> SX:
    """K⁻¹ b of a 3 × 3 by cofactors."""
    columns = [K[:, k] for k in range(3)]
    det = ca.dot(columns[0], cross(columns[1], columns[2]))
    rows = [cross(columns[1], columns[2]), cross(columns[2], columns[0]), cross(columns[0], columns[1])]
    return ca.vertcat(*[ca.dot(r, b) for r in rows]) / det
