"""Probe and cone: the models of the phases of a docking, and where one passes into the next.

approach    two free vehicles, attitude control on
contact     from first contact: head in the cone, thrust on, control still on
captured    one tree: the target hangs on the head by a ball joint; thrust and control are off, levelling levers act

Capture: the head's centre is within `near` of the seat's and moves inwards along the axis at least with `speed`, both
at once. Ends without it: "bounce-out" (the head is `retreat` in front of the mouth), "miss" (it is behind the mouth's
plane, outside the cone), "time-out" (`limit` after first contact, or the end of the run).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca

from linkwork import outputs
from linkwork.docking import vehicles
from linkwork.docking.vehicles import FACING, Design
from linkwork.driven import Event, system
from linkwork.dynamics.forces import State
from linkwork.errors import ModelError, nearest
from linkwork.impacts import independent
from linkwork.model import laws
from linkwork.model.contact_laws import Cup, Limiter, Stop
from linkwork.model.dimensions import dimension
from linkwork.model.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.phases import Pass, Phase, Study

GRIP = tuple(f"grip.position.{a}" for a in "xyz")
NEEDED = {"contact": ("head", "seat"), "captured": ("head", "seat")}
"""Markers that the models must have, however they were made."""


@dataclass(frozen=True)
class Capture:
    """What counts as capture [D], and as the other ends [A]."""

    near: float = 5e-3
    speed: float = 0.03
    limit: float = 10.0
    retreat: float = 0.05


@dataclass(frozen=True, eq=False)
class Docking:
    """A design, the capture logic, and the numbers that vary from sample to sample (`parameters`, names of the models).

    `models` may hold "contact" and "captured", read from files, in place of those built from the design. They have
    the markers `head` and `seat`, a law `contact` (cup) and a fixed joint `grip` that holds the target, as the built
    ones do.
    """

    design: Design = field(default_factory=Design)
    capture: Capture = field(default_factory=Capture)
    parameters: tuple[str, ...] = ()
    models: Mapping[str, Model] = field(default_factory=dict)

    @cached_property
    def contact_model(self) -> Model:
        return self._declared(self.models.get("contact") or apart(self.design), "contact")

    @cached_property
    def captured_model(self) -> Model:
        return self._declared(self.models.get("captured") or joined(self.design), "captured", *GRIP)

    def study(self) -> Study:
        """The three phases."""
        known = {**self.contact_model.values, **self.captured_model.values}
        for name in self.parameters:
            if name not in known:
                raise ModelError(f"no model of the docking has a number '{name}'", fix=nearest(name, known))
        return Study([self._approach(), self._contact(), self._captured()], "docking")

    def units(self) -> dict[str, str]:
        """Every number of the models that may vary → its unit, "" where only its author knows it."""
        both = (self.captured_model, self.contact_model)
        return {name: dimension(model, name) or "" for model in both for name in model.values if name not in GRIP}

    def __reduce__(self) -> tuple[Any, ...]:
        return Docking, (self.design, self.capture, self.parameters, dict(self.models))

    def _declared(self, model: Model, phase: str, *more: str) -> Model:
        for marker in NEEDED[phase]:
            if marker not in model.markers:
                raise ModelError(f"model '{model.name}' has no marker '{marker}'", where=model.source)
        own = [name for name in self.parameters if name in model.values]
        return model.replace(parameters=(*own, *more))

    def _approach(self) -> Phase:
        without = tuple(law for law in self.contact_model.laws if law.name != "thrust")
        known = [n for n in self.contact_model.parameters if not n.startswith("thrust.")]
        model = self.contact_model.replace(laws=without, parameters=tuple(known))
        touches = Event("contact", lambda s: _cup(s).touch(s).depth, "stop", +1)
        ways = {"contact": "contact", "capture": self._into_captured()}
        events = [touches, self._caught(), Event("miss", _missed, "stop", -1)]
        return Phase("approach", system(model, events=events), ways, late="no contact", h_max=0.05, sharper=1e4)

    def _contact(self) -> Phase:
        c = self.capture

        def out(s: State) -> Any:
            return approach_of_head(s)[0][2] - _cup(s).height - c.retreat

        events = [self._caught(), Event("bounce-out", out, "stop", +1), Event("miss", _missed, "stop", -1)]
        peaks = {"contact_force": lambda s: _cup(s).force(s)[1]} | strokes(self.contact_model)
        return Phase(
            "contact", system(self.contact_model, events=events), {"capture": self._into_captured()},
            limit=c.limit, peaks=peaks, h_max=0.02, sharper=1e2 if "slide" in self.contact_model.joint_index else 1e4,
        )  # fmt: skip

    def _caught(self) -> Event:
        """Near the seat and inwards fast enough. A head that meets nothing on its way is caught in the approach."""
        c = self.capture

        def caught(s: State) -> Any:
            away, inwards = approach_of_head(s)
            return ca.fmax(ca.norm_2(away) - c.near, c.speed - inwards)

        return Event("capture", caught, "stop", -1)

    def _into_captured(self) -> Pass:
        after = self.captured_model
        held = after.bodies[after.joint_index["grip"]].name
        return Pass("captured", {name: _grip(held, k) for k, name in enumerate(GRIP)}, _frames(after, held))

    def _captured(self) -> Phase:
        peaks = {"grip_force": _size("ball.wrench")} | strokes(self.captured_model)
        # the target's speeds are sums over the chain here: the momentum of one of 400 t asks for sharper tolerances
        # than before, and for short steps where it is read between them
        return Phase("captured", system(self.captured_model), late="capture", peaks=peaks, sharper=1e6, h_max=0.05)


def contact(d: Design) -> Cup:
    """The head in the cone."""
    c = d.cone
    return laws.cup(
        "head", "seat", radius=d.probe.head, half_angle=c.half_angle, mouth=c.mouth, seat=c.seat,
        stiffness=c.stiffness, onset=c.onset, dissipation=c.dissipation, friction=c.friction, slip=c.slip,
    )  # fmt: skip


def stops(d: Design) -> Stop:
    """Both ends of the absorber's stroke."""
    p = d.probe
    return laws.stop(
        "slide", lower=p.stroke[0], upper=p.stroke[1], stiffness=p.stop_stiffness, onset=p.stop_onset,
        dissipation=p.stop_dissipation,
    )  # fmt: skip


