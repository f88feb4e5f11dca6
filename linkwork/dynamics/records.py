"""Where the values of long mechanisms lie: which are kept for later sweeps, which only pass between neighbours.

What a later sweep reads lies in a body's record, a column of rows. What only a body's children read in the same sweep
(outward), or only its parent's sum (inward), lies in a slot that other bodies use again once the last reader has been:
a chain of any length needs two, so they stay in the nearest cache.

    side                          a column of rows of
    own, parent                   the body's record, its parent's
    out.own, out.parent           the body's slot on the way outwards, its parent's
    in.own, in.parent             the body's slot of sums on the way inwards, its parent's
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Areas:
    """Rows of a record, of an outward and of an inward slot, in this order in `row`; how many slots there are."""

    sizes: tuple[int, int, int]
    slots: tuple[int, int]

    def where(self, side: str, row: int) -> tuple[str, int]:
        """The area's own side and row of a row counted through all three."""
        record, outward, _ = self.sizes
        if row < record:
            return side, row
        return (f"out.{side}", row - record) if row < record + outward else (f"in.{side}", row - record - outward)


def sorted_by_area(
    sizes: Mapping[str, int], outward: set[str], inward: set[str]
) -> tuple[dict[str, int], tuple[int, int, int]]:
    """First row of each name, records first, then outward and inward slots; rows of the three areas."""
    record = set(sizes) - outward - inward
    row: dict[str, int] = {}
    at = 0
    for area in (record, outward, inward):
        for name in (n for n in sizes if n in area):
            row[name], at = at, at + sizes[name]
    rows, out, into = (sum(sizes[n] for n in area if n in sizes) for area in (record, outward, inward))
    return row, (rows, out, into)


def outward_slots(parent: Sequence[int]) -> np.ndarray:
    """A slot for each body, the world's first: free again when the last child has been visited.

    The world has slot 0 for itself; bodies without children have nobody to hand on to and take none.
    """
    last = {p: i for i, p in enumerate(parent)}
    slots = _Slots(len(parent))
    for i in range(1, len(parent)):
        if i in last:
            slots.take(i)
        if last[p := parent[i]] == i and p:
            slots.free(p)
    return slots.of


def inward_slots(parent: Sequence[int]) -> np.ndarray:
    """A slot of sums for each body: taken by the child visited first, free again when the body itself has been."""
    last = {p: i for i, p in enumerate(parent)}
    slots = _Slots(len(parent))
    for i in range(len(parent) - 1, 0, -1):
        if last[p := parent[i]] == i and p:
            slots.take(p)
        if i in last:
            slots.free(i)
    return slots.of


class _Slots:
    """The lowest free slot for whoever asks."""

    def __init__(self, bodies: int):
        self.of = np.zeros(bodies, np.int64)
        self._count, self._free = 1, []

    def take(self, i: int) -> None:
        if self._free:
            self.of[i] = heapq.heappop(self._free)
        else:
            self.of[i] = self._count
            self._count += 1

    def free(self, i: int) -> None:
        heapq.heappush(self._free, self.of[i])
