"""Derivatives of the accelerations of a tree by its state, without differentiating the articulated body.

With tau = rnea(q, v, v_dot) = M(q) v_dot + h(q, v) the theorem of implicit functions gives, all else held,

    M ∂v_dot/∂x = ∂tau/∂x − ∂rnea(q, v, v_dot)/∂x      for x = q, v and whatever else is there, v_dot held

What a joint's own coordinate or speed changes on its body is carried to all bodies behind it, and the change of their
force back to the bodies before it. Letters, of body j with parent p, about its own origin in its own axes:

    δw, δa, β   change of angular velocity, of the origin's acceleration, of the angular acceleration: β = δα + w × δw.
                Behind the joint δw and β are the same for all bodies and
                δa_j = B (δa_p + β × r + 2 δw × u),  u = w_p × r + v_rel, the speed of O_j seen from O_p
    m, md, I    mass, first moment and inertia of the body and all behind it (the composite body)
    P, Q        ∫ u dm and ∫ u ρᵀ dm of these, ρ from the origin and u the speed of a point seen from it
    F           change of the force on the composite body:
                [m δa + β × md + 2 δw × P ;  md × δa + I β + 2 (tr Q δw − Q δw)]
    g           the same read by rows: a change δw of all bodies adds gᵀ δw to tau_j

The changes of force for one unit of acceleration, M_c S, climb as in `crba` and are both the mass matrix and, read by
rows, what δa and β of an ancestor add to tau_j. Changes that a joint's own accelerations can undo need no solving: all
that a free base's attitude and linear velocity do. Derivatives are by the components of q, quaternions' too: what a
joint itself does with them is differentiated as it is written.

The idea of composite bodies for derivatives: Singh, Russo, Wensing, IEEE RA-L 7 (2022) 1776; here with conventional
accelerations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import casadi as ca

from linkwork.dynamics.aba import time, velocities, world
from linkwork.dynamics.coupling import expand, expansion, spread
from linkwork.dynamics.crba import solve_branches
from linkwork.dynamics.rnea import SWEEPS, accelerate, rnea
from linkwork.dynamics.sweeps import Link, link, links, run
from linkwork.model.model import Model
from linkwork.model.reframe import simplest
from linkwork.spatial import SX, cross, eye, is_one, is_zero, rotate, skew, spin, zeros


def slopes(
    model: Model,
    q: SX,
    v: SX,
    tau: SX,
    f_ext: SX | None = None,
    t: SX | None = None,
    *,
    v_dot: SX,
    wrt: Sequence[SX],
) -> list[SX]:
    """∂v_dot/∂x for each symbol x of `wrt`: q, v, and any that tau, f_ext or the model's numbers contain.

    tau may depend on q and v, f_ext may not; v_dot is what the accelerations are there.
    """
    if f_ext is None:
        model = simplest(model)
    all_q = expand(model, q)
    M, left, undone = of_forces(model, all_q, spread(model, v), spread(model, v_dot), f_ext, t)
    if model.coupled:
        G, by = expansion(model), {"q": ca.jacobian(all_q, q), "v": expansion(model)}
        left = {k: G.T @ (left[k] + M @ undone[k]) @ by[k] for k in by}
        M, undone = G.T @ M @ G, {}
    a = SX.sym("v_dot", model.nv)
    names = ["q" if x is q else "v" if x is v else "" for x in wrt]
    rest = tau - rnea(model, q, v, a, f_ext, t) if "" in names else SX(0)
    columns = []
    for x, name in zip(wrt, names, strict=True):
        columns.append(ca.jacobian(tau, x) - left[name] if name else ca.substitute(ca.jacobian(rest, x), a, v_dot))
    ends = [0, *accumulate(x.numel() for x in wrt)]
    solved = ca.horzsplit(solve_branches(M, ca.horzcat(*columns)), ends)
    return [x - undone.get(name, 0) for x, name in zip(solved, names, strict=True)]


@dataclass(frozen=True)
class Change:
    """What the joint's coordinates (or speeds) change on its own body: a column for each."""

    w: SX
    a: SX
    beta: SX

    @property
    def acceleration(self) -> SX:
        return ca.vertcat(self.a, self.beta)

    def undone(self, S: SX) -> tuple[Change, SX]:
        """What is left when the joint's own accelerations undo the changes they can, and these accelerations.

        They can where S picks coordinate directions: all of it at a free joint.
        """
        by = SX(S.shape[1], self.w.shape[1])
        if all(is_zero(x) or is_one(x) or is_one(-x) for x in ca.vertsplit(ca.vec(S))):
            by = S.T @ self.acceleration
        rest = self.acceleration - S @ by
        return Change(self.w, rest[:3, :], rest[3:, :]), by


