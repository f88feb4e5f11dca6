"""What to watch for while running, told with named states, as CasADi expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from linkwork.dynamics.forces import State, called
from linkwork.errors import RunError, nearest
from linkwork.model.model import Model
from linkwork.model.units import quantity
from linkwork.simulation.motion import Action

SX = ca.SX


@dataclass(frozen=True)
class Event:
    """Something to watch for while running: a function of named states that passes through zero.

    `function(state)` reads `state` as a law does (`state.position("tool")[2]`, `state.q("elbow")`). `direction`: +1
    only upwards, −1 only downwards, 0 both. `action`: "record" the time, "stop" the sample, or "reset": then
    `reset(state)` returns a dictionary of coordinates and speeds with their new values. `h_max`: longest step of
    adaptive methods while this is watched for [s]; changes of sign are looked for at the quarters of a step.
    """

    name: str
    function: Callable[[State], Any]
    action: Action = "stop"
    direction: int = 0
    reset: Callable[[State], Mapping[str, Any]] | None = None
    h_max: float = np.inf


def listed(events: Iterable[Event]) -> tuple[Event, ...]:
    """Events, and nothing but events, in a tuple."""
    if isinstance(events, Event) or not isinstance(events, Iterable):
        raise RunError(f"events is {type(events).__name__}, not a list", fix="events=[lw.Event(…)]")
    found = tuple(events)
    for event in found:
        if not isinstance(event, Event) or not callable(event.function):
            text = f"'{event.name}' watches no function" if isinstance(event, Event) else type(event).__name__
            raise RunError(f"one of events is no event: {text}", fix='lw.Event("name", lambda state: …)')
    return found


def watched(event: Event, state: State) -> SX:
    """The number that passes through zero."""
    value = called(event.function, state, f"event '{event.name}'")
    return _number(value, f"event '{event.name}' gives", "return one number that passes through zero")


def after(event: Event, state: State, model: Model, y: SX) -> SX:
    """The state y after the event's reset."""
    assert event.reset is not None
    names, units = (*model.q_names, *model.v_names), (*model.q_units, *model.v_units)
    what = f"reset of event '{event.name}'"
    said = called(event.reset, state, what)
    if not isinstance(said, Mapping):
        raise RunError(f"{what} returned {type(said).__name__}", fix="return {coordinate or speed: its new value}")
    new = [y[k] for k in range(y.numel())]
    for name, value in said.items():
        if name not in names:
            raise RunError(f"{what} sets an unknown '{name}'", fix=nearest(name, names))
        k = names.index(name)
        if isinstance(value, str):
            value = quantity(value, units[k], None, f"'{name}' in the {what}")
        new[k] = _number(value, f"{what} gives '{name}'", "give one number for each coordinate or speed")
    return ca.vertcat(*new)


def _number(value: Any, what: str, fix: str) -> SX:
    try:
        found = SX(value)
    except (NotImplementedError, TypeError):
        raise RunError(f"{what} {type(value).__name__}, not a number", fix=fix) from None
    if found.numel() != 1:
        raise RunError(f"{what} {found.numel()} numbers", fix=fix)
    return ca.densify(found)
