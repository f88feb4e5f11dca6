"""Articulated form for open chains, and open chains folded into a controlled body (docking-tree, section 6).

Rows beyond the root n_R (0: the base), their letters as in `docking_rows`:

    inward    Mh = M_j + dM_j,  sh = s_j + ds_j,  a_I = Sᵀ Mh S + rotor inertia,  N = Mh − Mh S a_I⁻¹ Sᵀ Mh
              n_j = N h_j + Mh S a_I⁻¹ (g_j + Sᵀ sh) − sh
              dM_p += B_jᵀ N B_j,   ds_p −= B_jᵀ n_j
    outward   a = B_j a_p + h_j,   p'' = a_I⁻¹ {Sᵀ (−Mh a + sh) + g_j},   a_j = a + S p''

The wrench of the chains on their root is ds_R − dM_R a_R. A controlled body n_R > 0 stays in the closed form with
M_R + dM_R and s_R + ds_R, without the rows beyond it; the outward pass then starts from a_R. This is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca

from linkwork.dynamics.docking_rows import Base, Row
from linkwork.dynamics.docking_tree import (
    VELOCITY_TERMS,
    composite,
    excess,
    freedoms,
    moving_rows,
    right_side,
    solve,
    told,
)
from linkwork.dynamics.formulation import gives
from linkwork.errors import ModelError, nearest
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.spatial import SX


@dataclass(frozen=True)
class Chains:
    """The rows beyond a root, folded. dM, ds: what every row feels of those beyond it; a_I by row."""

    root: int
    rows: list[int]  # beyond the root
    dM: list[SX]
    ds: list[SX]
    a_I: dict[int, SX]


def beyond(rows: Sequence[Row], root: int) -> list[int]:
    """RB(j, n_R) = 1, j ≠ n_R."""
    found: set[int] = {root}
    for j, b in enumerate(rows):
        if j and b.parent in found:
            found.add(j)
    return sorted(found - {root})


def inward(rows: Sequence[Row], root: int = 0) -> Chains:
    chains = Chains(root, beyond(rows, root), [SX(6, 6) for _ in rows], [SX(6, 1) for _ in rows], {})
    for j in reversed(chains.rows):
        b = rows[j]
        Mh, sh = b.M + chains.dM[j], b.s + chains.ds[j]
        if b.freedom is None:
            N, n_j = Mh, Mh @ b.h - sh
        else:
            U = Mh @ b.S
            a_I = chains.a_I[j] = b.S.T @ U + b.armature
            N = Mh - ca.sparsify((U / a_I) @ U.T)
            n_j = N @ b.h + (U / a_I) @ (b.g_j + b.S.T @ sh) - sh
        chains.dM[b.parent] += b.B.T @ N @ b.B
        chains.ds[b.parent] -= b.B.T @ n_j
    return chains


def outward(rows: Sequence[Row], chains: Chains, a_R: SX) -> tuple[dict[int, SX], dict[int, SX]]:
    """p'' by freedom and accelerations by row, beyond the root, from the root's acceleration."""
    p_ddot, a = {}, {chains.root: a_R}
    for j in chains.rows:
        b = rows[j]
        a[j] = b.B @ a[b.parent] + b.h
        if b.freedom is not None:
            Mh, sh = b.M + chains.dM[j], b.s + chains.ds[j]
            p_ddot[b.freedom] = (b.S.T @ (sh - Mh @ a[j]) + b.g_j) / chains.a_I[j]
            a[j] = a[j] + b.S @ p_ddot[b.freedom]
    return p_ddot, a


def without(rows: Sequence[Row], chains: Chains) -> tuple[list[Row], list[int], int]:
    """The rows left for the closed form, renumbered, the root carrying what is folded; their old freedoms; the root."""
    kept = [j for j in range(len(rows)) if j not in set(chains.rows)]
    number = {j: k for k, j in enumerate(kept)}
    old = [f for j in kept if (f := rows[j].freedom) is not None]
    out = []
    for j in kept:
        b = rows[j]
        freedom = None if b.freedom is None else old.index(b.freedom)
        out.append(replace(b, parent=number[b.parent], freedom=freedom))
    root = out[number[chains.root]]
    root.M, root.s = root.M + chains.dM[chains.root], root.s + chains.ds[chains.root]
    return out, old, number[chains.root]


def root_of(model: Model, rows: Sequence[Row], controlled: str | None) -> int:
    if controlled is None:
        return 0
    if controlled not in model.body_index:
        raise ModelError(f"there is no body '{controlled}'", fix=nearest(controlled, model.body_index))
    i = model.body_index[controlled]
    return max(j for j, row in enumerate(rows) if row.joint == i)


def accelerations(rows: Sequence[Row], a_0: SX, root: int) -> tuple[SX, Chains, SX]:
    """p'' of all rows, the chains beyond the root and the acceleration of the root."""
    chains = inward(rows, root)
    found, a_R = {}, a_0
    if root:
        closed, old, at = without(rows, chains)
        b, a, _ = right_side(closed, a_0)
        p_ddot = solve(composite(closed), b)
        for j, row in enumerate(closed[1:], 1):
            moved = row.S @ p_ddot[row.freedom] if row.freedom is not None else SX(6, 1)
            a[j] = row.B @ a[row.parent] + row.h + moved
        found, a_R = {f: p_ddot[k] for k, f in enumerate(old)}, a[at]
    found.update(outward(rows, chains, a_R)[0])
    return ca.vertcat(SX(0, 1), *[found[f] for f in range(freedoms(rows))]), chains, a_R


def _six(turn: SX) -> SX:
    return ca.diagcat(turn, turn)


@gives(
    "v_dot", "wrenches", "base_wrench", "energy_rate", "p_ddot", "a_I", "dM_R", "ds_R", "a_R", "G_R",
    refuses={"coupled joint": "a joint that follows another one leaves no tree of articulated bodies"},
    approximates=VELOCITY_TERMS,
)  # fmt: skip
def docking_open(
    model: Model,
    q: SX,
    v: SX,
    tau: SX,
    f_ext: SX | None = None,
    t: SX | None = None,
    base: str | Base = "full",
    controlled: str | None = None,
) -> dict[str, SX]:
    """Joint accelerations of open chains in O(n): beyond the base, or beyond the body named by `controlled`, the rest
    of the mechanism by the closed form. `base` as in `docking_tree`.

    Own results, at the root's pole in its body axes: dM_R, ds_R (what the root feels of the chains), a_R (its
    acceleration), G_R = ds_R − dM_R a_R (wrench of the chains on it); a_I: articulated inertia of each freedom
    beyond it.
    """
    check_moves_mass(model)
    rows, a_0 = moving_rows(model, q, v, tau, f_ext, t, base)
    p_ddot, chains, a_R = accelerations(rows, a_0, root_of(model, rows, controlled))
    _, a0, f0 = right_side(rows, a_0)
    R, T = chains.root, _six(rows[chains.root].turn)
    own = {
        "v_dot": p_ddot + excess(rows),
        "p_ddot": p_ddot,
        "a_I": ca.vertcat(SX(0, 1), *[chains.a_I[j] for j in chains.rows if j in chains.a_I]),
        "dM_R": T @ chains.dM[R] @ T.T,
        "ds_R": T @ chains.ds[R],
        "a_R": T @ a_R,
        "G_R": T @ (chains.ds[R] - chains.dM[R] @ a_R),
    }
    return {**told(model, rows, f0, a0, p_ddot), **own}
