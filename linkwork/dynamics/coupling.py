"""Coupled joints by elimination: q_all = G q + c, so v_all = G v, tau = Gᵀ tau_all, M = Gᵀ M_all G. Exact."""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.model.model import Model
from linkwork.spatial import SX, zeros


def expand(model: Model, q: SX) -> SX:
    """Coordinates of all joints from the independent ones."""
    if not model.coupled:
        return q
    own = _own(model, "nq")
    parts = []
    for i in model.tree:
        coupling = model.joint(i).coupling
        if model.kind(i).nq == 0:
            continue  # an empty slice of a 1 × 1 is 1 × 0 and would count as a row
        if coupling is None:
            parts.append(q[own[i]])
        else:
            parts.append(coupling.ratio * q[own[model.joint_index[coupling.leader]]] + coupling.offset)
    return ca.vertcat(*parts)


def expansion(model: Model) -> SX:
    """G, with v_all = G v."""
    own = _own(model, "nv")
    G = zeros(model.v_slices[-1].stop, model.nv)
    for i in model.tree:
        coupling = model.joint(i).coupling
        rows = range(model.v_slices[i].start, model.v_slices[i].stop)
        if coupling is None:
            for row, column in zip(rows, range(own[i].start, own[i].stop), strict=True):
                G[row, column] = 1
        else:
            G[rows[0], own[model.joint_index[coupling.leader]].start] = coupling.ratio
    return G


def spread(model: Model, v: SX) -> SX:
    """G v."""
    return expansion(model) @ v if model.coupled else v


def gather(model: Model, tau: SX) -> SX:
    """Gᵀ tau_all."""
    return expansion(model).T @ tau if model.coupled else tau


def pad(model: Model, tau: Any) -> SX:
    """A tau_all with Gᵀ tau_all = tau: the force at the independent joints, none at those that follow."""
    if not model.coupled:
        return tau
    own = _own(model, "nv")
    return ca.vertcat(*[tau[own[i]] if i in own else SX(1, 1) for i in model.tree if model.kind(i).nv])


def _own(model: Model, count: str) -> dict[int, slice]:
    """Where an independent joint's coordinates stand among the independent ones."""
    at, own = 0, {}
    for i in model.independent:
        n = getattr(model.kind(i), count)
        own[i] = slice(at, at + n)
        at += n
    return own
