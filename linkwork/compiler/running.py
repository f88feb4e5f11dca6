"""Calling machine code: contexts, scratch, threads."""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise

import numpy as np

RELEASING = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""A call that lets other Python threads run meanwhile."""
HOLDING = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
"""A call that does not: cheaper by a good part when it takes less than a microsecond."""

PAYS = 100e-6
"""Seconds of work from which on a thread pays for its start."""

HUGE = 1 << 19
"""Doubles from which on memory is asked for in large pages, which long recursions walk through much faster."""

_local = threading.local()
_guard = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def aligned(shape: Sequence[int]) -> np.ndarray:
    """An array of doubles that begins at a multiple of 64 bytes; its content is arbitrary."""
    count = 1
    for length in shape:
        count *= length
    if count >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(mmap.MADV_HUGEPAGE)
        return np.frombuffer(memory, np.float64, count).reshape(shape)
    raw = np.empty(count + 7)
    start = (-raw.ctypes.data // 8) % 8
    return raw[start : start + count].reshape(shape)


def address(array: np.ndarray) -> int:
    """Where an array begins. Several times quicker than `array.ctypes.data` where it can be."""
    flags = array.flags
    if flags.c_contiguous and flags.writeable and array.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # pyright: ignore[reportArgumentType]
    return array.ctypes.data


def scratch(size: int) -> int:
    """The address of this thread's own scratch of at least `size` bytes, used by one call at a time."""
    held = getattr(_local, "scratch", None)
    if held is None or held.nbytes < size:
        held = _local.scratch = aligned((size // 8 + 8,))
        _local.address = held.ctypes.data
    return _local.address


def cores() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def useful_threads(seconds: float) -> int:
    """How many threads pay for so much work."""
    return min(cores(), int(seconds / PAYS)) if seconds > 2 * PAYS else 1


def run(code: Callable[[int], None], blocks: int, samples: int, size: int, places: Sequence[int], threads: int) -> None:
    """Run all blocks: `places` are address and stride of each argument, `size` bytes of scratch per thread.

    With several threads, pieces are taken from one counter by whoever is free; which thread computes a block
    has no influence on its bits.
    """
    if threads <= 1 or blocks <= 1:
        context = array("q", (0, blocks, samples, scratch(size), *places))
        code(context.buffer_info()[0])
        return
    count = min(blocks, 4 * threads)
    pieces = pairwise([blocks * k // count for k in range(count + 1)])

    def work() -> None:
        own = scratch(size)
        for first, last in pieces:
            context = array("q", (first, last, samples, own, *places))
            code(context.buffer_info()[0])

    helpers = [_workers().submit(work) for _ in range(threads - 1)]
    work()
    wait(helpers)
    for helper in helpers:
        helper.result()


def _workers() -> ThreadPoolExecutor:
    global _pool
    with _guard:
        if _pool is None:
            _pool = ThreadPoolExecutor(max_workers=max(32, 2 * cores()), thread_name_prefix="linkwork")
        return _pool


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _pool, _guard
    _pool, _guard = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
