"""Units of a model's numbers by their names: what a sweep may vary, and in what."""

from __future__ import annotations

from linkwork.model import laws
from linkwork.model.contact_laws import Limiter
from linkwork.model.jointforms import FREEDOM_UNITS
from linkwork.model.model import Model
from linkwork.sweeping.inputs import units as known


def units(model: Model) -> dict[str, str]:
    """Every number of the model → its SI unit, "" where only its author knows it."""
    plain = known(model)
    return {name: _of_law(model, name) or _of_joint(model, name) or plain.get(name) or "" for name in model.values}


def _of_law(model: Model, name: str) -> str:
    owner, _, word = name.rpartition(".")
    function = next((law.function for law in model.laws if law.name == owner), None)
    if function is None:
        return ""
    joint = getattr(function, "joint", None)
    turns = isinstance(function, Limiter) or (joint is not None and _turns(model, joint, 0))
    both = laws.UNITS[word]
    return next((unit for unit in both if ("rad" in unit) == turns), both[0])


def _of_joint(model: Model, name: str) -> str:
    """`slide.damping`, and of a joint of several freedoms `ball.damping.x`."""
    owner, _, word = name.partition(".")
    word, _, component = word.partition(".")
    if owner not in model.joint_index or word not in FREEDOM_UNITS:
        return ""
    speeds = [speed.removesuffix("_rate") for speed, _ in model.kind(model.joint_index[owner]).speeds]
    return FREEDOM_UNITS[word][_turns(model, owner, speeds.index(component) if component else 0)]


def _turns(model: Model, joint: str, freedom: int) -> bool:
    return model.kind(model.joint_index[joint]).speeds[freedom][1] == "rad/s"
