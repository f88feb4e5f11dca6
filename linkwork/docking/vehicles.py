"""The two spacecraft and the mechanism between them, as mechanisms of bodies and joints.

    world ─ ship (free) ─ chaser ─ swing_z ─ gimbal ─ swing_y ─ sleeve ─ slide ─ rod, head
    world ─ station (free) ─ target (─ elastic modes ─ port), seat of the cone                   before capture
    rod ─ ball (spherical, at the head) ─ latch ─ grip (fixed) ─ target                          after it

The chaser looks along its x axis, the cone opens along −x of the target; both carry their frame in their centre of
mass. `swing_z` and `swing_y` are the two crossed rotations of the rod ("R2": the first moves a massless gimbal),
`slide` is the compression of the absorber. Marks: [S] read in a public source, [S2] read in a transcription, [D]
derived, [A] assumed, from memory of the field; docs/docking.md tells the sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from linkwork.model.mechanism import Mechanism

FACING = ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
"""Axes of the cone in the target: its z is the target's −x."""


@dataclass(frozen=True)
class Vehicle:
    """Mass [kg], moments about the centre of mass [kg m²], distance of the port from it [m]."""

    mass: float
    inertia: tuple[float, float, float]
    port: float


CHASER = Vehicle(7220.0, (6.7e3, 3.27e4, 3.27e4), 3.5)
"""Soyuz TMA at its greatest mass [S]; a uniform cylinder of its size [D]."""
TARGET = Vehicle(20000.0, (3e4, 2.5e5, 2.5e5), 6.0)
"""A module of 20 t [D]."""
STATION = Vehicle(420000.0, (1e8, 1e8, 1e8), 6.0)
"""A large station [S2] with moments of its order [D]."""


@dataclass(frozen=True)
class Probe:
    """The rod with its absorbers. `lateral_*` are told at the head, in N/m and N s/m.

    Stroke, axial and lateral stiffness and damping, swing: proposed figures [D]. Lengths, masses, stops: [A].
    """

    length: float = 0.8
    head: float = 0.04
    sleeve_mass: float = 10.0
    rod_mass: float = 15.0
    axial_stiffness: float = 8000.0
    axial_damping: float = 3000.0
    stroke: tuple[float, float] = (-0.1, 0.3)
    stop_stiffness: float = 4e5
    lateral_stiffness: float = 4000.0
    lateral_damping: float = 1500.0
    swing: float = math.radians(16.0)
    swing_stiffness: float = 5e4
    stop_onset: float = 2e-3
    swing_onset: float = math.radians(0.3)
    stop_dissipation: float = 2.0


@dataclass(frozen=True)
class Cone:
    """The receiving cone and what happens between it and the head.

    Half angle, mouth, friction: proposed figures [D]. Seat, stiffness, onset, slip: [A]. With 1 MN/m the head dips in
    by about 2 mm at 2 kN, small against the stroke; a stiffer cone costs steps in proportion to the root of the
    stiffness. `dissipation` gives a restitution of 0.3 [D] at 0.2 m/s.
    """

    half_angle: float = math.radians(50.0)
    mouth: float = 0.4
    seat: float = 0.042
    stiffness: float = 1e6
    onset: float = 5e-4
    dissipation: float = 15.4
    friction: float = 0.1
    slip: float = 0.01

    @property
    def depth(self) -> float:
        """From the seat's centre to the plane of the mouth."""
        s, c = math.sin(self.half_angle), math.cos(self.half_angle)
        return (self.mouth - self.seat * c) / s * c - self.seat * s


@dataclass(frozen=True)
class Latch:
    """The ball joint after capture: levelling levers as a spring and damper of its three angles [A].

    Chosen so that, in series with the rod's lateral spring, the slowest motion of the captured pair (20 t) dies with
    a time constant of 13 s: rotations end in tens of seconds [S]. Stiffer levers only hand the swing to that spring.
    """

    stiffness: float = 800.0
    damping: float = 9000.0


@dataclass(frozen=True)
class Mode:
    """An elastic mode of the target at its port: a `slide` along or a `turn` about an axis of the target.

    `frequency` [Hz] is that of the port's own mass or moment of inertia on the mode's spring, `damping` its ratio.
    """

    motion: str
    axis: str
    frequency: float
    damping: float = 0.01


