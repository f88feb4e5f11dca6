"""Separate bodies in a plane: the same recursion on three-vectors [x, y, phi], 3×3 matrices; planar trees in O(n).

Letters, of body k with parent p; plane axes x, y across the common normal n of all joints, turned with no body:

    A(a) = [[cos a, −sin a], [sin a, cos a]],      A_k = A(phi_k),  phi_k = phi_p + the angle of joint k
    c_kk, c_pk     centre of k → joint point k,  centre of p → joint k, in the axes of k and of p
    d              path of the joint point that slides,  d' its velocity, e its directions;  om angular velocity

    C  = [[E, A_(−π/2) (A_k c_kk − A_p c_pk − d)], [0, 1]]                                                   (22)
    S  = [A_(−π/2) A_k c_kk; 1] of an angle,   [e; 0] of a displacement                                      (25)
    a' = [om_k² A_k c_kk − om_p² (A_p c_pk + d) + 2 om_p A_(π/2) d'; 0]                                      (28)
    M  = diag(m, m, J),    Q = [m g; 0] + active force and moment

The source has a chain of revolutes, so no d; it is the same in any tree. Equations (15)–(21) are those of
`separate_bodies`. What presses the mechanism into its plane has no part in the motion and stays unknown here.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from linkwork.dynamics.formulation import gives
from linkwork.dynamics.separate_bodies import COUPLED, accelerations, check_any_state, inward, mass_of
from linkwork.errors import ModelError, Place
from linkwork.model.check import check_moves_mass
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, eye, vector, zeros

TURNS, SLIDES = ("revolute", "continuous", "planar"), ("prismatic",)
LEAVES = {
    f"{kind} joint": "it leaves the plane"
    for kind in ("helical", "cylindrical", "universal", "spherical", "free", "prescribed")
}
OFF = 1e-9
"""Sine of the angle up to which directions count as in the plane: unit vectors of a model are good to this."""
QUARTER = SX(ca.DM([[0, 1], [-1, 0]]))  # A_(−π/2)


class Plane(NamedTuple):
    """The plane of motion, and how bodies lie in it at neutral coordinates, where their frames are numbers."""

    normal: np.ndarray  # its first component that is not zero is positive
    sides: np.ndarray  # 2 × 3: x and y
    R: list[np.ndarray]  # body axes → world axes
    setter: str  # what set the normal

    def flat(self, k: int, r: SX) -> SX:
        """A vector in the axes of body k, told in plane axes at neutral coordinates."""
        return SX(ca.DM(self.sides @ self.R[k])) @ r


def plane_of(model: Model) -> Plane:
    """The one plane in which all joints and gravity lie; raises ModelError by name for what leaves it."""
    R = [np.eye(3)]
    for k in model.tree:
        R.append(R[model.parent[k]] @ np.array(model.joint(k).rotation, float))
    axes = {k: R[k] @ np.array(model.joint(k).axis, float) for k in model.tree}
    pull = [float(g) if isinstance(g, (int, float)) else None for g in model.gravity]
    normal, setter = _normal(model, axes, pull)
    for k in model.tree:
        joint, kind = model.joint(k), model.joint(k).kind
        turned, raised = np.linalg.norm(np.cross(normal, axes[k])), abs(normal @ axes[k])
        if (kind in TURNS and turned > OFF) or (kind in SLIDES and raised > OFF):
            _leaves(f"joint '{joint.name}' leaves the plane of {setter}", joint.source, kind in TURNS)
    out = [g if g is None else g * n for g, n in zip(pull, normal, strict=True) if abs(n) > OFF]
    known = [g for g in out if g is not None]
    if len(known) < len(out) or abs(sum(known)) > OFF * np.linalg.norm([g or 0.0 for g in pull]):
        _leaves(f"gravity leaves the plane of {setter}", model.source, False)
    return Plane(normal, np.array(across(tuple(normal))), R, setter)


def _normal(model: Model, axes: dict[int, np.ndarray], pull: list[Any]) -> tuple[np.ndarray, str]:
    """The first axis of rotation; where nothing turns, the normal of what slides and falls."""
    for k, axis in axes.items():
        if model.joint(k).kind in TURNS:
            first = next(x for x in axis if abs(x) > OFF)
            return (axis if first > 0 else -axis), f"joint '{model.joint(k).name}'"
    lines = [(axes[k], f"joint '{model.joint(k).name}'") for k in axes if model.joint(k).kind in SLIDES]
    lines.append((np.array([g or 0.0 for g in pull]), "gravity"))
    a, name = lines[0]
    for b, other in lines[1:]:
        if np.linalg.norm(np.cross(a, b)) > OFF * max(np.linalg.norm(b), 1e-300):
            return np.cross(a, b) / np.linalg.norm(np.cross(a, b)), f"{name} and {other}"
    return np.array(across(tuple(a / np.linalg.norm(a)))[0]) if np.any(a) else np.array([0.0, 0.0, 1.0]), name


def _leaves(text: str, where: Place | None, turns: bool) -> None:
    fix = "turn its axis along the plane's normal" if turns else "turn it into the plane"
    raise ModelError(text, where=where, fix=f"{fix}, or use separate_bodies, which takes all of space")


def outward(model: Model, plane: Plane, q: SX, u: SX, f_ext: SX | None = None) -> list[Any]:
    """Step 1, base to tips: the letters above for every body, and the velocity of its centre."""
    E, o, sides = eye(2), zeros(2, 1), SX(ca.DM(plane.sides))
    bodies: list[Any] = [
        SimpleNamespace(phi=SX(0), A=E, om=SX(0), velocity=o, centre=zeros(3, 1), a=zeros(3, 1),
                        M=zeros(3, 3), M_s=zeros(3, 3), Q_s=zeros(3, 1))
    ]  # fmt: skip
    g = sides @ vector(model.gravity)
    for k in model.tree:
        p, joint, moves = bodies[model.parent[k]], model.joint(k), model.kind(k).nv > 0
        q_k, u_k = (x[at] if moves else SX(0, 1) for x, at in ((q, model.q_slices[k]), (u, model.v_slices[k])))
        m, centre, J = mass_of(model.bodies[k])
        n = SX(ca.DM(plane.R[k].T @ plane.normal))  # in the axes of k
        slides, turns = _freedoms(joint.kind, joint.axis, plane, k, n)
        path = p.A @ slides
        d, rate = (path @ x[: path.shape[1]] if path.shape[1] else o for x in (q_k, u_k))
        phi, om = (x + turns * y[-1] if turns else x for x, y in ((p.phi, q_k), (p.om, u_k)))
        A = ca.blockcat([[ca.cos(phi), -ca.sin(phi)], [ca.sin(phi), ca.cos(phi)]]) if turns else p.A
        own = A @ plane.flat(k, -centre)  # A_k c_kk
        above = p.A @ plane.flat(model.parent[k], vector(joint.position) - p.centre) + d  # A_p c_pk + d
        lever, reach, M = QUARTER @ own, QUARTER @ above, ca.diag(ca.vertcat(m, m, n.T @ J @ n))
        S = [ca.vertcat(path, zeros(1, path.shape[1]))]
        if turns:
            S.append(turns * ca.vertcat(lever, 1))
        Q = ca.vertcat(m * g, 0)
        if f_ext is not None:
            force, moment = f_ext[k - 1, :3].T, f_ext[k - 1, 3:].T
            Q += ca.vertcat(A @ plane.flat(k, force), ca.dot(n, moment - cross(centre, force)))
        bodies.append(
            SimpleNamespace(
                phi=phi, A=A, om=om, u=u_k, centre=centre, m=m, J=M[2, 2], solid=_is_solid(m, M[2, 2], ca.trace(J)),
                g=g, M=M, M_s=M, Q_s=Q, S=ca.horzcat(*S),
                velocity=p.velocity - p.om * reach + rate + om * lever,
                C=ca.blockcat([[E, lever - reach], [zeros(1, 2), 1]]),
                a_prime=ca.vertcat(om**2 * own - p.om**2 * above - 2 * p.om * (QUARTER @ rate), 0),
                armature=ca.diag(vector(joint.armature)) if joint.armature else SX(u_k.numel(), u_k.numel()),
            )
        )  # fmt: skip
    return bodies


def _is_solid(m: SX, J: SX, trace: SX) -> bool:
    """Does the body resist in all three directions by itself? What stands for a parameter is taken to do so."""
    least = 1e-12 * float(trace) if trace.is_constant() else 0.0
    return not (m.is_constant() and float(m) <= 0) and not (J.is_constant() and float(J) <= least)


def _freedoms(kind: str, axis: Any, plane: Plane, k: int, n: SX) -> tuple[SX, int]:
    """Directions in which the joint point slides (2 × number of them), and the sense of the angle (0: none)."""
    sense = 1 if float(ca.dot(n, vector(axis))) > 0 else -1
    match kind:
        case "fixed":
            return SX(2, 0), 0
        case "revolute" | "continuous":
            return SX(2, 0), sense
        case "prismatic":
            return plane.flat(k, vector(axis)), 0
        case "planar":
            return ca.horzcat(*[plane.flat(k, vector(side)) for side in across(axis)]), sense
    raise NotImplementedError(f"joints of kind '{kind}' have no row in this table")


@gives("v_dot", "energy_rate", "U", "a", "R", refuses={**COUPLED, **LEAVES})
def separate_bodies_planar(
    model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None
) -> dict[str, SX]:
    """Joint accelerations of a planar tree in O(n) with 3×3 matrices. Of f_ext, what acts in the plane is taken.

    U  (nv × nv, block-diagonal)  apparent inertia of each joint
    a  (bodies × 3)  acceleration [x, y, phi] of the centre of mass, plane axes
    R  (bodies × 3)  force and moment in the plane of each joint on its body, at its centre of mass, plane axes

    The normal is the first axis that turns, with its first component that is not zero positive; x and y across it are
    those of the world turned the shortest way, so the world's own when the normal is z.
    """
    check_moves_mass(model)
    bodies = outward(model, plane_of(model), q, v, f_ext)
    inward(model, bodies, tau)
    tree = bodies[1:]
    if not all(b.solid for b in tree):
        check_any_state(model)
    accelerations(model, bodies)
    return {
        "v_dot": ca.vertcat(*[b.u_dot for b in tree]),
        "energy_rate": sum((power(b) for b in tree), SX(0)),
        "U": ca.diagcat(*[b.U for b in tree if b.u.numel()]),
        "a": ca.vertcat(*[b.a.T for b in tree]),
        "R": ca.vertcat(*[b.R.T for b in tree]),
    }


def power(b: Any) -> SX:
    """Rate of kinetic and gravity energy of one body and the rotors of its joint."""
    own = ca.dot(b.u, b.armature @ b.u_dot) if b.u.numel() else 0
    return b.m * ca.dot(b.a[:2] - b.g, b.velocity) + b.om * b.J * b.a[2] + own
