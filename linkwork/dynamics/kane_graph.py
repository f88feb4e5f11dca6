"""Kane's equations with graph matrices: all 6n speeds z = [omega; q'] of a tree, and the ideal force in every hinge.

Vectors, graph matrices and hinges: `kane_tree`, `kane_hinges`. M, I: masses and inertias of all bodies, W = omega~,
A = A(rho, y), A_X = A(X, Y), T = T(E), S = S(E); F, T_ext: gravity and f_ext; F^a, T^a: what drives the hinges.

    v = A omega + Tᵀ q'                   a = A omega' + A_X omega + Tᵀ q''                             (8), (9)
    F* = −M a,                            T* = −(I omega' + W I omega)                                  (13)–(15)
    G* = [[Aᵀ, E], [T, 0]] [F*; T*],      G likewise of F, T_ext                                        (19)–(21)
    G^a = [S T^a; F^a],                   G^N = [S T^c; F^c]                                            (28), (29)
    G* + G + G^a + G^N = 0,    that is    Mz z' = r + G^N,   r = G + G^a − [Aᵀ M A_X + W I; T M A_X] omega   (31)
    B z = 0 (or what is prescribed),      B z' = c                                                      (37)–(39)

(b), here: z = N u + given, B N = 0, z' = N u' + n, Nᵀ Mz N u' = Nᵀ (r − Mz n), and from z' the hinge wrenches by (31).
(a), all at once: [[Mz, Bᵀ], [B, 0]] [z'; lam] = [r; c], G^N = −Bᵀ lam; see `kane_reactions`.

`extra(model, q, t)` appends rows to B: it returns (rows over z, right side), rows · z = right side. Their forces act on
the bodies from outside the hinges; `kane_loops.marker_rows` makes such rows. After Wang Yong'an, A concise form of the
dynamics equations of tree multibody systems; it ends with B z = 0, so that c, n and G^N are added here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca

from linkwork.dynamics.coupling import expansion
from linkwork.dynamics.formulation import gives
from linkwork.dynamics.kane_hinges import rates
from linkwork.dynamics.kane_reactions import Reactions, all_at_once, solve_sparse
from linkwork.dynamics.kane_tree import Blocks, Tree
from linkwork.errors import ModelError
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, skew, vector

Extra = Callable[[Model, SX, SX], tuple[Any, Any]]
SHARED = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")
OWN = ("D", "S", "T", "A", "Mz", "B", "N", "z_dot", "z_dot_a", "v_dot_a", "F_c", "T_c")


def E(X: ca.DM) -> ca.DM:
    """X(E)."""
    return ca.kron(X, ca.DM.eye(3))


def crosses(x: Blocks) -> SX:
    """diag(x~)."""
    return ca.diagcat(*[ca.sparsify(skew(e)) for e in x[1:]])


class Kane(Tree):
    """Every matrix and solution by its letter, formed when it is asked for."""

    def __init__(self, model: Model, q: SX, v: SX, *given: Any, extra: Extra | None = None) -> None:
        super().__init__(model, q, v, *given)
        self.extra = extra
        self.armature = ca.vertcat(SX(0, 1), *[vector(model.joint(i).armature) for i in model.tree if model.kind(i).nv])
        self.G = ca.sparsify(expansion(model)) if model.coupled else SX(ca.DM.eye(model.nv))  # of couplings: u = G v

    # --- the big matrices ---
    @cached_property
    def A(self) -> SX:
        return E(self.T).T @ (crosses(self.rho) @ E(self.D).T) - crosses(self.y)

    @cached_property
    def Mz(self) -> SX:
        A, T, I = self.A, E(self.T), ca.diagcat(*self.I[1:])
        M = ca.diagcat(*[m * SX(ca.DM.eye(3)) for m in self.m[1:]])
        return ca.blockcat([[A.T @ M @ A + I, A.T @ M @ T.T], [T @ M @ A, T @ M @ T.T]])

    def _over(self, i: int, turning: SX, sliding: SX) -> SX:
        """Rows over z of rows over [omega_i − omega_L; q'_i]."""
        rows, L, n = SX(turning.shape[0], 6 * self.n), self.L[i], self.n
        rows[:, 3 * (i - 1) : 3 * i] = turning
        if L:
            rows[:, 3 * (L - 1) : 3 * L] = -turning
        rows[:, 3 * (n + i - 1) : 3 * (n + i)] = sliding
        return ca.sparsify(rows)

    @cached_property
    def hinge_rows(self) -> tuple[SX, SX, list[int]]:
        """B and c of the hinges, and whose each row is: rotations, then translations, then screws (37)–(39)."""
        B, c, of = [SX(0, 6 * self.n)], [SX(0, 1)], []
        for part in ("H", "K", "HK"):
            for i in self.model.tree:
                row = getattr(self.hinges[i], part)
                none = SX(row.shape[0], 3)
                over = {"H": (row, none), "K": (none, row), "HK": (row[:, :3], row[:, 3:])}[part]
                B.append(self._over(i, *over))
                c.append(over[0] @ self.bw[i] + over[1] @ self.bv[i])
                of += [i] * row.shape[0]
        return ca.vertcat(*B), ca.vertcat(*c), of

    @cached_property
    def drives(self) -> tuple[SX, SX]:
        """Q and h with u = Q z (less what is prescribed), u' = Q z' − h. Qᵀ tau = G^a."""
        Q, h = [SX(0, 6 * self.n)], [SX(0, 1)]
        for i in self.model.tree:
            Ta, Fa = self.hinges[i].Ta.T, self.hinges[i].Fa.T
            if Ta.shape[0]:
                Q.append(self._over(i, Ta, Fa))
                h.append(Ta @ self.bw[i] + Fa @ self.bv[i])
        return ca.vertcat(*Q), ca.vertcat(*h)

    @cached_property
    def coupling_rows(self) -> tuple[SX, SX]:
        """u_follower − ratio u_leader = 0, over z."""
        Q, h = self.drives
        C = SX(len(self.model.coupled), self.armature.numel())
        for row, i in enumerate(self.model.coupled):
            coupling = self.model.joint(i).coupling
            assert coupling is not None
            C[row, self.model.v_slices[i].start] = 1
            C[row, self.model.v_slices[self.model.joint_index[coupling.leader]].start] = -coupling.ratio
        return C @ Q, C @ h

    @cached_property
    def _extra(self) -> tuple[SX, SX, SX]:
        """Of `extra`: rows, c from rows z' = −(d/dt)(rows z − right side) at constant z, and what is violated."""
        if self.extra is None:
            return SX(0, 6 * self.n), SX(0, 1), SX(0, 1)
        q, t, z = SX.sym("q", self.model.nq), SX.sym("t"), SX.sym("z", 6 * self.n)
        rows, right = (ca.sparsify(SX(x)) for x in self.extra(self.model, q, t))
        if rows.shape[1] != 6 * self.n or right.numel() not in (1, rows.shape[0]):
            raise ModelError(
                f"extra gives rows {rows.shape[0]} × {rows.shape[1]} and {right.numel()} right sides, "
                f"but z has {6 * self.n} speeds",
                fix="return rows over z = [omega of every body; q' of every hinge] and a right side for each",
            )
        off = rows @ z - right
        c = -ca.jtimes(off, ca.vertcat(q, t), ca.vertcat(rates(self.model, q, self.v), 1))
        found = ca.substitute([rows, c, off], [q, t, z], [ca.densify(self.q), ca.densify(self.t), ca.densify(self.z)])
        return found[0], found[1], found[2]

    @property
    def extra_rows(self) -> tuple[SX, SX]:
        return self._extra[:2]

    @cached_property
    def B(self) -> SX:
        return ca.vertcat(self.hinge_rows[0], self.coupling_rows[0], self.extra_rows[0])

    # --- solution (b) ---
    @cached_property
    def z(self) -> SX:
        return ca.vertcat(*self.omega[1:], *self.dq[1:])

    @cached_property
    def _N(self) -> tuple[Blocks, Blocks]:
        """N for all hinges: their axes in q' of the hinge, and in omega of a body and of all it carries."""
        nu, slices = self.armature.numel(), self.model.v_slices

        def at(i: int, X: SX) -> SX:
            return ca.horzcat(SX(3, slices[i].start), X, SX(3, nu - slices[i].stop))

        turning = [at(i, h.Hw) for i, h in enumerate(self.hinges)]
        return self.outwards(turning), [at(i, h.Hv) for i, h in enumerate(self.hinges)]

    @cached_property
    def N(self) -> SX:
        return ca.vertcat(*self._N[0][1:], *self._N[1][1:]) @ self.G

    def _NT(self, x: Blocks, x_q: Blocks) -> SX:
        """Nᵀ [x; x_q] for all hinges: Hwᵀ T(E) x + Hvᵀ x_q."""
        carried, hinges = self.inwards(x), self.hinges
        rows = [hinges[i].Hw.T @ carried[i] + hinges[i].Hv.T @ x_q[i] for i in self.model.tree if self.model.kind(i).nv]
        return ca.vertcat(SX(0, x[0].shape[1]), *rows)

    @cached_property
    def M(self) -> SX:
        """Nᵀ Mz N, and the rotors'."""
        turning, sliding = self._N
        momentum = [m * V for m, V in zip(self.m, self.centres(turning, sliding), strict=True)]
        spin = [I @ x for I, x in zip(self.I, turning, strict=True)]
        M = ca.tril2symm(ca.tril(self._NT(*self.generalised(spin, momentum)))) + ca.diag(self.armature)
        return self.G.T @ M @ self.G if self.model.coupled else M

    @cached_property
    def _n(self) -> tuple[Blocks, Blocks]:
        return self.outwards(self.bw), self.bv

    @cached_property
    def _solution(self) -> tuple[SX, SX]:
        """u' of the independent speeds, and the multipliers of the extra rows."""
        right = self.G.T @ (self.tau + self._NT(*self.generalised(*self.forces(*self._n))))
        rows, c = self.extra_rows
        if rows.shape[0] == 0:
            return solve_sparse(self.M, right, list(reversed(range(self.model.nv)))), SX(0, 1)
        C, n = rows @ self.N, ca.vertcat(*self._n[0][1:], *self._n[1][1:])
        K = ca.blockcat([[self.M, C.T], [C, SX(C.shape[0], C.shape[0])]])
        order = [*reversed(range(self.model.nv)), *range(self.model.nv, K.shape[0])]
        x = solve_sparse(K, ca.vertcat(right, c - rows @ n), order)
        return x[: self.model.nv], x[self.model.nv :]

    @property
    def v_dot(self) -> SX:
        return self._solution[0]

    @cached_property
    def _z_dot(self) -> tuple[Blocks, Blocks]:
        """z' = N u' + n, hinge by hinge."""
        u, still = self.G @ self.v_dot, SX(3, 1)
        own = [u[at] for at in self.model.v_slices]
        new = [h.Hw @ x if x.numel() else still for h, x in zip(self.hinges, own, strict=True)]
        sliding = [h.Hv @ x if x.numel() else still for h, x in zip(self.hinges, own, strict=True)]
        turning = self.outwards([a + b for a, b in zip(new, self.bw, strict=True)])
        return turning, [a + b for a, b in zip(sliding, self.bv, strict=True)]

    @property
    def z_dot(self) -> SX:
        return ca.vertcat(*self._z_dot[0][1:], *self._z_dot[1][1:])

    @cached_property
    def _loads(self) -> tuple[Blocks, Blocks]:
        """T^c + T^a and F^c + F^a at o_i: the halves of G^N + G^a = −(G* + G), less what extra rows give."""
        upper, lower = self.generalised(*self.forces(*self._z_dot))
        outside = self.extra_rows[0].T @ self._solution[1]
        for i in self.model.tree if outside.nnz() else ():
            upper[i] = upper[i] - outside[3 * (i - 1) : 3 * i]
            lower[i] = lower[i] - outside[3 * (self.n + i - 1) : 3 * (self.n + i)]
        return [-x for x in self.inwards(upper)], [-x for x in lower]

    @property
    def wrenches(self) -> SX:
        turning, force = self._loads
        return ca.vertcat(*[ca.horzcat(force[i].T @ self.R[i], turning[i].T @ self.R[i]) for i in self.model.tree])

    @property
    def base_wrench(self) -> SX:
        """Through the hinges; o_i = T(E)ᵀ rho stands off the world's origin."""
        (turning, force), o, out = self._loads, self.outwards(self.rho), SX(6, 1)
        for i in self.model.children(0):
            out = out - ca.vertcat(force[i], turning[i] + cross(o[i], force[i]))
        return out

    @property
    def energy_rate(self) -> SX:
        v, a = self.centres(self.omega, self.dq), self.accelerations(*self._z_dot)
        g, rate = vector(self.model.gravity), ca.dot(self.armature * self.u, self.G @ self.v_dot)
        for i in self.model.tree:
            w, I = self.omega[i], self.I[i]
            rate += self.m[i] * ca.dot(a[i] - g, v[i]) + ca.dot(w, I @ self._z_dot[0][i] + cross(w, I @ w))
        return rate

    # --- solution (a) ---
    @cached_property
    def _reactions(self) -> Reactions:
        return all_at_once(self)

    @property
    def z_dot_a(self) -> SX:
        return self._reactions.z_dot

    @property
    def v_dot_a(self) -> SX:
        """u' = Q z' − h of the independent joints."""
        Q, h = self.drives
        u = Q @ self.z_dot_a - h
        return ca.vertcat(
            SX(0, 1), *[u[self.model.v_slices[i]] for i in self.model.independent if self.model.kind(i).nv]
        )

    @property
    def F_c(self) -> SX:
        return self._reactions.F_c

    @property
    def T_c(self) -> SX:
        return self._reactions.T_c


class Told(dict):
    """Quantities by name, each formed when first asked for: the big ones cost nothing unless wanted."""

    def __init__(self, kane: Kane) -> None:
        super().__init__()
        self.kane = kane

    def __missing__(self, name: str) -> SX:
        self[name] = SX(getattr(self.kane, name))
        return self[name]


@gives(*SHARED, *OWN, by_pairs=True)
def kane_graph(
    model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None, extra: Extra | None = None
) -> dict[str, SX]:
    """Accelerations from Kane's equations in 6n speeds, and the matrices and ideal hinge forces they are made of.

    Its own: D, S, T (bodies × bodies), A (3n × 3n), Mz (6n × 6n), B (rows × 6n: hinges, couplings, extra), N (6n × nv);
    z_dot (6n) of (b); z_dot_a, v_dot_a, F_c, T_c (bodies × 3: on the body at o_i, inertial axes) of (a).
    """
    check_moves_mass(model)
    return Told(Kane(model, q, v, tau, f_ext, t, extra=extra))
