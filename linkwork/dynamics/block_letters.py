"""The closed matrices of a tree of one-freedom links: structure, kinematics, link forces, equations of motion.

After A. K. Kovalchuk, D. B. Kulakov, S. E. Semenov, "Block-matrix equations of motion of robot mechanisms with
tree-like kinematic structure"; numbers in brackets are theirs. The links and their vectors are those of `block_links`,
all told in the absolute frame. The structure enters through the reachability matrix D alone: d_ij = 1 if link i is
reachable from link j.

    v^d     block-diagonal matrix (3N × N) of the block vector v (3N)
    Λ(a)    every 3-vector entry of a block matrix replaced by its cross-product matrix;  Λᵀ(a) = −Λ(a)

    l_D = l^d D + D s^d (D − E),    c_fD = l_D + c^d D                                                  (3) (6) (7)
    w = D z^d sigma q',             w_f = (D − E) z^d sigma q'                                         (9) (10) (15)
    v = [Λᵀ(l_D) z^d sigma + D z^d (E − sigma)] q'                                                        (12) (13)
    eps = B_w q'' + D sigma q'^d Λᵀ(z^d) (D − E) z^d sigma q',     B_w = D z^d sigma                           (16)
    a = B_c q'' + Br z^d sigma q',  B_c = D z^d (E − sigma) + Λᵀ(c_fD) z^d sigma                               (18)
    Br = Λᵀ(c_fD) Λᵀ(z^d sigma q'^d) (D − E) + Λᵀ(cdot) + 2 D Λᵀ(z^d (E − sigma) q'^d) (D − E)
    cdot = Λᵀ(c_fD) (z^d sigma q'^d D + w_f^d)
    f = Dᵀ m^d a − Dᵀ f_g                                                                                      (19)
    n = −[Λ(c_fD)]ᵀ m^d a + Dᵀ J^d eps + Dᵀ Λ(w^d) J^d w − (Dᵀ − E) Λ(s^d) Dᵀ f_g − Dᵀ n_g                     (22)
    tau = sigma (z^d)ᵀ n + (E − sigma) (z^d)ᵀ f                                                                (24)
    A q'' + B q' − C f_g − Dn n_g = tau                                                                        (25)

The dynamic equations (17), (18), (20), (23), (25) are corrected: the printed ones have a w_f that is not
block-diagonal in cdot, Λ(D z^d sigma q'^d) in the gyroscopic term, a wrong sign before [Λ(c_fD)]ᵀ in the revolute
rows, and a bracket that ends too early; see docs/theory/block-matrix.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from linkwork.dynamics.block_links import Chain, Link
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, vector

E3 = ca.DM.eye(3)
CROSS = [ca.sparsify(ca.DM(rows)) for rows in (
    [[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]], [[0, -1, 0], [1, 0, 0], [0, 0, 0]],
)]  # fmt: skip


def Lambda(a: SX) -> SX:
    """Every 3-vector entry of a block matrix replaced by its cross-product matrix."""
    x, y, z = (ca.kron(a[k::3, :], CROSS[k]) for k in range(3))
    return x + y + z


def Lambda_T(a: SX) -> SX:
    """The same with each block transposed, the blocks staying where they are: Λᵀ(a) b = b × a, block by block."""
    return -Lambda(a)


def diagonal(a: SX) -> SX:
    """v^d of a block vector v."""
    return ca.diagcat(*ca.vertsplit(a, 3))


def blocks(D: ca.DM) -> ca.DM:
    """(.) ⊗ E_3."""
    return ca.kron(D, E3)


def reachability(links: list[Link]) -> ca.DM:
    """D: lower triangular, since every father comes before his sons."""
    D = ca.DM(len(links), len(links))
    for i, link in enumerate(links):
        if link.f:
            D[i, :] = D[link.f - 1, :]
        D[i, i] = 1
    return D


@dataclass(frozen=True)
class Letters:
    """The source's matrices at one position and velocity; each is formed when it is first asked for."""

    links: list[Link]
    q_dot: SX
    f_g: SX
    n_g: SX

    # --- structure and geometry ---
    @cached_property
    def D(self) -> ca.DM:
        return reachability(self.links)

    @cached_property
    def E(self) -> ca.DM:
        return ca.DM.eye(len(self.links))

    @cached_property
    def D3(self) -> ca.DM:
        return blocks(self.D)

    @cached_property
    def DE3(self) -> ca.DM:
        """(D − E) ⊗ E_3."""
        return ca.sparsify(blocks(self.D - self.E))

    @cached_property
    def zs(self) -> SX:
        """z^d sigma."""
        return ca.diagcat(*[link.z if link.sigma else SX(3, 1) for link in self.links])

    @cached_property
    def zp(self) -> SX:
        """z^d (E − sigma)."""
        return ca.diagcat(*[SX(3, 1) if link.sigma else link.z for link in self.links])

    @cached_property
    def s_d(self) -> SX:
        return ca.diagcat(*[link.s for link in self.links])

    @cached_property
    def m_d(self) -> SX:
        return ca.diagcat(*[SX(ca.DM.eye(3)) * link.m for link in self.links])

    @cached_property
    def J_d(self) -> SX:
        return ca.diagcat(*[link.J for link in self.links])

    @cached_property
    def l_D(self) -> SX:
        l_d = ca.diagcat(*[link.l for link in self.links])
        return l_d @ self.D + self.D3 @ self.s_d @ ca.sparsify(self.D - self.E)  # (3)

    @cached_property
    def c_fD(self) -> SX:
        return self.l_D + ca.diagcat(*[link.c for link in self.links]) @ self.D  # (6), (7)

    # --- velocities ---
    @cached_property
    def q_dot_d(self) -> SX:
        return ca.diag(self.q_dot)

    @cached_property
    def w(self) -> SX:
        return self.D3 @ (self.zs @ self.q_dot)  # (9)

    @cached_property
    def w_f(self) -> SX:
        return self.DE3 @ (self.zs @ self.q_dot)  # (10)

    @cached_property
    def v(self) -> SX:
        """Of the origins of the main frames."""
        return Lambda_T(self.l_D) @ (self.zs @ self.q_dot) + self.D3 @ (self.zp @ self.q_dot)  # (12), (13)

    @cached_property
    def v_c(self) -> SX:
        """Of the centres of mass."""
        return self.B_c @ self.q_dot

    # --- accelerations ---
    @cached_property
    def B_w(self) -> SX:
        return self.D3 @ self.zs

    @cached_property
    def B_c(self) -> SX:
        return self.D3 @ self.zp + Lambda_T(self.c_fD) @ self.zs  # (18)

    @cached_property
    def cdot(self) -> SX:
        """Rate of c_fD without its prismatic part, which is in the factor 2 of Br."""
        return Lambda_T(self.c_fD) @ (self.zs @ self.q_dot_d @ self.D + diagonal(self.w_f))

    def turned(self, x: SX) -> SX:
        """sigma q'^d Λᵀ(z^d) (D − E) x: with x = z^d sigma q' the sum w_f × z q' of each joint."""
        return Lambda_T(self.zs @ self.q_dot_d) @ (self.DE3 @ x)

    def Br(self, x: SX) -> SX:
        """Br x: with x = z^d sigma q' the accelerations of the centres when q'' = 0."""
        slid = Lambda_T(self.zp @ self.q_dot_d) @ (self.DE3 @ x)
        return Lambda_T(self.c_fD) @ self.turned(x) + Lambda_T(self.cdot) @ x + 2 * (self.D3 @ slid)

    def a(self, q_ddot: SX) -> SX:
        return self.B_c @ q_ddot + self.Br(self.zs @ self.q_dot)

    def eps(self, q_ddot: SX) -> SX:
        return self.B_w @ q_ddot + self.D3 @ self.turned(self.zs @ self.q_dot)  # (16)

    # --- link forces, for given accelerations ---
    @cached_property
    def gyroscopic(self) -> SX:
        return Lambda(diagonal(self.w)) @ (self.J_d @ self.w)

    def f(self, a: SX) -> SX:
        return self.D3.T @ (self.m_d @ a - self.f_g)  # (19)

    def n(self, a: SX, eps: SX) -> SX:
        turning = self.D3.T @ (self.J_d @ eps + self.gyroscopic - self.n_g)
        return (
            turning - Lambda(self.c_fD).T @ (self.m_d @ a) - self.DE3.T @ (Lambda(self.s_d) @ (self.D3.T @ self.f_g))
        )  # (22)

    def tau(self, f: SX, n: SX) -> SX:
        return self.zs.T @ n + self.zp.T @ f  # (24)

    # --- equations of motion (25) ---
    @cached_property
    def A(self) -> SX:
        return self.B_c.T @ (self.m_d @ self.B_c) + self.B_w.T @ (self.J_d @ self.B_w)

    def bias(self, x: SX) -> SX:
        """B when x = z^d sigma, B q' when x = z^d sigma q'."""
        a, D3, J_d = self.m_d @ self.Br(x), self.D3, self.J_d
        turning = D3.T @ (J_d @ (D3 @ self.turned(x)) + Lambda(diagonal(self.w)) @ (J_d @ (D3 @ x)))
        return self.zs.T @ (turning - Lambda(self.c_fD).T @ a) + self.zp.T @ (D3.T @ a)

    @cached_property
    def B(self) -> SX:
        """A matrix with B q' = Coriolis and centrifugal forces, not Christoffel's; prismatic columns are zero."""
        return self.bias(self.zs)

    @cached_property
    def C(self) -> SX:
        return self.zs.T @ self.DE3.T @ Lambda(self.s_d) @ self.D3.T + self.zp.T @ self.D3.T

    @cached_property
    def Dn(self) -> SX:
        return self.zs.T @ self.D3.T


