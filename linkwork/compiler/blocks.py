"""The block layout: samples in the order the processor wants them, for those who want no copying at all.

An array of blocks has the shape (blocks, rows, lanes) and begins at a multiple of 64 bytes: sample s lies in
lane `s % lanes` of block `s // lanes`, and its numbers, matrices in C order, are the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import RunError
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
    flat = blocks.swapaxes(1, 2).reshape(count * lanes, rows)
    return np.ascontiguousarray(flat[:samples]).reshape(samples, *port.sample)


def checked(port: Port, value: Any, lanes: int, what: str = "input") -> tuple[np.ndarray, int | None]:
    """An array of blocks and their number, None for a single block that all share. Nothing is copied."""
    shape = (port.rows, lanes)
    if not isinstance(value, np.ndarray) or value.dtype != FLOAT or value.shape[-2:] != shape or value.ndim > 3:
        found = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise RunError(
            f"{what} '{port.name}' is {found}, expected float64 (blocks, {port.rows}, {lanes})",
            fix="make it with kernel.pack(...)",
        )
    inner_dense = value.strides[-1] == 8 and (port.rows <= 1 or value.strides[-2] == 8 * lanes)
    if not inner_dense or address(value) % 64 or (value.ndim == 3 and value.strides[0] % (8 * lanes)):
        raise RunError(
            f"{what} '{port.name}' does not lie as blocks, aligned to 64 bytes",
            fix="make it with kernel.pack(...)",
        )
    return value, value.shape[0] if value.ndim == 3 else None
