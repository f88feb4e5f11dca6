"""A kernel with its arrays bound: one call of machine code and nothing else."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .build import Variant
from .running import HOLDING, aligned, run

SHORT = 10e-6
"""Calls expected to take less than so many seconds do not let other Python threads run meanwhile."""


class Bound:
    """Made by `Kernel.bind`. `bound()` evaluates on the arrays as they now are and returns its outputs.

    `inputs` are the arrays it reads, by name: write new values into them. `output` is the array it writes, or
    the `Outputs` when there are several (`results` has them in order); every call returns the same. One
    thread at a time may call it.
    """

    __slots__ = ("_address", "_call", "_held", "inputs", "output", "results")

    def __init__(
        self,
        variant: Variant,
        places: Sequence[int],
        samples: int,
        threads: int,
        inputs: Mapping[str, np.ndarray],
        results: Sequence[np.ndarray],
        output: Any,
    ):
        self.inputs = MappingProxyType(dict(inputs))
        self.output, self.results = output, tuple(results)
        lanes = variant.driver.lanes
        blocks = -(-samples // lanes)
        size = variant.driver.bytes_of_scratch
        if threads > 1:
            self._call = lambda _: run(variant.samples, blocks, samples, size, places, threads)
            self._address, self._held = 0, (variant,)
            return
        memory = aligned((size // 8 + 8,))
        context = array("q", (0, blocks, samples, memory.ctypes.data, *places))
        self._call = variant.samples
        if variant.work(blocks) < SHORT:
            self._call = HOLDING(variant.code.address(variant.driver.symbols()[-1]))
        self._address = context.buffer_info()[0]
        self._held = (variant, memory, context)

    def __call__(self) -> Any:
        """Evaluate and return the outputs."""
        self._call(self._address)
        return self.output