def letters(model: Model, chain: Chain, f_ext: SX | None) -> Letters:
    """f_g, n_g: weight m g and what f_ext (bodies × 6, at body origins in body axes) brings, about the joint frames."""
    f_g, n_g = [], []
    for link in chain.links:
        weight = link.m * vector(model.gravity)
        force, moment = weight, cross(link.l + link.c, weight)
        if f_ext is not None and link.body:
            own = link.R @ f_ext[link.body - 1, :3].T
            force, moment = force + own, moment + cross(link.l, own) + link.R @ f_ext[link.body - 1, 3:].T
        f_g.append(force)
        n_g.append(moment)
    return Letters(chain.links, chain.q_dot, ca.sparsify(ca.vertcat(*f_g)), ca.sparsify(ca.vertcat(*n_g)))


def told(model: Model, chain: Chain, f: SX, n: SX) -> tuple[SX, SX]:
    """Link forces as `wrenches` (bodies × 6: on each body at its origin in its axes) and `base_wrench`."""
    forces, moments = ca.vertsplit(f, 3), ca.vertsplit(n, 3)
    rows, base = [], SX(6, 1)
    for i in model.tree:
        k = chain.last[i] - 1
        link = chain.links[k]
        rows.append(ca.vertcat(link.R.T @ forces[k], link.R.T @ (moments[k] - cross(link.l, forces[k]))).T)
    for k, link in enumerate(chain.links):
        if not link.f:
            base = base - ca.vertcat(forces[k], moments[k] + cross(link.r, forces[k]))
    return ca.vertcat(*rows), base


def by_links(x: SX) -> SX:
    """3N → N × 3."""
    return ca.reshape(ca.densify(x), 3, -1).T
