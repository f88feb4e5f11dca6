"""Energies, momentum, centre of mass."""

from __future__ import annotations

import casadi as ca

from linkwork.dynamics.coupling import expand, spread
from linkwork.dynamics.formulation import returns
from linkwork.dynamics.kinematics import moving, poses
from linkwork.model.describe import Joint
from linkwork.model.joints import Kind
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, vector, zeros


@returns("kinetic_energy")
def kinetic_energy(model: Model, q: SX, v: SX, t: SX | None = None) -> SX:
    """½ Σ velᵀ M vel + ½ Σ rotor inertia · v² [J]."""
    energy, speeds = SX(0), spread(model, v)
    for i, b in enumerate(moving(model, q, v, t)):
        if i:
            own = speeds[model.v_slices[i]]
            energy += ca.dot(b.vel, b.M @ b.vel) / 2
            if own.numel():
                energy += ca.dot(own, b.armature @ own) / 2
    return energy


@returns("gravity_energy")
def gravity_energy(model: Model, q: SX, t: SX | None = None) -> SX:
    """−Σ m g · r_centre [J], zero with all centres at the world's origin."""
    g, bodies = vector(model.gravity), poses(model, q, t)
    return -sum((ca.dot(g, bodies[i].m * bodies[i].r + bodies[i].R @ bodies[i].md) for i in model.tree), SX(0))


@returns("spring_energy")
def spring_energy(model: Model, q: SX) -> SX:
    """½ Σ stiffness · (deflection from rest)² of the joints' own springs [J].

    The deflection of a joint with a quaternion is its rotation vector from the rest attitude.
    """
    q = expand(model, q)
    return sum(
        (
            joint_spring_energy(model.joint(i), model.kind(i), q[model.q_slices[i]])
            for i in model.tree
            if model.kind(i).nv
        ),
        SX(0),
    )


def joint_spring_energy(joint: Joint, kind: Kind, q: SX) -> SX:
    """½ stiffness · (deflection from rest)² of one joint [J]."""
    if all(isinstance(k, (int, float)) and k == 0 for k in joint.stiffness):
        return SX(0)
    rest = kind.step(SX(ca.DM(kind.neutral)), vector(joint.rest))
    off = kind.difference(rest, q)
    return ca.dot(vector(joint.stiffness), off * off) / 2


@returns("potential_energy")
def potential_energy(model: Model, q: SX, t: SX | None = None) -> SX:
    """Gravity and joint springs together [J]."""
    return gravity_energy(model, q, t) + spring_energy(model, q)


@returns("energy")
def energy(model: Model, q: SX, v: SX, t: SX | None = None) -> SX:
    """Kinetic and potential energy [J]."""
    return kinetic_energy(model, q, v, t) + potential_energy(model, q, t)


@returns("centre_of_mass")
def centre_of_mass(model: Model, q: SX, t: SX | None = None) -> SX:
    """Of all bodies but the world, in world axes [m]."""
    bodies = poses(model, q, t)
    m = sum((bodies[i].m for i in model.tree), SX(0))
    return sum((bodies[i].m * bodies[i].r + bodies[i].R @ bodies[i].md for i in model.tree), zeros(3, 1)) / m


@returns("momentum")
def momentum(model: Model, q: SX, v: SX, about: SX | None = None, t: SX | None = None) -> SX:
    """[linear; angular] momentum in world axes, angular about a point (default: the world's origin) [kg m/s, kg m²/s].

    Rotor inertias are not counted: they turn with no momentum of their own in this model.
    """
    linear, angular = zeros(3, 1), zeros(3, 1)
    for i, b in enumerate(moving(model, q, v, t)):
        if i:
            own = b.M @ b.vel
            p = b.R @ own[:3]
            linear += p
            angular += b.R @ own[3:] + cross(b.r, p)
    return ca.vertcat(linear, angular if about is None else angular - cross(about, linear))
