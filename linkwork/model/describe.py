"""What a mechanism is made of, as its author wrote it. Records only, SI units, no equations.

Numbers are plain floats; while equations are traced, those declared as parameters are CasADi symbols instead,
which is why vectors are tuples and nothing here computes with them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from linkwork.errors import Place

Number = Any  # float, or a CasADi symbol while tracing
Vector = tuple[Number, Number, Number]
Matrix = tuple[Vector, Vector, Vector]  # rows

ORIGIN: Vector = (0.0, 0.0, 0.0)
NO_INERTIA = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
UNTURNED: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True)
class Inertial:
    """One part of a body's mass: its centre in body axes, its inertia about that centre in body axes.

    `inertia` is (xx, yy, zz, xy, xz, yz) of the tensor, i.e. xy is the entry I[0, 1] (minus ∫xy dm).
    `unchecked`: taken as given, though no solid may have such moments (some files; a Note tells).
    """

    mass: Number
    centre: Vector = ORIGIN
    inertia: tuple[Number, Number, Number, Number, Number, Number] = NO_INERTIA
    name: str = ""
    source: Place | None = None
    unchecked: bool = False


@dataclass(frozen=True)
class Marker:
    """A named frame fixed in a body: origin in body axes, rotation = marker axes → body axes."""

    name: str
    position: Vector = ORIGIN
    rotation: Matrix = UNTURNED
    source: Place | None = None


@dataclass(frozen=True)
class Visual:
    """A shape to be seen. `size`: box x, y, z; sphere radius; cylinder, capsule radius, length; mesh."""

    shape: Literal["box", "sphere", "cylinder", "capsule", "mesh"]
    size: tuple[float, ...]
    position: Vector = ORIGIN
    rotation: Matrix = UNTURNED
    color: tuple[float, float, float, float] | None = None
    file: str | None = None
    source: Place | None = None


@dataclass(frozen=True)
class Body:
    name: str
    inertials: tuple[Inertial, ...] = ()
    markers: tuple[Marker, ...] = ()
    visuals: tuple[Visual, ...] = ()
    source: Place | None = None


@dataclass(frozen=True)
class Coupling:
    """q = ratio · q_leader + offset, exactly."""

    leader: str
    ratio: Number = 1.0
    offset: Number = 0.0
    source: Place | None = None


@dataclass(frozen=True)
class Joint:
    """How `child` is carried by `parent`.

    position, rotation   joint frame in the parent body (rotation: joint axes → parent axes); the child's
                         frame coincides with the joint frame at zero coordinates
    axis, axis2          unit vectors in joint axes; `axis2`: the universal joint's second, fixed in the child
    pitch                helical: advance per radian [m/rad]
    damping, stiffness, rest, friction, armature, lower, upper, effort, velocity
                         one number per freedom (a single one given at the door serves them all)
    friction             largest dry-friction force [N or N·m]; smoothed: friction · tanh(v / friction_speed)
    """

    name: str
    kind: str
    parent: str
    child: str
    position: Vector = ORIGIN
    rotation: Matrix = UNTURNED
    axis: Vector = (0.0, 0.0, 1.0)
    axis2: Vector = (0.0, 1.0, 0.0)
    pitch: Number = 0.0
    damping: tuple[Number, ...] = ()
    stiffness: tuple[Number, ...] = ()
    rest: tuple[Number, ...] = ()
    friction: tuple[Number, ...] = ()
    friction_speed: Number = 1e-2
    armature: tuple[Number, ...] = ()
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    effort: tuple[float, ...] = ()
    velocity: tuple[float, ...] = ()
    coupling: Coupling | None = None
    motion: Callable[[Any], Any] | None = None  # prescribed: t -> (position, quaternion wxyz)
    source: Place | None = None


@dataclass(frozen=True)
class Law:
    """A force or control law written in Python, traced into the kernel.

    `function(state)` reads named states from `state` and returns a dictionary: joint name → generalised
    force, or marker / body name → force (3) or wrench (6) in world axes.
    """

    name: str
    function: Callable[..., Any]
    source: Place | None = None


@dataclass(frozen=True)
class Note:
    """Something the reader met and did not use, e.g. an ignored tag."""

    text: str
    source: Place | None = None


@dataclass(frozen=True)
class Description:
    """Everything an author said, in the author's order. `build` makes the Model of it."""

    name: str
    gravity: Vector
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    laws: tuple[Law, ...] = ()
    parameters: tuple[str, ...] = ()
    constants: dict[str, Any] = field(default_factory=dict)  # named numbers for laws
    start: dict[str, Any] = field(default_factory=dict)  # quantity name → value, SI
    world: Body = field(default_factory=lambda: Body("world"))
    notes: tuple[Note, ...] = ()
    folder: str = "."
    source: Place | None = None
