"""The capability ledger: what a model may hold, and whether a formulation takes it exactly, approximately or not.

A formulation says what it refuses (`@gives(…, refuses={element: reason})`) and which of its options are approximate
(`approximates={option: how}`); whatever it does not name it takes exactly. What no equation of motion holds is told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from linkwork.dynamics.formulation import Formulation
from linkwork.errors import ModelError, Place
from linkwork.model.joints import KINDS
from linkwork.model.model import Model

Found = tuple[str, Place | None] | None  # the part that holds the element, and its place


def _joint(has: Callable[[Any], bool]) -> Callable[[Model], Found]:
    def find(model: Model) -> Found:
        for i in model.tree:
            if has(model.joint(i)):
                return f"joint '{model.joint(i).name}'", model.joint(i).source
        return None

    return find


def _any(word: str) -> Callable[[Any], bool]:
    return lambda joint: any(not _is_zero(x) for x in getattr(joint, word))


def _is_zero(x: Any) -> bool:
    return isinstance(x, (int, float)) and x == 0


def _finite(word: str) -> Callable[[Any], bool]:
    return lambda joint: any(abs(x) < float("inf") for x in getattr(joint, word))


def _body(has: Callable[[Any], bool]) -> Callable[[Model], Found]:
    def find(model: Model) -> Found:
        for body in model.bodies[1:]:
            if has(body):
                return f"body '{body.name}'", body.source
        return None

    return find


def _of_kind(name: str) -> Callable[[Any], bool]:
    return lambda joint: joint.kind == name


def _turned(joint: Any) -> bool:
    return any(not _is_zero(x - (k == i)) for k, row in enumerate(joint.rotation) for i, x in enumerate(row))


def _between(joint: Any) -> bool:
    return joint.kind not in ("fixed", "prescribed", "spherical", "free") and not any(abs(x) == 1 for x in joint.axis)


ELEMENTS: dict[str, Callable[[Model], Found]] = {
    **{f"{name} joint": _joint(_of_kind(name)) for name in KINDS},
    "joint off its parent's origin": _joint(_any("position")),
    "joint frame turned": _joint(_turned),
    "axis between x, y and z": _joint(_between),
    "coupled joint": _joint(lambda j: j.coupling is not None),
    "armature": _joint(_any("armature")),
    "damping": _joint(_any("damping")),
    "stiffness": _joint(_any("stiffness")),
    "friction": _joint(_any("friction")),
    "law": lambda m: (f"law '{m.laws[0].name}'", m.laws[0].source) if m.laws else None,
    "gravity": lambda m: ("gravity", m.source) if any(not _is_zero(g) for g in m.gravity) else None,
    "centre of mass off the origin": _body(lambda b: any(not _is_zero(x) for p in b.inertials for x in p.centre)),
    "products of inertia": _body(lambda b: any(not _is_zero(x) for p in b.inertials for x in p.inertia[3:])),
    "several inertial parts": _body(lambda b: len(b.inertials) > 1),
    "massless body": _body(lambda b: all(_is_zero(p.mass) for p in b.inertials)),
    "parameter": lambda m: (f"parameter '{m.parameters[0]}'", m.source) if m.parameters else None,
    "external wrenches": lambda m: None,  # no part of a model: the input f_ext
    "mass of the world": lambda m: (f"body '{m.bodies[0].name}'", m.source) if m.bodies[0].inertials else None,
    "limits": _joint(lambda j: _finite("lower")(j) or _finite("upper")(j)),
    "effort and velocity limits": _joint(lambda j: _finite("effort")(j) or _finite("velocity")(j)),
}
"""Element → the first part of a model that holds it, or None."""


IN_TAU = {
    "damping": "exact, in tau",
    "stiffness": "exact, in tau",
    "friction": "approximate, in tau: dry friction is smoothed, tanh(v / friction_speed)",
    "law": "exact, in tau",
}
"""Elements that are added to tau (and f_ext) before any formulation sees them: `forces=True`, `simulate`."""
STORED = {
    "mass of the world": "stored, moves nothing",
    "limits": "stored, not enforced",
    "effort and velocity limits": "stored, not enforced",
}
"""Elements that no equation of motion holds."""


def verdict(formulation: Formulation, element: str) -> str:
    """exact | exact, in tau | approximate…: how | stored, … | refused: why"""
    reason = getattr(formulation, "refuses", {}).get(element)
    return f"refused: {reason}" if reason is not None else {**IN_TAU, **STORED}.get(element, "exact")


def rows(model: Model, formulations: Mapping[str, Formulation]) -> dict[str, dict[str, str]]:
    """The rows that matter for a model: element → formulation → verdict."""
    return {e: {n: verdict(f, e) for n, f in formulations.items()} for e, find in ELEMENTS.items() if find(model)}


def markdown(formulations: Mapping[str, Formulation]) -> str:
    """The whole ledger as a table; how and why stand below it, and the options that are approximate."""
    reasons: dict[str, int] = {}
    lines = ["| element | " + " | ".join(f"`{n}`" for n in formulations) + " |", "|---" * (len(formulations) + 1) + "|"]
    for element in ELEMENTS:
        words = [verdict(f, element) for f in formulations.values()]
        for k, word in enumerate(words):
            short, _, reason = word.partition(": ")
            if reason:
                words[k] = f"{short} ({reasons.setdefault(reason, len(reasons) + 1)})"
        lines.append(f"| {element} | " + " | ".join(words) + " |")
    lines += ["", *(f"{k}. {reason}" for reason, k in reasons.items()), ""]
    for name, formulation in formulations.items():
        lines += [f"- `{name}({x})`: {how}" for x, how in getattr(formulation, "approximates", {}).items()]
    return "\n".join([*lines, ""])


def refuse(formulation: Formulation, model: Model) -> None:
    """Raise ModelError for the first element of the model that this formulation does not take."""
    for element, reason in getattr(formulation, "refuses", {}).items():
        if found := ELEMENTS[element](model):
            part, place = found
            raise ModelError(
                f"{part}: '{formulation.__name__}' takes no {element}: {reason}",
                where=place,
                fix="use another formulation (lw.aba takes everything) or remove it",
            )
