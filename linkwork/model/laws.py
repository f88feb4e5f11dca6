"""Ready-made force laws. Each is a record of names and numbers that can be called like a law written by hand.

    mechanism.law(spring("hook", "anchor", stiffness="200 N/m", length="0.3 m"), "strut")

Their numbers are numbers of the model: `strut.stiffness` can be replaced, or declared a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as ca

from linkwork.errors import ModelError, nearest
from linkwork.model import contact_laws
from linkwork.model.contact_laws import Cup, Funnel, Limiter, Stop, Told
from linkwork.model.forms import Source
from linkwork.model.formula import Formula, at_time, formula
from linkwork.model.units import Where, quantity


@dataclass(frozen=True)
class Spring:
    """Spring and damper on the line between two markers."""

    marker_a: str
    marker_b: str
    stiffness: Any = 0.0
    damping: Any = 0.0
    length: Any = 0.0

    kind: ClassVar[str] = "spring"
    names: ClassVar[tuple[str, ...]] = ("marker_a", "marker_b")
    signed: ClassVar[tuple[str, ...]] = ("length",)
    numbers: ClassVar[tuple[str, ...]] = ("stiffness", "damping", "length")

    def __call__(self, state: Any) -> dict[str, Any]:
        line = state.position(self.marker_b) - state.position(self.marker_a)
        distance = ca.sqrt(ca.dot(line, line) + 1e-30)  # regular where both markers meet
        along = line / distance
        rate = ca.dot(along, state.velocity(self.marker_b) - state.velocity(self.marker_a))
        pull = along * (self.stiffness * (distance - self.length) + self.damping * rate)
        return {self.marker_a: pull, self.marker_b: -pull}


@dataclass(frozen=True)
class PD:
    """Drives a joint of one freedom to a target: kp (target − q) − kd q_dot."""

    joint: str
    kp: Any = 0.0
    kd: Any = 0.0
    target: Any = 0.0
    told: Told = field(default=(), compare=False, repr=False)

    kind: ClassVar[str] = "pd"
    names: ClassVar[tuple[str, ...]] = ("joint",)
    joints: ClassVar[tuple[str, ...]] = ("joint",)
    signed: ClassVar[tuple[str, ...]] = ("target",)
    numbers: ClassVar[tuple[str, ...]] = ("kp", "kd", "target")

    def __call__(self, state: Any) -> dict[str, Any]:
        target = at_time(self.target, state.t) if isinstance(self.target, Formula) else self.target
        return {self.joint: self.kp * (target - state.q(self.joint)) - self.kd * state.v(self.joint)}


@dataclass(frozen=True)
class Drag:
    """Drag at a body's origin or a marker: force −(coefficient + quadratic |v|) v, moment −angular ω."""

    body: str
    coefficient: Any = 0.0
    quadratic: Any = 0.0
    angular: Any = 0.0

    kind: ClassVar[str] = "drag"
    names: ClassVar[tuple[str, ...]] = ("body",)
    numbers: ClassVar[tuple[str, ...]] = ("coefficient", "quadratic", "angular")

    def __call__(self, state: Any) -> dict[str, Any]:
        v, w = state.velocity(self.body), state.omega(self.body)
        speed = ca.sqrt(ca.dot(v, v) + 1e-30)
        return {self.body: ca.vertcat(-(self.coefficient + self.quadratic * speed) * v, -self.angular * w)}


@dataclass(frozen=True)
class Thrust:
    """A steady force at a marker (or body's origin), told in the marker's own axes."""

    marker: str
    x: Any = 0.0
    y: Any = 0.0
    z: Any = 0.0

    kind: ClassVar[str] = "thrust"
    names: ClassVar[tuple[str, ...]] = ("marker",)
    numbers: ClassVar[tuple[str, ...]] = ("x", "y", "z")
    signed: ClassVar[tuple[str, ...]] = ("x", "y", "z")

    def __call__(self, state: Any) -> dict[str, Any]:
        return {self.marker: state.rotation(self.marker) @ ca.vertcat(self.x, self.y, self.z)}


@dataclass(frozen=True)
class Hold:
    """Holds a body's attitude parallel to the world's axes: moments −kp θ − kd ω about its own axes.

    θ is the axis of its turn times the sine of the angle, so the law is meant for turns well below a right angle.
    """

    body: str
    kp_x: Any = 0.0
    kp_y: Any = 0.0
    kp_z: Any = 0.0
    kd_x: Any = 0.0
    kd_y: Any = 0.0
    kd_z: Any = 0.0

    kind: ClassVar[str] = "hold"
    names: ClassVar[tuple[str, ...]] = ("body",)
    numbers: ClassVar[tuple[str, ...]] = ("kp_x", "kp_y", "kp_z", "kd_x", "kd_y", "kd_z")

    def __call__(self, state: Any) -> dict[str, Any]:
        R = state.rotation(self.body)
        turn = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
        kp, kd = ca.vertcat(self.kp_x, self.kp_y, self.kp_z), ca.vertcat(self.kd_x, self.kd_y, self.kd_z)
        moment = -kp * turn - kd * (R.T @ state.omega(self.body))
        return {self.body: ca.vertcat(0, 0, 0, R @ moment)}


