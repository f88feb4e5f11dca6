"""What no docking can be: numbers without sense, a head that does not fit. Told of a design, and sample by sample."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linkwork.docking.probe_cone import Docking, contact
from linkwork.errors import ModelError, RunError
from linkwork.model import contacts
from linkwork.model.contact_laws import Cup
from linkwork.model.model import Model

RESTITUTION_AT = 0.2
"""Closing speed [m/s] at which a restitution is meant."""
RESTITUTION, DISSIPATION = "restitution", "contact.dissipation"
Faults = dict[int, tuple[str, str]]


def check(docking: Docking) -> None:
    """Refuse a design or a capture logic that cannot be."""
    c = docking.capture
    for name in ("near", "limit", "retreat"):
        if not getattr(c, name) > 0:
            raise RunError(f"{name} of capture is {getattr(c, name):g}", fix="give one above zero")
    for fault in _geometry(contact(docking.design), {}):
        raise RunError(fault[1], fix=fault[2])
    try:
        _ = docking.contact_model, docking.captured_model
    except ModelError as error:  # of parts that are built here: their place is the plan, not this file
        raise RunError(error.what, fix=error.fix) from None


def _cup(model: Model) -> Cup:
    return next(law.function for law in model.laws if law.name == "contact")  # type: ignore[return-value]


def _geometry(cup: Cup, given: Mapping[str, Any]) -> Iterator[tuple[Any, str, str]]:
    """(where it is so, what is wrong, what to do) of cone, rim, seat and head."""

    def number(word: str) -> Any:
        return np.asarray(given.get(f"contact.{word}", getattr(cup, word)), float)

    angle, mouth, seat, head = (number(word) for word in ("half_angle", "mouth", "seat", "radius"))
    told = (
        (angle <= 0, "the cone's half angle is zero or less", "give one between 0 and 90 deg"),
        (angle >= math.pi / 2, "the cone's half angle is 90 deg or more", "give one between 0 and 90 deg"),
        (head > seat, "the head does not fit into the seat of the cone", "make the seat larger than the head"),
        (mouth <= seat, "the mouth of the cone is no wider than its seat", "make the mouth wider"),
    )
    return ((where, what, fix) for where, what, fix in told if np.any(where))


def impossible(docking: Docking, inputs: Mapping[str, Any]) -> Faults:
    """Samples that cannot be: number → (words, input)."""
    arrays = {name: np.atleast_1d(np.asarray(x, float)) for name, x in inputs.items()}
    faults: Faults = {}
    if RESTITUTION in arrays:
        e = arrays[RESTITUTION]
        for i in np.flatnonzero(~((e > 0) & (e <= 1))).tolist():
            faults[i] = (f"bad start: restitution is {e[i]:g}, not above 0 and up to 1", RESTITUTION)
    known = docking.units()
    numbers = {name: x for name, x in arrays.items() if name in known}
    for where, what, _ in _geometry(_cup(docking.contact_model), numbers):
        for i in np.flatnonzero(where).tolist():
            faults.setdefault(i, (f"bad start: {what}", "contact"))
    for model in (docking.contact_model, docking.captured_model):
        own = {name: x for name, x in numbers.items() if name in model.values}
        for name, x in own.items():
            if any(_fault(model, name, end) for end in (float(x.min()), float(x.max()))):
                for i, value in enumerate(x.tolist()):
                    if text := _fault(model, name, value):
                        faults.setdefault(i, (f"bad start: {text}", name))
    return faults


def _fault(model: Model, name: str, value: float) -> str | None:
    try:
        model.replace({name: value}).check()
    except ModelError as error:
        return error.what
    return None


def with_dissipation(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the contact's dissipation in place of its restitution."""
    if RESTITUTION not in inputs:
        return dict(inputs)
    if DISSIPATION in inputs:
        raise RunError(f"restitution and {DISSIPATION} are two names of one thing", fix="tell one of them")
    e = np.asarray(inputs[RESTITUTION], float)
    found = np.array([contacts.dissipation(x, RESTITUTION_AT) for x in e.ravel().tolist()]).reshape(e.shape)
    return {name: x for name, x in inputs.items() if name != RESTITUTION} | {DISSIPATION: found}