@dataclass(frozen=True)
class Design:
    """Everything that is built. `rigid` locks the rod to the chaser, as the impulse model of first contacts does.

    `thrust`: force along the chaser's x axis [N] from first contact to capture. `control`: natural frequency [rad/s]
    and damping ratio of the chaser's attitude control, None for free drift [A].
    """

    chaser: Vehicle = CHASER
    target: Vehicle = TARGET
    probe: Probe = field(default_factory=Probe)
    cone: Cone = field(default_factory=Cone)
    latch: Latch = field(default_factory=Latch)
    modes: tuple[Mode, ...] = ()
    port_mass: float = 200.0
    port_inertia: tuple[float, float, float] = (50.0, 30.0, 30.0)
    thrust: float = 0.0
    control: tuple[float, float] | None = (0.2, 0.7)
    rigid: bool = False


def chaser(m: Mechanism, d: Design) -> None:
    """The chaser on its free joint `ship`."""
    m.body("chaser", mass=d.chaser.mass, inertia=d.chaser.inertia)
    m.joint("ship", "free", "world", "chaser")


def probe(m: Mechanism, d: Design) -> None:
    """Gimbal, sleeve and rod on the chaser's port; the head is a marker."""
    p = d.probe
    long = p.length * p.length
    swing: dict[str, Any] = {"stiffness": p.lateral_stiffness * long, "damping": p.lateral_damping * long}
    if d.rigid:
        m.marker("head", "chaser", (d.chaser.port + p.length, 0, 0))
        return
    m.body("gimbal").body("sleeve", **_rod(p.sleeve_mass, 0.15 * p.length, 0.3 * p.length))
    m.body("rod", **_rod(p.rod_mass, 0.55 * p.length, 0.9 * p.length))
    m.joint("swing_z", "revolute", "chaser", "gimbal", at=(d.chaser.port, 0, 0), axis="z", **swing)
    m.joint("swing_y", "revolute", "gimbal", "sleeve", axis="y", **swing)
    absorber: dict[str, Any] = {"stiffness": p.axial_stiffness, "damping": p.axial_damping}
    m.joint("slide", "prismatic", "sleeve", "rod", axis="-x", **absorber)
    m.marker("head", "rod", (p.length, 0, 0))


def _rod(mass: float, centre: float, length: float) -> dict[str, Any]:
    """A slender rod along x."""
    across = mass * length * length / 12
    return {"mass": mass, "centre": (centre, 0, 0), "inertia": (across / 20, across, across)}


def target(m: Mechanism, d: Design) -> None:
    """The target body and, where it has elastic modes, its port on their springs; the marker `seat` in the cone."""
    m.body("target", mass=d.target.mass, inertia=d.target.inertia)
    seat = (d.cone.depth - d.target.port, 0.0, 0.0)
    if not d.modes:
        m.marker("seat", "target", seat, rotation=FACING)
        return
    parent = "target"
    for k, mode in enumerate(d.modes):
        last = k == len(d.modes) - 1
        child = "port" if last else f"mode_{k + 1}"
        m.body(child, **({"mass": d.port_mass, "inertia": d.port_inertia} if last else {}))
        kind, moved = ("prismatic", d.port_mass) if mode.motion == "slide" else ("revolute", _moment(d, mode.axis))
        omega = 2 * math.pi * mode.frequency
        m.joint(
            f"flex_{k + 1}", kind, parent, child, axis=mode.axis, at=seat if k == 0 else (0, 0, 0),
            stiffness=moved * omega * omega, damping=2 * mode.damping * omega * moved,
        )  # fmt: skip
        parent = child
    m.marker("seat", "port", rotation=FACING)


def flexed(m: Mechanism, d: Design, at: tuple[float, ...]) -> None:
    """The same modes seen from the port: the target at their other end. `at`: from the seat to the target's centre."""
    parent = "port"
    for k in reversed(range(len(d.modes))):
        mode = d.modes[k]
        child = "stem" if k == 0 else f"mode_{k}"
        m.body(child)
        kind, moved = ("prismatic", d.port_mass) if mode.motion == "slide" else ("revolute", _moment(d, mode.axis))
        omega = 2 * math.pi * mode.frequency
        axis = mode.axis[1:] if mode.axis.startswith("-") else f"-{mode.axis}"
        m.joint(
            f"flex_{k + 1}", kind, parent, child, axis=axis,
            stiffness=moved * omega * omega, damping=2 * mode.damping * omega * moved,
        )  # fmt: skip
        parent = child
    m.joint("root", "fixed", parent, "target", at=at)


def _moment(d: Design, axis: str) -> float:
    return d.port_inertia["xyz".index(axis.lstrip("-"))]
