"""A joint from the keys it was told with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import forms
from linkwork.model.describe import Coupling, Joint, Vector
from linkwork.model.forms import Source
from linkwork.model.formula import moving
from linkwork.model.joints import KINDS, Kind
from linkwork.model.units import quantity


def joint(name: str, kind: str, parent: str, child: str, given: Mapping[str, Any], source: Source) -> Joint:
    """The record of a joint; keys as in `Mechanism.joint`. A coupling waits for its ratio and offset."""
    what, said = f"joint '{name}'", {k: v for k, v in given.items() if v is not None}
    forms.word(name, source.place, "name of a joint")
    for key, end in (("kind", kind), ("parent", parent), ("child", child), ("follows", said.get("follows", ""))):
        forms.word(end, source.at(key), f"{key} of {what}")
    table = _kind(kind, what, source)
    values: dict[str, Any] = {
        word: per_freedom(said[word], word, table, source.at(word), what) for word in FREEDOM_UNITS if word in said
    }
    if "rotor_inertia" in said or "gear_ratio" in said:
        values["armature"] = geared(said, table, source, what)
    if "limits" in said:
        values["lower"], values["upper"] = limits(said["limits"], table, source.at("limits"), what)
    if "friction_speed" in said:
        unit, where = table.speeds[0][1] if table.nv else "1", source.at("friction_speed")
        values["friction_speed"] = quantity(said["friction_speed"], unit, where, f"friction speed of {what}")
    values |= directions(said.get("axis"), said.get("axis2"), table, source, what)
    values["pitch"] = pitch(said.get("pitch"), table, source, what)
    if "follows" in said:
        values["coupling"] = Coupling(said["follows"], source=source.at("follows"))
    elif stray := [k for k in ("ratio", "offset") if k in said]:
        fix = "add follows = the joint it is coupled to"
        raise ModelError(f"{what} has '{stray[0]}' but follows no joint", where=source.at(stray[0]), fix=fix)
    if "motion" in said:
        motion = said["motion"]
        motion = motion if callable(motion) else moving(motion, source, what)
        values["motion"] = _tried(motion, what, source)
    position = forms.vector(said.get("at", (0, 0, 0)), "m", source.at("at"), f"position of {what}")
    turned = forms.rotation(said, source, what)
    return Joint(name, kind, parent, child, position, turned, source=source.place, **values)


FREEDOM_UNITS: dict[str, tuple[str, str]] = {  # word → (unit along a translation, unit about a rotation)
    "damping": ("N*s/m", "N*m*s/rad"),
    "stiffness": ("N/m", "N*m/rad"),
    "rest": ("m", "rad"),
    "friction": ("N", "N*m"),
    "armature": ("kg", "kg*m^2"),
    "lower": ("m", "rad"),
    "upper": ("m", "rad"),
    "effort": ("N", "N*m"),
    "velocity": ("m/s", "rad/s"),
}


def per_freedom(given: Any, word: str, kind: Kind, where: Place | None, what: str) -> tuple[float, ...]:
    """One number for each freedom of a joint; a single one serves them all."""
    if kind.nv == 0:
        raise ModelError(f"{what} is {kind.name} and has no freedom for '{word}'", where=where, fix=f"remove '{word}'")
    if isinstance(given, (str, bool)) or not isinstance(given, (Sequence, np.ndarray)):
        given = [given] * kind.nv
    freedoms = ", ".join(name or "its freedom" for name, _ in kind.speeds)
    entries = forms.listed(given, kind.nv, where, f"{word} of {what}", f"one number, or {kind.nv}: {freedoms}")
    return tuple(
        quantity(
            e,
            FREEDOM_UNITS[word][unit_ != "m/s"],
            where,
            f"{word} of {what}",
            infinite=word in _MAY_BE_INFINITE,
        )
        for e, (_, unit_) in zip(entries, kind.speeds, strict=True)
    )


_MAY_BE_INFINITE = ("lower", "upper", "effort", "velocity")


def limits(given: Any, kind: Kind, where: Place | None, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """(lower, upper) of each freedom from (low, high) or a list of such pairs; None: no limit."""
    if kind.quaternion is not None or kind.nv == 0:
        raise ModelError(f"{what} is {kind.name}, whose coordinates have no limits", where=where, fix="remove 'limits'")
    form = "a lower and an upper limit, e.g. [-90 deg, 90 deg]"
    pairs = (
        [given]
        if kind.nv == 1
        else forms.listed(given, kind.nv, where, f"limits of {what}", f"{kind.nv} pairs of limits")
    )
    low: list[float] = []
    high: list[float] = []
    for pair, (_, unit_) in zip(pairs, kind.speeds, strict=True):
        a, b = (None, None) if pair is None else forms.listed(pair, 2, where, f"limits of {what}", form)
        dimension = FREEDOM_UNITS["lower"][unit_ != "m/s"]
        low.append(-math.inf if a is None else quantity(a, dimension, where, f"lower limit of {what}", infinite=True))
        high.append(math.inf if b is None else quantity(b, dimension, where, f"upper limit of {what}", infinite=True))
    return tuple(low), tuple(high)


def geared(said: Mapping[str, Any], kind: Kind, source: Source, what: str) -> tuple[float, ...]:
    """Armature of a rotor behind a gear: rotor inertia · ratio²."""
    armature, rotor, ratio = (said.get(k) for k in ("armature", "rotor_inertia", "gear_ratio"))
    if armature is not None:
        raise ModelError(f"{what} has an armature and a rotor", where=source.at("armature"), fix="keep one of them")
    if rotor is None:
        raise ModelError(f"{what} has a gear ratio but no rotor inertia", where=source.at("gear_ratio"), fix="add it")
    if kind.nv != 1:
        fix = "give armature, one number for each freedom"
        raise ModelError(
            f"{what} is {kind.name}: a rotor drives one freedom", where=source.at("rotor_inertia"), fix=fix
        )
    inertia = quantity(rotor, "kg*m^2", source.at("rotor_inertia"), f"rotor inertia of {what}")
    unit_ = "1" if kind.speeds[0][1] == "rad/s" else "rad/m"
    gear = 1.0 if ratio is None else quantity(ratio, unit_, source.at("gear_ratio"), f"gear ratio of {what}")
    return (inertia * gear * gear,)


_WITHOUT_AXIS = ("fixed", "free", "spherical", "prescribed")


def directions(axis_: Any, axis2: Any, kind: Kind, source: Source, what: str) -> dict[str, Vector]:
    """`axis` and `axis2` of a joint; z if none is given, and for the second one across it."""
    out: dict[str, Vector] = {}
    if axis_ is not None:
        if kind.name in _WITHOUT_AXIS:
            text = f"{what} is {kind.name} and has no axis"
            raise ModelError(text, where=source.at("axis"), fix="remove 'axis', or choose another kind")
        out["axis"] = forms.axis(axis_, source.at("axis"), f"axis of {what}")
    if axis2 is not None:
        if kind.name != "universal":
            text = f"{what} is {kind.name} and has no second axis"
            raise ModelError(text, where=source.at("axis2"), fix="remove 'axis2', or make it universal")
        out["axis2"] = forms.axis(axis2, source.at("axis2"), f"second axis of {what}")
    elif kind.name == "universal" and abs(out.get("axis", forms.AXES["z"])[1]) > 0.9:
        out["axis2"] = forms.AXES["z"]
    return out


def pitch(given: Any, kind: Kind, source: Source, what: str) -> float:
    where = source.at("pitch")
    if (given is not None) != (kind.name == "helical"):
        fix = "give pitch, e.g. '5 mm/rev'" if given is None else "remove 'pitch', or make it helical"
        raise ModelError(f"{what} is {kind.name} and has {'no' if given is None else 'a'} pitch", where=where, fix=fix)
    return 0.0 if given is None else quantity(given, "m/rad", where, f"pitch of {what}")


def _kind(kind: Any, what: str, source: Source) -> Kind:
    if kind not in KINDS:
        fix = nearest(str(kind), KINDS)
        raise ModelError(f"{what} is of unknown kind '{kind}'", where=source.at("kind"), fix=fix)
    return KINDS[kind]


def _tried(motion: Callable[[Any], Any], what: str, source: Source) -> Callable[[Any], Any]:
    """The motion, called once to see that it returns a position and a quaternion."""
    try:
        position, quaternion = motion(ca.SX.sym("t"))
        fits = [ca.SX(ca.vertcat(*[x[i] for i in range(n)])).numel() == n for x, n in ((position, 3), (quaternion, 4))]
        fits += [len(x) == n for x, n in ((position, 3), (quaternion, 4)) if isinstance(x, (tuple, list))]
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"motion of {what} fails: {type(error).__name__}: {error}",
            where=source.at("motion"),
            fix="motion(t) returns (position, quaternion): 3 and 4 expressions, made with casadi",
        ) from error
    if not all(fits):
        fix = "return 3 and 4 expressions"
        raise ModelError(f"motion of {what} returns something else", where=source.at("motion"), fix=fix)
    return motion