def limiter(d: Design) -> Limiter:
    """The angular limiter of the rod's swing."""
    p = d.probe
    return laws.limiter(
        "swing_z", "swing_y", limit=p.swing, stiffness=p.swing_stiffness, onset=p.swing_onset,
        dissipation=p.stop_dissipation,
    )  # fmt: skip


def apart(d: Design) -> Model:
    """Two free vehicles with contact, thrust and attitude control."""
    m = Mechanism("docking contact", gravity=(0, 0, 0))
    vehicles.chaser(m, d)
    vehicles.probe(m, d)
    vehicles.target(m, d)
    m.joint("station", "free", "world", "target")
    m.law(contact(d), "contact")
    m.law(laws.thrust("chaser", x=d.thrust), "thrust")
    if d.control is not None:
        omega, ratio = d.control
        gains = {f"kp_{a}": omega * omega * i for a, i in zip("xyz", d.chaser.inertia, strict=True)}
        gains |= {f"kd_{a}": 2 * ratio * omega * i for a, i in zip("xyz", d.chaser.inertia, strict=True)}
        m.law(laws.hold("chaser", **gains), "control")
    _limits(m, d)
    return m.build()


def _limits(m: Mechanism, d: Design) -> None:
    if not d.rigid:
        m.law(stops(d), "stops")
        m.law(limiter(d), "limiter")


