"""Named quantities of a model as traced functions of its state: what `run["tool.position"]` means.

elbow, elbow.rate, base.x        coordinates and speeds
q, v, v_dot, tau                 all of them; tau: the joint forces of the model's own springs, damping and laws
FRAME.position .velocity .omega .rotation .acceleration      of a body or marker, world axes
JOINT.wrench                     what the joint exerts on its body: [force; moment] at the body's origin, body axes
base_wrench                      what the mechanism exerts on the world: at the world's origin, world axes
kinetic_energy, gravity_energy, spring_energy, potential_energy, energy, momentum, centre_of_mass
FORCE.power                      damping, friction, springs, or a law by its name
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from linkwork.dynamics import energy, forces, kinematics, rnea
from linkwork.dynamics.aba import aba
from linkwork.errors import ModelError, nearest
from linkwork.model.contact_laws import Cup, Funnel, Limiter, Stop
from linkwork.model.laws import PD, Drag, Hold, Spring, Thrust
from linkwork.model.model import Model

SX = ca.SX
XYZ = ("x", "y", "z")
WRENCH = (("f_x", "f_y", "f_z", "m_x", "m_y", "m_z"), ("N", "N", "N", "N*m", "N*m", "N*m"))


@dataclass(frozen=True)
class Quantity:
    """How a quantity is called and told, and how it follows from (q, v, t)."""

    name: str
    components: tuple[str, ...]
    units: tuple[str, ...]
    frame: str | None
    trace: Callable[[Model, SX, SX, SX], SX]


def driven(model: Model, q: SX, v: SX, t: SX) -> tuple[SX, SX, SX | None]:
    """Joint accelerations under the model's own forces; those joint forces; their body wrenches."""
    tau, wrenches = forces.totals(model, forces.applied(model, q, v, t))
    return aba(model, q, v, tau, wrenches, t), tau, wrenches


def names(model: Model) -> list[str]:
    """Every quantity this model has."""
    frames = [f"{f}.{word}" for f in model.markers for word in _FRAME]
    wrenches = [f"{model.joint(i).name}.wrench" for i in model.tree]
    powers = [f"{f}.power" for f in _force_names(model)]
    return [*_WHOLE, *model.q_names, *model.v_names, *frames, *wrenches, *powers]


def _force_names(model: Model) -> list[str]:
    q, v, t = SX.sym("q", model.nq), SX.sym("v", model.nv), SX.sym("t")
    return [f.name for f in forces.applied(model, q, v, t)]


def quantity(model: Model, name: str) -> Quantity:
    """The quantity of that name; ModelError with the nearest names when there is none."""
    if name in _WHOLE:
        return _WHOLE[name](model)
    for these, units, which in ((model.q_names, model.q_units, 0), (model.v_names, model.v_units, 1)):
        if name in these:
            k = these.index(name)
            return Quantity(name, (), (units[k],), None, lambda m, q, v, t, at=(which, k): (q, v)[at[0]][at[1]])
    owner, _, word = name.rpartition(".")
    if word in _FRAME and owner in model.markers:
        components, units, make = _FRAME[word]
        return Quantity(name, components, units, "world", lambda m, q, v, t: make(m, q, v, t, owner))
    if word == "wrench" and owner in model.joint_index:
        i = model.joint_index[owner]
        return Quantity(name, *WRENCH, f"{model.bodies[i].name} axes", lambda m, q, v, t: _motion(m, q, v, t)[i].f)
    if word == "power" and owner in (have := _force_names(model)):
        if have.count(owner) > 1:
            raise ModelError(f"'{owner}' names a law and a force of the joints", fix=f"rename the law '{owner}'")
        k = have.index(owner)
        return Quantity(
            name, (), ("W",), None, lambda m, q, v, t: forces.power(m, q, v, forces.applied(m, q, v, t)[k], t)
        )
    if word == "wrench" and owner in model.body_index:
        i = model.body_index[owner]
        fix = f"wrenches belong to joints: '{model.joint(i).name}.wrench'" if i else "ask for 'base_wrench'"
    else:
        fix = nearest(name, names(model))
    raise ModelError(f"the model '{model.name}' has no quantity '{name}'", fix=fix)


def _motion(m: Model, q: SX, v: SX, t: SX) -> list:
    v_dot, _, wrenches = driven(m, q, v, t)
    return rnea.motion(m, q, v, v_dot, wrenches, t)


