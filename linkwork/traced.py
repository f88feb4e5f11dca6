"""Equations: a traced graph with named inputs and outputs.

Tracing takes longer than fetching machine code. So what a trace is called and how its graph is hashed is kept on disk
under a hash of all it depends on (`memory`); equations that are known there trace themselves only when somebody looks
at their graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import FunctionType
from typing import Any

import casadi as ca
import numpy as np

from linkwork.compiler import cache as disk
from linkwork.compiler.build import Deferred
from linkwork.compiler.ports import Port
from linkwork.compiler.rolled import RolledFunction
from linkwork.dynamics.formulation import Formulation
from linkwork.errors import ModelError, nearest
from linkwork.model.model import Model

SX = ca.SX
Graph = tuple[tuple[SX, ...], tuple[SX, ...]]  # symbols of the inputs, expressions of the outputs
Slopes = Callable[[str, Sequence[str]], list[SX] | None]
"""Output and inputs by name → the derivatives by each input, None where there is no shorter way."""


@dataclass(frozen=True, eq=False)
class Equations:
    """A traced graph with named inputs and outputs. `casadi` is a `casadi.Function` to take away."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    trace: Callable[[], Graph]
    notes: tuple[str, ...] = ()
    rolled: RolledFunction | None = None
    memory: str | None = None
    digest: str | None = None  # of the graph, when it is known without tracing
    slopes: Slopes | None = None  # a shorter way to derivatives than differentiating the graph

    @cached_property
    def _graph(self) -> Graph:
        return self.trace()

    @property
    def symbols(self) -> tuple[SX, ...]:
        return self._graph[0]

    @property
    def expressions(self) -> tuple[SX, ...]:
        return self._graph[1]

    @cached_property
    def casadi(self) -> ca.Function:
        """The graph as a CasADi function; dots in names become underscores, as CasADi wants it."""
        if self.rolled is not None:
            raise ModelError(
                f"'{self.name}' runs in loops over {len(self.rolled.bodies)} bodies; there is no one graph of it",
                fix="equations(…, unroll=True) makes one, at the price of a long build",
            )
        names = identifiers(p.name for p in (*self.inputs, *self.outputs))
        return ca.Function(
            identifier(self.name),
            list(self.symbols),
            list(self.expressions),
            names[: len(self.inputs)],
            names[len(self.inputs) :],
            {"cse": True},
        )

    @property
    def lowerable(self) -> ca.Function | RolledFunction | Deferred:
        """What is compiled; the graph itself is only made when its machine code is not on disk."""
        if self.rolled is not None:
            return self.rolled
        if self.digest is not None:
            return Deferred(identifier(self.name), self.digest, self.inputs, self.outputs, lambda: self.casadi)
        if self.memory is not None:
            _keep(self)
        return self.casadi

    def port(self, name: str) -> Port:
        for port in (*self.inputs, *self.outputs):
            if port.name == name:
                return port
        names = [p.name for p in (*self.inputs, *self.outputs)]
        raise ModelError(f"these equations have no input or output '{name}'", fix=nearest(name, names))

    def jacobian(self, output: str, wrt: str | Iterable[str]) -> Equations:
        """Equations with the extra output `d_<output>_d_<input>` (rows: output entries, columns: input entries)."""
        if self.rolled is not None:
            self.casadi  # noqa: B018  (refuses with the reason)
        wrt = [wrt] if isinstance(wrt, str) else list(wrt)
        out_names, in_names = [p.name for p in self.outputs], [p.name for p in self.inputs]
        if output not in out_names:
            raise ModelError(f"these equations have no output '{output}'", fix=nearest(output, out_names))
        for name in wrt:
            if name not in in_names:
                raise ModelError(f"these equations have no input '{name}'", fix=nearest(name, in_names))

        def trace() -> Graph:
            expression = ca.vec(self.expressions[out_names.index(output)].T)
            symbols = [self.symbols[in_names.index(name)] for name in wrt]
            found = self.slopes(output, wrt) if self.slopes is not None else None
            made = []
            for x, found_one in zip(symbols, found or [ca.jacobian(expression, x) for x in symbols], strict=True):
                order = [i + x.shape[0] * k for i in range(x.shape[0]) for k in range(x.shape[1])]
                made.append(ca.densify(found_one[:, order]))  # columns row by row, as in NumPy
            return self.symbols, (*self.expressions, *made)

        rows = self.port(output).rows
        ports = [Port(f"d_{output}_d_{name}", shape=(rows, self.port(name).rows)) for name in wrt]
        changed = {"name": f"{self.name}_jacobian", "outputs": (*self.outputs, *ports), "trace": trace}
        return self._derived(("jacobian", output, wrt), changed)

    def only(self, *outputs: str) -> Equations:
        """The same equations with these outputs alone."""
        chosen = [self.port(name) for name in outputs]
        which = [self.outputs.index(p) for p in chosen]
        changed = {
            "outputs": tuple(chosen),
            "trace": lambda: (self.symbols, tuple(self.expressions[k] for k in which)),
        }
        return self._derived(("only", outputs), changed)

    def bound(self, free: Iterable[str]) -> Equations:
        """The same equations with all parameters but the free ones folded in at their values."""
        free = list(free)
        parameters = [p.name for p in self.inputs if p.default is not None and p.name != "t"]
        for name in free:
            if name not in parameters:
                fix = nearest(name, parameters)
                raise ModelError(f"'{name}' is not a declared parameter of these equations", fix=fix)
        fold = [k for k, p in enumerate(self.inputs) if p.name in parameters and p.name not in free]
        keep = [k for k in range(len(self.inputs)) if k not in fold]

        def folded(expressions: Sequence[SX]) -> list[SX]:
            old = [self.symbols[k] for k in fold]
            values = [SX(ca.DM(np.asarray(self.inputs[k].default, float))) for k in fold]
            return ca.substitute(list(expressions), old, values) if fold else list(expressions)

        def slopes(output: str, wrt: Sequence[str]) -> list[SX] | None:
            found = self.slopes(output, wrt) if self.slopes is not None else None
            return None if found is None else folded(found)

        def trace() -> Graph:
            return tuple(self.symbols[k] for k in keep), tuple(folded(self.expressions))

        changed = {"inputs": tuple(self.inputs[k] for k in keep), "trace": trace, "slopes": slopes}
        return self._derived(("free", free), changed)

    def _derived(self, how: Any, changed: dict[str, Any]) -> Equations:
        memory = None if self.memory is None else disk.key("trace", self.memory, repr(how))
        record = recalled(memory)
        return replace(self, **changed, memory=memory, digest=record["digest"] if record else None)

    def __str__(self) -> str:
        def row(p: Port) -> str:
            return f"  {p.name} {'×'.join(map(str, p.sample)) or 'scalar'}"

        return "\n".join(
            [self.name, " inputs", *map(row, self.inputs), " outputs", *map(row, self.outputs), *self.notes]
        )


