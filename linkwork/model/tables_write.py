"""A model as a folder of CSV tables; see `tables` for the columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.errors import ModelError, Place
from linkwork.model import csvfile
from linkwork.model.describe import ORIGIN, UNTURNED, Inertial, Joint, Matrix, Vector
from linkwork.model.formula import Formula
from linkwork.model.joints import KINDS
from linkwork.model.laws import Ready
from linkwork.model.model import Model

PER_FREEDOM = ("stiffness", "damping", "rest", "friction", "armature")
COSINES = [f"c{i}{j}" for i in "123" for j in "123"]
POSITION = [f"position_{a} [m]" for a in "xyz"]


def write_tables(model: Model, path: str | PathLike[str]) -> None:
    """Write the model into a folder (made when it is not there). Laws in Python and motions are refused by name."""
    folder = Path(path)
    for law in model.laws:
        if not isinstance(law.function, Ready):
            text = f"law '{law.name}' cannot be written to tables: it is a Python function"
            raise ModelError(
                text, where=law.source, fix="remove it with model.replace(laws=…), or use a ready-made law"
            )
    for i in model.tree:
        if model.joint(i).motion is not None:
            text = f"the motion of joint '{model.joint(i).name}' cannot be written to tables"
            raise ModelError(text, where=model.joint(i).source, fix="write YAML")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror}", where=Place(str(path)), fix="check the path") from None
    tree = [[model.bodies[i].name, model.bodies[model.parent[i]].name] for i in model.tree]
    csvfile.write(folder / "tree.csv", ["body", "parent"], tree)
    _bodies(model, folder / "bodies.csv")
    _joints(model, folder / "joints.csv")
    _markers(model, folder / "markers.csv")
    _laws(model, folder / "laws.csv")
    _model(model, folder / "model.csv")


def _bodies(model: Model, path: Path) -> None:
    columns = ["body", "part", "mass [kg]", *(f"centre_{a} [m]" for a in "xyz")]
    columns += [f"I{ij}_centre [kg*m^2]" for ij in ("xx", "yy", "zz", "xy", "xz", "yz")] + ["unchecked"]
    rows = []
    for body in model.bodies:
        for part in body.inertials:
            rows.append([body.name, part.name, *_part(part)])
    csvfile.write(path, columns, rows)


def _part(part: Inertial) -> list[str]:
    return [
        _exact(part.mass),
        *map(_exact, part.centre),
        *map(_exact, part.inertia),
        "1" if part.unchecked else "",
    ]


def _joints(model: Model, path: Path) -> None:
    columns = ["joint", "body", "type", "axis_x", "axis_y", "axis_z", "axis2_x", "axis2_y", "axis2_z"]
    columns += [*POSITION, *COSINES, "pitch [m/rad]", *PER_FREEDOM, "friction_speed", "lower", "upper"]
    columns += ["effort", "velocity", "follows", "ratio", "offset"]
    csvfile.write(path, columns, [_joint(model.joint(i)) for i in model.tree])


def _joint(joint: Joint) -> list[str]:
    kind, c = KINDS[joint.kind], joint.coupling
    row = [joint.name, joint.child, joint.kind]
    row += list(map(_exact, joint.axis)) if kind.nv and kind.quaternion is None else [""] * 3
    row += list(map(_exact, joint.axis2)) if joint.kind == "universal" else [""] * 3
    row += _placed(joint.position, joint.rotation)
    row.append(_exact(joint.pitch) if joint.kind == "helical" else "")
    row += [_each(getattr(joint, word), 0.0) for word in PER_FREEDOM]
    row.append(_exact(joint.friction_speed) if joint.friction_speed != Joint.friction_speed and kind.nv else "")
    row += [_each(joint.lower, -math.inf), _each(joint.upper, math.inf)]
    row += [_each(joint.effort, math.inf), _each(joint.velocity, math.inf)]
    return row + ([c.leader, _exact(c.ratio), _exact(c.offset)] if c is not None else [""] * 3)


def _markers(model: Model, path: Path) -> None:
    rows = [
        [marker.name, body.name, *_placed(marker.position, marker.rotation)]
        for body in model.bodies
        for marker in body.markers
    ]
    if rows:
        csvfile.write(path, ["marker", "body", *POSITION, *COSINES], rows)
    else:
        path.unlink(missing_ok=True)


def _laws(model: Model, path: Path) -> None:
    rows = []
    for law in model.laws:
        made = law.function
        assert isinstance(made, Ready)
        rows += [[law.name, "kind", made.kind], *([law.name, key, getattr(made, key)] for key in made.names)]
        for key in made.numbers:
            value = getattr(made, key)
            rows.append([law.name, key, value.text if isinstance(value, Formula) else _exact(value)])
    if rows:
        csvfile.write(path, ["law", "key", "value"], rows)
    else:
        path.unlink(missing_ok=True)


def _model(model: Model, path: Path) -> None:
    rows = [
        ["name", model.name],
        *([f"gravity_{a}", _exact(g)] for a, g in zip("xyz", model.gravity, strict=True)),
    ]
    if model.bodies[0].name != "world":
        rows.append(["world", model.bodies[0].name])
    rows += [[f"constant {name}", _exact(x)] for name, x in model.constants.items()]
    rows += [["parameter", name] for name in model.parameters]
    rows += [[f"start {name}", _exact(x)] for name, x in model.start.items()]
    if any(body.visuals for body in model.bodies):
        rows.append(["note", "the looks of the bodies are not part of tables"])
    csvfile.write(path, ["key", "value"], rows)


def _placed(position: Vector, rotation: Matrix) -> list[str]:
    out = [""] * 3 if position == ORIGIN else [_exact(x) for x in position]
    cosines = [rotation[j][i] for i in range(3) for j in range(3)]
    return out + ([""] * 9 if rotation == UNTURNED else [_exact(x) for x in cosines])


def _each(values: Sequence[Any], default: float) -> str:
    if all(x == default for x in values):
        return ""
    return " ".join(_exact(x) for x in values)


def _exact(x: Any) -> str:
    return repr(float(x)).removesuffix(".0")
