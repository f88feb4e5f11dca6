"""What is drawn of a docking: both vehicles about the port, the rod with its head, the cone. Seen from the cone."""

from __future__ import annotations

import math

from linkwork.display.scene import Point, Scene, String, Wire, ball, moved, tube
from linkwork.docking.vehicles import FACING, Design

CHASER, TARGET, HEAD, CONE = "#0072B2", "#444444", "#D55E00", "#009E73"
AHEAD = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))  # turns z, along which tubes are made, into x
HULL = 1.36  # radius of the chaser [m]: Soyuz TMA [S]


def scene(d: Design) -> Scene:
    """The hulls are there to be looked at only; cone, head and rod have the measures of the contact model."""
    c, port = d.cone, d.chaser.port
    s, k = math.sin(c.half_angle), math.cos(c.half_angle)
    bowl = [(-c.seat * math.cos(a), c.seat * math.sin(a)) for a in (0.3 * j for j in range(4))]
    cone = tube([*bowl, (-c.seat * s, c.seat * k), (c.depth, c.mouth)])
    behind = tube([(-0.35, 1.4 * c.mouth), (-2.0, 1.4 * c.mouth)])
    chaser = [_ahead(line) for line in tube([(-port, HULL), (port - 1.2, HULL), (port - 0.1, 0.5), (port, 0.25)])]
    wires = (
        Wire("seat", tuple(cone), CONE), Wire("seat", tuple(behind), TARGET), Wire("chaser", tuple(chaser), CHASER),
        Wire("head", tuple(ball(d.probe.head)), HEAD, turns=False),
    )  # fmt: skip
    rod = String(("chaser", (port, 0.0, 0.0)), ("head", (0.0, 0.0, 0.0)), HEAD)
    return Scene(wires, (rod,), follow="seat", view=FACING, size=1.6 * d.cone.mouth + 0.4)


def _ahead(line: tuple[Point, ...]) -> tuple[Point, ...]:
    return moved(line, (0.0, 0.0, 0.0), AHEAD)
