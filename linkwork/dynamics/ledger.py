"""The capability ledger: what a model may hold, and which formulation takes it exactly or refuses it by name.

A formulation says what it refuses (`@gives(…, refuses={element: reason})`); whatever it does not name it takes exactly.
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


ELEMENTS: dict[str, Callable[[Model], Found]] = {
    **{f"{name} joint": _joint(_of_kind(name)) for name in KINDS},
    "coupled joint": _joint(lambda j: j.coupling is not None),
    "armature": _joint(_any("armature")),
    "damping": _joint(_any("damping")),
    "stiffness": _joint(_any("stiffness")),
    "friction": _joint(_any("friction")),
    "law": lambda m: (f"law '{m.laws[0].name}'", m.laws[0].source) if m.laws else None,
    "gravity": lambda m: ("gravity", m.source) if any(not _is_zero(g) for g in m.gravity) else None,
    "several inertial parts": _body(lambda b: len(b.inertials) > 1),
    "massless body": _body(lambda b: all(_is_zero(p.mass) for p in b.inertials)),
    "parameter": lambda m: (f"parameter '{m.parameters[0]}'", m.source) if m.parameters else None,
    "limits": _joint(lambda j: _finite("lower")(j) or _finite("upper")(j)),
    "effort and velocity limits": _joint(lambda j: _finite("effort")(j) or _finite("velocity")(j)),
}
"""Element → the first part of a model that holds it, or None."""


IN_TAU = frozenset({"damping", "stiffness", "friction", "law"})
"""Elements that are added to tau (and f_ext) before any formulation sees them: `forces=True`, `simulate`."""
STORED = frozenset({"limits", "effort and velocity limits"})
"""Elements that no equation of motion holds; runs tell where a sample goes beyond limits."""


def verdict(formulation: Formulation, element: str) -> str:
    """exact | exact, in tau | stored, not enforced | refused: why"""
    reason = getattr(formulation, "refuses", {}).get(element)
    if reason is not None:
        return f"refused: {reason}"
    return "exact, in tau" if element in IN_TAU else "stored, not enforced" if element in STORED else "exact"


def rows(model: Model, formulations: Mapping[str, Formulation]) -> dict[str, dict[str, str]]:
    """The rows that matter for a model: element → formulation → verdict."""
    return {e: {n: verdict(f, e) for n, f in formulations.items()} for e, find in ELEMENTS.items() if find(model)}


def markdown(formulations: Mapping[str, Formulation]) -> str:
    """The whole ledger as a table; reasons of refusals stand below it."""
    reasons: dict[str, int] = {}
    lines = ["| element | " + " | ".join(f"`{n}`" for n in formulations) + " |", "|---" * (len(formulations) + 1) + "|"]
    for element in ELEMENTS:
        words = [verdict(f, element) for f in formulations.values()]
        for k, word in enumerate(words):
            if word.startswith("refused: "):
                number = reasons.setdefault(word.removeprefix("refused: "), len(reasons) + 1)
                words[k] = f"refused ({number})"
        lines.append(f"| {element} | " + " | ".join(words) + " |")
    return "\n".join([*lines, "", *(f"{k}. {reason}" for reason, k in reasons.items()), ""])


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
