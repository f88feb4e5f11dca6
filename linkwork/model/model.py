"""The Model: frozen tables in tree order, with names. Made by `build`; no equations in it.

Body 0 is the world; joint i carries body i; parent[i] < i. Nothing derived is stored except the order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from linkwork.errors import ModelError, Place, nearest
from linkwork.model import numbers
from linkwork.model.describe import Body, Joint, Law, Marker, Note, Vector
from linkwork.model.joints import KINDS, Kind


@dataclass(frozen=True, eq=False)
class Model:
    name: str
    gravity: Vector
    bodies: tuple[Body, ...]  # bodies[0] is the world
    joints: tuple[Joint | None, ...]  # joints[0] is None
    parent: tuple[int, ...]  # parent[0] is -1
    laws: tuple[Law, ...] = ()
    parameters: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    start: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    folder: str = "."
    source: Place | None = None

    # --- the tree ---
    @property
    def tree(self) -> range:
        """Bodies from the root outwards; `reversed` of it goes inwards."""
        return range(1, len(self.bodies))

    def joint(self, i: int) -> Joint:
        joint = self.joints[i]
        assert joint is not None, "the world hangs on no joint"
        return joint

    def kind(self, i: int) -> Kind:
        return self._kinds[i - 1]

    @cached_property
    def _kinds(self) -> list[Kind]:
        return [KINDS[joint.kind] for joint in self.joints[1:]]  # type: ignore[union-attr]

    def children(self, i: int) -> list[int]:
        return self._children[i]

    @cached_property
    def _children(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in self.bodies]
        for j in self.tree:
            below[self.parent[j]].append(j)
        return below

    @cached_property
    def body_index(self) -> dict[str, int]:
        return {b.name: i for i, b in enumerate(self.bodies)}

    @cached_property
    def joint_index(self) -> dict[str, int]:
        return {self.joint(i).name: i for i in self.tree}

    @cached_property
    def markers(self) -> dict[str, tuple[int, Marker]]:
        """Marker name → (body, marker). Every body's own frame counts as a marker of the body's name."""
        found = {b.name: (i, Marker(b.name)) for i, b in enumerate(self.bodies)}
        found.update({m.name: (i, m) for i, b in enumerate(self.bodies) for m in b.markers})
        return found

    # --- coordinates of all joints, and of the independent ones ---
    @cached_property
    def q_slices(self) -> tuple[slice, ...]:
        return tuple(self._slices("nq"))

    @cached_property
    def v_slices(self) -> tuple[slice, ...]:
        return tuple(self._slices("nv"))

    def _slices(self, count: str) -> Iterator[slice]:
        at = 0
        yield slice(0, 0)
        sizes = {kind.name: getattr(kind, count) for kind in KINDS.values()}
        for kind in self._kinds:
            n = sizes[kind.name]
            yield slice(at, at + n)
            at += n

    @cached_property
    def independent(self) -> list[int]:
        """Joints whose coordinates are their own, i.e. not coupled to another joint's."""
        return [i for i in self.tree if self.joint(i).coupling is None]

    @cached_property
    def coupled(self) -> list[int]:
        return [i for i in self.tree if self.joint(i).coupling is not None]

    @cached_property
    def nq(self) -> int:
        return self._of_kinds("nq")

    @cached_property
    def nv(self) -> int:
        return self._of_kinds("nv")

    def _of_kinds(self, count: str) -> int:
        kinds = Counter(joint.kind for joint in self.joints[1:])  # type: ignore[union-attr]
        kinds.subtract(self.joint(i).kind for i in self.coupled)
        return sum(getattr(KINDS[kind], count) * many for kind, many in kinds.items())

    @property
    def q_names(self) -> tuple[str, ...]:
        return self._coordinates[0]

    @property
    def v_names(self) -> tuple[str, ...]:
        return self._speeds[0]

    @property
    def q_units(self) -> tuple[str, ...]:
        return self._coordinates[1]

    @property
    def v_units(self) -> tuple[str, ...]:
        return self._speeds[1]

    @cached_property
    def tau_units(self) -> tuple[str, ...]:
        return tuple("N" if u == "m/s" else "N*m" for u in self.v_units)

    @cached_property
    def _coordinates(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self._named({kind.name: kind.coordinates for kind in KINDS.values()})

    @cached_property
    def _speeds(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return self._named({kind.name: kind.speeds for kind in KINDS.values()})

    def _named(self, parts: Mapping[str, tuple[tuple[str, str], ...]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names and units of all independent coordinates or speeds."""
        ends = {kind: [f".{component}" if component else "" for component, _ in some] for kind, some in parts.items()}
        every = [self.joint(i) for i in self.independent]
        names = tuple([joint.name + end for joint in every for end in ends[joint.kind]])
        return names, tuple([unit for joint in every for _, unit in parts[joint.kind]])

    @cached_property
    def neutral(self) -> tuple[float, ...]:
        """Coordinates at which every child frame coincides with its joint frame."""
        of = {kind.name: kind.neutral for kind in KINDS.values()}
        return tuple(e for i in self.independent for e in of[self.joint(i).kind])

    @cached_property
    def is_moved(self) -> bool:
        """Does any joint follow a prescribed motion, so that the equations contain time?"""
        return any(self.joint(i).motion is not None for i in self.tree)

    # --- numbers by name ---
    @cached_property
    def values(self) -> dict[str, Any]:
        """Every free number by name: `gravity.z`, `payload.mass`, `elbow.damping`, `elbow.position.x`, …"""
        return numbers.read(self)

    def replace(self, values: Mapping[str, Any] | None = None, /, **fields: Any) -> Model:
        """A new model with some numbers (by name) or whole tables (`gravity=`, `start=` …) changed.

        `model.replace({"payload.mass": "300 g"})`, `model.replace(gravity=(0, 0, 0))`.
        """
        from linkwork.model import dimensions, forms

        if wrong := set(fields) - set(self.__dataclass_fields__):
            raise ModelError(
                f"a model has no table '{sorted(wrong)[0]}'",
                fix=nearest(sorted(wrong)[0], self.__dataclass_fields__),
            )
        for name in fields.get("parameters", ()):
            self.require_number(name)
        given = forms.table(values, None, "what replaces numbers")
        si = {name: dimensions.in_si(self, name, value, f"'{name}'") for name, value in given.items()}
        changed = numbers.write(self, si) if si else self
        return replace(changed, **dimensions.tables_in_si(changed, fields)) if fields else changed

    def require_number(self, name: str) -> None:
        if name not in self.values:
            raise ModelError(f"the model '{self.name}' has no number '{name}'", fix=nearest(name, self.values))

    def check(self) -> Model:
        """Check every number again (for a model changed by `replace`); returns it, raises ModelError."""
        from linkwork.model.check import check_numbers
        from linkwork.model.check_laws import check_laws

        check_numbers(self)
        check_laws(self)
        return self

    # --- to be read ---
    def __str__(self) -> str:
        from linkwork.model.show import tree_text

        return tree_text(self)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {len(self.bodies) - 1} bodies, nq = {self.nq}, nv = {self.nv})"
