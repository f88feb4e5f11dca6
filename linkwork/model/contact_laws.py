"""Ready-made laws of touching: a sphere in a cup or a funnel, and stops of joints. Equations: see `contacts`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as ca

from linkwork.model import contacts
from linkwork.model.contacts import Touch

TOUCHING = ("stiffness", "onset", "dissipation", "friction", "slip")
STOPPING = ("stiffness", "onset", "dissipation")

BRIEF = 0.01
"""Longest step where a sphere may meet a wall, unless another is told [s]: free flight has no error to shorten it."""

Told = tuple[tuple[str, str], ...]  # (word, unit) of numbers that came with a unit of an angle or of a length


class _Contact:
    """What a sphere against any wall has in common: `touch(state)`, the force and its normal part."""

    sphere: str
    wall: str
    names: ClassVar[tuple[str, ...]] = ("sphere", "wall")
    joints: ClassVar[tuple[str, ...]] = ()
    signed: ClassVar[tuple[str, ...]] = ()
    positive: ClassVar[tuple[str, ...]] = ("radius", "half_angle", "onset", "slip")
    h_max: ClassVar[float] = BRIEF

    def touch(self, state: Any) -> Touch:
        raise NotImplementedError

    def force(self, state: Any) -> tuple[ca.SX, ca.SX, Touch]:
        """Force on the sphere, its normal part, and where."""
        touch = self.touch(state)
        force, normal = contacts.force(touch, contacts.relative(state, self.sphere, self.wall, touch.point), self)
        return force, normal, touch

    def stored(self, state: Any) -> ca.SX:
        """Elastic energy [J]."""
        return self.stiffness * contacts.stored(self.touch(state).depth, self.onset)  # type: ignore[attr-defined]

    def __call__(self, state: Any) -> dict[str, Any]:
        force, _, touch = self.force(state)
        return contacts.wrenches(state, self.sphere, self.wall, touch.point, force)


@dataclass(frozen=True)
class Cup(_Contact):
    """Sphere (a marker: its centre) in a cone with rim and spherical seat (a marker: its centre, z outwards)."""

    sphere: str
    wall: str
    radius: Any = 0.0
    half_angle: Any = 0.0
    mouth: Any = 0.0
    seat: Any = 0.0
    stiffness: Any = 0.0
    onset: Any = 0.0
    dissipation: Any = 0.0
    friction: Any = 0.0
    slip: Any = 0.0

    kind: ClassVar[str] = "cup"
    numbers: ClassVar[tuple[str, ...]] = ("radius", "half_angle", "mouth", "seat", *TOUCHING)

    @property
    def height(self) -> Any:
        """From the seat's centre to the plane of the mouth [m]."""
        s, c = ca.sin(self.half_angle), ca.cos(self.half_angle)
        return (self.mouth - self.seat * c) / s * c - self.seat * s

    def touch(self, state: Any) -> Touch:
        centre, origin, R = state.position(self.sphere), state.position(self.wall), state.rotation(self.wall)
        return contacts.cup(centre, origin, R, self.radius, self.half_angle, self.mouth, self.seat)


@dataclass(frozen=True)
class Funnel(_Contact):
    """Sphere in a cone with rim and cylindrical socket (the wall's marker: z outwards, in the middle of the bottom)."""

    sphere: str
    wall: str
    radius: Any = 0.0
    half_angle: Any = 0.0
    mouth: Any = 0.0
    bore: Any = 0.0
    depth: Any = 0.0
    stiffness: Any = 0.0
    onset: Any = 0.0
    dissipation: Any = 0.0
    friction: Any = 0.0
    slip: Any = 0.0

    kind: ClassVar[str] = "funnel"
    numbers: ClassVar[tuple[str, ...]] = ("radius", "half_angle", "mouth", "bore", "depth", *TOUCHING)

    def touch(self, state: Any) -> Touch:
        centre, origin, R = state.position(self.sphere), state.position(self.wall), state.rotation(self.wall)
        return contacts.funnel(
            centre, origin, R, self.radius, self.half_angle, self.mouth, self.bore, self.depth
        )  # fmt: skip


@dataclass(frozen=True)
class Stop:
    """Stops at both ends of a joint of one freedom: push back beyond `lower` and `upper`, one-sided."""

    joint: str
    lower: Any = 0.0
    upper: Any = 0.0
    stiffness: Any = 0.0
    onset: Any = 0.0
    dissipation: Any = 0.0
    told: Told = field(default=(), compare=False, repr=False)

    kind: ClassVar[str] = "stop"
    names: ClassVar[tuple[str, ...]] = ("joint",)
    joints: ClassVar[tuple[str, ...]] = ("joint",)
    numbers: ClassVar[tuple[str, ...]] = ("lower", "upper", *STOPPING)
    signed: ClassVar[tuple[str, ...]] = ("lower", "upper")
    positive: ClassVar[tuple[str, ...]] = ("onset",)

    def force(self, state: Any) -> ca.SX:
        q, v = state.q(self.joint), state.v(self.joint)
        numbers = (self.stiffness, self.onset, self.dissipation)
        return contacts.push(self.lower - q, -v, *numbers) - contacts.push(q - self.upper, v, *numbers)

    def stored(self, state: Any) -> ca.SX:
        """Elastic energy [J]."""
        q = state.q(self.joint)
        return self.stiffness * (
            contacts.stored(self.lower - q, self.onset) + contacts.stored(q - self.upper, self.onset)
        )

    def __call__(self, state: Any) -> dict[str, Any]:
        return {self.joint: self.force(state)}


@dataclass(frozen=True)
class Limiter:
    """A round stop of two crossed joints: pushes back along (q_a, q_b) where √(q_a² + q_b²) is beyond `limit`."""

    joint_a: str
    joint_b: str
    limit: Any = 0.0
    stiffness: Any = 0.0
    onset: Any = 0.0
    dissipation: Any = 0.0
    told: Told = field(default=(), compare=False, repr=False)

    kind: ClassVar[str] = "limiter"
    names: ClassVar[tuple[str, ...]] = ("joint_a", "joint_b")
    joints: ClassVar[tuple[str, ...]] = ("joint_a", "joint_b")
    numbers: ClassVar[tuple[str, ...]] = ("limit", *STOPPING)
    signed: ClassVar[tuple[str, ...]] = ()
    positive: ClassVar[tuple[str, ...]] = ("limit", "onset")

    def angle(self, state: Any) -> ca.SX:
        """√(q_a² + q_b²)."""
        return contacts.length(ca.vertcat(state.q(self.joint_a), state.q(self.joint_b)))

    def stored(self, state: Any) -> ca.SX:
        """Elastic energy [J]."""
        return self.stiffness * contacts.stored(self.angle(state) - self.limit, self.onset)

    def __call__(self, state: Any) -> dict[str, Any]:
        angle = self.angle(state)
        a, b = state.q(self.joint_a) / angle, state.q(self.joint_b) / angle
        rate = a * state.v(self.joint_a) + b * state.v(self.joint_b)
        back = contacts.push(angle - self.limit, rate, self.stiffness, self.onset, self.dissipation)
        return {self.joint_a: -back * a, self.joint_b: -back * b}


UNITS = {
    "stiffness": ("N/m", "N*m/rad"),
    "onset": ("m", "rad"),
    "dissipation": ("s/m", "s/rad"),
    "friction": ("1",),
    "slip": ("m/s",),
    "half_angle": ("rad",),
    **dict.fromkeys(("radius", "mouth", "seat", "bore", "depth"), ("m",)),
    **dict.fromkeys(("lower", "upper", "limit"), ("rad", "m")),
}
