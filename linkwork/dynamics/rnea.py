"""Inverse dynamics: joint forces, and the wrench at every joint and on the base, for a given motion. O(n).

    a_j = B_j a_p + S_j v_dot_j + h_j
    f_j = M_j a_j − s_j + Σ Bᵀ f_child
    tau_j = S_jᵀ f_j + rotor inertia · v_dot_j

f_j is the wrench joint j exerts on body j at its origin, in its axes; Bᵀ f_1 is what the world gives, so −Bᵀ f_1 is the
wrench on the base. After Featherstone (2008), table 5.1, with conventional accelerations.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.dynamics.aba import time, velocities, world
from linkwork.dynamics.coupling import expand, gather, spread
from linkwork.dynamics.formulation import returns
from linkwork.dynamics.sweeps import Link, Results, Sweep, links, run
from linkwork.model.model import Model
from linkwork.model.reframe import simplest
from linkwork.spatial import SX


def accelerate(b: Link, p: Any) -> Results:
    """Outward: the given motion."""
    a = b.X.motion(p.a) + b.h
    return {"a": a + b.S @ b.v_dot if b.v.numel() else a}


def balance(b: Link, children: Any) -> Results:
    """Inward: Newton and Euler."""
    f = b.M @ b.a - b.s + children.f_up
    tau = b.S.T @ f + b.armature @ b.v_dot if b.v.numel() else SX(0, 1)
    return {"f": f, "tau": tau, "f_up": b.X.force(f)}


SWEEPS = (
    Sweep("outward", velocities),
    Sweep("outward", accelerate),
    Sweep("inward", balance, {"f_up": (6, 1)}),
)


def motion(model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None = None, t: SX | None = None) -> list[Link]:
    """All bodies with their accelerations `a` and joint wrenches `f`; entry 0, the world, has `f_up`."""
    given = {"v_dot": spread(model, v_dot)}
    if f_ext is not None:
        given["f_ext"] = f_ext
    bodies = links(model, expand(model, q), spread(model, v), time(t), **given)
    return run(model, SWEEPS, bodies, world(model))


@returns("tau", sweeps=SWEEPS, root=world)
def rnea(model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None = None, t: SX | None = None) -> SX:
    """Joint forces tau [N·m, N] for given accelerations: tau = M(q) v_dot + h(q, v) − Σ Jᵀ f_ext."""
    if f_ext is None:
        model = simplest(model)
    bodies = motion(model, q, v, v_dot, f_ext, t)
    return gather(model, ca.vertcat(*[bodies[i].tau for i in model.tree]))


@returns("wrenches", "base_wrench")
def wrenches(model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None = None, t: SX | None = None) -> tuple[SX, SX]:
    """Wrench of every joint on its body (bodies × 6, [force; moment] at the body's origin in body axes), and the wrench
    on the base (6, at the world's origin in world axes)."""
    bodies = motion(model, q, v, v_dot, f_ext, t)
    return ca.vertcat(*[bodies[i].f.T for i in model.tree]), -bodies[0].f_up


@returns("h")
def bias(model: Model, q: SX, v: SX, t: SX | None = None) -> SX:
    """h(q, v): joint forces that make v_dot = 0, i.e. Coriolis, centrifugal and gravity terms."""
    return rnea(model, q, v, SX(model.nv, 1), t=t)


@returns("tau_gravity")
def gravity_forces(model: Model, q: SX) -> SX:
    """Joint forces that hold the mechanism still."""
    return rnea(model, q, SX(model.nv, 1), SX(model.nv, 1))
