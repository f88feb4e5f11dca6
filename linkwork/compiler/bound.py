"""A kernel with its arrays bound: one call of machine code and nothing else."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from .build import Variant
from .running import address, aligned, run

SHORT = 10e-6
"""Calls expected to take less than so many seconds do not let other Python threads run meanwhile."""


class Bound(partial):
    """Made by `Kernel.bind`. `bound()` evaluates on the arrays as they now are and returns its outputs.

    `inputs` are the arrays it reads, by name: write new values into them. `output` is the array it writes, or
    the `Outputs` when there are several (`results` has them in order); every call returns the same. One
    thread at a time may call it.

    It is a `partial` of the machine code, so that no Python runs in a call: the code returns 0, which a
    mapping turns into the output.
    """

    __slots__ = ("_held", "inputs", "output", "results")

    inputs: Mapping[str, np.ndarray]
    output: Any
    results: tuple[np.ndarray, ...]

    def __new__(
        cls,
        job: Job,
        inputs: Mapping[str, np.ndarray],
        results: Sequence[np.ndarray],
        output: Any,
    ) -> Bound:
        self = super().__new__(cls, *job.call(output))
        self.inputs = MappingProxyType(dict(inputs))
        self.output, self.results, self._held = output, tuple(results), job
        return self

    def __repr__(self) -> str:
        return f"Bound({', '.join(f'{name}: {array.shape}' for name, array in self.inputs.items())})"


class Job:
    """Blocks (`packed`) or samples to run on arrays at `places`, and on how many threads."""

    def __init__(self, variant: Variant, packed: bool, places: Sequence[int], samples: int, threads: int):
        self.variant, self.packed, self.threads = variant, packed, threads
        self.places, self.samples = places, samples
        self.blocks = -(-samples // variant.driver.lanes)

    def call(self, output: Any) -> tuple[Any, ...]:
        """A callable that runs the job and returns `output`, and its arguments."""
        size = self.variant.driver.bytes_of_scratch
        if self.threads > 1:
            code = self.variant.blocks if self.packed else self.variant.samples

            def work() -> Any:
                run(code, self.blocks, self.samples, size, self.places, self.threads)
                return output

            return (work,)
        memory = aligned((size // 8 + 8,))
        context = array("q", (0, self.blocks, self.samples, address(memory), *self.places))
        self._memory = memory, context
        kind = ctypes.PYFUNCTYPE if self.variant.work(self.blocks) < SHORT else ctypes.CFUNCTYPE
        symbols = self.variant.driver.symbols()
        code = kind(ctypes.c_int)(self.variant.code.address(symbols[0 if self.packed else -1]))
        code.restype = {0: output}.__getitem__  # pyright: ignore[reportAttributeAccessIssue]
        return code, ctypes.c_void_p(context.buffer_info()[0])
