"""Composite bodies: the joint-space mass matrix; accelerations through its factors.

    M^c_p += B_jᵀ M^c_j B_j,      F = M^c_j S_j,      M_jj = S_jᵀ F,      climb: F = B_jᵀ F,  M_pj = S_pᵀ F

After Featherstone (2008), table 6.2. Bodies on different branches give exact zeros, which the factorisation keeps.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.dynamics.aba import time
from linkwork.dynamics.coupling import expand, expansion
from linkwork.dynamics.formulation import returns
from linkwork.dynamics.rnea import rnea
from linkwork.dynamics.sweeps import Link, Results, Sweep, links, run
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.model.reframe import simplest
from linkwork.spatial import SX, zeros


def composite(b: Link, children: Any) -> Results:
    M_c = b.M + children.M_up
    return {"M_c": M_c, "M_up": b.X.inertia(M_c)}


SWEEPS = (Sweep("inward", composite, {"M_up": (6, 6)}),)


@returns("M")
def crba(model: Model, q: SX, t: SX | None = None) -> SX:
    """The mass matrix M(q), rotor inertias included; the time matters below prescribed joints."""
    model = simplest(model)
    speeds = SX(model.v_slices[-1].stop, 1)
    bodies = run(model, SWEEPS, links(model, expand(model, q), speeds, time(t)), {})
    M = zeros(speeds.numel(), speeds.numel())
    for j in model.tree:
        if model.kind(j).nv == 0:
            continue
        rows = model.v_slices[j]
        F = bodies[j].M_c @ bodies[j].S
        M[rows, rows] = bodies[j].S.T @ F + bodies[j].armature
        i = j
        while model.parent[i] != 0:
            F = ca.horzcat(*[bodies[i].X.force(F[:, k]) for k in range(F.shape[1])])
            i = model.parent[i]
            if model.kind(i).nv:
                block = bodies[i].S.T @ F
                M[model.v_slices[i], rows], M[rows, model.v_slices[i]] = block, block.T
    G = expansion(model) if model.coupled else None
    return M if G is None else G.T @ M @ G


@returns("v_dot")
def forward(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None) -> SX:
    """Joint accelerations from M v_dot = tau − h, M factorised along the tree. The same answer as `aba`."""
    check_moves_mass(model)
    h = rnea(model, q, v, SX(model.nv, 1), f_ext, t)
    return solve_branches(crba(model, q, t), tau - h)


def solve_branches(M: SX, b: SX) -> SX:
    """M⁻¹ b by M = Lᵀ d L, from the tips inwards, so that zeros between branches stay zeros.

    Featherstone (2008), section 6.5.
    """
    n = M.shape[0]
    H = [[M[i, j] for j in range(i + 1)] for i in range(n)]
    zero = [[e.is_constant() and float(e) == 0.0 for e in row] for row in H]
    inverse = [SX(0)] * n
    for k in reversed(range(n)):
        inverse[k] = 1 / H[k][k]
        for i in reversed(range(k)):
            if zero[k][i]:
                continue
            a = H[k][i] * inverse[k]
            for j in range(i + 1):
                if not zero[k][j]:
                    H[i][j] = H[i][j] - a * H[k][j]
                    zero[i][j] = False
            H[k][i] = a
    x = [b[i] for i in range(n)]
    for i in reversed(range(n)):  # Lᵀ
        for j in range(i):
            if not zero[i][j]:
                x[j] = x[j] - H[i][j] * x[i]
    for i in range(n):  # d, then L
        x[i] = x[i] * inverse[i]
        for j in range(i):
            if not zero[i][j]:
                x[i] = x[i] - H[i][j] * x[j]
    return ca.vertcat(*x)
