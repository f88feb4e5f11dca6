"""Bodies joined by fixed joints made one: the same motion with fewer bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwork.model.describe import ORIGIN, UNTURNED, Inertial, Marker, Matrix, Vector
from linkwork.model.model import Model

Frame = tuple[Vector, Matrix]


def lumped(model: Model) -> Model:
    """The model without fixed joints: what hung on them is given to the body they were fixed to.

    Coordinates keep their order. Markers, visuals and inertial parts move along, and so does each lost body's
    own frame, as a marker of its name, so that names keep their meaning.
    """
    if not any(model.joint(i).kind == "fixed" for i in model.tree):
        return model
    host, frame = [0], [(ORIGIN, UNTURNED)]  # of each old body: the old body it is part of, its frame there
    for i in model.tree:
        joint, p = model.joint(i), model.parent[i]
        if joint.kind == "fixed":
            host.append(host[p])
            frame.append(_compose(frame[p], (joint.position, joint.rotation)))
        else:
            host.append(i)
            frame.append((ORIGIN, UNTURNED))
    kept = [i for i in range(len(model.bodies)) if host[i] == i]
    number = {old: new for new, old in enumerate(kept)}
    parts = {i: list(model.bodies[i].inertials) for i in kept}
    markers = {i: list(model.bodies[i].markers) for i in kept}
    visuals = {i: list(model.bodies[i].visuals) for i in kept}
    for i in model.tree:
        if host[i] != i:
            body, (r, R) = model.bodies[i], frame[i]
            parts[host[i]] += [moved_part(part, r, R) for part in body.inertials]
            markers[host[i]] += [Marker(body.name, r, R)] + [
                replace(m, position=_at((r, R), m.position), rotation=_product(R, m.rotation)) for m in body.markers
            ]
            visuals[host[i]] += [
                replace(x, position=_at((r, R), x.position), rotation=_product(R, x.rotation)) for x in body.visuals
            ]
    joints: list[Any] = [None]
    for i in kept[1:]:
        joint, p = model.joint(i), model.parent[i]
        r, R = _compose(frame[p], (joint.position, joint.rotation))
        joints.append(replace(joint, parent=model.bodies[host[p]].name, position=r, rotation=R))
    bodies = tuple(
        replace(model.bodies[i], inertials=tuple(parts[i]), markers=tuple(markers[i]), visuals=tuple(visuals[i]))
        for i in kept
    )
    parent = (-1, *(number[host[model.parent[i]]] for i in kept[1:]))
    return replace(model, bodies=bodies, joints=tuple(joints), parent=parent)


# Plain Python on numbers or symbols; CasADi matrices would lose the exact zeros of floats.
def _product(A: Matrix, B: Matrix) -> Matrix:
    rows = [tuple(_dot(A[i], [B[k][j] for k in range(3)]) for j in range(3)) for i in range(3)]
    return (rows[0], rows[1], rows[2])


def _dot(a: Any, b: Any) -> Any:
    return sum((x * y for x, y in zip(a, b, strict=True) if not (_is(x, 0) or _is(y, 0))), 0.0)


def _is(x: Any, value: float) -> bool:
    return isinstance(x, (int, float)) and x == value


def _at(frame: Frame, x: Vector) -> Vector:
    r, R = frame
    return (r[0] + _dot(R[0], x), r[1] + _dot(R[1], x), r[2] + _dot(R[2], x))


def _compose(outer: Frame, inner: Frame) -> Frame:
    return _at(outer, inner[0]), _product(outer[1], inner[1])


def moved_part(part: Inertial, r: Vector, R: Matrix) -> Inertial:
    """A part told in other axes: R turns its old axes into the new ones, r is the old origin in the new frame."""
    xx, yy, zz, xy, xz, yz = part.inertia
    tensor: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    transposed: Matrix = tuple(zip(*R, strict=True))  # type: ignore[assignment]
    I = _product(_product(R, tensor), transposed)
    inertia = (I[0][0], I[1][1], I[2][2], I[0][1], I[0][2], I[1][2])
    return replace(part, centre=_at((r, R), part.centre), inertia=inertia)