_FRAME: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., SX]]] = {
    "position": (XYZ, ("m",) * 3, lambda m, q, v, t, f: kinematics.position(m, q, f, t)),
    "velocity": (XYZ, ("m/s",) * 3, lambda m, q, v, t, f: kinematics.velocity(m, q, v, f, "mixed", t)[:3]),
    "omega": (XYZ, ("rad/s",) * 3, lambda m, q, v, t, f: kinematics.velocity(m, q, v, f, "mixed", t)[3:]),
    "rotation": (
        tuple(f"{a}{b}" for a in XYZ for b in XYZ),
        ("1",) * 9,
        lambda m, q, v, t, f: ca.vec(kinematics.rotation_of(m, q, f, t).T),
    ),
    "acceleration": (
        XYZ,
        ("m/s^2",) * 3,
        lambda m, q, v, t, f: kinematics.acceleration(m, q, v, driven(m, q, v, t)[0], f, t)[:3],
    ),
}

_WHOLE: dict[str, Callable[[Model], Quantity]] = {
    "q": lambda model: Quantity("q", model.q_names, model.q_units, None, lambda m, q, v, t: q),
    "v": lambda model: Quantity("v", model.v_names, model.v_units, None, lambda m, q, v, t: v),
    "v_dot": lambda model: Quantity(
        "v_dot",
        model.v_names,
        tuple(f"{u}^2" for u in model.v_units),
        None,
        lambda m, q, v, t: driven(m, q, v, t)[0],
    ),
    "tau": lambda model: Quantity(
        "tau", model.v_names, model.tau_units, None, lambda m, q, v, t: driven(m, q, v, t)[1]
    ),
    "kinetic_energy": lambda _: _energy("kinetic_energy", lambda m, q, v, t: energy.kinetic_energy(m, q, v, t)),
    "gravity_energy": lambda _: _energy("gravity_energy", lambda m, q, v, t: energy.gravity_energy(m, q, t)),
    "spring_energy": lambda _: _energy("spring_energy", lambda m, q, v, t: energy.spring_energy(m, q)),
    "potential_energy": lambda _: _energy("potential_energy", lambda m, q, v, t: energy.potential_energy(m, q, t)),
    "energy": lambda _: _energy("energy", lambda m, q, v, t: energy.energy(m, q, v, t)),
    "momentum": lambda _: Quantity(
        "momentum",
        ("p_x", "p_y", "p_z", "l_x", "l_y", "l_z"),
        ("kg*m/s",) * 3 + ("kg*m^2/s",) * 3,
        "world",
        lambda m, q, v, t: energy.momentum(m, q, v, None, t),
    ),
    "centre_of_mass": lambda _: Quantity(
        "centre_of_mass", XYZ, ("m",) * 3, "world", lambda m, q, v, t: energy.centre_of_mass(m, q, t)
    ),
    "base_wrench": lambda _: Quantity("base_wrench", *WRENCH, "world", lambda m, q, v, t: -_motion(m, q, v, t)[0].f_up),
}


def _energy(name: str, make: Callable[[Model, SX, SX, SX], SX]) -> Quantity:
    return Quantity(name, (), ("J",), None, make)


def work_rate(model: Model, q: SX, v: SX, t: SX) -> SX | None:
    """Power of what is not in `energy`: damping, friction, laws, prescribed motions. None when there is none."""
    found = forces.applied(model, q, v, t)
    losing = [f for f in found if f.name != "springs"]
    if not losing and not model.is_moved:
        return None
    power = sum((forces.power(model, q, v, f, t) for f in losing), SX(0))
    if model.is_moved:
        v_dot, _, wrenches = driven(model, q, v, t)
        power += forces.prescribed_power(model, q, v, v_dot, wrenches, t)
    return power


def _within(model: Model, law: object) -> bool:
    """Does a law act between bodies of the mechanism, equal and opposite? Of laws written in Python it is not known."""
    if isinstance(law, PD | Stop | Limiter):
        return all(model.parent[model.joint_index[getattr(law, name)]] for name in law.joints)
    if isinstance(law, Spring | Cup | Funnel):
        return all(model.markers[getattr(law, name)][0] for name in law.names)
    numbers = [getattr(law, name) for name in law.numbers] if isinstance(law, Thrust | Drag | Hold) else [None]
    return all(isinstance(x, int | float) and x == 0 for x in numbers)


def is_isolated(model: Model) -> bool:
    """Does nothing from outside act, so that momentum must stay: no gravity, free roots, forces within alone."""
    if any(float(g) for g in model.gravity) or model.is_moved:
        return False
    if not all(_within(model, law.function) for law in model.laws):
        return False
    roots = [i for i in model.tree if model.parent[i] == 0]
    still = ("damping", "friction", "stiffness", "armature")
    return all(
        model.kind(i).nv == 6 and not any(float(x) for w in still for x in getattr(model.joint(i), w)) for i in roots
    ) and not any(float(x) for i in model.tree for x in model.joint(i).armature)
