"""A model as YAML text. Numbers are written so that they read back as the same ones."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from linkwork.errors import ModelError
from linkwork.model.describe import ORIGIN, UNTURNED, Body, Inertial, Joint, Law, Marker, Visual
from linkwork.model.formula import Formula, Moving
from linkwork.model.joints import KINDS
from linkwork.model.laws import Ready
from linkwork.model.model import Model
from linkwork.model.yamltree import is_plain

PER_FREEDOM = ("damping", "stiffness", "rest", "friction", "armature")


def text_of(model: Model, folder: Path) -> str:
    """The whole file. Meshes are told relative to `folder`; those outside are left out with a remark."""
    top: dict[str, Any] = {"name": model.name, "gravity": model.gravity}
    world = _body(model.bodies[0], folder)
    if model.bodies[0].name != "world":
        world = {"name": model.bodies[0].name} | world
    if world:
        top["world"] = world
    top["bodies"] = {b.name: _body(b, folder) for b in model.bodies[1:]}
    top["joints"] = {model.joint(i).name: _joint(model.joint(i)) for i in model.tree}
    top |= {"laws": {law.name: _law(law) for law in model.laws}} if model.laws else {}
    top |= {"constants": dict(model.constants)} if model.constants else {}
    top |= {"parameters": list(model.parameters)} if model.parameters else {}
    top |= {"start": dict(model.start)} if model.start else {}
    return "# SI units and radians\n" + "\n".join(_lines(top, 0)) + "\n"


def _body(body: Body, folder: Path) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if len(body.inertials) == 1 and not body.inertials[0].name:
        out |= _part(body.inertials[0])
    elif body.inertials:
        out["parts"] = [_part(p) for p in body.inertials]
    if body.markers:
        out["markers"] = {m.name: _placed(m) for m in body.markers}
    if body.visuals:
        out["visuals"] = [_visual(v, folder) for v in body.visuals]
    return out


def _part(part: Inertial) -> dict[str, Any]:
    out: dict[str, Any] = {"name": part.name} if part.name else {}
    out |= {"mass": part.mass, "centre": part.centre, "inertia": part.inertia}
    return out | ({"unchecked": True} if part.unchecked else {})


def _placed(thing: Marker | Visual | Joint) -> dict[str, Any]:
    out: dict[str, Any] = {"at": thing.position} if thing.position != ORIGIN else {}
    return out | ({"rotation": thing.rotation} if thing.rotation != UNTURNED else {})


def _visual(visual: Visual, folder: Path) -> dict[str, Any] | str:
    out: dict[str, Any] = {"shape": visual.shape, "size": visual.size, **_placed(visual)}
    if visual.color is not None:
        out["color"] = visual.color
    if visual.file is not None:
        file, root = Path(visual.file).resolve(), folder.resolve()
        if not file.is_relative_to(root):
            return f"mesh left out, it lies outside this folder: {visual.file}"
        out["file"] = file.relative_to(root).as_posix()
    return out


def _joint(joint: Joint) -> dict[str, Any]:
    kind = KINDS[joint.kind]
    out: dict[str, Any] = {"kind": joint.kind, "parent": joint.parent, "child": joint.child, **_placed(joint)}
    if kind.nv and kind.quaternion is None:
        out["axis"] = joint.axis
    if joint.kind == "universal":
        out["axis2"] = joint.axis2
    if joint.kind == "helical":
        out["pitch"] = joint.pitch
    for word in PER_FREEDOM:
        if any(getattr(joint, word)):
            out[word] = _each(getattr(joint, word))
    if joint.friction_speed != Joint.friction_speed:
        out["friction_speed"] = joint.friction_speed
    if any(math.isfinite(x) for x in (*joint.lower, *joint.upper)):
        pairs = [[_or_none(a), _or_none(b)] for a, b in zip(joint.lower, joint.upper, strict=True)]
        out["limits"] = pairs[0] if len(pairs) == 1 else pairs
    for word in ("effort", "velocity"):
        if any(math.isfinite(x) for x in getattr(joint, word)):
            out[word] = _each(getattr(joint, word))
    if joint.coupling is not None:
        c = joint.coupling
        out |= {"follows": c.leader, "ratio": c.ratio, "offset": c.offset}
    if joint.motion is not None:
        out["motion"] = _motion(joint)
    return out


def _each(values: Sequence[float]) -> Any:
    return values[0] if len(values) == 1 else values


def _or_none(x: float) -> float | None:
    return x if math.isfinite(x) else None


def _motion(joint: Joint) -> dict[str, Any]:
    motion = joint.motion
    if not isinstance(motion, Moving):
        text = f"the motion of joint '{joint.name}' is a Python function"
        raise ModelError(text, where=joint.source, fix="give it as formulas of time to write it to a file")
    word = "quat_wxyz" if len(motion.rotation) == 4 else "rotation"
    return {"position": [_told(x) for x in motion.position], word: [_told(x) for x in motion.rotation]}


def _told(x: Any) -> Any:
    return x.text if isinstance(x, Formula) else x


def _law(law: Law) -> dict[str, Any]:
    made = law.function
    if not isinstance(made, Ready):
        text = f"law '{law.name}' is a Python function and cannot be written to a file"
        raise ModelError(text, where=law.source, fix="remove it with model.replace(laws=…), or use a ready-made law")
    return {"kind": made.kind, **{k: _told(getattr(made, k)) for k in (*made.names, *made.numbers)}}


# --- YAML ---
def _lines(value: Mapping[str, Any], indent: int) -> Iterator[str]:
    pad = " " * indent
    for key, entry in value.items():
        if isinstance(entry, Mapping) and entry and (indent < 4 or not _is_short(entry)):
            yield f"{pad}{_word(key)}:"
            yield from _lines(entry, indent + 2)
        elif isinstance(entry, list) and entry and isinstance(entry[0], (Mapping, str)) and key != "parameters":
            if key in ("parts", "visuals"):
                yield f"{pad}{_word(key)}:"
                yield from (f"{pad}  # {e}" if isinstance(e, str) else f"{pad}  - {_flow(e)}" for e in entry)
            else:
                yield f"{pad}{_word(key)}: {_flow(entry)}"
        else:
            yield f"{pad}{_word(key)}: {_flow(entry)}"


def _is_short(entry: Mapping[str, Any]) -> bool:
    return len(_flow(entry)) < 90


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_word(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return _word(value) if isinstance(value, str) else _number(float(value))


def _number(x: float) -> str:
    if not math.isfinite(x):
        return ".nan" if math.isnan(x) else ".inf" if x > 0 else "-.inf"
    return str(int(x)) if x == int(x) and abs(x) < 1e6 and not (x == 0 and math.copysign(1, x) < 0) else repr(x)


def _word(text: str) -> str:
    return text if is_plain(text) else json.dumps(text, ensure_ascii=False)
