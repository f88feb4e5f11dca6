"""Drive forces and link forces for a given motion, from the closed matrices of `block_matrix`; states it cannot have.

    f = Dᵀ m^d a − Dᵀ f_g                                                                                         (19)
    n = −[Λ(c_fD)]ᵀ m^d a + Dᵀ J^d eps + Dᵀ Λ(w^d) J^d w − (Dᵀ − E) Λ(s^d) Dᵀ f_g − Dᵀ n_g                        (22)
    tau = sigma (z^d)ᵀ n + (E − sigma) (z^d)ᵀ f                                                                   (24)

Neither A nor B is formed. The links' drives become joint forces by Gᵀ tau + rotor inertia · v_dot.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from linkwork.dynamics.block_letters import Letters, by_links, letters, told
from linkwork.dynamics.block_links import Chain, chain
from linkwork.dynamics.block_matrix import mass_matrix
from linkwork.dynamics.formulation import returns
from linkwork.errors import ModelError
from linkwork.model.model import Model
from linkwork.spatial import SX

SINGULAR = 1e12
"""Condition numbers above this count as singular: four digits are left of sixteen."""


def moved(model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None, t: SX | None) -> tuple[Chain, Letters, SX, SX]:
    """Links, letters, f and n of a given motion."""
    links = chain(model, q, v, SX.sym("t") if t is None else t)
    x = letters(model, links, f_ext)
    q_ddot = links.G @ v_dot + links.q_ddot_0
    a = x.a(q_ddot)
    return links, x, x.f(a), x.n(a, x.eps(q_ddot))


@returns("tau")
def drive_forces(model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None = None, t: SX | None = None) -> SX:
    """Joint forces tau [N·m, N] that a given motion needs."""
    links, x, f, n = moved(model, q, v, v_dot, f_ext, t)
    return links.G.T @ x.tau(f, n) + links.armature @ v_dot


@returns("wrenches", "base_wrench", "f", "n")
def link_forces(
    model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None = None, t: SX | None = None
) -> tuple[SX, SX, SX, SX]:
    """What a given motion asks of the joints: `wrenches` and `base_wrench` as all formulations tell them; f, n (N × 3)
    of the links as the source tells them, absolute frame, moments about the origin of each link's joint frame."""
    links, _, f, n = moved(model, q, v, v_dot, f_ext, t)
    return *told(model, links, f, n), by_links(f), by_links(n)


def check_state(model: Model, q: Any, t: float = 0.0) -> None:
    """Raise ModelError, naming the joint, for a state in which A is singular, cond(A) > 1e12.

    A traced graph cannot know; this looks at numbers. A is G^T A G with rotor inertias, scaled to a unit diagonal, so
    that kilograms beside gram-square-metres do not count as singular.
    """
    symbols = SX.sym("q", model.nq), SX.sym("t")
    M = ca.Function("M", list(symbols), [ca.densify(mass_matrix(model, *symbols))])
    A = np.array(M(np.asarray(q, float), t))
    size = np.sqrt(np.abs(np.diag(A)))
    joints = [i for i in model.independent for _ in range(model.kind(i).nv)]
    for k in np.flatnonzero(size == 0):
        _unmoved(model, [int(k)], np.inf)
    values, vectors = np.linalg.eigh(A / np.outer(size, size))
    if not len(values) or np.abs(values).max() <= SINGULAR * np.abs(values).min():
        return
    cond = np.abs(values).max() / max(np.abs(values).min(), 1e-300)
    idle = np.abs(vectors[:, np.abs(values).argmin()])
    part = [k for k in range(len(joints)) if idle[k] > 0.1 * idle.max()]
    first, last = joints[part[0]], joints[part[-1]]
    between = _path(model, first, last)
    if len(part) > 1 and between:
        ends, middle = [model.joint(i).name for i in (first, last)], model.joint(between[0]).name
        raise ModelError(
            f"joint '{middle}' stands where the motions of joints '{ends[0]}' and '{ends[1]}' fall together "
            f"(gimbal lock): A is singular, cond(A) = {cond:.1e}",
            where=model.joint(between[0]).source,
            fix="keep the free joint, or fictitious_chain(model, order=…) with another axis in the middle",
        )
    _unmoved(model, part, cond)


def _unmoved(model: Model, part: list[int], cond: float) -> None:
    joints = [i for i in model.independent for _ in range(model.kind(i).nv)]
    names = " and ".join(f"'{model.v_names[k]}'" for k in part)
    joint = model.joint(joints[part[0]])
    raise ModelError(
        f"joint '{joint.name}': {names} can change without moving any mass: A is singular, cond(A) = {cond:.1e}",
        where=joint.source,
        fix=f"give body '{joint.child}' (or what it carries) a mass and an inertia there",
    )


def _path(model: Model, first: int, last: int) -> list[int]:
    """Joints strictly between two joints of one branch, from the tip's side; none when they are not on one branch."""
    found, i = [], model.parent[last]
    while i > first:
        found.append(i)
        i = model.parent[i]
    return found if i == first else []