def identifier(name: str) -> str:
    """A name CasADi accepts: letters, digits and single underscores, a letter first."""
    plain = "_".join(filter(None, "".join(c if c.isalnum() and c.isascii() else "_" for c in name).split("_"))) or "f"
    return plain if plain[0].isalpha() else f"x{plain}"


def identifiers(names: Iterable[str]) -> list[str]:
    """Names CasADi accepts, all different."""
    found: list[str] = []
    for name in map(identifier, names):
        k, fresh = 2, name
        while fresh in found:
            fresh, k = f"{name}_{k}", k + 1
        found.append(fresh)
    return found


# --- what a trace depends on -----------------------------------------------------------------------------------------
def memory_of(model: Model, formulation: Formulation, options: Mapping[str, Any]) -> str | None:
    """A hash of all that a trace depends on; None where that cannot be told, as with functions a user wrote."""
    home = getattr(formulation, "__module__", "")
    plain = all(isinstance(x, (str, int, float, bool, type(None))) for x in options.values())
    if not (home.startswith("linkwork.") and plain) or model.laws or model.is_moved:
        return None
    if not isinstance(getattr(import_module(home), formulation.__name__, None), FunctionType):
        return None
    asked = home, formulation.__name__, getattr(formulation, "returns", ()), sorted(options.items())
    return disk.key("trace", version("casadi"), _own_code(), repr(asked), repr(_told(model)))


def _told(model: Model) -> list[Any]:
    """All of a model that a formulation may read; where it was written and how it looks is left out."""
    told: list[Any] = [model.name, model.gravity, model.parent, model.parameters, dict(model.constants)]
    for body in model.bodies:
        told += [body.name, [(p.mass, p.centre, p.inertia) for p in body.inertials]]
        told += [(m.name, m.position, m.rotation) for m in body.markers]
    for joint in model.joints[1:]:
        told.append([x for name, x in vars(joint).items() if name not in ("source", "coupling", "motion")])
        c = joint.coupling  # type: ignore[union-attr]
        told.append(c and (c.leader, c.ratio, c.offset))
    return told


@cache
def _own_code() -> str:
    """Hash of the sources that tracing runs through."""
    home, digest = Path(__file__).parent, hashlib.sha256()
    for file in sorted([*home.glob("*.py"), *(home / "model").glob("*.py"), *(home / "dynamics").glob("*.py")]):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def recalled(memory: str | None) -> dict[str, Any] | None:
    """What was kept of a trace: name, ports, notes and the graph's digest."""
    entry = disk.fetch(memory) if memory is not None else None
    return entry.facts if entry is not None else None


def recall(memory: str | None, trace: Callable[[], Graph], slopes: Slopes) -> Equations | None:
    record = recalled(memory)
    if record is None:
        return None
    inputs, outputs = (tuple(map(_port, record[way])) for way in ("inputs", "outputs"))
    notes = tuple(record["notes"])
    return Equations(record["name"], inputs, outputs, trace, notes, None, memory, record["digest"], slopes)


def _port(p: Mapping[str, Any]) -> Port:
    default = None if p["default"] is None else np.array(p["default"])
    return Port(p["name"], tuple(p["components"]), tuple(p["units"]), default, tuple(p["shape"]))


def _keep(equations: Equations) -> None:
    assert equations.memory is not None
    record: dict[str, Any] = {"name": equations.name, "notes": equations.notes}
    record["digest"] = disk.digest(equations.casadi.serialize())
    for way in ("inputs", "outputs"):
        record[way] = [
            {
                "name": p.name,
                "components": p.components,
                "units": p.units,
                "default": None if p.default is None else p.default.tolist(),
                "shape": p.sample,
            }
            for p in getattr(equations, way)
        ]
    disk.store(equations.memory, disk.Entry(b"", record))
