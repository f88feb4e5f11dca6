"""Events told in a plan: `hit: {of: tool.position.z - 200 mm, action: stop, direction: -1}`.

`of` is an expression of coordinates, speeds, and positions, velocities and angular velocities of frames; the event is
where it passes through zero. `reset: {height.rate: -0.8 * height.rate}` belongs to action `reset`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from linkwork.driven import Event
from linkwork.dynamics.forces import State
from linkwork.errors import Place, RunError, nearest
from linkwork.model.model import Model
from linkwork.model.yamltree import Node
from linkwork.sweeping.expression import traced
from linkwork.sweeping.vary import told_at

FRAME = {"position": "xyz", "velocity": "xyz", "omega": "xyz"}
KEYS = ("of", "action", "direction", "reset")


@dataclass(frozen=True)
class Watched:
    """Expressions of a state that is traced. One is a number; several, by name, are a dictionary."""

    model: Model
    texts: Mapping[str, str]
    what: str

    def __call__(self, state: Any) -> Any:
        found = {k: traced(text, lambda name: self.resolve(state, name), self.what) for k, text in self.texts.items()}
        return found if "" not in found else found[""]

    def resolve(self, state: Any, name: str) -> ca.SX:
        if name == "t":
            return state.t
        for names, read in ((self.model.q_names, state.q), (self.model.v_names, state.v)):
            if name in names:
                return read(name.removesuffix(".rate") if read is state.v and name.endswith(".rate") else name)
        owner, _, last = name.rpartition(".")
        if last in FRAME and owner in self.model.markers:
            return getattr(state, last)(owner)
        frame, _, word = owner.rpartition(".")
        if word in FRAME and frame in self.model.markers and last in FRAME[word]:
            return getattr(state, word)(frame)["xyz".index(last)]
        frames = [f"{f}.{w}.{c}" for f in self.model.markers for w in FRAME for c in FRAME[w]]
        known = (*self.model.q_names, *self.model.v_names, *frames)
        raise RunError(f"{self.what} cannot watch '{name}'", fix=nearest(name, known))


def events_of(node: Node, model: Model) -> tuple[tuple[Event, ...], list[dict[str, Any]]]:
    """The events of a plan, and the same as plain data."""
    events, told = [], []
    state = State(model, ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("t"))
    for name, one in node.mapping("events").items():
        what, place = f"event '{name}'", Place(node.file, node.key_lines[name])
        given = one.mapping(what, KEYS)
        if "of" not in given:
            raise RunError(f"{what} has no 'of'", where=place, fix="say of what passes through zero: {of: elbow - 1}")
        action = given["action"].text if "action" in given else "stop"
        direction = given["direction"].value if "direction" in given else 0
        reset = {k: n.text for k, n in given["reset"].mapping(f"reset of {what}").items()} if "reset" in given else {}
        plain = {"name": name, "of": given["of"].text, "action": action, "direction": direction, "reset": reset}
        with told_at(place):
            event = event_of(plain, model)
            event.function(state)  # what it names is told here, with its line
            for one in (event.reset(state) if event.reset else {}).keys() - {*model.q_names, *model.v_names}:
                raise RunError(f"{what} resets '{one}'", fix=nearest(one, (*model.q_names, *model.v_names)))
        events.append(event)
        told.append(plain)
    return tuple(events), told


def event_of(told: Mapping[str, Any], model: Model) -> Event:
    """The event that plain data tells, checked."""
    name, what = told["name"], f"event '{told['name']}'"
    if told["action"] not in ("record", "stop", "reset"):
        fix = nearest(str(told["action"]), ("record", "stop", "reset"))
        raise RunError(f"{what} has an unknown action '{told['action']}'", fix=fix)
    if told["direction"] not in (-1, 0, 1):
        raise RunError(f"{what} has the direction {told['direction']}", fix="+1 upwards, -1 downwards, 0 both")
    if bool(told["reset"]) != (told["action"] == "reset"):
        raise RunError(f"{what}: action reset and what is reset belong together", fix="give both or none")
    reset = Watched(model, dict(told["reset"]), f"reset of {what}") if told["reset"] else None
    function = Watched(model, {"": str(told["of"])}, what)
    return Event(name, function, told["action"], told["direction"], reset)
