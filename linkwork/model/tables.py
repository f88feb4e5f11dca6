"""A folder of CSV tables, for mechanisms of many bodies. Units stand in the header: `mass [kg]`.

tree.csv     body, branch, parent: a row for each body; parent 0, or `world`, is the base; `branch` is the
             reader's own
bodies.csv   body, part, mass, centre_x … centre_z, and the tensor as Ixx_origin, Iyy_origin, Izz_origin,
             Ixy_origin, Ixz_origin, Iyz_origin about the body's origin O_j, or Ixx_centre … about the
             centre of mass; body axes; Ixy is the entry I[0,1]. A body without row or mass is massless;
             it may have several parts
joints.csv   body (the one it carries); joint (its name, else `joint_` + body); type: 0 or rotation, 1 or
             translation, or a kind by name (revolute, universal, free …); axis: 1, 2, 3, x, y, z, -x …,
             or axis_x, axis_y, axis_z; axis2_x …; position_x …: origin of the joint axes in the parent;
             their attitude as rotation_roll, rotation_pitch, rotation_yaw, or as direction cosines c11 …
             c33 (parent coordinates → joint coordinates); pitch (helical: advance); stiffness, damping,
             rest, friction, friction_speed, armature, lower, upper, effort, velocity (several freedoms:
             several numbers with blanks between); follows, ratio, offset; active: 0 or 1
markers.csv  marker, body, position_x …, rotation_roll … or c11 … c33 (optional)
laws.csv     law, key, value: a row for each key of a ready-made law, `kind` among them (optional)
model.csv    key, value: name; gravity_x, gravity_y, gravity_z (required); world (its name); `constant
             gain`; `parameter` (a name); `start elbow`; note

Cells may carry a unit of their own. Laws written in Python and motions cannot be told in tables and are refused
when writing; looks are left out with a note.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import laws
from linkwork.model.csvfile import Row, table
from linkwork.model.forms import Source
from linkwork.model.joints import KINDS
from linkwork.model.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.tables_write import write_tables as write_tables

XYZ = ("x", "y", "z")
POSITION = tuple(f"position_{a}" for a in XYZ)
CENTRE = tuple(f"centre_{a}" for a in XYZ)
RPY = ("rotation_roll", "rotation_pitch", "rotation_yaw")
COSINES = tuple(f"c{i}{j}" for i in "123" for j in "123")
TENSOR = tuple(f"I{ij}" for ij in ("xx", "yy", "zz", "xy", "xz", "yz"))
PER_FREEDOM = ("stiffness", "damping", "rest", "friction", "armature", "effort", "velocity")
TREE = ("body", "branch", "parent")
BODIES = (
    "body", "part", "mass", *CENTRE, *(f"{i}_origin" for i in TENSOR), *(f"{i}_centre" for i in TENSOR),
    "unchecked",
)  # fmt: skip
JOINTS = (
    "joint", "body", "type", "axis", "axis_x", "axis_y", "axis_z", "axis2_x", "axis2_y", "axis2_z",
    *POSITION, *RPY, *COSINES, "pitch", *PER_FREEDOM, "friction_speed", "lower", "upper",
    "follows", "ratio", "offset", "active",
)  # fmt: skip
MARKERS = ("marker", "body", *POSITION, *RPY, *COSINES)
KEYS = ("name", "world", "gravity_x", "gravity_y", "gravity_z", "parameter", "constant", "start", "note")
TYPES = {"0": "revolute", "rotation": "revolute", "1": "prismatic", "translation": "prismatic"}
NUMBERED_AXES = {"1": "x", "2": "y", "3": "z"}


def read_tables(path: str | PathLike[str]) -> Model:
    """The Model in a folder of CSV tables."""
    folder = Path(path)
    for name in ("tree.csv", "bodies.csv", "joints.csv", "model.csv"):
        if not (folder / name).is_file():
            fix = "a folder of tables holds tree.csv, bodies.csv, joints.csv and model.csv"
            raise ModelError(f"the folder has no {name}", where=Place(str(folder)), fix=fix)
    if (folder / "loops.csv").exists():
        where, fix = Place(str(folder / "loops.csv")), "remove loops.csv; the tree without the loops can be read"
        raise ModelError("closed loops are not part of this version", where=where, fix=fix)
    made, world, rest = _model(folder)
    tree = {row.word("body", "a row of the tree"): row for row in _unique(table(folder / "tree.csv", TREE), "body")}
    carried = _carried(folder, tree)
    masses: dict[str, list[Row]] = {}
    for row in table(folder / "bodies.csv", BODIES):
        name = row.word("body", "a row of the bodies")
        if name not in tree and name != world:
            raise ModelError(f"body '{name}' is not in the tree", where=row.place, fix=nearest(name, tree))
        masses.setdefault(name, []).append(row)
    for name, row in tree.items():
        own = masses.get(name, [])
        source = (own or [row])[0].source()
        parts = [part for r in own if (part := _part(r, f"body '{name}'")) is not None]
        _body(made, name, parts, own, source)
    if world in masses:
        parts = [p for r in masses[world] if (p := _part(r, "the world"))]
        made.world_mass({"parts": parts}, masses[world][0].source())
    _joints(made, folder, tree, carried, world)
    if (folder / "markers.csv").exists():
        for row in table(folder / "markers.csv", MARKERS):
            name = row.word("marker", "a row of the markers")
            what = f"marker '{name}'"
            made.marker(name, row.word("body", what), _position(row, what), source=row.source(), **_turn(row, what))
    if (folder / "laws.csv").exists():
        _laws(made, table(folder / "laws.csv", ("law", "key", "value")))
    for action in rest:
        action()
    return made.build()


def _laws(made: Mechanism, rows: list[Row]) -> None:
    """Ready-made laws, a row for each of their keys."""
    told: dict[str, dict[str, Row]] = {}
    for row in rows:
        name, key = row.word("law", "a row of the laws"), row.word("key", "a row of the laws")
        if key in told.setdefault(name, {}):
            raise ModelError(f"law '{name}' tells its {key} twice", where=row.place, fix="keep one of them")
        told[name][key] = row
    for name, keys in told.items():
        what, first = f"law '{name}'", next(iter(keys.values()))
        source = Source(first.place, {key: row.place for key, row in keys.items()})
        given = {key: row.word("value", f"{key} of {what}") for key, row in keys.items()}
        made.law(laws.of_mapping(given, source, what), name, source=source)


def _unique(rows: list[Row], column: str) -> list[Row]:
    seen: dict[str, Row] = {}
    for row in rows:
        name = row.cells.get(column, "")
        if name in seen:
            text = f"'{name}' has a row already (line {seen[name].line})"
            raise ModelError(text, where=row.place, fix="keep one of them")
        seen[name] = row
    return rows


def _model(folder: Path) -> tuple[Mechanism, str, list[Any]]:
    gravity: dict[str, float] = {}
    said: dict[str, str] = {}
    later: list[Any] = []
    rows = table(folder / "model.csv", ("key", "value"))
    holder: list[Mechanism] = []
    for row in rows:
        key, _, rest = row.word("key", "a row of the model").partition(" ")
        what, value = f"'{row.cells['key']}'", row.word("value", f"'{row.cells['key']}'")
        if key in ("gravity_x", "gravity_y", "gravity_z"):
            gravity[key[-1]] = row.number("value", "m/s^2", what)
        elif key in ("name", "world"):
            said[key] = value
        elif key == "note":
            later.append(lambda row=row, value=value: holder[0].note(value, row.place))
        elif key == "parameter":
            later.append(lambda row=row, value=value: holder[0].parameter(value, source=row.source()))
        elif key == "constant" and rest:
            later.append(lambda row=row, value=value, n=rest: holder[0].constant(n, value, source=row.source()))
        elif key == "start" and rest:
            later.append(lambda row=row, value=value, n=rest: holder[0].start({n: _listed(value)}, source=row.source()))
        else:
            raise ModelError(f"unknown key {what}", where=row.place, fix=nearest(key, KEYS))
    file = Place(str(folder / "model.csv"))
    if missing := [a for a in XYZ if a not in gravity]:
        raise ModelError(f"gravity_{missing[0]} is not told", where=file, fix=f"add a row gravity_{missing[0]}, 0")
    world = said.get("world", "world")
    name = said.get("name", folder.resolve().name)
    holder.append(Mechanism(name, [gravity[a] for a in XYZ], world=world, source=Source(file)))
    holder[0].folder = str(folder)
    return holder[0], world, later


def _listed(value: str) -> Any:
    entries = [e.strip() for e in value.split(";")]
    return value if len(entries) == 1 else entries


def _body(made: Mechanism, name: str, parts: list[dict[str, Any]], rows: list[Row], source: Source) -> None:
    if len(parts) == 1 and "name" not in parts[0]:
        made.body(name, **parts[0], source=source)
    else:
        places = {f"parts.{k}": row.place for k, row in enumerate(rows)}
        made.body(name, parts=parts, source=Source(source.place, places))


def _part(row: Row, what: str) -> dict[str, Any] | None:
    """Mass, centre and inertia of a row as the keys of `Mechanism.body`."""
    told = {about: [f"{i}_{about}" for i in TENSOR if row.has(f"{i}_{about}")] for about in ("origin", "centre")}
    if told["origin"] and told["centre"]:
        fix = "fill in the columns I…_origin or I…_centre"
        raise ModelError(f"{what} has its inertia about origin and centre", where=row.place, fix=fix)
    about = "origin" if told["origin"] else "centre"
    if not row.has("mass"):
        if told[about]:
            raise ModelError(f"{what} has inertia but no mass", where=row.place, fix="fill in column 'mass'")
        return None
    out: dict[str, Any] = {"mass": row.number("mass", "kg", what), "about": about}
    out["centre"] = [row.number(c, "m", what, 0.0) for c in CENTRE]
    out["inertia"] = [row.number(f"{i}_{about}", "kg*m^2", what, 0.0) for i in TENSOR]
    if row.has("part"):
        out["name"] = row.cells["part"]
    if row.has("unchecked"):
        out["unchecked"] = _flag(row, "unchecked", what)
    return out


def _flag(row: Row, column: str, what: str) -> bool:
    if row.cells[column] not in ("0", "1"):
        raise ModelError(f"'{column}' of {what} is '{row.cells[column]}'", where=row.place, fix="write 0 or 1")
    return row.cells[column] == "1"


def _carried(folder: Path, tree: dict[str, Row]) -> dict[str, Row]:
    """The row of the joint that carries each body."""
    rows = _unique(table(folder / "joints.csv", JOINTS), "body")
    carried = {row.word("body", "a row of the joints"): row for row in rows}
    for body, row in carried.items():
        if body not in tree:
            raise ModelError(f"body '{body}' is not in the tree", where=row.place, fix=nearest(body, tree))
    for body, place in tree.items():
        if body not in carried:
            fix = f"add a row for '{body}' to joints.csv"
            raise ModelError(f"body '{body}' of the tree has no joint", where=place.place, fix=fix)
    return carried


def _joints(made: Mechanism, folder: Path, tree: dict[str, Row], carried: dict[str, Row], world: str) -> None:
    passive = False
    for body, place in tree.items():
        parent = place.word("parent", f"body '{body}'")
        if parent not in tree and parent in ("0", world):
            parent = world
        if parent not in tree and parent != world:
            raise ModelError(
                f"body '{body}' hangs on an unknown body '{parent}'",
                where=place.place,
                fix=nearest(parent, [*tree, world]),
            )
        row = carried[body]
        _joint(made, body, parent, row)
        if row.has("active"):
            passive |= not _flag(row, "active", f"the joint of '{body}'")
    if passive:
        made.note("joints that are not active can be given a force all the same", Place(str(folder / "joints.csv")))


def _joint(made: Mechanism, body: str, parent: str, row: Row) -> None:
    name = row.cells.get("joint") or f"joint_{body}"
    what = f"joint '{name}'"
    given = row.word("type", what)
    kind = TYPES.get(given, given)
    if kind not in KINDS:
        fix = nearest(kind, (*KINDS, *TYPES))
        raise ModelError(f"{what} is of unknown type '{given}'", where=row.place, fix=fix)
    values: dict[str, Any] = {}
    if row.has("axis"):
        values["axis"] = NUMBERED_AXES.get(row.cells["axis"], row.cells["axis"])
    for word in ("axis", "axis2"):
        columns = [f"{word}_{a}" for a in XYZ]
        if any(row.has(c) for c in columns):
            if word in values:
                raise ModelError(
                    f"{what} has its axis twice",
                    where=row.place,
                    fix="fill in axis, or axis_x, axis_y, axis_z",
                )
            values[word] = [row.number(c, "1", what, 0.0) for c in columns]
    for word in PER_FREEDOM:
        if row.has(word):
            values[word] = _numbers(row, word, KINDS[kind].nv)
    for word in ("pitch", "friction_speed", "ratio", "offset"):
        if row.has(word):
            values[word] = row.told(word)
    if row.has("follows"):
        values["follows"] = row.cells["follows"]
    if row.has("lower") or row.has("upper"):
        ends = [_numbers(row, w, KINDS[kind].nv) if row.has(w) else None for w in ("lower", "upper")]
        nv = KINDS[kind].nv
        pairs = [[e[k] if isinstance(e, list) else e for e in ends] for k in range(nv)]
        values["limits"] = pairs[0] if nv == 1 else pairs
    source = row.source()
    made.joint(name, kind, parent, body, at=_position(row, what), **_turn(row, what), **values, source=source)


def _numbers(row: Row, column: str, count: int) -> Any:
    """One number, or with blanks between them one for each freedom, each with the unit of the column."""
    words = row.cells[column].split()
    if count > 1 and len(words) == count:
        unit = row.units.get(column, "")
        return [f"{w} {unit}".strip() for w in words]
    return row.told(column)


def _position(row: Row, what: str) -> list[float]:
    return [row.number(c, "m", what, 0.0) for c in POSITION]


def _turn(row: Row, what: str) -> dict[str, Any]:
    cosines, rpy = [c for c in COSINES if row.has(c)], [c for c in RPY if row.has(c)]
    if cosines and rpy:
        fix = "fill in rotation_roll, rotation_pitch, rotation_yaw, or c11 … c33"
        raise ModelError(f"{what} has its attitude twice", where=row.place, fix=fix)
    if cosines:
        c = [row.number(name, "1", what) for name in COSINES]
        return {"rotation": [[c[3 * j + i] for j in range(3)] for i in range(3)]}  # transposed: joint → parent
    return {"rotation": [row.number(c, "rad", what, 0.0) for c in RPY]} if rpy else {}
