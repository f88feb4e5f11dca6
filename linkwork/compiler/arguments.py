"""A call's arguments and results against a kernel's ports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import RunError, nearest
from .ports import FLOAT, Outputs, Port, dense, fitted
from .running import address, fresh


@dataclass(frozen=True)
class Signature:
    """The ports of a kernel, with what must be done to the arrays of every call."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(port.name for port in self.inputs)

    @cached_property
    def inner(self) -> tuple[int, ...]:
        """The dimensions of one sample of each input."""
        return tuple(len(port.sample) for port in self.inputs)

    def check_names(self, given: Mapping[str, Any]) -> None:
        """Refuse inputs the kernel has not got, and calls that leave out one without a default."""
        if given.keys() == self.names:
            return
        for name in given:
            if name not in self.names:
                raise RunError(f"there is no input '{name}'; {nearest(name, [p.name for p in self.inputs])}")
        missing = [port for port in self.inputs if port.name not in given and port.default is None]
        if missing:
            port = missing[0]
            raise RunError(f"input '{port.name}' is missing", fix=f"give {port.name}= {port.expects()}")

    def arrays(self, given: Mapping[str, Any]) -> tuple[list[np.ndarray], int | None]:
        """The inputs in order, fit for machine code, and the number of samples: None for one sample."""
        self.check_names(given)
        arrays: list[np.ndarray] = []
        counts: dict[str, int] = {}
        for port in self.inputs:
            array, count = fitted(port, given.get(port.name, port.default))
            arrays.append(array)
            if count is not None:
                counts[port.name] = count
        return arrays, one_count(counts, "samples")

    def results(self, samples: int | None, out: Any) -> list[np.ndarray]:
        """New arrays for the outputs, or those the caller gave, checked."""
        head = () if samples is None else (samples,)
        if out is None:
            return [fresh((*head, *port.sample)) for port in self.outputs]
        found = self.chosen(out)
        for port, array in zip(self.outputs, found, strict=True):
            shape = (*head, *port.sample)
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != FLOAT:
                said = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
                raise RunError(f"out for '{port.name}' is {said}, expected float64 {shape}")
            if not array.flags.writeable or not dense(array, len(head)):
                raise RunError(f"out for '{port.name}' must be writeable and hold the numbers of a sample side by side")
            if samples is not None and samples > 1 and abs(array.strides[0]) < 8 * port.rows:
                raise RunError(f"out for '{port.name}' has samples that overlap")
        return found

    def chosen(self, named: Any) -> list[np.ndarray]:
        """Arrays for the outputs in order, from one array or a mapping by name."""
        if type(named) is np.ndarray and len(self.outputs) == 1:
            return [named]
        names = [port.name for port in self.outputs]
        if not isinstance(named, Mapping):
            if len(names) == 1:
                return [named]
            raise RunError(f"expected a mapping with {', '.join(names)}, got {type(named).__name__}")
        for name in named:
            if name not in names:
                raise RunError(f"there is no output '{name}'; {nearest(name, names)}")
        for name in names:
            if name not in named:
                raise RunError(f"output '{name}' is missing", fix=f"give one array for each of {', '.join(names)}")
        return [named[name] for name in names]

    def refuse_overlap(self, results: Sequence[np.ndarray], arrays: Collection[np.ndarray]) -> None:
        """Refuse an output that may share memory with an input."""
        for port, result in zip(self.outputs, results, strict=True):
            for array in arrays:
                if np.may_share_memory(result, array):
                    raise RunError(f"output '{port.name}' overlaps an input", fix="give it memory of its own")

    def answer(self, results: Sequence[np.ndarray]) -> Any:
        """What a call returns: the one array, or all by name."""
        if len(results) == 1:
            return results[0]
        return Outputs(dict(zip((port.name for port in self.outputs), results, strict=True)))


def places(signature: Signature, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> list[int]:
    """Address and stride of every array.

    An input without batch has the stride 0. An output always moves: one sample alone is at index 0.
    """
    words: list[int] = []
    for array, inner in zip(inputs, signature.inner, strict=True):
        words += (address(array), array.strides[0] if array.ndim > inner else 0)
    for array in outputs:
        words += (address(array), array.strides[0] if array.ndim else 0)
    return words


def apart(result: np.ndarray, arrays: Iterable[np.ndarray]) -> np.ndarray:
    """The array to compute into: the result itself, or a new one if it overlaps an input."""
    if any(np.may_share_memory(result, array) for array in arrays):
        return np.empty(result.shape)
    return result


def one_count(counts: Mapping[str, int], what: str) -> int | None:
    """The number of samples that all batched inputs agree on, None if there are no batched ones."""
    if not counts:
        return None
    different = set(counts.values())
    if len(different) == 1:
        return different.pop()
    (first, number), *others = counts.items()
    for name, other in others:
        if other != number:
            raise RunError(
                f"input '{name}' has {other} {what}, input '{first}' has {number}",
                fix="give all the same number, or one sample without a batch axis for all to share",
            )
    return number
