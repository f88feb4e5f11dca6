"""A compiled function: NumPy arrays in, NumPy arrays out, samples in the lanes of the processor."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import casadi as ca
import numpy as np

from ..errors import CompileError, RunError, nearest
from . import cache as disk
from .bound import Bound
from .layout import Driver
from .lower import CHUNK, Lowered, lower
from .machine import Code, assembly_text, compile_text, module_text
from .ports import FLOAT, Outputs, Port, dense, fitted, ports_of
from .running import HOLDING, RELEASING, aligned, run, useful_threads
from .target import host

SECONDS_PER_OPERATION = 0.4e-9
"""About what one operation on all lanes takes; only for the choice of the number of threads."""


def compile_function(
    fn: ca.Function,
    inputs: Sequence[Port] | None = None,
    outputs: Sequence[Port] | None = None,
    lanes: int | None = None,
    cache: bool = True,
) -> Kernel:
    """A kernel of an SX function, whose inputs and outputs are named by ports (by default as in the function).

    `lanes` is how many samples go side by side; without it what the processor has. Machine code is made at the first
    call that needs it, or taken from the disk (see `cache.py`) unless `cache` is False.
    """
    if not isinstance(fn, ca.Function):
        raise CompileError(f"expected a casadi.Function, got {type(fn).__name__}")
    if lanes is not None and lanes not in (1, 2, 4, 8, 16):
        raise CompileError(f"lanes={lanes} is not possible", fix="give 1, 2, 4, 8 or 16")
    if not fn.is_a("SXFunction"):
        raise CompileError(f"function '{fn.name()}' is a {fn.class_name()}", fix="use fn.expand()")
    return Kernel(fn, ports_of(fn, inputs, True), ports_of(fn, outputs, False), lanes or host().lanes, cache)


@dataclass(frozen=True)
class Variant:
    """The machine code of a kernel for one number of lanes."""

    code: Code
    driver: Driver
    facts: dict[str, Any]
    seconds: float
    cached: bool


class Kernel:
    """Machine code of one function. Made by `compile_function`; safe to call from several threads.

    `kernel(q=Q, v=V)`: every input is one sample of its port's shape, which all samples share, or a batch of them,
    batch first. Inputs with a default may be left out. The result is an array, or `Outputs` when there are several.
    Numbers are taken as they are: NaN goes in and comes out, nothing looks for it.

    A sample's bits depend on that sample alone: not on the batch, its place in it, the lanes or the threads.
    """

    def __init__(
        self, graph: ca.Function, inputs: tuple[Port, ...], outputs: tuple[Port, ...], lanes: int, cache: bool
    ):
        self.graph, self.inputs, self.outputs, self.lanes = graph, inputs, outputs, lanes
        self._cache = cache
        self._names = tuple(port.name for port in inputs)
        self._variants: dict[int, Variant] = {}
        self._lock = threading.Lock()
        self._local = threading.local()

    @cached_property
    def name(self) -> str:
        """The hash of all its machine code depends on."""
        return disk.key("kernel", self.graph.serialize(), host(), CHUNK)

    def __repr__(self) -> str:
        inside = ", ".join(f"{p.name}{list(p.sample)}" for p in self.inputs)
        outside = ", ".join(f"{p.name}{list(p.sample)}" for p in self.outputs)
        return f"Kernel({self.graph.name()}: {inside} → {outside}; {self.lanes} lanes)"

    def __call__(self, *, out: Any = None, threads: int | None = None, **given: Any) -> Any:
        """Evaluate. `out` is the array to write to, or a mapping of them by name; `threads` at most so many threads."""
        if out is None and len(given) == len(self._names):
            single = getattr(self._local, "single", None) or self._make_single()
            for name, shape, buffer in single.slots:
                value = given.get(name)
                if type(value) is not np.ndarray or value.shape != shape or value.dtype is not FLOAT:
                    break
                buffer[...] = value
            else:
                return single.fresh()
        arrays, samples = self._arrays(given)
        results = self._results(samples, out)
        written = [self._apart(result, arrays) for result in results]
        lanes = 1 if samples is None or samples == 1 else self.lanes
        self._run(arrays, written, 1 if samples is None else samples, lanes, threads)
        for result, temporary in zip(results, written, strict=True):
            if result is not temporary:
                result[...] = temporary
        return self._answer(results)

    def bind(self, *, out: Any = None, threads: int | None = None, **given: Any) -> Bound:
        """Bind arrays once, to evaluate them again and again as they then are.

        Arrays must be double precision with the numbers of a sample side by side, since they are read in place;
        numbers and lists are copied to `bound.inputs`. `bound()` writes to `bound.outputs` and returns them.
        """
        for port in self.inputs:
            value = given.get(port.name)
            if isinstance(value, np.ndarray):
                extra = value.ndim - len(port.sample)
                if value.dtype != FLOAT or (extra in (0, 1) and not dense(value, extra)):
                    raise RunError(
                        f"input '{port.name}' cannot be bound: {value.dtype} with strides {value.strides}",
                        fix="bind np.ascontiguousarray(x, dtype=float) and write into that",
                    )
        arrays, samples = self._arrays(given)
        results = self._results(samples, out)
        for port, result in zip(self.outputs, results, strict=True):
            if self._apart(result, arrays) is not result:
                raise RunError(f"output '{port.name}' overlaps an input", fix="give it memory of its own")
        lanes = 1 if samples is None or samples == 1 else self.lanes
        count = 1 if samples is None else samples
        variant = self.variant(lanes)
        words = self._places(arrays, results, samples)
        chosen = self._threads(threads, -(-count // lanes), variant)
        inputs = dict(zip(self._names, arrays, strict=True))
        return Bound(variant, words, count, chosen, inputs, results, self._answer(results))
