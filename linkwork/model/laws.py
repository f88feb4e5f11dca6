"""Ready-made force laws. Each is a record of names and numbers that can be called like a law written by hand.

    mechanism.law(spring("hook", "anchor", stiffness="200 N/m", length="0.3 m"), "strut")

Their numbers are numbers of the model: `strut.stiffness` can be replaced, or declared a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from linkwork.errors import ModelError, nearest
from linkwork.model.forms import Source
from linkwork.model.formula import Formula, at_time, formula
from linkwork.model.model import Model
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

    kind: ClassVar[str] = "pd"
    names: ClassVar[tuple[str, ...]] = ("joint",)
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


Ready = Spring | PD | Drag
READY: dict[str, type[Ready]] = {law.kind: law for law in (Spring, PD, Drag)}
_UNITS = {
    "stiffness": ("N/m",),
    "damping": ("N*s/m",),
    "length": ("m",),
    "kp": ("N*m/rad", "N/m"),
    "kd": ("N*m*s/rad", "N*s/m"),
    "target": ("rad", "m"),
    "coefficient": ("N*s/m",),
    "quadratic": ("N*s^2/m^2",),
    "angular": ("N*m*s/rad",),
}


def spring(marker_a: str, marker_b: str, stiffness: Any = 0.0, damping: Any = 0.0, length: Any = 0.0) -> Spring:
    """A spring of free `length` with a damper between two markers (or bodies' origins)."""
    return Spring(marker_a, marker_b, *_said(stiffness=stiffness, damping=damping, length=length))


def pd(joint: str, kp: Any = 0.0, kd: Any = 0.0, target: Any = 0.0) -> PD:
    """A proportional-derivative drive of a joint; `target` may be a formula of time, "0.5*sin(t)"."""
    return PD(joint, *_said(kp=kp, kd=kd, target=target))


def drag(body: str, coefficient: Any = 0.0, quadratic: Any = 0.0, angular: Any = 0.0) -> Drag:
    """Drag on a body (or at a marker) against its velocity, and against its turning."""
    return Drag(body, *_said(coefficient=coefficient, quadratic=quadratic, angular=angular))


def _said(source: Source | None = None, what: str = "the law", **given: Any) -> list[Any]:
    source = source or Source()
    return [_number(word, value, source.at(word), f"{word} of {what}") for word, value in given.items()]


def _number(word: str, value: Any, where: Where, what: str) -> Any:
    *others, last = _UNITS[word]
    read = formula if word == "target" else quantity
    for unit in others:
        try:
            return read(value, unit, where, what)
        except ModelError:
            continue
    return read(value, last, where, what)


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
    numbers = dict(zip(told, _said(source, what, **told), strict=True))
    return law(*(given[k] for k in law.names), **numbers)


def check(model: Model) -> None:
    """The names in ready-made laws are names of the model."""
    for law in model.laws:
        function, where, what = law.function, law.source, f"law '{law.name}'"
        if not isinstance(function, Ready):
            continue
        known = model.joint_index if isinstance(function, PD) else model.markers
        for key in function.names:
            name = getattr(function, key)
            if name not in known:
                raise ModelError(f"{what} names an unknown {key} '{name}'", where=where, fix=nearest(name, known))
            if isinstance(function, PD) and model.kind(model.joint_index[name]).nv != 1:
                fix = "drive a joint of one freedom"
                raise ModelError(f"{what} drives '{name}', which has several freedoms or none", where=where, fix=fix)
            if not isinstance(function, PD) and name in model.joint_index:
                fix = "add a marker with a name of its own at that place"
                raise ModelError(f"{what} acts on '{name}', which is also a joint", where=where, fix=fix)
        if isinstance(function, Spring) and function.marker_a == function.marker_b:
            raise ModelError(f"{what} has both ends at '{function.marker_a}'", where=where, fix="name two markers")
        for word in function.numbers:
            if word != "target" and word != "length" and float(getattr(function, word)) < 0:
                raise ModelError(f"{word} of {what} is below zero", where=where, fix=f"{word} is zero or more")
