"""What may vary in a model: starts of coordinates and speeds, attitudes, and every number of the model by its name.

elbow, elbow.rate, base.x         starts
base.roll, base.pitch, base.yaw   attitude of a joint with a quaternion, Rz(yaw) Ry(pitch) Rx(roll), from level
payload.mass, elbow.damping, gravity.z, strut.stiffness …       numbers, which become parameters
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from linkwork.compiler.kernel import compile_function
from linkwork.compiler.ports import Port
from linkwork.driven import System
from linkwork.errors import ModelError, RunError, nearest
from linkwork.model.formula import Moving
from linkwork.model.jointforms import FREEDOM_UNITS
from linkwork.model.model import Model
from linkwork.sweeping.expression import Computed

TURNS = ("roll", "pitch", "yaw")
UNITS = {"mass": "kg", "centre": "m", "position": "m", "inertia": "kg*m^2", "pitch": "m/rad", "gravity": "m/s^2"}


def units(model: Model) -> dict[str, str | None]:
    """Every name that may vary → its SI unit; None where only the model's author knows it."""
    found: dict[str, str | None] = {}
    hidden = set()
    for i in model.independent:
        if model.kind(i).quaternion is not None:
            name = model.joint(i).name
            hidden |= {f"{name}.{c}" for c in ("qw", "qx", "qy", "qz")}
            found |= {f"{name}.{turn}": "rad" for turn in TURNS}
    pairs = zip((*model.q_names, *model.v_names), (*model.q_units, *model.v_units), strict=True)
    found |= {name: unit for name, unit in pairs if name not in hidden}
    return found | {name: _unit(model, name) for name in model.values if name not in found}


def _unit(model: Model, name: str) -> str | None:
    owner, _, word = name.rpartition(".")
    if name in model.constants or owner in {law.name for law in model.laws}:
        return None
    if i := model.joint_index.get(owner):
        if word in FREEDOM_UNITS and model.kind(i).nv == 1:
            return FREEDOM_UNITS[word][model.kind(i).speeds[0][1] == "rad/s"]
    known = [UNITS[part] for part in (word, owner.rpartition(".")[2]) if part in UNITS]
    return known[0] if known else None


def unknown(model: Model, name: str, what: str = "vary") -> RunError:
    """There is no such thing to vary."""
    joint, _, part = name.rpartition(".")
    fix = nearest(name, units(model))
    if part in ("qw", "qx", "qy", "qz") and joint in model.joint_index:
        fix = f"vary {joint}.roll, {joint}.pitch, {joint}.yaw"
    return RunError(f"{what} names an unknown start or parameter '{name}' of '{model.name}'", fix=fix)


class Arrays(NamedTuple):
    """Starts and parameters of samples; `faults` names samples that cannot be run: number → (words, input)."""

    y0: np.ndarray
    p: np.ndarray
    faults: dict[int, tuple[str, str]]


class Inputs:
    """From inputs by name to starts and parameters. `computed` gives further inputs as expressions of the others."""

    def __init__(self, model: Model, names: Sequence[str], computed: Mapping[str, str]):
        self.model, self.names, self.computed = model, tuple(names), dict(computed)
        known = units(model)
        for name in computed:
            if name not in known:
                raise unknown(model, name, "set")
            if name in names:
                raise RunError(f"'{name}' is told by vary and by set", fix="remove one of them")
        self.expressions = Computed(computed, list(names), "set") if computed else None
        used = set(self.expressions.used) if self.expressions else set()
        for name in names:
            if name not in known and name not in used:
                raise unknown(model, name)
        starts = (*model.q_names, *model.v_names)
        mine = [n for n in dict.fromkeys((*names, *computed)) if n in known]
        self.starts = [n for n in mine if n in starts]
        self.turned = [j for j in model.joint_index if any(f"{j}.{turn}" in mine for turn in TURNS)]
        turns = {f"{j}.{turn}" for j in self.turned for turn in TURNS}
        self.parameters = [n for n in mine if n not in starts and n not in turns]

    def declared(self) -> Model:
        """The model with every number that varies as a parameter."""
        more = [n for n in self.parameters if n not in self.model.parameters]
        return replace(self.model, parameters=(*self.model.parameters, *more)) if more else self.model

    def arrays(self, system: System, given: Mapping[str, np.ndarray]) -> Arrays:
        model, n = system.model, len(next(iter(given.values()), np.zeros(1)))
        values = {**given, **(self.expressions(given) if self.expressions else {})}
        y0 = np.repeat(system.start(None), n, axis=0)
        rows = (*model.q_names, *model.v_names)
        for name in self.starts:
            y0[:, rows.index(name)] = values[name]
        for joint in self.turned:
            at = rows.index(f"{joint}.qw")
            y0[:, at : at + 4] = attitude(*(values.get(f"{joint}.{turn}", np.zeros(n)) for turn in TURNS))
        defaults = system.parameters()[0]
        p = np.repeat(defaults, n, axis=0)
        for name in self.parameters:
            p[:, list(system.trace.parameters).index(name)] = values[name]
        faults: dict[int, tuple[str, str]] = {}
        for name in self.computed:
            for i in np.flatnonzero(~np.isfinite(values[name])).tolist():
                faults.setdefault(i, (f"bad start: {name} is {values[name][i]}", name))
        self._impossible({name: values[name] for name in self.parameters}, faults)
        return Arrays(y0, p, faults)

    def _impossible(self, values: Mapping[str, np.ndarray], faults: dict[int, tuple[str, str]]) -> None:
        """Samples whose numbers no mechanism can have, such as a mass below zero."""
        good = np.array([i not in faults for i in range(len(next(iter(values.values()), ())))], bool)
        suspect = False
        for name, x in values.items():
            inside = x[good]
            for value in {float(inside.min()), float(inside.max())} if len(inside) else ():
                suspect |= self._fault({name: value}) is not None
        for i in np.flatnonzero(good).tolist() if suspect else ():
            text = self._fault({name: float(x[i]) for name, x in values.items()})
            if text is not None:
                faults[i] = (f"bad start: {text}", next((n for n in values if n.split(".")[0] in text), ""))

    def _fault(self, values: Mapping[str, float]) -> str | None:
        try:
            self.model.replace(values).check()
        except ModelError as error:
            return error.what
        return None


_turning: list[Any] = []


def attitude(roll: np.ndarray, pitch: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """Quaternions (w, x, y, z) of roll, pitch, yaw, with sines whose bits are ours."""
    if not _turning:
        angles = ca.SX.sym("angles", 3)
        quaternion = ca.vertcat(*Moving((0.0, 0.0, 0.0), tuple(angles[k] for k in range(3)))(0.0)[1])  # type: ignore
        _turning.append(compile_function(ca.Function("attitude", [angles], [quaternion]), [Port("angles", shape=(3,))]))
    return np.asarray(_turning[0](angles=np.ascontiguousarray(np.stack([roll, pitch, yaw], axis=1))))