def joined(d: Design) -> Model:
    """After capture: one tree. `grip.position` is minus the place of the ball joint in the target, from the seat."""
    m = Mechanism("docking captured", gravity=(0, 0, 0))
    vehicles.chaser(m, d)
    vehicles.probe(m, d)
    m.body("latch")
    m.joint(
        "ball", "spherical", "chaser" if d.rigid else "rod", "latch",
        at=(d.chaser.port + d.probe.length if d.rigid else d.probe.length, 0, 0),
        stiffness=d.latch.stiffness, damping=d.latch.damping,
    )  # fmt: skip
    seat = (d.cone.depth - d.target.port, 0.0, 0.0)
    m.body("target", mass=d.target.mass, inertia=d.target.inertia)
    at = tuple(-x for x in seat)
    if not d.modes:
        m.joint("grip", "fixed", "latch", "target", at=at)
        m.marker("seat", "target", seat, rotation=FACING)
    else:
        m.body("port", mass=d.port_mass, inertia=d.port_inertia)
        m.joint("grip", "fixed", "latch", "port")
        m.marker("seat", "port", rotation=FACING)
        vehicles.flexed(m, d, at)
    _limits(m, d)
    return m.build()


def law_of(s: State, name: str) -> Any:
    """A law of the model as it is traced: its numbers may be parameters."""
    return next(law.function for law in s._model.laws if law.name == name)


def _cup(s: State) -> Cup:
    return law_of(s, "contact")


def approach_of_head(s: State) -> tuple[ca.SX, ca.SX]:
    """The head's centre in the cone's axes from the seat's centre, and its speed inwards."""
    R = s.rotation("seat")
    away = s.position("head") - s.position("seat")
    rate = s.velocity("head") - s.velocity("seat") - ca.cross(s.omega("seat"), away)
    return R.T @ away, -(R.T @ rate)[2]


def _missed(s: State) -> Any:
    """Below zero: the head is behind the mouth's plane, outside the cone."""
    at, cup = approach_of_head(s)[0], _cup(s)
    rho = ca.sqrt(at[0] ** 2 + at[1] ** 2)
    return ca.fmax(at[2] - cup.height + cup.radius, cup.mouth - rho)


def _grip(body: str, k: int) -> Callable[[State], Any]:
    """Component k of the joint `grip`: from the head's centre to the body it holds, in that body's axes."""
    return lambda s: (s.rotation(body).T @ (s.position(body) - s.position("head")))[k]


def _frames(after: Model, held: str) -> dict[str, Callable[[State], tuple[Any, Any]]]:
    """Poses of the massless bodies of the captured tree that were not there before."""
    frames: dict[str, Callable[[State], tuple[Any, Any]]] = {"latch": lambda s: (s.rotation(held), s.position("head"))}
    if "root" in after.joint_index:
        at = ca.DM(list(after.joint(after.joint_index["root"]).position))
        frames["stem"] = lambda s: (s.rotation("target"), s.position("target") - s.rotation("target") @ at)
    return frames


def strokes(model: Model) -> dict[str, Callable[[State], Any]]:
    """Compression of the absorber, its force, and the swing of the rod."""
    if "slide" not in model.joint_index:
        return {}

    def axial(s: State) -> Any:
        absorber = s._model.joint(s._model.joint_index["slide"])
        own = absorber.stiffness[0] * s.q("slide") + absorber.damping[0] * s.v("slide")
        return ca.fabs(own - law_of(s, "stops").force(s))

    return {"stroke": lambda s: s.q("slide"), "swing": lambda s: law_of(s, "limiter").angle(s), "absorber_force": axial}


def _size(quantity: str) -> Callable[[State], Any]:
    """Length of the force in a wrench."""

    def size(s: State) -> Any:
        q, v = independent(s)
        return ca.norm_2(outputs.quantity(s._model, quantity).trace(s._model, q, v, s.t)[:3])

    return size
