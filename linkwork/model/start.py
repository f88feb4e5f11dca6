"""Where a run starts, by name: one number each for coordinates and speeds, in SI units.

Accepted at the door, for a joint of one freedom `elbow`: `elbow`, `elbow.rate`. For others each component as
named in `Model.q_names` and `Model.v_names` (`base.x`, `base.omega_z`), or in one piece: `base.position`,
`base.velocity`, `base.omega`, and the attitude as `base.rotation` (roll, pitch, yaw), `base.quat_wxyz` or
`base.quat_xyzw`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.errors import ModelError, RunError, nearest
from linkwork.model import forms
from linkwork.model.forms import Source
from linkwork.model.model import Model
from linkwork.model.units import each, quantity

QUATERNION = ("qw", "qx", "qy", "qz")
WHOLE = {  # in one piece → (components, unit)
    "position": (("x", "y", "z"), "m"),
    "velocity": (("v_x", "v_y", "v_z"), "m/s"),
    "omega": (("omega_x", "omega_y", "omega_z"), "rad/s"),
}


def expanded(model: Model, given: Mapping[str, Any], source: Source | None = None) -> dict[str, float]:
    """`given` with every name a component of q or v and every value in SI units."""
    source = source or Source(model.source)
    units = dict(zip((*model.q_names, *model.v_names), (*model.q_units, *model.v_units), strict=True))
    out: dict[str, float] = {}
    for name, value in forms.table(given, source.place, "start").items():
        where, what = source.at(name), f"start of '{name}'"
        joint, _, whole = name.rpartition(".")
        if name in units:
            found = {name: quantity(value, units[name], where, what)}
        elif whole in WHOLE and f"{joint}.{WHOLE[whole][0][0]}" in units:
            components, unit = WHOLE[whole]
            found = dict(zip(components, forms.vector(value, unit, where, what), strict=True))
            found = {f"{joint}.{component}": v for component, v in found.items()}
        elif whole in ("rotation", "quat_wxyz", "quat_xyzw") and f"{joint}.qw" in units:
            quat = _attitude(whole, value, Source(where), what)
            found = {f"{joint}.{component}": v for component, v in zip(QUATERNION, quat, strict=True)}
        else:
            raise _unknown(model, name, units, source)
        if twice := [n for n in found if n in out]:
            raise ModelError(f"start tells '{twice[0]}' twice", where=where, fix="remove one of them")
        out |= found
    _whole_quaternions(out, source)
    return out


def starts(model: Model, name: str, value: Any) -> np.ndarray:
    """The values of one coordinate or speed, one a sample."""
    names, what = (*model.q_names, *model.v_names), f"start of '{name}'"
    unit = (*model.q_units, *model.v_units)[names.index(name)]
    return each(value, what, lambda x: quantity(x, unit, None, what))


ATTITUDE = ("qw", "qx", "qy", "qz", "rotation", "quat_wxyz", "quat_xyzw")


def told_once(model: Model, given: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """What "q" or "v" tells is not told by name as well."""
    for key, names in (("q", model.q_names), ("v", model.v_names)):
        parts = {*names, *(f"{n.rpartition('.')[0]}.{w}" for n in names for w in PIECES[key])}
        if key in arrays and (twice := [n for n in given if n in parts]):
            raise RunError(f"start tells '{twice[0]}' twice: in '{key}' and by name", fix="remove one of them")


PIECES = {"q": ("position", *ATTITUDE[4:]), "v": ("velocity", "omega")}


def whole_state(key: str, value: Any, n: int) -> np.ndarray:
    """Whole coordinates "q" or speeds "v": (n) or (samples, n)."""
    fix = f"give ({n},) or (samples, {n}) numbers"
    try:
        found = np.asarray(value, float)
    except (TypeError, ValueError):
        raise RunError(f"start '{key}' is not an array of numbers", fix=fix) from None
    if found.ndim not in (1, 2) or found.shape[-1] != n or found.shape[0] == 0:
        raise RunError(f"start '{key}' has shape {found.shape}", fix=fix)
    return found


def _attitude(form: str, value: Any, source: Source, what: str) -> tuple[float, ...]:
    if form != "rotation":
        return forms.wxyz(value, form[-4:], source.place, what)
    return quaternion_of(np.array(forms.rotation({"rotation": value}, source, what)))


def quaternion_of(R: np.ndarray) -> tuple[float, ...]:
    """Unit quaternion (w, x, y, z) of a rotation matrix, w ≥ 0."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = (float(e) for e in Rotation.from_matrix(R).as_quat())
    sign = -1.0 if w < 0 else 1.0
    return (sign * w, sign * x, sign * y, sign * z)


def _whole_quaternions(out: dict[str, float], source: Source) -> None:
    for name in [n for n in out if n.endswith(".qw") or n.endswith(".qx") or n.endswith(".qy") or n.endswith(".qz")]:
        joint = name[:-3]
        parts = [out.get(f"{joint}.{c}") for c in QUATERNION]
        length2 = sum(p * p for p in parts if p is not None)
        if None in parts or abs(length2 - 1) > 2e-3:
            raise ModelError(
                f"start gives '{name}' but no unit quaternion of '{joint}'",
                where=source.at(name),
                fix=f"write {joint}.quat_wxyz: [1, 0, 0, 0], or {joint}.rotation with roll, pitch, yaw",
            )


def _unknown(model: Model, name: str, units: Mapping[str, str], source: Source) -> ModelError:
    i = model.joint_index.get(name.split(".")[0])
    fix = nearest(name, units)
    if i is not None and (coupling := model.joint(i).coupling) is not None:
        fix = f"'{model.joint(i).name}' follows '{coupling.leader}'; give the start of that one"
    elif i is not None and model.kind(i).quaternion is not None:
        fix = f"an attitude is told as {name.split('.')[0]}.quat_wxyz, .quat_xyzw or .rotation; else {fix}"
    return ModelError(f"start names an unknown coordinate or speed '{name}'", where=source.at(name), fix=fix)
