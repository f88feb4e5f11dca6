"""Calling machine code: contexts, scratch, threads."""

from __future__ import annotations

import ctypes
import math
import mmap
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from struct import Struct
from typing import Any

import numpy as np

RELEASING = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""A call that lets other Python threads run meanwhile."""

PAYS = 100e-6
"""Seconds of work from which on a thread pays for its start."""

HUGE = 1 << 19
"""Doubles from which on memory is asked for in large pages, which long recursions walk through much faster."""

FELT = 4096
"""Doubles from which on it pays to begin an array where a cache line begins."""

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
    return _within(count).reshape(shape)


def _within(count: int) -> np.ndarray:
    raw = np.empty(count + 7)
    start = (-address(raw) // 8) % 8
    return raw[start : start + count]


def fresh(shape: Sequence[int]) -> np.ndarray:
    """A new array for a caller to keep, aligned when it is large enough for that to be felt."""
    count = math.prod(shape)
    return _within(count).reshape(shape) if count >= FELT else np.empty(shape)


HEAD = 4
"""Words of a context before the addresses."""

DATA = object.__basicsize__
"""Where in an array object the address of its numbers stands: first, as NumPy's binary interface has it."""


def address(array: np.ndarray) -> int:
    """Where an array begins, seven times quicker than by `array.ctypes.data`."""
    return _word(id(array) + DATA).value


def _told(array: np.ndarray) -> int:
    return array.ctypes.data


_word = ctypes.c_ssize_t.from_address
if sys.implementation.name != "cpython" or any(address(a) != _told(a) for a in (np.zeros(3), np.zeros((2, 5))[1:])):
    address = _told


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


@cache
def _words(count: int) -> Callable[..., bytes]:
    """Puts so many words side by side."""
    return Struct(f"{count}q").pack


def run(code: Callable[[Any], None], blocks: int, samples: int, size: int, places: Sequence[int], threads: int) -> None:
    """Run all blocks: `places` are address and stride of each argument, `size` bytes of scratch per thread.

    With several threads, pieces are taken from one counter by whoever is free; which thread computes a block
    has no influence on its bits.
    """
    words = _words(len(places) + HEAD)
    if threads <= 1 or blocks <= 1:
        code(words(0, blocks, samples, scratch(size), *places))
        return
    count = min(blocks, 4 * threads)
    pieces = pairwise([blocks * k // count for k in range(count + 1)])

    def work() -> None:
        own = scratch(size)
        for first, last in pieces:
            code(words(first, last, samples, own, *places))

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
