"""From a graph to its machine code, by way of the disk if it has been made before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import casadi as ca

from . import cache as disk
from .layout import Driver
from .lower import Lowered, lower
from .machine import Code, assembly_text, compile_text, module_text
from .ports import Port
from .rolled import RolledFunction
from .running import RELEASING
from .target import Target, host


class Deferred:
    """A graph that is known by its hash and its ports; it is made when its machine code is not on disk."""

    def __init__(
        self, name: str, digest: str, inputs: Sequence[Port], outputs: Sequence[Port], make: Callable[[], ca.Function]
    ):
        self._name, self.digest = name, digest
        self._rows = tuple(p.rows for p in inputs), tuple(p.rows for p in outputs)
        self.make = make

    def name(self) -> str:
        return self._name

    def n_in(self) -> int:
        return len(self._rows[0])

    def n_out(self) -> int:
        return len(self._rows[1])

    def numel_in(self, k: int) -> int:
        return self._rows[0][k]

    def numel_out(self, k: int) -> int:
        return self._rows[1][k]


Graph = ca.Function | RolledFunction

SECONDS_PER_OPERATION = 0.5e-9
"""About what one operation takes on all lanes at once; it only serves to choose a number of threads."""


@dataclass(frozen=True)
class Variant:
    """The machine code of a function for one number of lanes."""

    code: Code
    driver: Driver
    facts: dict[str, Any]
    """Operations by kind, parts, seconds the making took; kept with the code."""
    seconds: float
    """What getting it took this time."""
    cached: bool

    @cached_property
    def blocks(self) -> Callable[[int], None]:
        """The driver on data that lies in lanes already."""
        return RELEASING(self.code.address("blocks"))

    @cached_property
    def samples(self) -> Callable[[int], None]:
        """The driver on samples one after the other; for one lane that is the same."""
        return RELEASING(self.code.address("samples")) if self.driver.lanes > 1 else self.blocks

    def work(self, blocks: int) -> float:
        """Seconds that so many blocks take, roughly."""
        return blocks * self.facts["operations"] * SECONDS_PER_OPERATION


def name_of(fn: Graph | Deferred, target: Target) -> str:
    """The hash of all that the machine code of a function depends on."""
    digest = fn.digest if isinstance(fn, Deferred) else disk.digest(fn.serialize())
    return disk.key("kernel", digest, target)


def made(fn: Graph | Deferred) -> Graph:
    """The graph itself."""
    return fn.make() if isinstance(fn, Deferred) else fn


def build(fn: Graph | Deferred, name: str, lanes: int, use_disk: bool) -> Variant:
    """Machine code of a function and its drivers for a number of lanes."""
    began = perf_counter()
    entry_name = disk.key(name, lanes)
    entry = disk.fetch(entry_name) if use_disk else None
    cached = entry is not None
    if entry is None:
        text, lowered, driver = written(made(fn), lanes)
        image = compile_text(text, host())
        facts = _facts(lowered, driver, perf_counter() - began)
        entry = disk.Entry(image, facts)
        if use_disk:
            disk.store(entry_name, entry)
    facts = entry.facts
    driver = driver_of(fn, lanes, facts["scratch"], (), facts["stages"], facts["operations"])
    tables = fn.data("kernel", lanes) if isinstance(fn, RolledFunction) else {}
    code = Code(entry.image, [*driver.symbols(), *tables])
    code.point(tables)
    return Variant(code, driver, entry.facts, perf_counter() - began, cached)


def written(fn: Graph, lanes: int) -> tuple[str, Lowered, Driver]:
    """The module of a kernel as IR text. Rows of matrices are in C order, as NumPy has them."""
    rolled = isinstance(fn, RolledFunction)
    many = lanes > 1
    lowered = fn.lower("kernel", lanes) if rolled else lower(fn, "kernel", lanes, c_order=True, once=many, near=many)
    operations = sum(lowered.counts.values())
    driver = driver_of(fn, lanes, lowered.scratch, lowered.same, 1 if rolled else lowered.parts, operations)
    return module_text([lowered], driver.text(), driver.declarations()), lowered, driver


def assembly(fn: Graph, lanes: int) -> str:
    """The module of a kernel as assembly text."""
    return assembly_text(written(fn, lanes)[0], host())


def driver_of(
    fn: Graph | Deferred,
    lanes: int,
    scratch: int,
    same: Sequence[Sequence[int] | None] = (),
    parts: int = 1,
    operations: int = 0,
) -> Driver:
    """The driver that fits such a function. Only its text depends on `same`: which rows are equal."""
    rows_in = tuple(fn.numel_in(k) for k in range(fn.n_in()))
    rows_out = tuple(fn.numel_out(k) for k in range(fn.n_out()))
    if isinstance(fn, RolledFunction):
        operations = 0  # in loops: its code is short
    return Driver("kernel", lanes, rows_in, rows_out, scratch, tuple(same), parts, operations)


def _facts(lowered: Lowered, driver: Driver, seconds: float) -> dict[str, Any]:
    return {
        "operations": sum(lowered.counts.values()),
        "counts": dict(lowered.counts.most_common()),
        "constants": lowered.constants,
        "parts": lowered.parts,
        "stages": driver.parts,
        "scratch": lowered.scratch,
        "seconds": seconds,
    }


def report(fn: Graph, variant: Variant) -> str:
    """What became of a graph, in a few lines."""
    facts, counts = variant.facts, variant.facts["counts"]
    fused = sum(counts.get(kind, 0) for kind in ("fma", "fms", "fnma"))
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    origin = "from the cache" if variant.cached else "compiled"
    return "\n".join(
        [
            f"{fn.name()} for {host()}",
            f"  graph       {fn.n_instructions()} CasADi instructions",
            f"  operations  {facts['operations']} on {variant.driver.lanes} lanes: {kinds}",
            f"  fused       {fused} products with a sum",
            f"  constants   {facts['constants']} folded into the code",
            f"  code        {variant.code.size} bytes, {facts['parts']} parts, {facts['scratch']} rows aside",
            f"  built in    {facts['seconds']:.3f} s; this time {origin} in {variant.seconds:.3f} s",
        ]
    )
