"""Impacts as events: where a sphere meets a wall, the speeds are reset by one impulse with restitution and friction."""

from __future__ import annotations

from typing import Any

import casadi as ca

from linkwork.driven import Event
from linkwork.dynamics.forces import State
from linkwork.dynamics.impact import impact, relative_jacobian
from linkwork.errors import RunError
from linkwork.model.contact_laws import Cup, Funnel


def touching(contact: Cup | Funnel, name: str = "contact", action: Any = "stop") -> Event:
    """The moment at which the sphere of a contact comes to touch its wall."""
    return Event(name, lambda state: contact.touch(state).depth, action, +1, h_max=contact.h_max)


def bounce(contact: Cup | Funnel, restitution: Any, friction: Any = None, name: str = "impact") -> Event:
    """At each touch an impulse takes the place of the contact's forces, with its friction unless another is told.

    `restitution` and `friction` may be named constants of the model: "e". See `linkwork.dynamics.impact`.
    """
    if friction is None:
        friction = contact.friction
    for word, value in (("restitution", restitution), ("friction", friction)):
        if isinstance(value, float | int) and (value < 0 or (word == "restitution" and value > 1)):
            raise RunError(f"{word} of impact '{name}' is {value:g}", fix="restitution is 0 to 1, friction 0 or more")

    def reset(state: State) -> dict[str, Any]:
        e, mu = (state.constant(x) if isinstance(x, str) else x for x in (restitution, friction))
        return dict(zip(state._model.v_names, ca.vertsplit(struck(state, contact, e, mu)[0]), strict=True))

    return Event(name, lambda state: contact.touch(state).depth, "reset", +1, reset, contact.h_max)


def independent(state: State) -> tuple[ca.SX, ca.SX]:
    """q and v of the state without those of joints that follow others."""
    model = state._model
    q = [state._q[model.q_slices[i]] for i in model.independent if model.kind(i).nq]
    v = [state._v[model.v_slices[i]] for i in model.independent if model.kind(i).nv]
    return ca.vertcat(*q), ca.vertcat(*v)


def struck(state: State, contact: Cup | Funnel, restitution: Any, friction: Any) -> tuple[ca.SX, ca.SX]:
    """Speeds after the blow at the contact as it is, and the impulse on the sphere (world axes)."""
    touch = contact.touch(state)
    model, q, v, t = state._model, *independent(state), state.t
    J = relative_jacobian(model, q, contact.sphere, contact.wall, touch.point, t)
    return impact(model, q, v, J, touch.normal, ca.SX(restitution), ca.SX(friction))
