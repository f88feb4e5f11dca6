"""`check` and `show`: what a model file holds, and whether it can be a mechanism."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.commands import tell
from linkwork.errors import Place
from linkwork.model import check as checking
from linkwork.model.check import inertia_fault, moments
from linkwork.model.describe import Body, Inertial, Joint
from linkwork.model.model import Model
from linkwork.model.read import read

LARGEST = 60  # freedoms up to which the mass matrix is looked at
SINGULAR = 1e-13  # smallest eigenvalue of the mass matrix, its diagonal being 1


def check(file: str, options: dict[str, Any], as_json: bool) -> int:
    model = read(file, **options)
    stuck, odd = unmoved(model), impossible(model)
    faults = stuck + odd
    found = {**summary(model, file), "ok": not faults, "faults": faults, "notes": notes(model)}
    if as_json:
        tell.as_json(found)
        return 1 if faults else 0
    kinds = ", ".join(f"{n} {kind}" for kind, n in found["joint_kinds"].items())
    print(model)
    print()
    print(f"joints      {kinds or 'none'}")
    print(f"freedoms    {model.nv} (nq {model.nq}, nv {model.nv})")
    print(f"mass        {tell.number(found['mass'])} kg in {found['bodies_with_mass']} bodies")
    print(f"inertias    {_inertias(model)}")
    for title, key in (("fault", "faults"), ("note", "notes")):
        for note in found[key]:
            print(f"{title:<12}{note['where'] + ': ' if note['where'] else ''}{note['text']}")
            if "fix" in note:
                print(f"{'  fix:':<12}{note['fix']}")
    verdict = (
        "cannot be simulated"
        if stuck
        else "can be simulated, as a body that cannot exist"
        if odd
        else "can be simulated"
    )
    print(f"{'not ok' if faults else 'ok':<12}{file} {verdict}")
    return 1 if faults else 0


def summary(model: Model, file: str) -> dict[str, Any]:
    weights = [mass(body) for body in model.bodies[1:]]
    return {
        "ok": True,
        "file": file,
        "model": model.name,
        "bodies": len(model.bodies) - 1,
        "bodies_with_mass": sum(m > 0 for m in weights),
        "joint_kinds": dict(Counter(model.joint(i).kind for i in model.tree).most_common()),
        "nq": model.nq,
        "nv": model.nv,
        "q": list(model.q_names),
        "v": list(model.v_names),
        "mass": sum(weights),
        "gravity": [float(g) for g in model.gravity],
        "parameters": {name: float(model.values[name]) for name in model.parameters},
        "laws": [law.name for law in model.laws],
    }


def mass(body: Body) -> float:
    return sum(float(part.mass) for part in body.inertials)


def notes(model: Model) -> list[dict[str, Any]]:
    """What the reader met and did not use."""
    return [
        {
            "text": note.text,
            "where": _short(note.source),
            "line": note.source.line if note.source else None,
        }
        for note in model.notes
    ]


def unmoved(model: Model) -> list[dict[str, Any]]:
    """Joints that move no mass: such a model can be read, but what it does is not defined."""
    found = []
    for joint in map(model.joint, checking.unmoved(model)):
        found.append(_fault(f"joint '{joint.name}' moves no mass, so its acceleration is not defined", joint))
    if not found and 0 < model.nv <= LARGEST:
        found += _singular(model)
    return found


def impossible(model: Model) -> list[dict[str, Any]]:
    """Inertias that no solid can have; a URDF with such is read all the same, since the wild is full of them."""
    found = []
    for body in model.bodies:
        for part in body.inertials:
            if fault := inertia_fault(part):
                where = part.source or body.source
                found.append(
                    {
                        "text": f"inertia of body '{body.name}' {fault[0]}",
                        "where": _short(where),
                        "line": where.line if where else None,
                        "fix": fault[1],
                    }
                )
    return found


def _singular(model: Model) -> list[dict[str, Any]]:
    """A direction in which the mechanism has no inertia at its start."""
    import linkwork as lw

    inputs = [model.values[name] for name in model.parameters]
    M = np.array(lw.equations(model, lw.crba).casadi(lw.system(model).start()[0, : model.nq], *inputs))
    size = np.sqrt(np.diag(M))
    if not np.all(size > 0):
        worst, value = int(np.argmin(size)), 0.0
    else:
        values, vectors = np.linalg.eigh(M / np.outer(size, size))
        worst, value = int(np.argmax(np.abs(vectors[:, 0]))), float(values[0])
    if value > SINGULAR:
        return []
    name = model.v_names[worst]
    joint = model.joint(model.joint_index[name.rpartition(".")[0]])
    return [_fault(f"there is no inertia about joint '{joint.name}' at the start, so nothing can run", joint)]


def _fault(text: str, joint: Joint) -> dict[str, Any]:
    return {"text": text, "where": _short(joint.source), "line": joint.source.line if joint.source else None}


def _short(place: Place | None) -> str | None:
    """The file's name and the line."""
    return None if place is None else str(Place(Path(place.file).name, place.line))


