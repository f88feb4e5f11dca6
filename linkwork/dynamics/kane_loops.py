"""Further rows of B for `kane_graph`: rows that close loops, speeds that obey them, and states they cannot stand.

    z = [omega; q'],      rows z = right side,      C = rows N

A graph cannot know values; what depends on them is looked at here, in numbers, one state at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from linkwork.dynamics.kane_graph import Extra, Kane
from linkwork.dynamics.kane_tree import Tree
from linkwork.errors import ModelError, nearest
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.spatial import SX, skew, vector

SINGULAR = 1e-12  # a pivot of Nᵀ Mz N over its entry's size; straight chains of 200 rods have 2e-7
DEPENDENT = 1e-8  # sine of the angle between a row and those before it, in the metric of (Nᵀ Mz N)⁻¹
VIOLATED = 1e-8  # of a speed, over the largest speed


def marker_rows(model: Model, q: SX, t: SX, marker: str) -> SX:
    """Rows over z (6 × 6n) that give a marker's velocity and angular velocity: [linear; angular], world axes.

    Two markers that shall stay together: `lambda model, q, t: ((marker_rows(model, q, t, "a") − marker_rows(model, q,
    t, "b"))[:3, :], 0)`.
    """
    if marker not in model.markers:
        raise ModelError(f"the model '{model.name}' has no marker '{marker}'", fix=nearest(marker, model.markers))
    tree = Tree(model, q, SX(model.nv, 1), t=t)
    body, frame = model.markers[marker]
    rows, i, arm = SX(6, 6 * tree.n), body, tree.R[body] @ vector(frame.position)
    if body:
        rows[3:, 3 * (body - 1) : 3 * body] = ca.DM.eye(3)
    while i:  # inwards: the arm of a body's omega is the vector from its o_i to what it carries on this path
        rows[:3, 3 * (i - 1) : 3 * i] = -skew(arm)
        rows[:3, 3 * (tree.n + i - 1) : 3 * (tree.n + i)] = ca.DM.eye(3)
        arm, i = tree.rho[i], tree.L[i]
    return ca.sparsify(rows)


def _numbers(model: Model, q: Any, v: Any, t: float, extra: Extra | None) -> dict[str, np.ndarray]:
    """M, C and what is violated, at one state."""
    check_moves_mass(model)
    x, u, time = SX.sym("q", model.nq), SX.sym("v", model.nv), SX.sym("t")
    kane = Kane(model, x, u, None, None, time, extra=extra)
    rows, _, off = kane._extra
    f = ca.Function("f", [x, u, time], [ca.densify(e) for e in (kane.M, rows @ kane.N, off, kane.z, _sizes(kane))])
    given = [np.zeros(model.nv) if v is None else np.asarray(v, float), t]
    found = f.call([ca.DM(np.asarray(x, float)) for x in (q, *given)])
    return dict(zip(("M", "C", "off", "z", "sizes"), map(np.array, found), strict=True))


def _sizes(kane: Kane) -> SX:
    """The diagonal of Nᵀ Mz N without signs, so that nothing cancels: what a vanishing entry is measured by."""
    turning, sliding = ca.fabs(kane.N[: 3 * kane.n, :]), ca.fabs(kane.N[3 * kane.n :, :])
    speeds = ca.fabs(kane.A) @ turning + ca.kron(kane.T, ca.DM.eye(3)).T @ sliding
    mass, I = ca.vertcat(*[ca.repmat(m, 3) for m in kane.m[1:]]), ca.fabs(ca.diagcat(*kane.I[1:]))
    return ca.sum1(turning * (I @ turning)).T + ca.sum1(speeds * speeds * mass).T + ca.diag(kane.M)


def check_state(model: Model, q: Sequence[float], v: Any = None, t: float = 0.0, extra: Extra | None = None) -> None:
    """Raise ModelError when the equations have no single answer here: a joint that nothing resists, an extra row that
    says nothing new, or (where v is given) speeds that break one."""
    at = _numbers(model, q, v, t, extra)
    _check_pivots(model, at["M"], at["sizes"][:, 0])
    _check_rows(at["M"], at["C"])
    if v is not None and at["off"].size:
        off = np.abs(at["off"][:, 0])
        k = int(off.argmax())
        if off[k] > VIOLATED * max(1.0, np.abs(at["z"]).max(initial=0.0)):
            raise ModelError(
                f"the speeds break extra row {k} by {off[k]:.3g}",
                fix="start from project_speeds(model, q, v, extra)",
            )


def _check_pivots(model: Model, M: np.ndarray, sizes: np.ndarray) -> None:
    """From the tips inwards; what is left of a diagonal entry is the inertia its joint feels."""
    H = M.copy()
    for k in reversed(range(len(M))):
        if not H[k, k] > SINGULAR * sizes[k]:
            joint = model.joint([i for i in model.independent for _ in range(model.kind(i).nv)][k])
            raise ModelError(
                f"joint '{joint.name}' meets no inertia in this state ('{model.v_names[k]}'): Nᵀ Mz N is singular",
                where=joint.source,
                fix=f"give body '{joint.child}' (or what it carries) mass or inertia, or move axes that coincide",
            )
        H[:k, :k] -= np.outer(H[:k, k], H[k, :k]) / H[k, k]


def _check_rows(M: np.ndarray, C: np.ndarray) -> None:
    known: list[np.ndarray] = []
    for k, row in enumerate(np.linalg.solve(np.linalg.cholesky(M), C.T).T if C.size else C):
        rest = row.copy()
        for _ in range(2):  # twice is enough to be orthogonal to rounding
            for e in known:
                rest -= (e @ rest) * e
        if not np.linalg.norm(rest) > DEPENDENT * max(np.linalg.norm(row), np.linalg.norm(C[k])):
            raise ModelError(
                f"extra row {k} says nothing that the hinges and the rows before it do not say",
                fix="leave it out: the accelerations are the same without it, and its force is not defined",
            )
        known.append(rest / np.linalg.norm(rest))


def project_speeds(
    model: Model, q: Sequence[float], v: Any, extra: Extra, t: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """The speeds nearest to v by kinetic energy that obey the extra rows, and what v left of each row.

    Rows that depend on others are taken too: the impulses are then those of least norm.
    """
    at = _numbers(model, q, v, t, extra)
    step = np.linalg.solve(at["M"], at["C"].T)
    impulse = np.linalg.lstsq(at["C"] @ step, at["off"], rcond=None)[0]
    return np.asarray(v, float) - (step @ impulse)[:, 0], at["off"][:, 0]
