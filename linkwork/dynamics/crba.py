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
from linkwork.spatial import SX, is_zero, rigid_inertia, zeros


def composite(b: Link, children: Any) -> Results:
    """Inward: the body and all behind it as one rigid body: mass, first moment, inertia."""
    m, md, I = b.m + children.m_up, b.md + children.md_up, b.I + children.I_up
    md_up, I_up = b.X.rigid(m, md, I)
    return {"M_c": rigid_inertia(m, md, I), "m_up": m, "md_up": md_up, "I_up": I_up}


def composite_matrix(b: Link, children: Any) -> Results:
    """The same as a 6×6. Below a quaternion M is then the matrix of `rnea` off the unit sphere too, as derivatives by
    single components of a quaternion take for granted."""
    M_c = b.M + children.M_up
    return {"M_c": M_c, "M_up": b.X.inertia(M_c)}


SWEEPS = (Sweep("inward", composite, {"m_up": (1, 1), "md_up": (3, 1), "I_up": (3, 3)}),)
SWEEPS_OF_MATRICES = (Sweep("inward", composite_matrix, {"M_up": (6, 6)}),)


@returns("M", by_pairs=True)
def crba(model: Model, q: SX, t: SX | None = None) -> SX:
    """The mass matrix M(q), rotor inertias included; the time matters below prescribed joints."""
    model = simplest(model)
    speeds = SX(model.v_slices[-1].stop, 1)
    turned = any(model.kind(i).quaternion is not None and model.parent[i] for i in model.tree)
    bodies = run(model, SWEEPS_OF_MATRICES if turned else SWEEPS, links(model, expand(model, q), speeds, time(t)), {})
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


@returns("v_dot", by_pairs=True)
def forward(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None) -> SX:
    """Joint accelerations from M v_dot = tau − h, M factorised along the tree. The same answer as `aba`."""
    check_moves_mass(model)
    h = rnea(model, q, v, SX(model.nv, 1), f_ext, t)
    return solve_branches(crba(model, q, t), tau - h)


def solve_branches(M: SX, B: SX) -> SX:
    """M⁻¹ B by M = Lᵀ d L, from the tips inwards, so that zeros between branches stay zeros.

    Featherstone (2008), section 6.5. Where a column has no forces on a whole branch, the branch follows the speeds it
    hangs on by one small matrix, formed once for all columns.
    """
    H, before, inverse = _factors(M)
    n = len(H)
    branches, answers = [{i} for i in range(n)], dict[int, list[list[SX]]]()
    for i in reversed(range(n)):
        for j in before[i]:
            branches[j] |= branches[i]
    roots = [sorted({j for k in branch for j in before[k]} - branch) for branch in branches]
    columns = []
    for c in range(B.shape[1]):
        x = [B[i, c] for i in range(n)]
        zero = [is_zero(e) for e in x]
        for i in reversed(range(n)):  # Lᵀ
            for j in before[i]:
                if not zero[i]:
                    x[j], zero[j] = x[j] - H[i][j] * x[i], False
        x = [e if zero[i] else e * inverse[i] for i, e in enumerate(x)]  # d
        done: set[int] = set()
        for i, branch in enumerate(branches):  # L
            if i in done:
                continue
            if all(zero[k] for k in branch) and max(roots[i], default=-1) < i:
                if i not in answers:
                    answers[i] = _answer(H, before, sorted(branch), roots[i])
                for k, row in zip(sorted(branch), answers[i], strict=True):
                    x[k] = sum((p * x[j] for p, j in zip(row, roots[i], strict=True)), SX(0))
                done |= branch
            else:
                for j in before[i]:
                    x[i] = x[i] - H[i][j] * x[j]
        columns.append(ca.vertcat(*x))
    return ca.horzcat(*columns)


def _factors(M: SX) -> tuple[list[list[SX]], list[list[int]], list[SX]]:
    """L below the diagonal, which of its entries in each row are not zero by structure, and 1 / d."""
    n = M.shape[0]
    H = [[M[i, j] for j in range(i + 1)] for i in range(n)]
    before = [[j for j in range(i) if not is_zero(H[i][j])] for i in range(n)]
    inverse = [SX(0)] * n
    for k in reversed(range(n)):
        inverse[k] = 1 / H[k][k]
        for i in reversed(before[k]):
            a = H[k][i] * inverse[k]
            for j in before[k]:
                if j <= i:
                    H[i][j] = H[i][j] - a * H[k][j]
                    if j < i and j not in before[i]:
                        before[i].append(j)
            before[i].sort()
            H[k][i] = a
    return H, before, inverse


def _answer(H: list[list[SX]], before: list[list[int]], branch: list[int], roots: list[int]) -> list[list[SX]]:
    """How a branch without forces of its own follows the speeds it hangs on: a row for each of its own."""
    rows: dict[int, list[SX]] = {}
    for k in branch:
        rows[k] = [-H[k][a] if a in before[k] else SX(0) for a in roots]
        for m in before[k]:
            if m in rows:
                rows[k] = [e - H[k][m] * p for e, p in zip(rows[k], rows[m], strict=True)]
    return list(rows.values())
