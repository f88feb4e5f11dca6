"""Every number of a model by name, read and written back. The names serve errors, parameters and legends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linkwork.errors import ModelError, nearest
from linkwork.model.describe import Body, Inertial, Joint, Marker
from linkwork.model.joints import KINDS

if TYPE_CHECKING:
    from linkwork.model.model import Model

AXES = ("x", "y", "z")
INERTIA = ("xx", "yy", "zz", "xy", "xz", "yz")
PER_FREEDOM = ("damping", "stiffness", "rest", "friction", "armature")
Path = tuple[Any, ...]


def _vector(owner: str, path: Path, count: tuple[str, ...] = AXES) -> Iterator[tuple[str, Path]]:
    for k, axis in enumerate(count):
        yield f"{owner}.{axis}", (*path, k)


def _of_body(body: Body, at: Path, joints: Mapping[str, int]) -> Iterator[tuple[str, Path]]:
    for k, part in enumerate(body.inertials):
        owner = body.name if len(body.inertials) == 1 else f"{body.name}.{part.name or k + 1}"
        path = (*at, "inertials", k)
        yield f"{owner}.mass", (*path, "mass")
        yield from _vector(f"{owner}.centre", (*path, "centre"))
        yield from _vector(f"{owner}.inertia", (*path, "inertia"), INERTIA)
    for k, marker in enumerate(body.markers):
        owner = f"{body.name}.{marker.name}" if marker.name in joints else marker.name
        yield from _vector(f"{owner}.position", (*at, "markers", k, "position"))


def _of_joint(joint: Joint, at: Path) -> Iterator[tuple[str, Path]]:
    kind = KINDS[joint.kind]
    yield from _vector(f"{joint.name}.position", (*at, "position"))
    if joint.kind == "helical":
        yield f"{joint.name}.pitch", (*at, "pitch")
    for word in PER_FREEDOM:
        for k, _ in enumerate(getattr(joint, word)):
            component = kind.speeds[k][0].removesuffix("_rate") if kind.nv > 1 else ""
            yield f"{joint.name}.{word}" + (f".{component}" if component else ""), (*at, word, k)
    if any(joint.friction):
        yield f"{joint.name}.friction_speed", (*at, "friction_speed")
    if joint.coupling is not None:
        yield f"{joint.name}.ratio", (*at, "coupling", "ratio")
        yield f"{joint.name}.offset", (*at, "coupling", "offset")


def paths(model: Model) -> dict[str, Path]:
    """Name → where it is. A marker named like a joint is told with its body: `arm.elbow.position.x`."""
    found: dict[str, Path] = dict(_vector("gravity", ("gravity",)))
    found.update({name: ("constants", name) for name in model.constants})
    for i, body in enumerate(model.bodies):
        for name, path in _of_body(body, ("bodies", i), model.joint_index):
            _put(found, name, path)
    for k, law in enumerate(model.laws):  # the numbers of ready-made laws
        for word in getattr(law.function, "numbers", ()):
            if isinstance(getattr(law.function, word), (float, int)) or hasattr(
                getattr(law.function, word), "is_symbolic"
            ):
                _put(found, f"{law.name}.{word}", ("laws", k, "function", word))
    for i in model.tree:
        for name, path in _of_joint(model.joint(i), ("joints", i)):
            _put(found, name, path)
    return found


def _put(found: dict[str, Path], name: str, path: Path) -> None:
    if name in found:
        raise ModelError(f"two numbers of the model are both named '{name}'", fix="rename a body, joint or marker")
    found[name] = path


def _get(thing: Any, path: Path) -> Any:
    for step in path:
        thing = getattr(thing, step) if isinstance(step, str) and hasattr(thing, step) else thing[step]
    return thing


def _set(thing: Any, changes: dict[Path, Any]) -> Any:
    """A copy of nested frozen records, tuples and dictionaries with the ends of some paths changed."""
    if () in changes:
        return changes[()]
    below: dict[Any, dict[Path, Any]] = {}
    for path, value in changes.items():
        below.setdefault(path[0], {})[path[1:]] = value
    if isinstance(thing, Mapping):
        return {**thing, **{k: _set(thing[k], sub) for k, sub in below.items()}}
    if isinstance(thing, tuple):
        items = list(thing)
        for k, sub in below.items():
            items[k] = _set(items[k], sub)
        return tuple(items)
    assert isinstance(thing, (Body, Inertial, Joint, Marker)) or hasattr(thing, "__dataclass_fields__")
    return replace(thing, **{k: _set(getattr(thing, k), sub) for k, sub in below.items()})


def read(model: Model) -> dict[str, Any]:
    return {name: _get(model, path) for name, path in paths(model).items()}


def write(model: Model, values: Mapping[str, Any]) -> Model:
    known = paths(model)
    for name in values:
        if name not in known:
            raise ModelError(f"the model '{model.name}' has no number '{name}'", fix=nearest(name, known))
    return _set(model, {known[name]: value for name, value in values.items()})
