"""Mechanisms built in Python, by names. Numbers may carry units; errors tell the caller's file and line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import forms, jointforms, masses
from linkwork.model.build import build
from linkwork.model.describe import Body, Description, Joint, Law, Marker, Note
from linkwork.model.dimensions import in_si
from linkwork.model.forms import Source
from linkwork.model.joints import KINDS, Kind
from linkwork.model.model import Model
from linkwork.model.start import expanded
from linkwork.model.units import quantity

_HERE = str(Path(__file__).parent)


def _caller() -> Source:
    """The line outside this package's model room that is being run."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    if frame is None:
        return Source()
    return Source(Place(frame.f_code.co_filename, frame.f_lineno))


class Mechanism:
    """A mechanism being described. `build()` makes the Model.

        arm = Mechanism("pendulum")
        arm.body("rod", mass="2 kg", centre=(0, 0, "-0.5 m"), inertia=(0.17, 0.17, 0))
        arm.joint("hinge", "revolute", "world", "rod", axis="y", damping="0.1 N*m*s/rad")
        model = arm.build()

    Bodies are carried by joints, the first by one from "world": fixed, free, prescribed or any other kind.
    """

    def __init__(
        self,
        name: str,
        gravity: Any = (0.0, 0.0, -9.81),
        *,
        world: str = "world",
        source: Source | None = None,
    ):
        self.source = source or _caller()
        self.name = forms.word(name, self.source.place, "name of the mechanism")
        self.world, self.folder = world, "."
        self.gravity = forms.vector(gravity, "m/s^2", self.source.at("gravity"), "gravity")
        self._bodies: dict[str, Body] = {world: Body(world)}
        self._joints: list[Joint] = []
        self._laws: list[Law] = []
        self._notes: list[Note] = []
        self._constants: dict[str, float] = {}
        self._parameters: dict[str, tuple[Any, Source]] = {}
        self._start: dict[str, Any] = {}
        self._start_places: dict[str, Place] = {}
        self._ratios: dict[str, tuple[Any, Any, Source]] = {}

    # --- bodies ---
    def body(
        self,
        name: str,
        mass: Any = None,
        centre: Any = None,
        inertia: Any = None,
        *,
        axes: Any = None,
        about: str | None = None,
        shape: str | None = None,
        size: Any = None,
        density: Any = None,
        parts: Sequence[Mapping[str, Any]] = (),
        unchecked: bool = False,
        source: Source | None = None,
    ) -> Mechanism:
        """A rigid body.

        inertia   3 moments, or xx, yy, zz, xy, xz, yz, or 3×3; about the centre of mass, or `about="origin"`
        axes      how the axes of `inertia`, or of the shape, are turned: roll, pitch, yaw, or a matrix
        shape     box, sphere, cylinder, tube, capsule, rod or shell with `size` and `mass` or `density`;
                  z is its axis, `centre` its middle; it is seen in pictures too
        parts     more masses of the same body, each a dictionary with these same keys and a `name`
        """
        source = source or _caller()
        given = {
            "mass": mass, "centre": centre, "inertia": inertia, "axes": axes, "about": about,
            "shape": shape, "size": size, "density": density, "unchecked": unchecked,
        }  # fmt: skip
        if forms.word(name, source.place, "name of a body") in self._bodies:
            old = self._bodies[name].source
            text = f"there is a body '{name}' already" + (f" ({old})" if old else "")
            raise ModelError(text, where=source.place, fix="give it another name")
        self._bodies[name] = masses.body(name, given, parts, source)
        return self

    def world_mass(self, given: Mapping[str, Any], source: Source) -> None:
        """Mass that is fixed to the world: parts of merged models. It moves nothing."""
        self._bodies[self.world] = masses.body(self.world, given, given.get("parts") or (), source)

    def _add_to(self, body: str, source: Source, **more: Any) -> None:
        if forms.word(body, source.at("body"), "name of a body") not in self._bodies:
            text, fix = f"there is no body '{body}' so far", nearest(body, self._bodies)
            raise ModelError(text, where=source.at("body"), fix=fix)
        old = self._bodies[body]
        self._bodies[body] = replace(old, **{k: (*getattr(old, k), v) for k, v in more.items()})

    def marker(
        self,
        name: str,
        body: str,
        at: Any = (0, 0, 0),
        *,
        rotation: Any = None,
        quat_wxyz: Any = None,
        quat_xyzw: Any = None,
        source: Source | None = None,
    ) -> Mechanism:
        """A named frame fixed in a body (or in "world")."""
        source = source or _caller()
        what = f"marker '{forms.word(name, source.place, 'name of a marker')}'"
        turn = {"rotation": rotation, "quat_wxyz": quat_wxyz, "quat_xyzw": quat_xyzw}
        position = forms.vector(at, "m", source.at("at"), f"position of {what}")
        marker = Marker(name, position, forms.rotation(turn, source, what), source.place)
        self._add_to(body, source, markers=marker)
        return self

    def visual(
        self,
        body: str,
        shape: str,
        size: Any = None,
        at: Any = (0, 0, 0),
        *,
        rotation: Any = None,
        color: Any = None,
        file: str | None = None,
        source: Source | None = None,
    ) -> Mechanism:
        """A shape to be seen only: box, sphere, cylinder, capsule, or mesh with a `file`."""
        source = source or _caller()
        what = f"visual of body '{body}'"
        made = masses.visual(shape, size, color, file, source, what)
        position = forms.vector(at, "m", source.at("at"), f"position of {what}")
        turn = forms.rotation({"rotation": rotation}, source, what)
        self._add_to(body, source, visuals=replace(made, position=position, rotation=turn))
        return self

    # --- joints ---
    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        *,
        at: Any = (0, 0, 0),
        rotation: Any = None,
        quat_wxyz: Any = None,
        quat_xyzw: Any = None,
        axis: Any = None,
        axis2: Any = None,
        pitch: Any = None,
        damping: Any = None,
        stiffness: Any = None,
        rest: Any = None,
        friction: Any = None,
        friction_speed: Any = None,
        limits: Any = None,
        effort: Any = None,
        velocity: Any = None,
        armature: Any = None,
        rotor_inertia: Any = None,
        gear_ratio: Any = None,
        follows: str | None = None,
        ratio: Any = None,
        offset: Any = None,
        motion: Callable[[Any], Any] | Mapping[str, Any] | None = None,
        source: Source | None = None,
    ) -> Mechanism:
        """A joint that carries `child` on `parent`.

        at, rotation       the joint's frame in the parent; the child's frame lies on it at zero coordinates
        axis, axis2        "x", "-y", or a vector in joint axes; `axis2` (universal) is fixed in the child
        damping, stiffness, rest, friction, effort, velocity, armature    a number, or one for each freedom
        limits             (low, high), either may be None; a list of such pairs for several freedoms
        rotor_inertia, gear_ratio    instead of `armature` = rotor inertia · gear ratio²
        follows, ratio, offset       q = ratio · q(of that joint) + offset
        motion             prescribed joints: t -> (position, quaternion w x y z) with casadi functions, or
                           {"position": ["0.1*sin(2*pi*t)", 0, 0], "rotation": [0, 0, "5*deg*t"]}
        """
        source = source or _caller()
        given = {
            "at": at, "rotation": rotation, "quat_wxyz": quat_wxyz, "quat_xyzw": quat_xyzw,
            "axis": axis, "axis2": axis2, "pitch": pitch, "damping": damping, "stiffness": stiffness,
            "rest": rest, "friction": friction, "friction_speed": friction_speed, "limits": limits,
            "effort": effort, "velocity": velocity, "armature": armature, "rotor_inertia": rotor_inertia,
            "gear_ratio": gear_ratio, "follows": follows, "ratio": ratio, "offset": offset, "motion": motion,
        }  # fmt: skip
        self._joints.append(jointforms.joint(name, kind, parent, child, given, source))
        if follows is not None:
            self._ratios[name] = (1.0 if ratio is None else ratio, 0.0 if offset is None else offset, source)
        return self

    # --- laws and numbers ---
    def law(self, function: Callable[..., Any], name: str | None = None, *, source: Source | None = None) -> Mechanism:
        """A force or control law: `function(state)` → dictionary of forces. See `describe.Law` and `laws`."""
        source = source or _caller()
        if not callable(function):
            raise ModelError(f"law '{name}' is {function!r}", where=source.place, fix="give a function of the state")
        title = name if name is not None else getattr(function, "name", None) or getattr(function, "__name__", "law")
        self._laws.append(Law(forms.word(title, source.place, "name of a law"), function, source.place))
        return self

    def constant(self, name: str, value: Any, *, source: Source | None = None) -> Mechanism:
        """A named number for laws: `state.constant(name)`. It may be declared a parameter."""
        source = source or _caller()
        if forms.word(name, source.place, "name of a constant") in self._constants:
            raise ModelError(f"there is a constant '{name}' already", where=source.place, fix="give it another name")
        if "." in name or not name.isprintable() or not name:
            raise ModelError(f"a constant is named '{name}'", where=source.place, fix="use a name without a dot")
        self._constants[name] = quantity(value, None, source.place, f"constant '{name}'")
        return self

    def parameter(self, name: str, value: Any = None, *, source: Source | None = None) -> Mechanism:
        """Declare a number an input, with one value for each sample: "payload.mass", "elbow.damping" …

        `value` replaces the number itself.
        """
        source = source or _caller()
        self._parameters[forms.word(name, source.place, "name of a parameter")] = (value, source)
        return self

    def start(self, given: Mapping[str, Any] | None = None, *, source: Source | None = None, **more: Any) -> Mechanism:
        """Where runs start: {"elbow": "30 deg", "elbow.rate": 0.2}; see `linkwork.model.start`."""
        source = source or _caller()
        for name, value in {**forms.table(given, source.place, "start"), **more}.items():
            if place := source.at(name):
                self._start_places[name] = place
            self._start[name] = value
        return self

    def note(self, text: str, place: Place | None = None) -> Mechanism:
        self._notes.append(Note(text, place))
        return self

    # --- done ---
    def describe(self) -> Description:
        """The records as they stand, without starts and parameters."""
        kinds = {j.name: KINDS[j.kind] for j in self._joints}
        joints = [self._coupled(j, kinds) if j.coupling is not None else j for j in self._joints]
        bodies = [b for name, b in self._bodies.items() if name != self.world]
        return Description(
            self.name, self.gravity, tuple(bodies), tuple(joints), tuple(self._laws), (),
            dict(self._constants), {}, self._bodies[self.world], tuple(self._notes), self.folder,
            self.source.place,
        )  # fmt: skip

    def build(self) -> Model:
        """The Model, checked."""
        model = build(self.describe())
        for name, (value, source) in self._parameters.items():
            try:
                model.require_number(name)
            except ModelError as error:
                raise ModelError(error.what, where=source.at(name), fix=error.fix) from None
            if value is not None:
                number = in_si(model, name, value, f"parameter '{name}'", source.at(name))
                model = model.replace({name: number})
        if any(value is not None for value, _ in self._parameters.values()):
            model.check()
        start = expanded(model, self._start, Source(self.source.place, self._start_places))
        return replace(model, parameters=tuple(self._parameters), start=start)

    def _coupled(self, joint: Joint, kinds: Mapping[str, Kind]) -> Joint:
        coupling = joint.coupling
        assert coupling is not None
        ratio, offset, source = self._ratios[joint.name]
        own, leader = kinds[joint.name], kinds.get(coupling.leader)
        units = [k.coordinates[0][1] if k is not None and k.nq == 1 else "1" for k in (own, leader)]
        dimension = "1" if units[0] == units[1] else f"{units[0]}/{units[1]}"
        what = f"of joint '{joint.name}'"
        return replace(
            joint,
            coupling=replace(
                coupling,
                ratio=quantity(ratio, dimension, source.at("ratio"), f"ratio {what}"),
                offset=quantity(offset, units[0], source.at("offset"), f"offset {what}"),
            ),
        )
