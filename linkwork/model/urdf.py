"""URDF files, read completely: what is not used is told by a Note with its line.

- Gravity is (0, 0, −9.81): the format has none.
- The root link hangs on the world by a fixed joint "world_joint" or a free joint "root_joint" (`base`). A
  massless root link "world" of a fixed base is the world itself. Names that are taken get an underscore.
- An inertia no solid can have is read and noted, since files in the wild are full of them; `strict=True`
  refuses it. A negative mass or a negative moment ixx, iyy, izz is always refused.
- Entities, document types and the network are off; meshes are looked for in the file's folder and
  `package_dirs` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from linkwork.errors import ModelError, nearest
from linkwork.model import forms
from linkwork.model.build import build
from linkwork.model.check import inertia_fault
from linkwork.model.describe import Body, Coupling, Description, Inertial, Joint, Vector
from linkwork.model.lump import lumped
from linkwork.model.model import Model
from linkwork.model.shapes import turned
from linkwork.model.urdf_visuals import Looks
from linkwork.model.xml import Element, Xml

GRAVITY: Vector = (0.0, 0.0, -9.81)
KINDS = {  # URDF type → our kind
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
NEGLIGIBLE = 1e-15  # kg m²: smaller moments below zero are round-off


def read_urdf(
    path: str | PathLike[str],
    *,
    base: Literal["fixed", "free"] = "fixed",
    fixed: Literal["keep", "merge"] = "keep",
    mimic: Literal["couple", "free"] = "couple",
    package_dirs: Sequence[str | PathLike[str]] = (),
    strict: bool = False,
) -> Model:
    """The Model of a URDF file.

    base           is the root link welded to the world, or does it float?
    fixed          keep fixed joints, or merge their links into the links they are fixed to
    mimic          couple mimic joints to the joints they mimic, or let them move freely
    package_dirs   folders in which package:// paths are looked for
    strict         refuse what can be read around and is noted otherwise: inertias that no solid can have, and mimics
                   of joints that are not there
    """
    for word, given, known in (
        ("base", base, ("fixed", "free")),
        ("fixed", fixed, ("keep", "merge")),
        ("mimic", mimic, ("couple", "free")),
    ):
        if given not in known:
            raise ModelError(f"{word} = {given!r} when reading a URDF file", where=str(path), fix=f"one of {known}")
    file = Path(path)
    reader = _Reader(Xml(file), mimic == "couple", strict, [file.parent, *map(Path, package_dirs)])
    model = build(reader.description(base))
    return lumped(model) if fixed == "merge" else model


class _Reader:
    def __init__(self, xml: Xml, couple: bool, strict: bool, folders: list[Path]):
        self.xml, self.couple, self.strict = xml, couple, strict
        self.root = xml.root("robot")
        self.joint_names = {e.get("name") for e in self.xml.all(self.root, "joint")} - {None}
        self.looks = Looks(xml, self.root, folders)

    def description(self, base: str) -> Description:
        xml, root = self.xml, self.root
        xml.known(root, ("name",), ("link", "joint", "material"))
        if not (name := root.get("name", "")):
            name = xml.path.stem
            xml.note("the robot has no name; it is called after its file", root)
        bodies = [self._link(e) for e in xml.all(root, "link")]
        joints = unchained([self._joint(e) for e in xml.all(root, "joint")])
        if not bodies:
            raise ModelError("the robot has no links", where=xml.place(root), fix="add a <link>")
        world, bodies, joints = self._rooted(base, bodies, joints)
        return Description(
            name,
            GRAVITY,
            tuple(bodies),
            tuple(joints),
            world=world,
            notes=tuple(xml.notes),
            folder=str(xml.path.parent),
            source=xml.place(root),
        )

    def _rooted(self, base: str, bodies: list[Body], joints: list[Joint]) -> tuple[Body, list[Body], list[Joint]]:
        carried = {j.child for j in joints}
        roots = [b for b in bodies if b.name not in carried]
        if len(roots) > 1:
            names = ", ".join(f"'{b.name}'" for b in roots[:6])
            raise ModelError(
                f"{len(roots)} links hang on no joint: {names}{' …' if len(roots) > 6 else ''}",
                where=roots[1].source,
                fix="one link may be the root; carry each other one by a joint",
            )
        if roots and base == "fixed" and roots[0].name == "world" and not roots[0].inertials:
            return roots[0], [b for b in bodies if b is not roots[0]], joints
        world = Body(_free_name("world", {b.name for b in bodies}))
        if roots:
            name = _free_name("world_joint" if base == "fixed" else "root_joint", {j.name for j in joints})
            joints = [Joint(name, base, world.name, roots[0].name, source=roots[0].source), *joints]
        return world, bodies, joints

    # --- links ---
    def _link(self, element: Element) -> Body:
        xml, name = self.xml, self.xml.name(element)
        what = f"link '{name}'"
        xml.known(element, ("name",), ("inertial", "visual"), what)
        inertial = xml.one(element, "inertial", what)
        parts = () if inertial is None else (self._inertial(inertial, what),)
        visuals = [self.looks.visual(e, what) for e in xml.all(element, "visual")]
        return Body(name, parts, (), tuple(v for v in visuals if v), xml.place(element))

    def _inertial(self, element: Element, what: str) -> Inertial:
        xml = self.xml
        xml.known(element, (), ("origin", "mass", "inertia"), what)
        position, rotation = xml.origin(element, f"inertial of {what}")
        mass_element = xml.one(element, "mass", what, required=True)
        mass = xml.number(mass_element, "value", f"mass of {what}")
        six = [0.0] * 6
        inertia = xml.one(element, "inertia", what)
        if inertia is None:
            xml.note(f"{what} has a mass and no inertia; it counts as a point", element)
        else:
            keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
            xml.known(inertia, keys, (), what)
            for k in ("ixx", "iyy", "izz"):
                xml.text(inertia, k, f"<inertia> of {what}")
            six = [xml.number(inertia, k, f"{k} of {what}", 0.0) for k in keys]
        place = xml.place(element if inertia is None else inertia)
        part = Inertial(mass, position, turned(six, rotation), source=place)
        if mass < 0 or min(six[:3]) < -NEGLIGIBLE:
            text = (
                f"mass of {what} is {mass:g} kg, below zero"
                if mass < 0
                else f"{what} has a moment of inertia below zero"
            )
            raise ModelError(text, where=place, fix="masses and moments are zero or more")
        if not self.strict and (fault := inertia_fault(part)):
            xml.note(f"inertia of {what} {fault[0]}; it is used as it is", element if inertia is None else inertia)
            part = replace(part, unchecked=True)
        return part

    # --- joints ---
    def _joint(self, element: Element) -> Joint:
        xml, name = self.xml, self.xml.name(element)
        what, where = f"joint '{name}'", self.xml.place(element)
        xml.known(
            element,
            ("name", "type"),
            ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
            what,
        )
        given = element.get("type")
        if given not in KINDS:
            text = f"{what} has {'no type' if given is None else f'the unknown type {given!r}'}"
            raise ModelError(text, where=where, fix=nearest(given or "", KINDS))
        kind = KINDS[given]
        ends = []
        for tag in ("parent", "child"):
            end = xml.one(element, tag, what, required=True)
            ends.append(xml.text(end, "link", f"<{tag}> of {what}"))
        position, rotation = xml.origin(element, what)
        values = self._limits(element, kind, what) | self._dynamics(element, kind, what)
        if kind not in ("fixed", "free"):
            values["axis"] = self._axis(element, what)
        values["coupling"] = self._mimic(element, kind, what)
        return Joint(name, kind, ends[0], ends[1], position, rotation, source=where, **values)

    def _axis(self, element: Element, what: str) -> Vector:
        axis = self.xml.one(element, "axis", what)
        if axis is None:
            return (1.0, 0.0, 0.0)
        self.xml.known(axis, ("xyz",), (), what)
        given = self.xml.vector(axis, "xyz", f"axis of {what}", (1.0, 0.0, 0.0))
        length = sum(e * e for e in given) ** 0.5
        if length == 0:
            raise ModelError(f"axis of {what} is zero", where=self.xml.place(axis), fix="give a direction, e.g. 0 0 1")
        if abs(length - 1) > 1e-3:
            self.xml.note(f"axis of {what} had length {length:g}; it is made 1", axis)
        return given if abs(length - 1) < 1e-15 else forms.unit(given)

    def _limits(self, element: Element, kind: str, what: str) -> dict[str, Any]:
        xml, limit = self.xml, self.xml.one(element, "limit", what)
        if limit is None:
            if kind in ("revolute", "prismatic"):
                xml.note(f"{what} has no <limit>; it moves without limits", element)
            return {}
        if kind in ("fixed", "free"):
            xml.note(f"ignored <limit> of {what}, which is {kind}", limit)
            return {}
        xml.known(limit, ("lower", "upper", "effort", "velocity"), (), what)
        said = {k: xml.number(limit, k, f"{k} limit of {what}", infinite=True) for k in limit.attrib if k in _LIMITS}
        ends = [k for k in ("lower", "upper") if k in said]
        if kind in ("continuous", "planar"):
            if ends:
                xml.note(f"ignored lower and upper limit of {what}, which is {kind}", limit)
        elif not ends:
            xml.note(f"{what} has a <limit> without lower and upper; it moves without limits", limit)
        else:
            said |= {k: 0.0 for k in ("lower", "upper") if k not in said}
        wanted = ("effort", "velocity") if kind in ("continuous", "planar") else _LIMITS
        return {k: (v,) for k, v in said.items() if k in wanted}

    def _dynamics(self, element: Element, kind: str, what: str) -> dict[str, Any]:
        xml, dynamics = self.xml, self.xml.one(element, "dynamics", what)
        if dynamics is None:
            return {}
        xml.known(dynamics, ("damping", "friction"), (), what)
        words = [k for k in ("damping", "friction") if k in dynamics.attrib]
        if kind in ("fixed", "free"):
            if words:
                xml.note(f"ignored <dynamics> of {what}, which is {kind}", dynamics)
            return {}
        return {k: (xml.number(dynamics, k, f"{k} of {what}"),) for k in words}

    def _mimic(self, element: Element, kind: str, what: str) -> Coupling | None:
        xml, mimic = self.xml, self.xml.one(element, "mimic", what)
        if mimic is None:
            return None
        xml.known(mimic, ("joint", "multiplier", "offset"), (), what)
        leader = xml.text(mimic, "joint", f"<mimic> of {what}")
        ratio = xml.number(mimic, "multiplier", f"multiplier of {what}", 1.0)
        offset = xml.number(mimic, "offset", f"offset of {what}", 0.0)
        if not self.couple or kind == "fixed":
            why = "mimic='free'" if kind != "fixed" else "it is fixed"
            xml.note(f"ignored <mimic> of {what}: {why}", mimic)
            return None
        if leader not in self.joint_names:
            fault = f"{what} mimics an unknown joint '{leader}'"
            if self.strict:
                raise ModelError(fault, where=xml.place(mimic), fix=nearest(leader, sorted(self.joint_names)))
            xml.note(f"{fault}; it is left to move freely", mimic)
            return None
        return Coupling(leader, ratio, offset, xml.place(mimic))


_LIMITS = ("lower", "upper", "effort", "velocity")


def _free_name(wanted: str, taken: set[str]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def unchained(joints: list[Joint]) -> list[Joint]:
    """Joints that mimic a mimicking joint follow that one's leader directly: q = k₂ (k₁ q + c₁) + c₂."""
    coupling = {j.name: j.coupling for j in joints}

    def root(own: Coupling) -> Coupling:
        seen = {own.leader}
        while (above := coupling[own.leader]) is not None and above.leader not in seen:
            offset = own.ratio * above.offset + own.offset
            own = replace(own, leader=above.leader, ratio=own.ratio * above.ratio, offset=offset)
            seen.add(own.leader)
        return own

    return [j if j.coupling is None else replace(j, coupling=root(j.coupling)) for j in joints]
