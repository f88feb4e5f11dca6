"""What the ready-made laws of a model say fits the model: names, numbers, units."""

from __future__ import annotations

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import forms
from linkwork.model.formula import Formula
from linkwork.model.laws import PD, UNITS, Ready
from linkwork.model.model import Model
from linkwork.model.units import Where


def check_laws(model: Model) -> None:
    """The names in ready-made laws are names of the model, and their numbers can be."""
    for law in model.laws:
        if isinstance(law.function, Ready):
            what = f"law '{law.name}'"
            _check_names(model, law.function, what, law.source)
            _check_numbers(law.function, what, law.source)
            _check_units(model, law.function, what, law.source)


def _check_names(model: Model, function: Ready, what: str, where: Where) -> None:
    joints = getattr(function, "joints", ())
    for key in function.names:
        name, known = getattr(function, key), model.joint_index if key in joints else model.markers
        if forms.word(name, where if isinstance(where, Place) else None, f"{key} of {what}") not in known:
            raise ModelError(f"{what} names an unknown {key} '{name}'", where=where, fix=nearest(name, known))
        if key in joints and model.kind(model.joint_index[name]).nv != 1:
            verb = "drives" if isinstance(function, PD) else "acts on"
            fix = "drive a joint of one freedom" if isinstance(function, PD) else "name a joint of one freedom"
            raise ModelError(f"{what} {verb} '{name}', which has several freedoms or none", where=where, fix=fix)
        if key not in joints and name in model.joint_index:
            fix = "add a marker with a name of its own at that place"
            raise ModelError(f"{what} acts on '{name}', which is also a joint", where=where, fix=fix)
    ends = [getattr(function, key) for key in function.names]
    if len(set(ends)) < len(ends):
        fix = "name two joints" if joints else "name two markers"
        raise ModelError(f"{what} has both ends at '{ends[0]}'", where=where, fix=fix)


def _check_numbers(function: Ready, what: str, where: Where) -> None:
    signed, positive = getattr(function, "signed", ()), getattr(function, "positive", ())
    for word in function.numbers:
        value = getattr(function, word)
        if word in signed or isinstance(value, Formula):
            continue
        if float(value) < 0:
            raise ModelError(f"{word} of {what} is below zero", where=where, fix=f"{word} is zero or more")
        if word in positive and float(value) == 0:
            raise ModelError(f"{word} of {what} is zero", where=where, fix=f"give a {word} above zero")
    low, high = getattr(function, "lower", 0.0), getattr(function, "upper", 0.0)
    if float(low) > float(high):
        raise ModelError(f"lower of {what} is above its upper", where=where, fix="swap them")


def _check_units(model: Model, function: Ready, what: str, where: Where) -> None:
    """What was told in units of an angle is of a joint that turns, what in units of a length of one that slides."""
    names = [getattr(function, key) for key in getattr(function, "joints", ())]
    for name in names:
        turns = model.kind(model.joint_index[name]).speeds[0][1] == "rad/s"
        for word, unit in getattr(function, "told", ()):
            right = next(u for u in UNITS[word] if ("rad" in u) == turns)
            if unit != right:
                text = f"{word} of {what} is told in {unit}, but joint '{name}' {'turns' if turns else 'slides'}"
                raise ModelError(text, where=where, fix=f"give it in {right}")
