"""Closed form A p'' = b of a tree on a moving base, and the wrench on the base (A. V. Yaskevich, 2018).

Rows, their letters and equations (1) to (3) are those of `docking_rows`; this is section 6 of docking-tree.
RB(i, j) = 1 when row j lies on the path base → i, i itself included.

    A      a_j = S_j, a_i = B_i a_p, f_i = M_i a_i;   f_p += B_iᵀ f_i,   A_ij = S_iᵀ f_i       unit accelerations
    A      M^c_p += B_jᵀ M^c_j B_j;   F = M^c_j S_j, A_jj = S_jᵀ F, climb F = B_iᵀ F, A_pj = S_pᵀ F     composite
    b      a_j = B_j a_p + h_j,   f0_j = M_j a_j − s_j,   f_j = f0_j + Σ Bᵀ f,   b_j = S_jᵀ (f^a_j − f_j)
    G_0    a_j = B_j a_p + S_j p''_j from a_0 = 0,   F_j = −M_j a_j − f0_j,
           D_j = R_j (F_j + G_j) − f^a_j,   G_p += B_jᵀ D_j                  R_j = E − n_j S_jᵀ, the reaction projector

D_j is the wrench joint j applies to its parent, n_j the wrench of its drive per unit force. Rotor inertia stands on the
diagonal of A and is taken from f^a. Coupled joints, v = G v_own, give Gᵀ A G v_dot = Gᵀ (b + A e), e = G v_dot − p'';
their drive is not known apart from the gear, so they have no projector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from linkwork.dynamics.coupling import expand, expansion, pad, spread
from linkwork.dynamics.docking_rows import Base, Row, move, tables, tilde
from linkwork.dynamics.formulation import gives
from linkwork.errors import ModelError, nearest
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.spatial import SX, vector

BASES = ("full", "velocity terms only")


# --- the algorithms of section 6 --------------------------------------------------------------------------------------
def freedoms(rows: Sequence[Row]) -> int:
    return sum(row.freedom is not None for row in rows)


def reachability(rows: Sequence[Row]) -> SX:
    """RB over the freedoms, diagonal included: where A is not zero, below the diagonal."""
    RB = np.zeros((freedoms(rows),) * 2)
    for row in rows:
        at = row
        while row.freedom is not None and at is not rows[0]:
            if at.freedom is not None:
                RB[row.freedom, at.freedom] = 1.0
            at = rows[at.parent]
    return SX(RB)


def columns(rows: Sequence[Row]) -> SX:
    """A by unit accelerations: the columns of all j on the path to a row are carried side by side."""
    A, a, f = _Symmetric(freedoms(rows)), [SX(6, 0)], [SX(6, 0)]
    path: list[list[int]] = [[]]
    for b in rows[1:]:
        own = [] if b.freedom is None else [b.freedom]
        a.append(ca.horzcat(b.B @ a[b.parent], b.S))
        f.append(b.M @ a[-1])
        path.append(path[b.parent] + own)
    for i in reversed(range(1, len(rows))):
        b, above = rows[i], len(path[rows[i].parent])
        if b.freedom is not None:
            A.put(b.freedom, path[i], b.S.T @ f[i])
            A.add(b.freedom, b.armature)
        f[b.parent] += b.B.T @ f[i][:, :above]
    return A.matrix()


def composite(rows: Sequence[Row]) -> SX:
    """A by composite inertias."""
    A, M_c = _Symmetric(freedoms(rows)), [b.M for b in rows]
    for j in reversed(range(1, len(rows))):
        b = rows[j]
        M_c[b.parent] += b.B.T @ M_c[j] @ b.B
        if b.freedom is None:
            continue
        F, i = M_c[j] @ b.S, j
        A.put(b.freedom, [b.freedom], b.S.T @ F + b.armature)
        while rows[i].parent:
            F, i = rows[i].B.T @ F, rows[i].parent
            if rows[i].freedom is not None:
                A.put(b.freedom, [rows[i].freedom], rows[i].S.T @ F)
    return A.matrix()


class _Symmetric:
    """A symmetric matrix by entries; those never put are zeros of its structure."""

    def __init__(self, n: int):
        self.n, self.entries = n, {(i, i): SX(0) for i in range(n)}

    def put(self, i: int, columns: Sequence[int | None], values: SX) -> None:
        for k, j in enumerate(columns):
            assert j is not None
            self.entries[i, j] = self.entries[j, i] = values[k]

    def add(self, i: int, value: SX) -> None:
        self.entries[i, i] += value

    def matrix(self) -> SX:
        at = list(self.entries)
        values = ca.densify(ca.vertcat(SX(0, 1), *self.entries.values()))
        return SX.triplet([i for i, _ in at], [j for _, j in at], values, self.n, self.n)


def right_side(rows: Sequence[Row], a_0: SX) -> tuple[SX, list[SX], list[SX]]:
    """b, and the accelerations and forces f0 of all rows at p'' = 0."""
    a, f0 = [a_0], [SX(6, 1)]
    for b in rows[1:]:
        a.append(b.B @ a[b.parent] + b.h)
        f0.append(b.M @ a[-1] - b.s)
    f, b_j = list(f0), [SX(1, 1)] * freedoms(rows)
    for j in reversed(range(1, len(rows))):
        b = rows[j]
        if b.freedom is not None:
            b_j[b.freedom] = b.g_j - b.S.T @ f[j]
        f[b.parent] += b.B.T @ f[j]
    return ca.vertcat(SX(0, 1), *b_j), a, f0


def loads(rows: Sequence[Row], f0: Sequence[SX], p_ddot: SX, project: bool = True) -> tuple[list[SX], ...]:
    """D, the wrench each row applies to its parent; G, their sums on each row; the part of a_j due to p''."""
    a = [SX(6, 1)]
    for b in rows[1:]:
        a.append(b.B @ a[b.parent] + (b.S @ p_ddot[b.freedom] if b.freedom is not None else SX(6, 1)))
    D, G = [SX(6, 1) for _ in rows], [SX(6, 1) for _ in rows]
    for j in reversed(range(1, len(rows))):
        b = rows[j]
        F = -(b.M @ a[j]) - f0[j]
        D[j] = F + G[j]
        if b.freedom is not None and b.free and project:
            drive = b.g_j - b.armature * p_ddot[b.freedom]
            D[j] = D[j] - b.n @ (b.S.T @ D[j]) - b.n @ drive
        G[b.parent] += b.B.T @ D[j]
    return D, G, a


def solve(A: SX, b: SX) -> SX:
    """A⁻¹ b by L d Lᵀ in an order that keeps the zeros between branches."""
    return ca.ldl_solve(b, *ca.ldl(A)) if A.numel() else SX(0, 1)


# --- from the model and back ------------------------------------------------------------------------------------------
def moving_rows(
    model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None, base: str | Base = "full"
) -> tuple[list[Row], SX]:
    """The tables of a model at a state, kinematics done, and the acceleration a_0 of the base."""
    motion = base if isinstance(base, Base) else Base()
    rows = tables(model, expand(model, q), spread(model, v), pad(model, tau), f_ext, t)
    move(rows, motion, model.gravity)
    if not isinstance(base, Base):
        _known(model, base)
        if base == BASES[1]:
            _velocity_terms(model, rows)
    return rows, ca.sparsify(vector(motion.a))


def _known(model: Model, base: str) -> None:
    if base not in BASES:
        raise ModelError(f"there is no base '{base}'", fix=nearest(base, BASES))
    if base == BASES[1] and not any(model.kind(i).name == "prescribed" for i in model.children(0)):
        raise ModelError(
            f"base='{base}': no joint of '{model.name}' prescribes the motion of a base",
            fix="carry the mechanism by a prescribed joint on the world, or leave base='full'",
        )


def _velocity_terms(model: Model, rows: Sequence[Row]) -> None:
    """The source's base: acceleration of its centre of mass (of its pole, if massless) and eps left out."""
    for row in rows[1:]:
        if row.parent == 0 and model.joint(row.joint).kind == "prescribed":
            d = row.md / row.m if row.m.nnz() else SX(3, 1)
            row.h = ca.vertcat(-tilde(row.om) @ (tilde(row.om) @ d), SX(3, 1))


