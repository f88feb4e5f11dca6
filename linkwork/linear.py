"""A model linearised about a state: x' = A x + B u, y = C x + D u, with names.

x holds deviations: of the coordinates along the speeds (3 for an attitude, not 4), then of the speeds. u are joint
forces, y any quantities by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from linkwork import outputs
from linkwork.driven import System
from linkwork.dynamics import forces, kinematics
from linkwork.dynamics.aba import aba
from linkwork.model.model import Model

SX = ca.SX


@dataclass(frozen=True)
class Linear:
    """Named A, B, C, D about `at`. `x_dot` is the rate of x at that point: zero when it is an equilibrium."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    x: tuple[str, ...]
    u: tuple[str, ...]
    y: tuple[str, ...]
    x_dot: np.ndarray
    at: Mapping[str, float]

    @property
    def eigenvalues(self) -> np.ndarray:
        return np.linalg.eigvals(self.A)

    def __str__(self) -> str:
        lines = [f"{len(self.x)} states, {len(self.u)} inputs, {len(self.y)} outputs"]
        for value in sorted(self.eigenvalues, key=lambda e: (abs(e), e.imag)):
            if value.imag >= 0:
                wave = (
                    f", {abs(value) / 2 / np.pi:.4g} Hz, damping ratio {-value.real / abs(value):.4g}"
                    if value.imag
                    else ""
                )
                lines.append(f"  eigenvalue {value.real:.6g}{f' ± {value.imag:.6g} i' if value.imag else ''}{wave}")
        still = float(np.max(np.abs(self.x_dot), initial=0.0))
        lines.append("  at rest there" if still < 1e-9 else f"  not an equilibrium: it moves away at up to {still:.4g}")
        return "\n".join(lines)


def linearize(model: Model, at: Mapping[str, Any] | None = None, y: Sequence[str] = ()) -> Linear:
    """A, B, C, D of the model under its own forces about the state `at` (names → values; default: its start).

    y: quantities by name, for example ("tool.position",). Derivatives are exact (traced), not differences.
    """
    sys = System(model)
    tr, m = sys.trace, sys.trace.model
    nv = model.nv
    dx, tau = SX.sym("dx", 2 * nv), SX.sym("tau", nv)
    own, wrenches = forces.totals(m, forces.applied(m, tr.q, tr.v, tr.t))
    v_dot = aba(m, tr.q, tr.v, own + tau, wrenches, tr.t)
    # dq/dt = N(q) v; a deviation d along the speeds obeys d' = dv + (velocity of the frame it is told in)
    q_new = kinematics.integrate(m, tr.q, dx[:nv], SX(1))
    rate = ca.vertcat(
        _rate_of_deviation(m, tr.q, tr.v, dx),
        ca.substitute(v_dot, ca.vertcat(tr.q, tr.v), ca.vertcat(q_new, tr.v + dx[nv:])),
    )
    found = [outputs.quantity(model, name) for name in y]
    traced = ca.vertcat(*[ca.vec(f.trace(m, tr.q, tr.v, tr.t)) for f in found]) if found else SX(0, 1)
    traced = ca.substitute(traced, ca.vertcat(tr.q, tr.v), ca.vertcat(q_new, tr.v + dx[nv:]))
    results = [
        ca.jacobian(rate, dx),
        ca.jacobian(rate, tau),
        ca.jacobian(traced, dx),
        ca.jacobian(traced, tau),
        rate,
    ]
    f = ca.Function("linear", [tr.q, tr.v, tr.t, dx, tau, *tr.parameters.values()], [ca.densify(r) for r in results])
    y0 = sys.start(at)[0]
    p = sys.parameters()[0][0]
    values = f(y0[: model.nq], y0[model.nq : model.nq + nv], 0.0, np.zeros(2 * nv), np.zeros(nv), *p)
    A, B, C, D, x_dot = (np.array(v) for v in values)
    x = (
        *(n.removesuffix("_rate").removesuffix(".rate") if n.endswith("rate") else f"{n}.dt" for n in model.v_names),
        *model.v_names,
    )
    names = tuple(f"{q.name}.{c}" if c else q.name for q in found for c in (q.components or ("",)))
    point = dict(zip((*model.q_names, *model.v_names), map(float, y0), strict=False))
    return Linear(A, B, C, D, x, model.v_names, names, x_dot[:, 0], point)


def _rate_of_deviation(m: Model, q: SX, v: SX, dx: SX) -> SX:
    """Rate of the deviation that leads from the moving point to its neighbour.

    The point moves with v, the neighbour with v + dv. To first order only the difference counts; it is found by letting
    both move for a time h and differentiating `difference` with respect to h.
    """
    nv, h = v.numel(), SX.sym("h")
    point = kinematics.integrate(m, q, v, h)
    other = kinematics.integrate(m, kinematics.integrate(m, q, dx[:nv], SX(1)), v + dx[nv:], h)
    return ca.substitute(ca.jacobian(kinematics.difference(m, point, other), h), h, SX(0))
