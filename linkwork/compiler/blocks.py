"""The block layout: samples in the order the processor wants them, for those who want no copying at all.

An array of blocks has the shape (blocks, rows, lanes) and begins at a multiple of 64 bytes: sample s lies in
lane `s % lanes` of block `s // lanes`, and its numbers, matrices in C order, are the rows: all of them, also
the zeros and equal ones of a matrix. `Kernel.blocks` evaluates such arrays, `Kernel.bind_blocks` binds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import RunError
from .arguments import Signature, one_count
from .ports import FLOAT, Port
from .running import address, aligned


def packed(array: np.ndarray, rows: int, lanes: int) -> np.ndarray:
    """Samples, batch first, as blocks; lanes after the last sample repeat it."""
    samples = array.shape[0]
    flat = array.reshape(samples, rows)
    blocks = -(-samples // lanes)
    result = aligned((blocks, rows, lanes))
    full = samples // lanes
    result[:full] = flat[: full * lanes].reshape(full, lanes, rows).swapaxes(1, 2)
    if full < blocks:
        rest = samples - full * lanes
        result[full, :, :rest] = flat[full * lanes :].T
        result[full, :, rest:] = flat[-1][:, None]
    return result


def shared(array: np.ndarray, rows: int, lanes: int) -> np.ndarray:
    """One sample for all, as a single block (rows, lanes)."""
    result = aligned((rows, lanes))
    result[...] = array.reshape(rows, 1)
    return result


def unpacked(blocks: np.ndarray, port: Port, samples: int) -> np.ndarray:
    """The first `samples` samples of blocks, batch first."""
    count, rows, lanes = blocks.shape
    if not 0 <= samples <= count * lanes:
        fix = f"give 0 to {count * lanes}"
        raise RunError(f"{samples} samples of {count} blocks of {lanes}", fix=fix)
    flat = blocks.swapaxes(1, 2).reshape(count * lanes, rows)
    return np.ascontiguousarray(flat[:samples]).reshape(samples, *port.sample)


def prepared(
    signature: Signature, lanes: int, given: Mapping[str, Any], out: Any
) -> tuple[int, list[int], list[np.ndarray], dict[str, np.ndarray]]:
    """The number of blocks, address and stride of every array, the results and the inputs of a call.

    An input without blocks, which all share, has the stride 0.
    """
    signature.check_names(given)
    inputs: dict[str, np.ndarray] = {}
    counts: dict[str, int] = {}
    words: list[int] = []
    for port in signature.inputs:
        name = port.name
        if name in given:
            array, count, place = checked(port, given[name], lanes)
        else:
            array, count = shared(port.default, port.rows, lanes), None  # pyright: ignore[reportArgumentType]
            place = address(array)
        inputs[name] = array
        if count is None:
            words += (place, 0)
        else:
            words += (place, array.strides[0])
            counts[name] = count
    total = one_count(counts, "blocks")
    number = 1 if total is None else total
    if out is None:
        results = [aligned((number, port.rows, lanes)) for port in signature.outputs]
    else:
        results = signature.chosen(out)
        for port, result in zip(signature.outputs, results, strict=True):
            if checked(port, result, lanes, "output")[1] != number:
                raise RunError(f"output '{port.name}' is {result.shape}, expected {number} blocks")
        signature.refuse_overlap(results, inputs.values())
    for array in results:
        words += (address(array), array.strides[0])
    return number, words, results, inputs


def checked(port: Port, value: Any, lanes: int, what: str = "input") -> tuple[np.ndarray, int | None, int]:
    """An array of blocks, their number, None for a single block that all share, and its address."""
    shape = (port.rows, lanes)
    if type(value) is np.ndarray and value.dtype is FLOAT and value.flags.carray and value.shape[1:] == shape:
        place = address(value)
        if not place % 64:
            return value, len(value), place
    if not isinstance(value, np.ndarray) or value.dtype != FLOAT or value.shape[-2:] != shape or value.ndim > 3:
        found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise RunError(
            f"{what} '{port.name}' is {found}, expected float64 (blocks, {port.rows}, {lanes})",
            fix="make it with kernel.pack(...)",
        )
    inner_dense = value.strides[-1] == 8 and (port.rows <= 1 or value.strides[-2] == 8 * lanes)
    place = address(value)
    if not inner_dense or place % 64 or (value.ndim == 3 and value.strides[0] % (8 * lanes)):
        raise RunError(
            f"{what} '{port.name}' does not lie as blocks, aligned to 64 bytes",
            fix="make it with kernel.pack(...)",
        )
    return value, value.shape[0] if value.ndim == 3 else None, place
