"""Timing: several things in turn, again and again, on one core; the best of each counts. And the rows they fill."""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

Row = dict[str, Any]
Timed = tuple[Callable[[], Any], int]
"""Something to call, and how many samples one call works on."""


class Wrong(Exception):
    """The two sides of a comparison do not give the same answer; there is nothing to time."""


@dataclass(frozen=True)
class Settings:
    """How much time to spend."""

    quick: bool = False

    @property
    def slice(self) -> float:
        """Seconds of one turn of one thing: short, so that some turns are undisturbed on a shared machine."""
        return 0.0002 if self.quick else 0.002

    @property
    def budget(self) -> float:
        """Seconds spent on each thing, over all its turns."""
        return 0.01 if self.quick else 0.5


LEAST = 5
"""Turns of each thing, however long one takes."""


@dataclass(frozen=True)
class Case:
    """Comparisons that share their preparation: made only when asked for, several rows each."""

    bench: str
    model: str
    run: Callable[[Settings], list[Row]]

    @property
    def name(self) -> str:
        return f"{self.bench}.{self.model}"


def row(
    bench: str,
    model: str,
    ours_ns: float,
    peer: str,
    peer_ns: float,
    *,
    target: float | None = None,
    note: str = "",
    ratio: float | None = None,
) -> Row:
    """A line of the table. `ratio` is the peer's time over ours; the target is the least it may be."""
    ratio = peer_ns / ours_ns if ratio is None else ratio
    found: Row = {
        "bench": bench, "model": model, "ours_ns": ours_ns, "peer": peer, "peer_ns": peer_ns, "ratio": ratio,
    }  # fmt: skip
    if target is not None:
        found |= {"target": target, "met": bool(ratio >= target)}
    return found | ({"note": note} if note else {})


def limit(bench: str, model: str, ours_ns: float, limit_ns: float, note: str = "") -> Row:
    """A line without a peer: how many times our time fits into what is allowed."""
    return row(bench, model, ours_ns, "limit", limit_ns, target=1.0, note=note)


def skipped(bench: str, model: str, why: str) -> Row:
    nan = math.nan
    return {
        "bench": bench, "model": model, "ours_ns": nan, "peer": "", "peer_ns": nan, "ratio": nan, "note": why,
    }  # fmt: skip


@contextmanager
def one_core(wanted: bool = True) -> Iterator[None]:
    """Stay on one processor, so that both sides have the same caches."""
    if not wanted or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def best(things: Mapping[str, Timed], settings: Settings, *, pinned: bool = True) -> dict[str, float]:
    """Nanoseconds a sample of each thing: the best of many short turns, taken one after the other."""
    found = dict.fromkeys(things, math.inf)
    with one_core(pinned):
        counts = {name: _count(call, settings.slice) for name, (call, _) in things.items()}
        gc.collect()
        gc.disable()
        try:
            end, turns = perf_counter() + settings.budget * len(things), 0
            while turns < LEAST or perf_counter() < end:
                turns += 1
                for name, (call, samples) in things.items():
                    call()  # what the others left in the caches is no part of it
                    found[name] = min(found[name], _once(call, counts[name]) / samples)
        finally:
            gc.enable()
    return {name: 1e9 * seconds for name, seconds in found.items()}


def _count(call: Callable[[], Any], seconds: float) -> int:
    """How many calls fill a turn; the calls made here warm the caches too."""
    call()
    count = 1
    while (spent := min(_once(call, count) for _ in range(3)) * count) < seconds / 4 and count < 1 << 22:
        count *= 2
    return max(1, round(count * seconds / max(spent, 1e-9)))


def _once(call: Callable[[], Any], count: int) -> float:
    """Seconds of one of so many calls."""
    calls = range(count)
    begin = perf_counter()
    for _ in calls:
        call()
    return (perf_counter() - begin) / count


def smallest(found: Mapping[str, float], start: str) -> tuple[str, float]:
    """The fastest of the things whose names begin so."""
    return min(((k, x) for k, x in found.items() if k.startswith(start)), key=lambda pair: pair[1])


def difference(ours: np.ndarray, theirs: np.ndarray, allowed: float, what: str) -> float:
    """The largest difference relative to the largest number; too large a one ends the comparison."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    if ours.shape != theirs.shape:
        raise Wrong(f"{what}: {ours.shape} here and {theirs.shape} there")
    found = float(np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    if not found <= allowed:
        raise Wrong(f"{what}: answers differ by {found:.1e} relative to the largest")
    return found
