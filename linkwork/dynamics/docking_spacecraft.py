"""A mechanism on a spacecraft: motion of its base, free spacecraft, elastic modes at the port (docking-tree, 5 and 6).

Spacecraft axes, centre of mass A, port at r_CD; the world of the model is the port, its axes the port's axes:

    r_CD = r_0 + Phi_r eta,   r^.e = Phi_r eta',   omega_e = Phi_f eta',   alpha_CD = alpha_0 Exp((Phi_f eta)~)ᵀ
    omega_0 = alpha_CD (omega_A + omega_e)
    a_0 = [ alpha_CD (om_A~ om_A~ r_CD + 2 om_A~ r^.e + v'_A + eps_A~ r_CD + r^..e) ;
            alpha_CD (om_A~ omega_e + eps_A + eps_e) ]  =  X [v'_A; eps_A] + Phi eta'' + velocity terms

The mechanism, folded into the port, gives G_0 = ds_0 − dM_0 a_0 (`docking_open`), the wrench on the spacecraft:

    M_A [v'_A; eps_A] = s_A + Xᵀ G_0,      eta'' + 2 zeta Om eta' + Om² eta = Phiᵀ G_0

`exact` solves these together; without modes it is (M_0 + dM_0) a_0 = s_0 + ds_0 at the port. `alternating` is the
source's way: the mechanism on a base without v'_A, eps_A and eta'', then the spacecraft under G_0; with more sweeps,
again on a base with the accelerations found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from linkwork.dynamics.docking_open import Chains, inward, outward
from linkwork.dynamics.docking_rows import Base, Row, tilde
from linkwork.dynamics.docking_tree import excess, freedoms, moving_rows, right_side, solve, told
from linkwork.dynamics.formulation import gives
from linkwork.errors import ModelError, nearest
from linkwork.model.check import check_moves_mass
from linkwork.model.model import Model
from linkwork.spatial import SX, matrix, quaternion_exp, quaternion_rotation, symmetric, vector

COUPLINGS = ("exact", "alternating")
ACCELERATIONS = ("full", "velocity terms only")


def _array(x: Any) -> SX:
    """A matrix of SX or numbers, or a tuple of either."""
    if isinstance(x, SX):
        return x
    return vector(x) if any(isinstance(e, SX) for e in x) else SX(ca.DM(np.asarray(x, float)))


@dataclass(frozen=True)
class Modes:
    """Elastic modes of the port, mass-normalised: shapes (3 × m, displacement [m] and rotation [rad] of the port in
    spacecraft axes per unit amplitude), frequencies Om [rad/s], damping ratios, amplitudes and their rates."""

    Phi_r: Any
    Phi_f: Any
    Om: Any
    zeta: Any
    eta: Any
    eta_dot: Any

    def __post_init__(self) -> None:
        m = _array(self.Om).numel()
        for name, shape in (
            ("Phi_r", (3, m)),
            ("Phi_f", (3, m)),
            ("zeta", (m, 1)),
            ("eta", (m, 1)),
            ("eta_dot", (m, 1)),
        ):
            found = _array(getattr(self, name)).shape
            if found != shape:
                raise ModelError(
                    f"{name} of the modes is {found[0]} × {found[1]}, with {m} frequencies",
                    fix=f"give {shape[0]} × {shape[1]} numbers",
                )


NO_MODES = Modes(SX(3, 0), SX(3, 0), SX(0, 1), SX(0, 1), SX(0, 1), SX(0, 1))


@dataclass(frozen=True)
class Spacecraft:
    """A free body that carries the mechanism at a port; numbers or SX symbols, spacecraft axes.

    inertia: (xx, yy, zz, xy, xz, yz) about the centre of mass; omega: angular velocity; port: r_0 from the centre of
    mass; alpha: spacecraft axes → port axes, undeformed; force, moment: on it about its centre of mass, with weight.
    """

    mass: Any
    inertia: Any
    omega: Any = (0.0, 0.0, 0.0)
    port: Any = (0.0, 0.0, 0.0)
    alpha: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    modes: Modes = NO_MODES

    def __post_init__(self) -> None:
        if isinstance(self.mass, (int, float)) and not self.mass > 0:
            raise ModelError(f"mass of the spacecraft is {self.mass:g} kg", fix="give a mass above zero")
        J = symmetric(self.inertia)
        if J.is_constant() and not np.linalg.eigvalsh(np.array(ca.DM(J)))[0] > 0:
            text = "inertia of the spacecraft has a principal moment that is not above zero"
            raise ModelError(text, fix="give (xx, yy, zz, xy, xz, yz) about its centre of mass")


@dataclass(frozen=True)
class Port:
    """Where the port is and how it moves, but for the accelerations v'_A, eps_A, eta''."""

    alpha: SX  # spacecraft axes → port axes
    omega_0: SX
    X: SX  # a_0 = X [v'_A; eps_A] + Phi eta'' + velocity_terms
    Phi: SX
    velocity_terms: SX


