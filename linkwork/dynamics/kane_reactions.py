"""Kane's equations all at once: z' and the multipliers, and from them the ideal force and torque in every hinge.

    [[Mz, Bᵀ], [B, 0]] [z'; lam] = [r; c],      G^N = −Bᵀ lam,      F^c = lower half,   T^c = T(E) upper half

Rotors add Qᵀ diag(armature) (Q z' − h) to the left: u' = Q z' − h. The speeds z and [omega; v], v those of the centres,
tell the same: [omega; v] = Y z by (8), and Mz = Yᵀ diag(I, M) Y. So it is solved for s = Y z',

    Y = [[E, 0], [A, T(E)ᵀ]],   Y⁻¹ = [[E, 0], [S(E)ᵀ diag(y~) − diag(rho~) D(E)ᵀ, S(E)ᵀ]]
    [[K, Bsᵀ], [Bs, 0]] [s; lam] = [f; c],     K = diag(I, M) + Qsᵀ diag(armature) Qs,   Bs = B Y⁻¹,   Qs = Q Y⁻¹

where a hinge's rows touch its two bodies alone. Taken from the tips inwards, a body's s and then its hinge's lam,
nothing fills in: O(n) instead of O((6n)³). Pivots of s are positive and those of lam negative while K is positive.

A body without mass, a rod or a point makes K and Mz singular, though Nᵀ Mz N may be regular. Then Bsᵀ w Bs s = Bsᵀ w c
is added for the rows that touch such bodies: that changes no solution, and K is positive where Nᵀ Mz N is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from linkwork.dynamics.kane_tree import mass_of
from linkwork.model.model import Model
from linkwork.spatial import SX, is_zero, skew

if TYPE_CHECKING:
    from linkwork.dynamics.kane_graph import Kane

FLAT = 1e-12  # smallest principal moment over the largest below which a body counts as a rod


class Reactions(NamedTuple):
    z_dot: SX
    F_c: SX  # bodies × 3
    T_c: SX


def solve_sparse(K: SX, b: SX, order: list[int]) -> SX:
    """K⁻¹ b of a symmetric K by L d Lᵀ, its unknowns eliminated in this order; zeros between branches stay zeros."""
    if not order:
        return SX(0, 1)
    d, LT, p = ca.ldl(ca.sparsify(K)[order, order], False)
    x = ca.ldl_solve(b[order], d, LT, p)
    place = {k: at for at, k in enumerate(order)}
    return x[[place[k] for k in range(len(order))]]


def flat_bodies(model: Model) -> set[int]:
    """Bodies that some motion costs nothing: no mass, or no inertia about some axis through the centre."""
    flat = set()
    for i in model.tree:
        m, _, I = mass_of(model.bodies[i])
        if is_zero(m):
            flat.add(i)
        elif I.is_constant():
            principal = np.linalg.eigvalsh(np.array(ca.DM(I)))
            if principal[0] <= FLAT * principal[-1]:
                flat.add(i)
    return flat


def weights(kane: Kane) -> SX:
    """w of every row of hinges and couplings that touches a flat body: the mass, or inertia, that its hinge carries."""
    model, L, (B, _, of) = kane.model, kane.L, kane.hinge_rows
    flat = flat_bodies(model)
    mass = kane.inwards(kane.m)
    inertia = kane.inwards([ca.trace(I) + m * ca.dot(y, y) for I, m, y in zip(kane.I, kane.m, kane.y, strict=True)])

    def weight(row: SX, i: int, bodies: set[int]) -> SX:
        if not bodies & flat:
            return SX(0)
        carried = mass if row[3 * kane.n :].nnz() else inertia
        while i and is_zero(carried[i]):
            i = L[i]
        return SX(1) if is_zero(carried[i]) else carried[i]

    rows = [weight(B[k, :], i, {i, L[i]}) for k, i in enumerate(of)]
    for k, i in enumerate(model.coupled):
        leader = model.joint_index[model.joint(i).coupling.leader]  # type: ignore[union-attr]
        rows.append(weight(kane.coupling_rows[0][k, :], i, {i, L[i], leader, L[leader]}))
    return ca.vertcat(SX(0, 1), *rows)


def all_at_once(kane: Kane) -> Reactions:
    n, still = kane.n, [SX(3, 1) for _ in range(kane.n + 1)]
    D, S, E = ca.kron(kane.D, ca.DM.eye(3)), ca.kron(kane.S, ca.DM.eye(3)), SX(ca.DM.eye(3 * n))
    rho, y = (ca.diagcat(*[ca.sparsify(skew(e)) for e in x[1:]]) for x in (kane.rho, kane.y))
    Y_inverse = ca.blockcat([[E, SX(3 * n, 3 * n)], [S.T @ y - rho @ D.T, S.T]])

    (B_hinges, c_hinges, of), (Q, h) = kane.hinge_rows, kane.drives
    tied, c_tied = ca.vertcat(B_hinges, kane.coupling_rows[0]), ca.vertcat(c_hinges, kane.coupling_rows[1])
    Bs, Bt, Qs = kane.B @ Y_inverse, tied @ Y_inverse, Q @ Y_inverse
    c, w = ca.vertcat(c_tied, kane.extra_rows[1]), ca.diag(weights(kane))

    turning, force = kane.forces(still, still)
    M = ca.diagcat(*kane.I[1:], *[m * SX(ca.DM.eye(3)) for m in kane.m[1:]])
    K = M + Qs.T @ ca.diag(kane.armature) @ Qs + Bt.T @ w @ Bt
    f = ca.vertcat(*turning[1:], *force[1:]) + Qs.T @ (kane.tau + kane.armature * h) + Bt.T @ (w @ c_tied)

    order: list[int] = []
    for i in reversed(kane.model.tree):
        order += [*range(3 * (i - 1), 3 * i), *range(3 * (n + i - 1), 3 * (n + i))]
        order += [6 * n + k for k, owner in enumerate(of) if owner == i]
    order += range(6 * n + len(of), 6 * n + Bs.shape[0])
    saddle = ca.blockcat([[K, Bs.T], [Bs, SX(Bs.shape[0], Bs.shape[0])]])
    x = solve_sparse(saddle, ca.vertcat(f, c), order)

    G_N = -(tied.T @ x[6 * n : 6 * n + tied.shape[0]])
    upper = [SX(3, 1), *(G_N[3 * (i - 1) : 3 * i] for i in kane.model.tree)]
    T_c = ca.horzcat(*kane.inwards(upper)[1:]).T
    return Reactions(Y_inverse @ x[: 6 * n], ca.reshape(G_N[3 * n :], 3, n).T, T_c)
