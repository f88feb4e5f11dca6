"""The unit of every number of a model by its name, and values told with units in SI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.model import numbers
from linkwork.model.check import NEVER_NEGATIVE
from linkwork.model.forms import vector
from linkwork.model.jointforms import FREEDOM_UNITS
from linkwork.model.model import Model
from linkwork.model.start import expanded
from linkwork.model.units import Where, each, quantity

_ENDS = {"mass": "kg", "centre": "m", "position": "m", "inertia": "kg*m^2", "pitch": "m/rad", "gravity": "m/s^2"}


def dimension(model: Model, name: str) -> str | None:
    """The SI unit of a number of the model; None where only its author knows."""
    model.require_number(name)
    path = numbers.paths(model)[name]
    if path[0] == "constants":
        return None
    if path[0] == "laws":
        return _of_law(model, path[1], path[3])
    if path[0] == "joints":
        kind, word = model.kind(path[1]), path[2]
        if word in FREEDOM_UNITS:
            return FREEDOM_UNITS[word][kind.speeds[path[3]][1] != "m/s"]
        if word == "friction_speed":
            return kind.speeds[0][1]
        if word == "coupling":
            return _of_coupling(model, path[1], path[3])
    return next(_ENDS[part] for part in path if part in _ENDS)


def _of_law(model: Model, k: int, word: str) -> str:
    from linkwork.model.laws import UNITS

    law = model.laws[k].function
    units = UNITS[word]
    if joints := getattr(law, "joints", ()):
        i = model.joint_index[getattr(law, joints[0])]
        turns = model.kind(i).speeds[0][1] == "rad/s"
        return next((u for u in units if ("rad" in u) == turns), units[0])
    return next((u for u in units if "rad" not in u), units[0])


def _of_coupling(model: Model, i: int, word: str) -> str:
    coupling = model.joint(i).coupling
    assert coupling is not None
    own, leader = (model.kind(k).coordinates[0][1] for k in (i, model.joint_index[coupling.leader]))
    return own if word == "offset" else "1" if own == leader else f"{own}/{leader}"


def in_si(model: Model, name: str, value: Any, what: str, where: Where = None) -> Any:
    """`value` as a number in SI units; text may have a unit of the right kind. Symbols and floats stay as they are."""
    if isinstance(value, float) or hasattr(value, "is_symbolic"):
        return value
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value.item()
    return quantity(value, dimension(model, name), where, what)


def series(model: Model, name: str, value: Any) -> np.ndarray:
    """A number of the model, or one a sample."""
    what = f"parameter '{name}'"
    found = each(value, what, lambda x: in_si(model, name, x, what))
    below = np.atleast_1d(found < 0)
    if never_negative(model, name) and below.any():
        sample = f" of sample {int(np.argmax(below))}" if found.ndim else ""
        raise ModelError(f"{what}{sample} is {np.atleast_1d(found)[below][0]:g}, below zero", fix="zero or more")
    return found


def never_negative(model: Model, name: str) -> bool:
    """Is it a number such as a mass, which no mechanism has below zero?"""
    path = numbers.paths(model)[name]
    if path[0] == "laws":
        return path[3] not in getattr(model.laws[path[1]].function, "signed", ())
    return any(word in path[2:] for word in ("mass", *NEVER_NEGATIVE))


def tables_in_si(model: Model, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Whole tables of a model, with gravity and start in SI units."""
    found = dict(fields)
    if "gravity" in found:
        found["gravity"] = vector(found["gravity"], "m/s^2", None, "gravity")
    if "start" in found:
        found["start"] = expanded(model, found["start"])
    if "parameters" in found:
        found["parameters"] = tuple(dict.fromkeys(found["parameters"]))
    return found