def base_row(model: Model, rows: Sequence[Row]) -> int:
    """The row of the base: of the only body on the world if its motion is prescribed, otherwise the world."""
    on_world = model.children(0)
    if len(on_world) == 1 and model.kind(on_world[0]).name == "prescribed":
        return next(j for j, row in enumerate(rows) if row.joint == on_world[0])
    return 0


def in_body_axes(row: Row, wrench: SX) -> SX:
    return ca.vertcat(row.turn @ wrench[:3], row.turn @ wrench[3:])


def told(model: Model, rows: Sequence[Row], f0: Sequence[SX], a0: Sequence[SX], p_ddot: SX) -> dict[str, SX]:
    """Wrenches and energy rate in the project's terms, from the accelerations of the rows."""
    D, G, a = loads(rows, f0, p_ddot)
    _, plain, _ = loads(rows, f0, p_ddot, project=False)
    k, power = base_row(model, rows), SX(0)
    for j, b in enumerate(rows[1:], 1):
        power += ca.dot(ca.vertcat(b.v, b.om), b.M @ (a0[j] + a[j]) - b.s + b.F_e)
        if b.freedom is not None:
            power += b.armature * b.p_dot * (p_ddot[b.freedom] + b.excess)
    return {
        "wrenches": ca.vertcat(SX(0, 6), *[-in_body_axes(b, D[j]).T for j, b in enumerate(rows) if b.carries and j]),
        "base_wrench": G[0],
        "G_0": in_body_axes(rows[k], G[k]),
        "residual": in_body_axes(rows[k], G[k] - plain[k]),
        "energy_rate": power,
    }