def port(craft: Spacecraft) -> Port:
    """Section 5 at a state of the spacecraft and its modes."""
    modes, om_A = craft.modes, tilde(vector(craft.omega))
    Phi_r, Phi_f, eta, eta_dot = (_array(x) for x in (modes.Phi_r, modes.Phi_f, modes.eta, modes.eta_dot))
    turned = quaternion_rotation(quaternion_exp(Phi_f @ eta)) if eta.numel() else SX.eye(3)
    alpha = ca.sparsify(matrix(craft.alpha)) @ turned.T
    r_CD = ca.sparsify(vector(craft.port)) + Phi_r @ eta
    r_e, omega_e = Phi_r @ eta_dot, Phi_f @ eta_dot
    axes = ca.diagcat(alpha, alpha)
    return Port(
        alpha,
        alpha @ (vector(craft.omega) + omega_e),
        axes @ ca.blockcat([[SX.eye(3), -tilde(r_CD)], [SX(3, 3), SX.eye(3)]]),
        axes @ ca.vertcat(Phi_r, Phi_f),
        axes @ ca.vertcat(om_A @ (om_A @ r_CD) + 2 * om_A @ r_e, om_A @ omega_e),
    )


def base_motion(craft: Spacecraft, a_A: Any = None, eta_ddot: Any = None, keep: str = "full") -> Base:
    """Motion of the port for given accelerations a_A = [v'_A; eps_A] (spacecraft axes) and eta'', as a `Base`.

    keep: "full", or "velocity terms only", which leaves the accelerations out as the source does.
    """
    if keep not in ACCELERATIONS:
        raise ModelError(f"there is no base motion '{keep}'", fix=nearest(keep, ACCELERATIONS))
    at, a_0 = port(craft), SX(6, 1)
    if keep == "full":
        a_0 += SX(6, 1) if a_A is None else at.X @ _array(a_A)
        a_0 += SX(6, 1) if eta_ddot is None else at.Phi @ _array(eta_ddot)
    return Base(ca.vertsplit(at.omega_0), ca.vertsplit(ca.densify(at.velocity_terms + a_0)))


def _own(craft: Spacecraft) -> tuple[SX, SX, SX]:
    """M_A and s_A as in (3) with the pole at the centre of mass; −2 zeta Om eta' − Om² eta."""
    m, om = craft.modes, vector(craft.omega)
    J = ca.sparsify(symmetric(craft.inertia))
    M_A = ca.diagcat(craft.mass * SX.eye(3), J)
    s_A = ca.vertcat(vector(craft.force), vector(craft.moment) - tilde(om) @ (J @ om))
    Om, zeta, eta, eta_dot = (_array(x) for x in (m.Om, m.zeta, m.eta, m.eta_dot))
    return M_A, s_A, -2 * zeta * Om * eta_dot - Om * Om * eta


def exact(craft: Spacecraft, at: Port, dM_0: SX, ds_0: SX) -> tuple[SX, SX]:
    """[v'_A; eps_A] and eta'', coupled with the mechanism without iteration: both feel G_0 = ds_0 − dM_0 a_0."""
    M_A, s_A, spring = _own(craft)
    W = ca.horzcat(at.X, at.Phi)
    mass = ca.diagcat(M_A, SX.eye(spring.numel())) + W.T @ dM_0 @ W
    x = solve(mass, ca.vertcat(s_A, spring) + W.T @ (ds_0 - dM_0 @ at.velocity_terms))
    return x[:6], x[6:]


