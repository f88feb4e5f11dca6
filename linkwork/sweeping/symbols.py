"""Quantities of a model by name, for expressions: `norm(tool.velocity)`, `elbow.wrench.f_x`, `payload.mass`, `t`."""

from __future__ import annotations

import re
from dataclasses import dataclass

import casadi as ca

from linkwork import outputs
from linkwork.errors import LinkworkError, RunError, nearest
from linkwork.model.model import Model
from linkwork.sweeping.expression import traced

_SIZE = re.compile(r"(?:abs|norm)\(([\w.]+)\)")  # what has the unit of what is inside


@dataclass(frozen=True)
class State:
    """Symbols of a model, whose quantities expressions name."""

    model: Model
    q: ca.SX
    v: ca.SX
    t: ca.SX

    def trace(self, text: str, what: str) -> tuple[ca.SX, str]:
        """An expression of quantities, and its unit where it is one quantity alone."""
        known = self.scalar(text)
        if known is not None:
            return known
        symbol = ca.SX(traced(text, lambda name: self.resolve(name, what), what))
        inside = _SIZE.fullmatch(text)
        return symbol, self._unit(inside[1]) if inside else ""

    def _unit(self, name: str) -> str:
        """The unit of a quantity, if all its components have the same."""
        known, whole = self.scalar(name), self.vector(name)
        if known is not None:
            return known[1]
        return whole[2][0] if whole is not None and len(set(whole[2])) == 1 else ""

    def scalar(self, name: str) -> tuple[ca.SX, str] | None:
        """A quantity of one number, or one component of a quantity, with its unit."""
        found = self.vector(name)
        if found is not None:
            return None if found[1] else (found[0], found[2][0])
        whole, _, part = name.rpartition(".")
        found = self.vector(whole) if whole else None
        if found is None or part not in found[1]:
            return None
        return ca.densify(found[0])[found[1].index(part)], found[2][found[1].index(part)]

    def vector(self, name: str) -> tuple[ca.SX, tuple[str, ...], tuple[str, ...]] | None:
        """A quantity: its symbols, components and units."""
        try:
            found = outputs.quantity(self.model, name)
        except LinkworkError:
            return None
        return ca.vec(ca.densify(found.trace(self.model, self.q, self.v, self.t))), found.components, found.units

    def resolve(self, name: str, what: str) -> ca.SX:
        if name == "t":
            return self.t
        found = self.scalar(name)
        if found is not None:
            return found[0]
        whole = self.vector(name)
        if whole is not None:
            return whole[0]
        if name in self.model.values:
            return ca.SX(self.model.values[name])
        owner = name.rpartition(".")[0]
        inside = self.vector(owner) if owner else None
        near = inside[1] if inside else outputs.names(self.model)
        raise RunError(
            f"{what}: the model has no quantity '{name}'",
            fix=nearest(name.rpartition(".")[2] if inside else name, near),
        )