def _inertias(model: Model) -> str:
    """Parts that were read although no solid can have their moments have a note as well."""
    odd = [b.name for b in model.bodies for p in b.inertials if p.unchecked and inertia_fault(p)]
    return f"no solid has those of {', '.join(dict.fromkeys(odd))}" if odd else "every solid could have them"


# --- show ---
def show(file: str, options: dict[str, Any], as_json: bool) -> int:
    model = read(file, **options)
    if as_json:
        tell.as_json({**summary(model, file), **tables(model), "notes": notes(model)})
        return 0
    print(model)
    print()
    parts = tables(model)
    rows = [
        (b["name"], tell.number(b["mass"]), tell.numbers(b["centre"]), tell.numbers(b["moments"]))
        for b in parts["bodies"]
    ]
    tell.table("bodies", ("body", "mass [kg]", "centre [m]", "principal moments [kg m²]"), rows, (1,))
    tell.table(
        "joints", ("joint", "kind", "parent → child", "at [m]", "axis", "what acts in it", "coordinates"),
        [
            (j["name"], j["kind"], f"{j['parent']} → {j['child']}", tell.numbers(j["position"]),
             tell.numbers(j["axis"]) if j["axis"] else "", _acting(j), ", ".join(j["coordinates"]))
            for j in parts["joints"]
        ],
    )  # fmt: skip
    rows = [(m["name"], m["body"], tell.numbers(m["position"])) for m in parts["markers"]]
    tell.table("markers", ("marker", "body", "at [m]"), rows)
    rows = [(name, tell.number(model.values[name])) for name in model.parameters]
    tell.table("parameters", ("parameter", "value"), rows, (1,))
    units = dict(zip((*model.q_names, *model.v_names), (*model.q_units, *model.v_units), strict=True))
    rows = [(name, tell.number(value), units.get(name, "")) for name, value in model.start.items()]
    tell.table("start", ("coordinate or speed", "value", "unit"), rows, (1,))
    rows = [(note["where"] or "", note["text"]) for note in notes(model)]
    tell.table("notes", ("where", "what"), rows)
    return 0


def tables(model: Model) -> dict[str, list[dict[str, Any]]]:
    bodies = [_body(body) for body in model.bodies[1:]]
    joints = [_joint(model, i) for i in model.tree]
    markers = [
        {
            "name": m.name,
            "body": body.name,
            "position": list(m.position),
            "rotation": [list(r) for r in m.rotation],
        }
        for body in model.bodies
        for m in body.markers
    ]
    return {"bodies": bodies, "joints": joints, "markers": markers}


def _body(body: Body) -> dict[str, Any]:
    whole = together(body)
    return {
        "name": body.name,
        "mass": whole.mass,
        "centre": list(whole.centre),
        "inertia_xx_yy_zz_xy_xz_yz": list(whole.inertia),
        "moments": list(moments(whole)),
        "parts": len(body.inertials),
    }


def together(body: Body) -> Inertial:
    """All parts of a body as one: inertia about the common centre, in body axes."""
    if len(body.inertials) == 1:
        return body.inertials[0]
    total = mass(body)
    centre = sum((float(p.mass) * np.array(p.centre, float) for p in body.inertials), np.zeros(3)) / (total or 1)
    tensor = np.zeros(6)
    for part in body.inertials:
        x, y, z = np.array(part.centre, float) - centre
        off = np.array([y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z])
        tensor += np.array(part.inertia, float) + float(part.mass) * off
    (cx, cy, cz), (xx, yy, zz, xy, xz, yz) = centre.tolist(), tensor.tolist()
    return Inertial(total, (cx, cy, cz), (xx, yy, zz, xy, xz, yz))


_TOLD = ("damping", "stiffness", "rest", "friction", "armature", "effort", "velocity")


def _joint(model: Model, i: int) -> dict[str, Any]:
    joint, kind = model.joint(i), model.kind(i)
    turning = joint.kind not in ("fixed", "free", "spherical", "prescribed")
    coupling, names = joint.coupling, [name or joint.name for name, _ in kind.coordinates]
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "child": joint.child,
        "position": list(joint.position),
        "rotation": [list(row) for row in joint.rotation],
        "axis": list(joint.axis) if turning else None,
        "coordinates": [] if coupling else names,
        "limits": [list(pair) for pair in zip(joint.lower, joint.upper, strict=True)],
        "follows": coupling and {"joint": coupling.leader, "ratio": coupling.ratio, "offset": coupling.offset},
        **{word: list(getattr(joint, word)) for word in _TOLD},
    }


def _acting(j: dict[str, Any]) -> str:
    words = [f"{w} {tell.numbers(j[w])}" for w in _TOLD[:5] if any(float(x) for x in j[w])]
    words += [f"{w} ≤ {tell.numbers(j[w])}" for w in _TOLD[5:] if any(math.isfinite(x) for x in j[w])]
    words += [
        f"limits {tell.number(a)} … {tell.number(b)}" for a, b in j["limits"] if math.isfinite(a) or math.isfinite(b)
    ]
    if j["follows"]:
        f = j["follows"]
        words.append(f"= {tell.number(f['ratio'])} · {f['joint']} + {tell.number(f['offset'])}")
    return "; ".join(words)