def of_forces(
    model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None = None, t: SX | None = None
) -> tuple[SX, dict[str, SX], dict[str, SX]]:
    """M, and A and B with ∂rnea/∂x = A + M B for x = q, v of all joints, coupled ones taken as free."""
    given = {"v_dot": v_dot} | ({} if f_ext is None else {"f_ext": f_ext})
    bodies = run(model, SWEEPS, links(model, q, v, time(t), **given), world(model))
    composites(model, bodies)
    n = v.numel()
    M, by_q, by_v = zeros(n, n), zeros(n, q.numel()), zeros(n, n)
    undone_q, undone_v = SX(n, q.numel()), SX(n, n)
    own: dict[int, tuple[Change, Change]] = {}
    for j in model.tree:
        if model.kind(j).nv == 0:
            continue
        b, rows, at = bodies[j], model.v_slices[j], model.q_slices[j]
        q_change, v_change, lifted, turned = locally(model, j, b, bodies[model.parent[j]], time(t))
        q_change, undone_q[rows, at] = q_change.undone(b.S)
        v_change, undone_v[rows, rows] = v_change.undone(b.S)
        own[j] = q_change, v_change
        F = force(b, Change(zeros(3, b.S.shape[1]), b.S[:3, :], b.S[3:, :]))
        F_q, F_v, g = force(b, q_change), force(b, v_change), by_rows(b)
        M[rows, rows] = b.S.T @ F + b.armature
        by_q[rows, at] = b.S.T @ F_q + turned - b.armature @ undone_q[rows, at]
        by_v[rows, rows] = b.S.T @ F_v - b.armature @ undone_v[rows, rows]
        i = j
        while model.parent[i] != 0:
            F, F_q, F_v = (ca.horzcat(*map(bodies[i].X.force, ca.horzsplit(x))) for x in (F, F_q, F_v))
            g = bodies[i].X.out(g)
            g += 2 * skew(bodies[i].u) @ F[:3, :]
            F_q += lifted if i == j else 0
            i = model.parent[i]
            if i not in own:
                continue
            S, above, at_i = bodies[i].S, model.v_slices[i], model.q_slices[i]
            M[above, rows] = S.T @ F
            M[rows, above] = M[above, rows].T
            by_q[above, at], by_v[above, rows] = S.T @ F_q, S.T @ F_v
            for D, columns, change in zip((by_q, by_v), (at_i, above), own[i], strict=True):
                D[rows, columns] = F.T @ change.acceleration + g.T @ change.w
    return M, {"q": by_q, "v": by_v}, {"q": undone_q, "v": undone_v}


def composites(model: Model, bodies: list[Link]) -> None:
    """Inward: m, md, I, P, Q of each body and all behind it, and each body's u."""
    for i in model.tree:
        b = bodies[i]
        b.P, b.Q = cross(b.w, b.md), skew(b.w) @ (ca.trace(b.I) / 2 * eye(3) - b.I)
        if model.parent[i]:
            b.u = cross(bodies[model.parent[i]].w, b.X.r) + b.X.out(b.v_rel[:3])
    for i in reversed(model.tree):
        if not model.parent[i]:
            continue
        b, p = bodies[i], bodies[model.parent[i]]
        P = b.X.out(b.P)
        moved, inertia = b.X.rigid(b.m, b.md, b.I)
        p.Q = p.Q + rotate(b.X.place, rotate(b.X.turn, b.Q)) + P @ b.X.r.T + b.u @ moved.T
        p.m, p.md, p.I, p.P = p.m + b.m, p.md + moved, p.I + inertia, p.P + P + b.m * b.u


def force(b: Link, of: Change) -> SX:
    """F of the composite body."""
    linear = b.m * of.a - skew(b.md) @ of.beta - 2 * skew(b.P) @ of.w
    return ca.vertcat(linear, skew(b.md) @ of.a + b.I @ of.beta + 2 * (ca.trace(b.Q) * of.w - b.Q @ of.w))


def by_rows(b: Link) -> SX:
    """g of the joint's own forces, a column for each."""
    linear, angular = b.S[:3, :], b.S[3:, :]
    return 2 * (skew(b.P) @ linear + ca.trace(b.Q) * angular - b.Q.T @ angular)


def locally(model: Model, j: int, b: Link, p: Any, t: SX) -> tuple[Change, Change, SX, SX]:
    """What q_j and v_j change on body j, and what q_j changes of its force felt by the parent and by the joint."""
    joint, kind = model.joint(j), model.kind(j)
    q, v, v_dot = SX.sym("q", kind.nq), SX.sym("v", kind.nv), SX.sym("v_dot", kind.nv)
    w_p, a_p, f = SX.sym("w", 3), SX.sym("a", 6), SX.sym("f", 6)
    c, above = link(joint, model.bodies[j], q, v, t, v_dot=v_dot), SimpleNamespace(w=w_p, W=spin(w_p), a=a_p)
    c.__dict__.update(velocities(c, above))
    w, a = c.w, accelerate(c, above)["a"]
    asked = [ca.jacobian(x, y) for y in (q, v) for x in (w, a)]
    asked += [ca.jacobian(x, q) for x in (c.X.force(f), c.S.T @ f)]
    found = ca.substitute(asked, [q, v, v_dot, w_p, a_p, f], [b.q, b.v, b.v_dot, p.w, p.a, b.f])
    w_q, a_q, w_v, a_v, lifted, turned = found
    changes = [Change(w, a[:3, :], a[3:, :] + skew(b.w) @ w) for w, a in ((w_q, a_q), (w_v, a_v))]
    return changes[0], changes[1], lifted, turned
