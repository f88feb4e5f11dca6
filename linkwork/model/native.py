"""Our own model files, in YAML: read and written; what was written reads back as the same numbers.

    name: pendulum
    gravity: [0, 0, -9.81 m/s^2]        # required
    bodies:
      rod:
        mass: 2 kg
        centre: [0, 0, -0.5]            # SI where no unit is told
        inertia: [0.17, 0.17, 0]        # about the centre; 3 moments, 6 values (xx yy zz xy xz yz) or 3 rows
        markers: {tip: {at: [0, 0, -1]}}
    joints:
      hinge: {kind: revolute, parent: world, child: rod, axis: y, damping: 0.1 N*m*s/rad}
    world: {markers: {hook: {at: [1, 0, 0]}}}
    laws:
      strut: {kind: spring, marker_a: tip, marker_b: hook, stiffness: 200 N/m}
    constants: {gain: 3}
    parameters: [rod.mass, strut.stiffness]
    start: {hinge: 30 deg, hinge.rate: 0.2}

The keys of bodies, joints, markers and visuals are the arguments of the `Mechanism` methods of the same name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.errors import ModelError, Place
from linkwork.model import files, laws, masses, native_write
from linkwork.model.forms import Source
from linkwork.model.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.model.yamltree import Node, parse

SECTIONS = ("name", "gravity", "world", "bodies", "joints", "laws", "constants", "parameters", "start")


def _keys(method: Callable[..., Any], *without: str) -> tuple[str, ...]:
    return tuple(k for k in inspect.signature(method).parameters if k not in ("self", "name", "source", *without))


BODY = (*_keys(Mechanism.body), "markers", "visuals")
JOINT = _keys(Mechanism.joint)
WORLD = ("name", "markers", "visuals", "mass", "centre", "inertia", "unchecked", "parts")
MARKER = _keys(Mechanism.marker, "body")
VISUAL = _keys(Mechanism.visual, "body")
WORDS = (
    *("kind", "parent", "child", "follows", "shape", "about", "name", "file"),
    *dict.fromkeys(key for law in laws.READY.values() for key in law.names),
)


def read_yaml(path: str | PathLike[str]) -> Model:
    """The Model in a YAML file."""
    file = Path(path)
    top = parse(file, SECTIONS)
    sections = top.mapping("the model", SECTIONS)
    for needed, example in (("gravity", "[0, 0, -9.81]"), ("bodies", "{}"), ("joints", "{}")):
        if needed not in sections:
            raise ModelError(f"the model has no '{needed}'", where=top.place, fix=f"add {needed}: {example}")
    empty = Node(str(path), top.line, None)
    world = sections.get("world", empty).mapping("the world", WORLD)
    name = sections["name"].word("the name of the model") if "name" in sections else file.stem
    made = Mechanism(
        name,
        sections["gravity"].plain(),
        world=world["name"].word("the name of the world") if "name" in world else "world",
        source=top.source(),
    )
    made.folder = str(file.parent)
    for title, node in sections["bodies"].mapping("bodies").items():
        _body(made, title, node)
    if any(k in world for k in ("mass", "parts")):
        given = {k: n for k, n in world.items() if k in masses.PART_KEYS and k != "name"}
        nodes = world.get("parts", empty).items("parts of the world")
        parts = [_plain(n.mapping("a part of the world", masses.PART_KEYS), "a part of the world") for n in nodes]
        made.world_mass(_plain(given, "the world") | {"parts": parts}, sections["world"].source())
    _frames(made, made.world, world, file.parent)
    for title, node in sections["bodies"].mapping("bodies").items():
        _frames(made, title, node.mapping(f"body '{title}'"), file.parent)
    for title, node in sections["joints"].mapping("joints").items():
        given = _plain(node.mapping(f"joint '{title}'", JOINT), f"joint '{title}'")
        source = node.source()
        for end in ("kind", "parent", "child"):
            if given.get(end) is None:
                raise ModelError(f"joint '{title}' has no {end}", where=source.at(end), fix=f"add {end}: …")
        made.joint(title, **given, source=source)
    _rest(made, sections, empty)
    return made.build()


def write_yaml(model: Model, path: str | PathLike[str]) -> None:
    """Write the model; laws and motions written in Python are refused by name."""
    file = Path(path)
    text = native_write.text_of(model, file.parent)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ModelError(f"cannot be written: {error.strerror}", where=Place(str(path)), fix="check the path") from None


def _plain(nodes: dict[str, Node], what: str) -> dict[str, Any]:
    """Plain values by key; names are text even when they look like numbers."""
    for k, n in nodes.items():
        if k in WORDS and isinstance(n.value, (list, dict)):
            raise ModelError(f"'{k}' of {what} is not a name", where=n.place, fix="write a name")
    return {k: n.text if k in WORDS and n.text else n.plain() for k, n in nodes.items()}


def _body(made: Mechanism, title: str, node: Node) -> None:
    what, source = f"body '{title}'", node.source()
    nodes = node.mapping(what, BODY)
    given = _plain({k: n for k, n in nodes.items() if k not in ("markers", "visuals")}, what)
    if "parts" in nodes:
        parts = nodes["parts"].items(f"parts of {what}")
        given["parts"] = [_plain(n.mapping(f"a part of {what}", masses.PART_KEYS), f"a part of {what}") for n in parts]
        source = Source(source.place, {**source.keys, **{f"parts.{k}": n.place for k, n in enumerate(parts)}})
    made.body(title, **given, source=source)


def _frames(made: Mechanism, body: str, nodes: dict[str, Node], folder: Path) -> None:
    """Markers and visuals of a body."""
    what = f"body '{body}'"
    for title, node in nodes["markers"].mapping(f"markers of {what}").items() if "markers" in nodes else ():
        given = _plain(node.mapping(f"marker '{title}'", MARKER), f"marker '{title}'")
        made.marker(title, body, **given, source=node.source())
    for node in nodes["visuals"].items(f"visuals of {what}") if "visuals" in nodes else ():
        given = _plain(node.mapping(f"a visual of {what}", VISUAL), f"a visual of {what}")
        source = node.source()
        if "shape" not in given:
            raise ModelError(f"a visual of {what} has no shape", where=source.place, fix="add shape: box")
        if given.get("file") is not None:
            given["file"] = _mesh(made, given["file"], folder, source, what)
            if given["file"] is None:
                continue
        made.visual(body, **given, source=source)


def _mesh(made: Mechanism, name: str, folder: Path, source: Source, what: str) -> str | None:
    try:
        found = files.inside(name, [folder])
    except files.Outside:
        text = f"mesh '{name}' of {what} lies outside the folder of the model"
        raise ModelError(text, where=source.at("file"), fix="put it into the folder, or below it") from None
    if found is None:
        made.note(f"mesh '{name}' of {what} is not found", source.at("file"))
    return str(found) if found else None


def _rest(made: Mechanism, sections: dict[str, Node], empty: Node) -> None:
    for title, node in sections.get("laws", empty).mapping("laws").items():
        what, source = f"law '{title}'", node.source()
        made.law(laws.of_mapping(_plain(node.mapping(what), what), source, what), title, source=source)
    constants = sections.get("constants", empty)
    for title, node in constants.mapping("constants").items():
        made.constant(title, node.plain(), source=Source(node.place))
    for node in sections.get("parameters", empty).items("parameters"):
        made.parameter(node.word("a parameter"), source=Source(node.place))
    start = sections.get("start", empty)
    made.start({k: n.plain() for k, n in start.mapping("start").items()}, source=start.source())