def alternating(craft: Spacecraft, at: Port, dM_0: SX, ds_0: SX, sweeps: int) -> tuple[SX, SX, SX]:
    """The source's coupling: [v'_A; eps_A], eta'' and the a_0 that the mechanism was given in the last sweep."""
    M_A, s_A, spring = _own(craft)
    a_A, eta_ddot, a_0 = SX(6, 1), SX(spring.numel(), 1), at.velocity_terms
    for _ in range(sweeps):
        a_0 = at.velocity_terms + at.X @ a_A + at.Phi @ eta_ddot
        G_0 = ds_0 - dM_0 @ a_0
        a_A, eta_ddot = solve(M_A, s_A + at.X.T @ G_0), spring + at.Phi.T @ G_0
    return a_A, eta_ddot, a_0


def _couple(craft: Spacecraft, chains: Chains, coupling: str, sweeps: int) -> tuple[SX, SX, SX, SX]:
    """a_A, eta'', a_0 of the port, and the a_0 the mechanism is given: the same when the coupling is exact."""
    at, dM_0, ds_0 = port(craft), chains.dM[0], chains.ds[0]
    if coupling == "exact":
        a_A, eta_ddot = exact(craft, at, dM_0, ds_0)
        given = at.velocity_terms + at.X @ a_A + at.Phi @ eta_ddot
    else:
        a_A, eta_ddot, given = alternating(craft, at, dM_0, ds_0, sweeps)
    return a_A, eta_ddot, at.velocity_terms + at.X @ a_A + at.Phi @ eta_ddot, given


@gives(
    "v_dot", "wrenches", "base_wrench", "a_0", "a_A", "eta_ddot", "G_0", "p_ddot",
    refuses={"coupled joint": "a joint that follows another one leaves no tree of articulated bodies"},
    approximates={
        'coupling="alternating"': "in each sweep the mechanism is given the port's accelerations of the sweep before, "
        "none at first"
    },
)  # fmt: skip
def docking_spacecraft(
    model: Model,
    q: SX,
    v: SX,
    tau: SX,
    f_ext: SX | None = None,
    t: SX | None = None,
    craft: Spacecraft | None = None,
    coupling: str = "exact",
    sweeps: int = 1,
) -> dict[str, SX]:
    """Joint accelerations of a mechanism whose world is the port of a free spacecraft `craft`; gravity in port axes.

    Own results: a_0 (acceleration of the port, port axes), a_A = [v'_A; eps_A] (spacecraft axes), eta_ddot, and G_0,
    the wrench on the spacecraft at the port in port axes. coupling: "exact", or "alternating" with so many `sweeps`.
    """
    if craft is None:
        fix = "docking_spacecraft(…, craft=Spacecraft(mass, inertia, …)); a fixed base is docking_open's"
        raise ModelError(f"no spacecraft is told that carries '{model.name}'", fix=fix)
    if coupling not in COUPLINGS:
        raise ModelError(f"there is no coupling '{coupling}'", fix=nearest(coupling, COUPLINGS))
    if sweeps < 1 or (coupling == "exact" and sweeps != 1):
        raise ModelError(f"sweeps={sweeps} of the {coupling} coupling", fix="alternating takes 1 or more, exact none")
    check_moves_mass(model)
    rows, _ = moving_rows(model, q, v, tau, f_ext, t, Base(ca.vertsplit(port(craft).omega_0)))
    chains = inward(rows)
    a_A, eta_ddot, a_0, given = _couple(craft, chains, coupling, sweeps)
    p_ddot = _outward(rows, chains, given)
    _, a0, f0 = right_side(rows, given)
    own = {"v_dot": p_ddot + excess(rows), "a_0": a_0, "a_A": a_A, "eta_ddot": eta_ddot, "p_ddot": p_ddot}
    return {**told(model, rows, f0, a0, p_ddot), **own, "G_0": chains.ds[0] - chains.dM[0] @ given}


def _outward(rows: list[Row], chains: Chains, a_0: SX) -> SX:
    found, _ = outward(rows, chains, a_0)
    return ca.vertcat(SX(0, 1), *[found[f] for f in range(freedoms(rows))])
