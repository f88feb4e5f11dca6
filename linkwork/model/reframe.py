"""Other frames for the same bodies, chosen so that more numbers are zero or one: the same motion, fewer products.

A body on a revolute joint may have its origin anywhere on the joint's axis, and its axes turned about it by any fixed
angle; the joint's angle stays what it was. Markers and visuals stay where they are in space.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.model.describe import UNTURNED, Body, Inertial, Joint, Marker, Matrix, Vector
from linkwork.model.lump import lumped, moved_part
from linkwork.model.model import Model

ROUNDING = 1e-14  # sums and products of placements: what is nearer to 0 or ±1 than this is made so
TURNING = ("revolute", "continuous")


def simplest(model: Model) -> Model:
    """Lumped and reframed: for formulations whose results name no body's frame."""
    return reframed(lumped(model))


def reframed(model: Model) -> Model:
    """The model with every revolute body's frame turned about and slid along its joint's axis where that pays.

    Bodies with symbols among the numbers concerned keep their frames.
    """
    joints = [None, *(model.joint(i) for i in model.tree)]
    bodies = list(model.bodies)
    for i in model.tree:
        joint = joints[i]
        assert joint is not None
        near = [joint, *(joints[k] for k in model.children(i))]
        if joint.kind not in TURNING or not all(j is not None and _numeric(j) for j in near):
            continue
        if not _numeric_body(bodies[i]):
            continue
        place, turn = _turned(joint)
        shift = _slid(joint, place, [(joints[k], turn) for k in model.children(i)])
        if turn is None and not np.any(shift):
            continue
        turn = np.eye(3) if turn is None else turn
        joints[i] = replace(
            joint, rotation=_rows(place), position=_three(_clean(np.array(joint.position) + place @ shift))
        )
        bodies[i] = _body(bodies[i], shift, turn)
        for k in model.children(i):
            child = joints[k]
            assert child is not None
            joints[k] = replace(
                child,
                position=_three(_clean(turn.T @ np.array(child.position) - shift)),
                rotation=_rows(_clean(turn.T @ np.array(child.rotation))),
            )
    return replace(model, joints=tuple(joints), bodies=tuple(bodies))


def _numeric(joint: Joint) -> bool:
    return all(isinstance(x, (int, float)) for x in (*joint.position, *joint.axis))


def _numeric_body(body: Body) -> bool:
    parts = body.inertials
    return all(isinstance(x, (int, float)) for p in parts for x in (*p.centre, *p.inertia)) and all(
        isinstance(x, (int, float)) for m in body.markers for x in m.position
    )


def _turned(joint: Joint) -> tuple[np.ndarray, np.ndarray | None]:
    """The joint's rotation times a turn about its axis that leaves the fewest general entries, and that turn."""
    R, axis = np.array(joint.rotation, float), np.array(joint.axis, float)
    k = int(np.argmax(np.abs(axis)))
    best, found = (_general(R), 0.0), (R, None)
    if np.abs(axis[k]) != 1.0 or best[0] == 0:
        return found
    i, j = (k + 1) % 3, (k + 2) % 3
    for row in R:
        if abs(row[i]) + abs(row[j]) < ROUNDING:
            continue
        for quarter in range(4):
            angle = np.arctan2(row[j], row[i]) + quarter * np.pi / 2
            turn = np.eye(3)
            turn[i, i] = turn[j, j] = np.cos(angle)
            turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
            made = _clean(R @ turn)
            if (_general(made), -float(np.trace(made))) < best:
                best, found = (_general(made), -float(np.trace(made))), (made, _clean(turn))
    return found if best[0] < _general(R) else (R, None)


def _slid(joint: Joint, place: np.ndarray, children: list) -> np.ndarray:
    """A shift of the origin along the axis, in the body's new axes, that leaves the fewest components of placements."""
    axis, along = np.array(joint.axis, float), place @ np.array(joint.axis, float)
    at = np.array(joint.position, float)
    below = [np.array(c.position) if turn is None else turn.T @ np.array(c.position) for c, turn in children]
    candidates = [-at[b] / along[b] for b in range(3) if abs(along[b]) > 1e-9]
    candidates += [p[b] / axis[b] for p in below for b in range(3) if abs(axis[b]) > 1e-9]

    def left(s: float) -> int:
        return _count(_clean(at + s * along)) + sum(_count(_clean(p - s * axis)) for p in below)

    best = min([0.0, *candidates], key=lambda s: (left(s), abs(s)))
    return best * axis


def _body(body: Body, shift: np.ndarray, turn: np.ndarray) -> Body:
    """A body told in a frame at `shift` (new axes) from the old one, turned by `turn` (new axes → old axes)."""
    back: Matrix = _rows(turn.T)
    away: Vector = _three(-shift)

    def part(p: Inertial) -> Inertial:
        moved = moved_part(p, away, back)
        return replace(moved, centre=_three(_clean(np.array(moved.centre))), inertia=moved.inertia)

    def marker(m: Marker) -> Marker:
        rotation = _rows(_clean(turn.T @ np.array(m.rotation)))
        return replace(m, position=_three(_clean(turn.T @ np.array(m.position) - shift)), rotation=rotation)

    own = () if not np.any(shift) and back == UNTURNED else (Marker(body.name, away, back),)
    return replace(
        body, inertials=tuple(map(part, body.inertials)), markers=(*own, *map(marker, body.markers)), visuals=()
    )


def _general(R: np.ndarray) -> int:
    """Entries that are neither 0 nor ±1."""
    return int(np.sum((np.abs(R) > 1e-12) & (np.abs(np.abs(R) - 1) > 1e-12)))


def _count(r: np.ndarray) -> int:
    return int(np.sum(np.abs(r) > 1e-12))


def _clean(x: np.ndarray) -> np.ndarray:
    out = np.array(x, float)
    for exact in (0.0, 1.0, -1.0):
        out[np.abs(out - exact) < ROUNDING] = exact
    return out


def _rows(R: np.ndarray) -> Matrix:
    a, b, c = (tuple(map(float, row)) for row in R)
    return a, b, c  # type: ignore[return-value]


def _three(r: np.ndarray) -> Vector:
    return float(r[0]), float(r[1]), float(r[2])
