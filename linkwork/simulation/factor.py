"""Sparse LU factors of a matrix of graphs, in a fixed order, as straight-line code.

Pivots are taken from the diagonal in the order of Markowitz: next is the row whose elimination fills least.
For a mechanism, y = [q; v], that takes the coordinates first and leaves a matrix of the size of v. Values
cannot steer the order, so a vanishing pivot shows as a result that is not finite.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Factors:
    """L U = W in the order `order`. `places` are (row, column) of the values kept; pivots are inverted."""

    order: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    values: ca.SX

    def solve(self, values: ca.SX, b: ca.SX) -> ca.SX:
        """x with W x = b, for `values` as a column of numbers or symbols."""
        kept = {place: values[k] for k, place in enumerate(self.places)}
        rank = {row: k for k, row in enumerate(self.order)}
        below: dict[int, list[int]] = {row: [] for row in self.order}
        right: dict[int, list[int]] = {row: [] for row in self.order}
        for i, j in self.places:
            if rank[i] > rank[j]:
                below[i].append(j)
            elif rank[i] < rank[j]:
                right[i].append(j)
        x = {row: b[row] for row in self.order}
        for i in self.order:
            for j in sorted(below[i], key=rank.__getitem__):
                x[i] = x[i] - kept[i, j] * x[j]
        for i in reversed(self.order):
            for j in sorted(right[i], key=rank.__getitem__):
                x[i] = x[i] - kept[i, j] * x[j]
            x[i] = x[i] * kept[i, i]
        return ca.vertcat(*(x[row] for row in range(len(self.order))))


def factorise(matrix: ca.SX) -> Factors:
    """Factors of a square matrix, using its structural nonzeros."""
    n = matrix.size1()
    entries = {(i, j): matrix[i, j] for i, j in zip(matrix.row(), _columns(matrix), strict=True)}
    rows = {i: {j for (r, j) in entries if r == i} for i in range(n)}
    columns = {j: {i for (i, c) in entries if c == j} for j in range(n)}
    left, order, kept = set(range(n)), [], {}
    while left:
        k = min(left, key=lambda i: ((len(rows[i]) - 1) * (len(columns[i]) - 1), i))
        left.remove(k)
        order.append(k)
        inverse = 1 / entries[k, k]
        kept[k, k] = inverse
        across, down = sorted(rows[k] - {k}), sorted(columns[k] - {k})
        for j in across:
            kept[k, j] = entries[k, j]
            columns[j].discard(k)
        for i in down:
            factor = entries[i, k] * inverse
            kept[i, k] = factor
            rows[i].discard(k)
            for j in across:
                product = factor * entries[k, j]
                entries[i, j] = entries[i, j] - product if (i, j) in entries else -product
                rows[i].add(j)
                columns[j].add(i)
    places = tuple(kept)
    return Factors(tuple(order), places, ca.vertcat(*(kept[place] for place in places)))


def _columns(matrix: ca.SX) -> list[int]:
    """Column of each structural nonzero."""
    return matrix.sparsity().get_col()
