"""A tree at one state as `kane_graph` sees it: vectors, graph matrices, speeds and forces of all bodies, inertial axes.

Body i hangs by its point o_i on A_i of its lower body L(i) < i. rho_i: o_L(i) → o_i; y_i: o_i → centre of mass; q_i:
A_i → o_i; w_i, dq_i = q'_i: angular velocity against, and rate of q_i seen in, the lower body. n × n matrices:
D_ij = −1 where i = L(j), S = D + E, T = S⁻¹, T_ij = 1 where i lies on the path 0 → j.

    A(rho, y) = T(E)ᵀ diag(rho~) D(E)ᵀ − diag(y~)                                                      (7)
    X_i = omega_L × rho_i + 2 q'_i,   Y_i = omega_i × y_i                                              (12)

X(E), X's entries times the 3 × 3 identity, is never multiplied here: T(E) and T(E)ᵀ are sums that run over the tree.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from linkwork.dynamics.coupling import expand, pad, spread
from linkwork.dynamics.kane_hinges import WELD, hinge
from linkwork.errors import ModelError
from linkwork.model.describe import Body
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, is_zero, matrix, skew, symmetric, vector

Blocks = list[SX]  # three rows for each body; entry 0 is inertial space


def mass_of(body: Body) -> tuple[SX, SX, SX]:
    """Mass, centre of mass and inertia about it, of all parts together, in body axes."""
    parts = body.inertials
    m, c, I = sum((SX(p.mass) for p in parts), SX(0)), SX(3, 1), SX(3, 3)
    if len(parts) == 1:
        c = vector(parts[0].centre)
    elif not is_zero(m):
        c = sum((p.mass * vector(p.centre) for p in parts), c) / m
    for p in parts:
        d = skew(vector(p.centre) - c)
        I = I + symmetric(p.inertia) - p.mass * (d @ d)
    return m, c, I


def check_labels(model: Model) -> None:
    for i in model.tree:
        if not 0 <= model.parent[i] < i:
            raise ModelError(
                f"body '{model.bodies[i].name}', number {i}, hangs on number {model.parent[i]}, which is not lower",
                where=model.joint(i).source,
                fix="build the model anew: building numbers bodies from the base outwards",
            )


class Tree:
    def __init__(
        self, model: Model, q: SX, v: SX, tau: SX | None = None, f_ext: SX | None = None, t: SX | None = None
    ) -> None:
        check_labels(model)
        self.model, self.L, self.n = model, model.parent, len(model.tree)
        self.q, self.v, self.t = q, v, SX.sym("t") if t is None else t
        self.u = spread(model, v)
        self.tau = pad(model, SX(model.nv, 1) if tau is None else tau)
        bodies = [mass_of(body) for body in model.bodies[1:]]
        self.m = [SX(0), *(m for m, _, _ in bodies)]
        self._place(expand(model, q), [SX(3, 1), *(c for _, c, _ in bodies)])
        self.I = [SX(3, 3), *(R @ I @ R.T for R, (_, _, I) in zip(self.R[1:], bodies, strict=True))]
        self._load(f_ext)

    def _place(self, q: SX, c: Blocks) -> None:
        """Vectors and speeds, and what the speeds add to the accelerations: X, Y, and the rates bw, bv of w, dq."""
        model, still = self.model, SX(3, 1)
        self.R, self.hinges = [SX(ca.DM.eye(3))], [WELD]
        self.rho, self.y, self.w, self.dq, self.omega = [still], [still], [still], [still], [still]
        self.X, self.Y, self.bw, self.bv = [still], [still], [still], [still]
        for i in model.tree:
            joint, R_L, omega_L = model.joint(i), self.R[self.L[i]], self.omega[self.L[i]]
            u, place = self.u[model.v_slices[i]], R_L @ matrix(joint.rotation)
            local = hinge(joint, q[model.q_slices[i]], u, self.t)
            h = local.turned(place)
            self.hinges.append(h)
            self.R.append(place @ local.turn)
            self.rho.append(R_L @ vector(joint.position) + h.q)
            self.y.append(self.R[i] @ c[i])
            self.w.append((h.Hw @ u if u.numel() else still) + h.w_given)
            self.dq.append((h.Hv @ u if u.numel() else still) + h.v_given)
            self.omega.append(omega_L + self.w[i])
            self.X.append(cross(omega_L, self.rho[i]) + 2 * self.dq[i])
            self.Y.append(cross(self.omega[i], self.y[i]))
            self.bw.append(cross(omega_L, self.w[i]) + h.bw)
            self.bv.append(h.bv)

    def _load(self, f_ext: SX | None) -> None:
        """F and T_ext at the centres: gravity, and wrenches given at body origins in body axes."""
        self.F: Blocks = [m * vector(self.model.gravity) for m in self.m]
        self.T_ext: Blocks = [SX(3, 1) for _ in self.m]
        if f_ext is not None:
            for i in self.model.tree:
                force = self.R[i] @ f_ext[i - 1, :3].T
                self.F[i] = self.F[i] + force
                self.T_ext[i] = self.R[i] @ f_ext[i - 1, 3:].T - cross(self.y[i], force)

    # --- the graph ---
    @cached_property
    def D(self) -> ca.DM:
        D = ca.DM(self.n, self.n)
        for j in self.model.tree:
            if self.L[j]:
                D[self.L[j] - 1, j - 1] = -1
        return D

    @cached_property
    def S(self) -> ca.DM:
        return self.D + ca.DM.eye(self.n)

    @cached_property
    def T(self) -> ca.DM:
        T = ca.DM(self.n, self.n)
        for j in self.model.tree:
            i = j
            while i:
                T[i - 1, j - 1] = 1
                i = self.L[i]
        return T

    def outwards(self, x: Blocks) -> Blocks:
        """T(E)ᵀ x: sums along the path from 0."""
        out = [x[0]]
        for i in self.model.tree:
            out.append(out[self.L[i]] + x[i])
        return out

    def inwards(self, x: Blocks) -> Blocks:
        """T(E) x: sums over a body and all it carries."""
        out = list(x)
        for i in reversed(self.model.tree):
            out[self.L[i]] = out[self.L[i]] + out[i]
        return out

    def along(self, rho: Blocks, y: Blocks, x: Blocks) -> Blocks:
        """A(rho, y) x."""
        lower = self.outwards([x[0], *(-(skew(rho[i]) @ x[self.L[i]]) for i in self.model.tree)])
        return [a - skew(r) @ b for a, r, b in zip(lower, y, x, strict=True)]

    def against(self, f: Blocks) -> Blocks:
        """A(rho, y)ᵀ f."""
        out, carried = [skew(y) @ x for y, x in zip(self.y, f, strict=True)], self.inwards(f)
        for i in self.model.tree:
            out[self.L[i]] = out[self.L[i]] + skew(self.rho[i]) @ carried[i]
        return out

    # --- speeds, accelerations and forces of all bodies ---
    def centres(self, x: Blocks, x_q: Blocks) -> Blocks:
        """A(rho, y) x + T(E)ᵀ x_q (8)."""
        return [a + b for a, b in zip(self.along(self.rho, self.y, x), self.outwards(x_q), strict=True)]

    @cached_property
    def AX_omega(self) -> Blocks:
        return self.along(self.X, self.Y, self.omega)

    def accelerations(self, eps: Blocks, ddq: Blocks) -> Blocks:
        """a of the centres when omega' = eps, q'' = ddq (9)."""
        return [a + b for a, b in zip(self.centres(eps, ddq), self.AX_omega, strict=True)]

    def forces(self, eps: Blocks, ddq: Blocks) -> tuple[Blocks, Blocks]:
        """T* + T_ext and F* + F (13)–(15)."""
        a, bodies = self.accelerations(eps, ddq), range(self.n + 1)
        spin = [self.I[i] @ eps[i] + cross(self.omega[i], self.I[i] @ self.omega[i]) for i in bodies]
        return [self.T_ext[i] - spin[i] for i in bodies], [self.F[i] - self.m[i] * a[i] for i in bodies]

    def generalised(self, turning: Blocks, force: Blocks) -> tuple[Blocks, Blocks]:
        """[[Aᵀ, E], [T, 0]] [force; turning] (19)."""
        return [a + b for a, b in zip(self.against(force), turning, strict=True)], self.inwards(force)
