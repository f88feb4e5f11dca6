"""A compiled function: NumPy arrays in, NumPy arrays out, samples in the lanes of the processor."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from ..errors import CompileError, RunError
from . import blocks as layout
from .arguments import Signature, apart, places
from .bound import Bound, Job
from .build import Deferred, Graph, Variant, assembly, build, made, name_of, report, written
from .ports import FLOAT, Port, dense, fitted, ports_of
from .rolled import RolledFunction
from .running import cores, run, useful_threads
from .single import quickened
from .target import host

LANES = (1, 2, 4, 8)


def compile_function(
    fn: Graph | Deferred,
    inputs: Sequence[Port] | None = None,
    outputs: Sequence[Port] | None = None,
    lanes: int | None = None,
    cache: bool = True,
) -> Kernel:
    """A kernel of an SX function, its inputs and outputs named by ports (by default as in the function).

    `lanes` is how many samples go side by side; without it as many as the processor has room for. Machine
    code is made at the first call that needs it, or taken from the disk (see `cache.py`) unless `cache` is
    False.
    """
    if not isinstance(fn, RolledFunction | Deferred):
        if not isinstance(fn, ca.Function):
            raise CompileError(f"expected a casadi.Function, got {type(fn).__name__}")
        if not fn.is_a("SXFunction"):
            raise CompileError(f"function '{fn.name()}' is a {fn.class_name()}", fix="use fn.expand()")
    if lanes is not None and lanes not in LANES:
        raise CompileError(f"lanes={lanes} is not possible", fix=f"give one of {', '.join(map(str, LANES))}")
    if isinstance(fn, Deferred):  # its ports were completed when it was made
        signature = Signature(tuple(inputs or ()), tuple(outputs or ()))
    else:
        signature = Signature(ports_of(fn, inputs, True), ports_of(fn, outputs, False))
    return quickened(Kernel, signature)(fn, signature, lanes or host().lanes, cache)


class Kernel:
    """Machine code of one function. Made by `compile_function`; several threads may call it at once.

    `kernel(q=Q, v=V)`: every input is one sample of its port's shape, which all samples share, or a batch of
    them, batch first. Inputs with a default may be left out. The result is an array, or `Outputs` when there
    are several. Numbers are taken as they are: NaN goes in and comes out, nothing looks for it.

    A sample's bits depend on that sample alone: not on the batch, its place in it, the lanes or the threads.
    """

    def __init__(self, graph: Graph | Deferred, signature: Signature, lanes: int, cache: bool):
        self._graph, self.lanes = graph, lanes
        self._signature, self._cache = signature, cache
        self._variants: dict[int, Variant] = {}
        self._lock = threading.Lock()
        self._local = threading.local()

    @cached_property
    def graph(self) -> Graph:
        """The function this is the machine code of."""
        return made(self._graph)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self._signature.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self._signature.outputs

    def __repr__(self) -> str:
        inside = ", ".join(f"{p.name}{list(p.sample)}" for p in self.inputs)
        outside = ", ".join(f"{p.name}{list(p.sample)}" for p in self.outputs)
        return f"Kernel({self._graph.name()}: {inside} → {outside}; {self.lanes} lanes)"

    # evaluating

    def __call__(self, *, out: Any = None, threads: int | None = None, **given: Any) -> Any:
        """Evaluate. `out` is the array to write to, or a mapping of them by name; `threads` how many to use.

        Without `threads`, as many as there are processors when the batch is large enough to pay for them.
        """
        return self._evaluate(given, out, threads)

    def _evaluate(self, given: Mapping[str, Any], out: Any, threads: int | None) -> Any:
        """The general call; `single.py` has the quick one."""
        arrays, samples = self._signature.arrays(given)
        results = self._signature.results(samples, out)
        separate = results if out is None else [apart(result, arrays) for result in results]
        if samples == 0:
            return self._signature.answer(results)
        count = samples or 1
        variant = self.variant(1 if count == 1 else self.lanes)
        words = places(self._signature, arrays, separate)
        driver = variant.driver
        blocks = -(-count // driver.lanes)
        used = self._threads(threads, variant, blocks)
        run(variant.samples, blocks, count, driver.bytes_of_scratch, words, used)
        if separate is not results:
            for result, temporary in zip(results, separate, strict=True):
                if result is not temporary:
                    result[...] = temporary
        return self._signature.answer(results)

    def bind(self, *, out: Any = None, threads: int | None = 1, **given: Any) -> Bound:
        """Bind arrays once, to evaluate them again and again as they then are.

        Arrays must be double precision with the numbers of a sample side by side, since they are read in
        place; numbers and lists are copied. `bound()` returns the same outputs each time, with new numbers in
        them.
        """
        return self._bind(given, out, threads)

    def _bind(self, given: Mapping[str, Any], out: Any = None, threads: int | None = 1) -> Bound:
        for port in self.inputs:
            value = given.get(port.name)
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
                extra = value.ndim - len(port.sample)
                if value.dtype != FLOAT or (extra in (0, 1) and not dense(value, extra)):
                    raise RunError(
                        f"input '{port.name}' cannot be bound: {value.dtype} with strides {value.strides}",
                        fix="bind np.ascontiguousarray(x, dtype=float) and write into that",
                    )
        arrays, samples = self._signature.arrays(given)
        if samples == 0:
            raise RunError("there are no samples to bind")
        results = self._signature.results(samples, out)
        self._signature.refuse_overlap(results, arrays)
        count = samples or 1
        variant = self.variant(1 if count == 1 else self.lanes)
        used = self._threads(threads, variant, -(-count // variant.driver.lanes))
        inputs = {port.name: array for port, array in zip(self.inputs, arrays, strict=True)}
        words = places(self._signature, arrays, results)
        return Bound(Job(variant, False, words, count, used), inputs, results, self._signature.answer(results))

    def _single(self, given: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """This thread's own memory for one sample, bound, if that is what a call gives: see `single.py`."""
        if any(type(given[p.name]) is not np.ndarray or given[p.name].shape != p.sample for p in self.inputs):
            return None
        bound = self._bind({port.name: np.zeros(port.sample) for port in self.inputs})
        into = [a.data if a.ndim == 1 else a for a in bound.inputs.values()]
        self._local.single = (*into, bound, *bound.results)
        return self._local.single

    def _threads(self, asked: int | None, variant: Variant, blocks: int) -> int:
        if asked is None:
            return useful_threads(variant.work(blocks))
        if not isinstance(asked, (int, np.integer)) or asked < 1:
            raise RunError(f"threads={asked!r} is not possible", fix=f"give 1 to {cores()}")
        return asked

    # the block layout

    def blocks(self, *, out: Any = None, threads: int | None = None, **given: np.ndarray) -> Any:
        """Evaluate on arrays in the block layout (blocks, rows, lanes), without any copying.

        An input (rows, lanes) is one block that all share. See `pack`, `unpack` and `blocks.py`.
        """
        number, words, results, _ = layout.prepared(self._signature, self.lanes, given, out)
        variant = self.variant(self.lanes)
        used = self._threads(threads, variant, number)
        run(variant.blocks, number, number * self.lanes, variant.driver.bytes_of_scratch, words, used)
        return self._signature.answer(results)

    def bind_blocks(self, *, out: Any = None, threads: int | None = 1, **given: np.ndarray) -> Bound:
        """Bind arrays in the block layout once, to evaluate them again and again as they then are.

        As `bind` for `blocks`: for loops, since checking the arrays takes longer than many a function.
        """
        number, words, results, inputs = layout.prepared(self._signature, self.lanes, given, out)
        variant = self.variant(self.lanes)
        job = Job(variant, True, words, number * self.lanes, self._threads(threads, variant, number))
        return Bound(job, inputs, results, self._signature.answer(results))

    def pack(self, **given: Any) -> dict[str, np.ndarray]:
        """Inputs, as a call takes them, in the block layout; the lanes after the last sample repeat it."""
        result = {}
        for port in self.inputs:
            if port.name in given:
                array, count = fitted(port, given.pop(port.name))
                change = layout.shared if count is None else layout.packed
                result[port.name] = change(array, port.rows, self.lanes)
        if given:
            self._signature.check_names(given)
        return result

    def unpack(self, blocks: Any, samples: int) -> Any:
        """What `blocks` returned as a call would return it: `samples` samples, batch first."""
        found = self._signature.chosen(blocks)
        pairs = zip(self.outputs, found, strict=True)
        return self._signature.answer([layout.unpacked(array, port, samples) for port, array in pairs])

    # looking inside

    def variant(self, lanes: int) -> Variant:
        """The machine code for a number of lanes, made at the first call."""
        found = self._variants.get(lanes)
        if found is None:
            with self._lock:
                found = self._variants.get(lanes)
                if found is None:
                    found = self._variants[lanes] = build(self._graph, self.name, lanes, self._cache)
        return found

    @cached_property
    def name(self) -> str:
        """The hash of all that its machine code depends on."""
        return name_of(self._graph, host())

    def explain(self, lanes: int | None = None) -> str:
        """What became of the graph: operations by kind, how many fused, size of code, time to build."""
        return report(self.graph, self.variant(lanes or self.lanes))

    @property
    def ir(self) -> str:
        """Its LLVM IR, for reading."""
        return written(self.graph, self.lanes)[0]

    @property
    def asm(self) -> str:
        """Its assembly, for reading."""
        return assembly(self.graph, self.lanes)

    def to_c(self, path: str | Path) -> Path:
        """Write the graph as C source by CasADi's generator, for one sample; returns the path."""
        path = Path(path)
        generator = ca.CodeGenerator(path.name)
        if not isinstance(self.graph, ca.Function):
            raise CompileError(
                f"'{self.graph.name()}' runs in loops over tables, which CasADi's generator does not write"
            )
        generator.add(self.graph)
        try:
            path.write_text(generator.dump())
        except OSError as error:
            raise CompileError(f"cannot be written: {error.strerror}", where=str(path), fix="check the path") from None
        return path
