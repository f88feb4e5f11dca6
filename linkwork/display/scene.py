"""What is drawn of a mechanism: lines fixed to its frames, and strings between points of two frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwork.display.style import PALETTE
from linkwork.model.describe import Body, Visual
from linkwork.model.model import Model

Point = tuple[float, float, float]
GROUND = "#999999"
ROUND = 48  # corners of a circle
ARM = 0.04  # of the cross at a centre of mass, as a part of the mechanism's size


@dataclass(frozen=True)
class Wire:
    """Lines in the axes of a frame, `world` being the ground's; without `turns` they keep the ground's axes."""

    frame: str
    lines: tuple[tuple[Point, ...], ...]
    color: str = PALETTE[0]
    turns: bool = True


@dataclass(frozen=True)
class String:
    """A straight line from a point of one frame to a point of another."""

    a: tuple[str, Point]
    b: tuple[str, Point]
    color: str = "#444444"


@dataclass(frozen=True)
class Scene:
    """`follow`: the frame that stands still in the picture; `view`: from its axes to those of the picture (x to the
    right, y away, z up); `size`: half the width that is seen at first [m]."""

    wires: tuple[Wire, ...]
    strings: tuple[String, ...] = ()
    follow: str = "world"
    view: tuple[Point, Point, Point] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    size: float | None = None

    @property
    def frames(self) -> tuple[str, ...]:
        every = [w.frame for w in self.wires] + [end[0] for s in self.strings for end in (s.a, s.b)] + [self.follow]
        return tuple(dict.fromkeys(f for f in every if f != "world"))


def scene_of(model: Model, follow: str | None = None) -> Scene:
    """The shapes of the bodies; of a body without any, lines to its children, its markers and its centre of mass."""
    wires = [Wire("world", (*_axes(0.1 * _size(model)), *_skeleton(model, 0)), GROUND)]
    for i in model.tree:
        body = model.bodies[i]
        seen = [line for visual in body.visuals for line in outline(visual)]
        lines = tuple(seen or _skeleton(model, i))
        if lines:
            wires.append(Wire(body.name, lines, PALETTE[(i - 1) % len(PALETTE)]))
    return Scene(tuple(wires), follow=follow or "world")


def _skeleton(model: Model, i: int) -> list[tuple[Point, ...]]:
    body, origin = model.bodies[i], (0.0, 0.0, 0.0)
    ends = [_point(model.joint(k).position) for k in model.children(i)]
    ends += [_point(m.position) for m in body.markers]
    lines = [(origin, end) for end in ends if any(end)]
    return lines + [line for c in _centre(body) for line in cross(c, ARM * _size(model))]


def _centre(body: Body) -> Iterable[Point]:
    parts = [(float(p.mass), np.array(_point(p.centre))) for p in body.inertials]
    mass = sum(m for m, _ in parts)
    return [_point(sum(m * c for m, c in parts) / mass)] if mass > 0 else []


def _size(model: Model) -> float:
    """About how large the mechanism is: the longest step from a joint to the next."""
    steps = [math.dist(_point(model.joint(i).position), (0, 0, 0)) for i in model.tree]
    return max([*steps, *(math.dist(c, (0, 0, 0)) for b in model.bodies for c in _centre(b)), 1e-3])


def _point(xyz: Any) -> Point:
    x, y, z = (float(e) for e in xyz)
    return x, y, z


# --- outlines --------------------------------------------------------------------------------------------------------
def outline(visual: Visual) -> list[tuple[Point, ...]]:
    """A shape's edges in its body's axes; of a mesh nothing is known but its place."""
    s = visual.size
    if visual.shape == "box":
        lines = box(*s)
    elif visual.shape == "sphere":
        lines = ball(s[0])
    elif visual.shape in ("cylinder", "capsule"):
        lines = tube([(-s[1] / 2, s[0]), (s[1] / 2, s[0])])
        if visual.shape == "capsule":
            lines += [
                tuple((x, y, z + end) for x, y, z in line) for end in (-s[1] / 2, s[1] / 2) for line in ball(s[0])
            ]
    else:
        lines = cross((0.0, 0.0, 0.0), 0.02)
    return [moved(line, visual.position, visual.rotation) for line in lines]


def moved(line: Iterable[Point], position: Any, rotation: Any) -> tuple[Point, ...]:
    R, p = np.array(rotation, float), np.array(position, float)
    return tuple(_point(R @ np.array(x) + p) for x in line)


def box(x: float, y: float, z: float) -> list[tuple[Point, ...]]:
    a, b, c = x / 2, y / 2, z / 2
    faces = [tuple((s * a, t * b, h) for s, t in ((1, 1), (-1, 1), (-1, -1), (1, -1), (1, 1))) for h in (-c, c)]
    return [*faces, *(((s * a, t * b, -c), (s * a, t * b, c)) for s in (-1, 1) for t in (-1, 1))]


def circle(radius: float, z: float = 0.0) -> tuple[Point, ...]:
    turns = [2 * math.pi * k / ROUND for k in range(ROUND + 1)]
    return tuple((radius * math.cos(a), radius * math.sin(a), z) for a in turns)


def tube(profile: Sequence[tuple[float, float]]) -> list[tuple[Point, ...]]:
    """A body of revolution about z, by (z, radius): circles, and lines along it."""
    along = [(math.cos(a), math.sin(a)) for a in (0.0, math.pi / 2, math.pi, 1.5 * math.pi)]
    return [*(circle(r, z) for z, r in profile), *(tuple((r * c, r * s, z) for z, r in profile) for c, s in along)]


def ball(radius: float) -> list[tuple[Point, ...]]:
    flat = circle(radius)
    return [flat, tuple((x, 0.0, y) for x, y, _ in flat), tuple((0.0, x, y) for x, y, _ in flat)]


def cross(at: Point, arm: float) -> list[tuple[Point, ...]]:
    x, y, z = at
    return [((x - arm, y, z), (x + arm, y, z)), ((x, y - arm, z), (x, y + arm, z)), ((x, y, z - arm), (x, y, z + arm))]


def _axes(length: float) -> list[tuple[Point, ...]]:
    origin = (0.0, 0.0, 0.0)
    return [(origin, (length, 0.0, 0.0)), (origin, (0.0, length, 0.0)), (origin, (0.0, 0.0, length))]
