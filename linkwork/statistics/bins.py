"""Columns of numbers cut into bins, and what happens within: over one input, and over two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork.simulation.estimate import Interval, wilson

LEVELS = 12  # up to so many different values each is a bin of its own


@dataclass(frozen=True, eq=False)
class Cut:
    """Bins of a column: their edges, and which one each number lies in. `levels`: one value a bin, edges between."""

    edges: np.ndarray
    at: np.ndarray
    levels: np.ndarray | None = None

    @property
    def count(self) -> int:
        return len(self.edges) - 1


def cut(x: np.ndarray, most: int) -> Cut:
    """Bins of equal count, or one for each value when there are few of them."""
    values, at = np.unique(x, return_inverse=True)
    if len(values) <= LEVELS:
        steps = np.diff(values) / 2
        outer = steps[[0, -1]] if len(steps) else np.array([0.5, 0.5])
        between = values[:-1] + steps
        return Cut(np.r_[values[:1] - outer[0], between, values[-1:] + outer[1]], at, values)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, most + 1)))
    return Cut(edges, np.searchsorted(edges[1:-1], x, side="right"))


class Bin(NamedTuple):
    """The share of samples for which something holds, among those between two limits."""

    low: float
    high: float
    middle: float
    share: Interval


def binned(x: np.ndarray, holds: np.ndarray, most: int, confidence: float = 0.95) -> list[Bin]:
    """Wilson intervals in bins of x; bins without a sample are left out."""
    found = cut(x, most)
    bins = []
    for k in range(found.count):
        inside = found.at == k
        if not inside.any():
            continue
        middle = float(np.median(x[inside]))
        ends = (middle, middle) if found.levels is not None else (float(found.edges[k]), float(found.edges[k + 1]))
        bins.append(Bin(*ends, middle, wilson(int(holds[inside].sum()), int(inside.sum()), confidence)))
    return bins


@dataclass(frozen=True, eq=False)
class Cells:
    """A table over two cut columns, first index along x: how many samples, for which share of them something holds."""

    x: Cut
    y: Cut
    count: np.ndarray
    held: np.ndarray

    def quantile(self, values: np.ndarray, share: float, least: int) -> np.ndarray:
        """That quantile of the values in each cell; NaN where fewer than `least` are numbers."""
        cell = self.x.at * self.y.count + self.y.at
        there = np.isfinite(values)
        order = np.lexsort((values[there], cell[there]))
        sorted_values, sorted_cells = values[there][order], cell[there][order]
        found = np.full(self.count.size, np.nan)
        starts = np.searchsorted(sorted_cells, np.arange(self.count.size + 1))
        for k in range(self.count.size):
            inside = sorted_values[starts[k] : starts[k + 1]]
            if len(inside) >= least:
                found[k] = np.quantile(inside, share)
        return found.reshape(self.count.shape)


def celled(x: np.ndarray, y: np.ndarray, holds: np.ndarray, most: int) -> Cells:
    """Counts in the cells of two columns."""
    a, b = cut(x, most), cut(y, most)
    cell, shape = a.at * b.count + b.at, (a.count, b.count)
    count = np.bincount(cell, minlength=a.count * b.count).reshape(shape)
    held = np.bincount(cell, holds.astype(float), minlength=a.count * b.count).reshape(shape)
    return Cells(a, b, count, held.astype(np.int64))