Ready = Spring | PD | Drag | Thrust | Hold | Cup | Funnel | Stop | Limiter
READY: dict[str, type[Ready]] = {law.kind: law for law in (Spring, PD, Drag, Thrust, Hold, Cup, Funnel, Stop, Limiter)}
UNITS = {
    "stiffness": ("N/m",),
    "damping": ("N*s/m",),
    "length": ("m",),
    "kp": ("N*m/rad", "N/m"),
    "kd": ("N*m*s/rad", "N*s/m"),
    "target": ("rad", "m"),
    "coefficient": ("N*s/m",),
    "quadratic": ("N*s^2/m^2",),
    "angular": ("N*m*s/rad",),
    **dict.fromkeys(("x", "y", "z"), ("N",)),
    **dict.fromkeys(("kp_x", "kp_y", "kp_z"), ("N*m/rad",)),
    **dict.fromkeys(("kd_x", "kd_y", "kd_z"), ("N*m*s/rad",)),
    **contact_laws.UNITS,
}


def spring(marker_a: str, marker_b: str, stiffness: Any = 0.0, damping: Any = 0.0, length: Any = 0.0) -> Spring:
    """A spring of free `length` with a damper between two markers (or bodies' origins)."""
    return Spring(marker_a, marker_b, *_said(Spring, stiffness=stiffness, damping=damping, length=length)[0])


def pd(joint: str, kp: Any = 0.0, kd: Any = 0.0, target: Any = 0.0) -> PD:
    """A proportional-derivative drive of a joint; `target` may be a formula of time, "0.5*sin(t)"."""
    numbers, told = _said(PD, kp=kp, kd=kd, target=target)
    return PD(joint, *numbers, told=told)


def drag(body: str, coefficient: Any = 0.0, quadratic: Any = 0.0, angular: Any = 0.0) -> Drag:
    """Drag on a body (or at a marker) against its velocity, and against its turning."""
    return Drag(body, *_said(Drag, coefficient=coefficient, quadratic=quadratic, angular=angular)[0])


def thrust(marker: str, **force: Any) -> Thrust:
    """A steady force x, y, z at a marker, in its axes."""
    return _made(Thrust, (marker,), force)


def hold(body: str, **gains: Any) -> Hold:
    """An attitude control with gains kp_x … kd_z; see `Hold`."""
    return _made(Hold, (body,), gains)


def cup(sphere: str, wall: str, **numbers: Any) -> Cup:
    """A sphere in a cone with rim and spherical seat; see `linkwork.model.contacts`."""
    return _made(Cup, (sphere, wall), numbers)


def funnel(sphere: str, wall: str, **numbers: Any) -> Funnel:
    """A sphere in a cone with rim and cylindrical socket; see `linkwork.model.contacts`."""
    return _made(Funnel, (sphere, wall), numbers)


def stop(joint: str, **numbers: Any) -> Stop:
    """One-sided stops of a joint of one freedom beyond `lower` and `upper`."""
    return _made(Stop, (joint,), numbers)


def limiter(joint_a: str, joint_b: str, **numbers: Any) -> Limiter:
    """One round stop for two crossed joints."""
    return _made(Limiter, (joint_a, joint_b), numbers)


def _made(law: type[Ready], names: tuple[str, ...], given: Mapping[str, Any]) -> Any:
    """A law from names and numbers, `kind` being told by the class."""
    told = {"kind": law.kind, **dict(zip(law.names, names, strict=True)), **given}
    return of_mapping(told, Source(), f"the {law.kind}")


def _said(
    law: type[Ready], source: Source | None = None, what: str = "the law", **given: Any
) -> tuple[list[Any], Told]:
    """The numbers in SI units; and the units of those that could be told for an angle or for a length."""
    source, told, numbers = source or Source(), [], []
    for word, value in given.items():
        value, unit = _number(law, word, value, source.at(word), f"{word} of {what}")
        numbers.append(value)
        told += [(word, unit)] if unit else []
    return numbers, tuple(told)


def _number(law: type[Ready], word: str, value: Any, where: Where, what: str) -> tuple[Any, str]:
    read = formula if word == "target" else quantity
    units = UNITS[word]
    if not getattr(law, "joints", ()):  # between markers there are lengths
        units = tuple(u for u in units if "rad" not in u) or units
    for unit in units:
        try:
            number = read(value, unit, where, what)
        except ModelError:
            if unit == units[-1]:
                raise
            continue
        ambiguous = len(units) > 1 and isinstance(value, str) and isinstance(number, float)
        return number, unit if ambiguous and any(
            c.isalpha() or c == "°" for c in value.lstrip("+-.0123456789eE")
        ) else ""
    raise AssertionError("a number without a unit")


def of_mapping(given: Mapping[str, Any], source: Source, what: str) -> Ready:
    """A ready-made law from its keys, `kind` among them."""
    kind = given.get("kind")
    if kind not in READY:
        text = f"{what} is of unknown kind '{kind}'" if kind is not None else f"{what} has no kind"
        raise ModelError(text, where=source.at("kind"), fix=nearest(str(kind), READY))
    law = READY[kind]
    for key in given:
        if key not in ("kind", *law.names, *law.numbers):
            fix = nearest(key, (*law.names, *law.numbers))
            raise ModelError(f"{what} has an unknown key '{key}'", where=source.at(key), fix=fix)
    for key in law.names:
        if not isinstance(given.get(key), str):
            raise ModelError(f"{what} has no '{key}'", where=source.at(key), fix=f"add {key}: and a name")
    told = {k: given[k] for k in law.numbers if k in given}
    numbers, units = _said(law, source, what, **told)
    kept: dict[str, Any] = {"told": units} if units else {}
    return law(*(given[k] for k in law.names), **dict(zip(told, numbers, strict=True)), **kept)