def excess(rows: Sequence[Row]) -> SX:
    """v_dot − p'' of all freedoms."""
    return ca.vertcat(SX(0, 1), *[b.excess for b in rows if b.freedom is not None])


VELOCITY_TERMS = {
    'base="velocity terms only"': "of a body on a prescribed joint of the world the acceleration of the centre and "
    "the angular acceleration are left out, as in the source"
}


@gives(
    "v_dot", "wrenches", "base_wrench", "M", "energy_rate", "A", "A_composite", "b", "p_ddot", "G_0", "residual", "RB",
    approximates=VELOCITY_TERMS, by_pairs=True,
)  # fmt: skip
def docking_tree(
    model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None, base: str | Base = "full"
) -> dict[str, SX]:
    """Joint accelerations by A p'' = b, and the wrench on the base.

    base   "full"; "velocity terms only": of bodies on prescribed joints of the world the acceleration of the centre and
           the angular acceleration are left out, as in the source; or a `Base`: the world itself moves so
    Own results, over all freedoms: A (unit accelerations), A_composite, b, p_ddot, RB; G_0: on the base at its pole in
    its axes (the base is the body of a single prescribed joint on the world, else the world); residual: G_0 with the
    reaction projector less G_0 without, zero when p'' is exact.
    """
    check_moves_mass(model)
    rows, a_0 = moving_rows(model, q, v, tau, f_ext, t, base)
    A = composite(rows)
    b, a0, f0 = right_side(rows, a_0)
    if model.coupled:
        G, e = expansion(model), excess(rows)
        M = G.T @ A @ G
        v_dot = solve(M, G.T @ (b + A @ e))
        p_ddot = G @ v_dot - e
    else:
        M, p_ddot = A, solve(A, b)
        v_dot = p_ddot + excess(rows)
    found = {"v_dot": v_dot, "M": M, "A": columns(rows), "A_composite": A, "b": b, "p_ddot": p_ddot}
    return {**found, "RB": reachability(rows), **told(model, rows, f0, a0, p_ddot)}


# --- what only numbers show -------------------------------------------------------------------------------------------
NO_INERTIA = 1e-12
"""Articulated over composite inertia below which a freedom counts as massless: rounding leaves 1e-16 … 1e-14."""


def check_state(model: Model, q: Any, v: Any = None, t: float = 0.0) -> None:
    """Raise ModelError for the first joint whose articulated inertia a_I vanishes at these coordinates.

    A traced graph cannot know: there the accelerations become infinite or not a number. a_I are the pivots of A from
    the tips inwards; they vanish when the rows beyond take up all that the row could move, e.g. for coaxial rows.
    """
    symbols = [SX.sym(n, k) for n, k in (("q", model.nq), ("v", model.nv), ("tau", model.nv))] + [SX.sym("t")]
    check_moves_mass(model)
    rows, _ = moving_rows(model, *symbols[:3], t=symbols[3])
    G = expansion(model) if model.coupled else SX.eye(model.nv)
    M = G.T @ composite(rows) @ G
    function = ca.Function("M", symbols, [ca.densify(M)])
    zero = np.zeros(model.nv)
    H = np.array(function(q, zero if v is None else v, zero, t)).reshape(model.nv, model.nv)
    names = [model.joint(i).name for i in model.independent for _ in range(model.kind(i).nv)]
    whole = H.diagonal().copy()
    for k in reversed(range(model.nv)):
        if not H[k, k] > NO_INERTIA * whole[k]:
            joint = model.joint(model.joint_index[names[k]])
            raise ModelError(
                f"joint '{joint.name}' moves nothing at these coordinates: of its composite inertia {whole[k]:.3g} the "
                f"joints beyond it leave {H[k, k]:.1g}",
                where=joint.source,
                fix="take out one of two joints with the same axis, or give the body between them mass or an armature",
            )
        H[:k, :k] -= np.outer(H[:k, k], H[k, :k]) / H[k, k]
