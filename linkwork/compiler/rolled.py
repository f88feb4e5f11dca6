"""Sweeps over tables → LLVM IR: each step lowered once, called in a loop over the bodies. Build time knows no length.

The function has the shape of any lowered function, `void @symbol(ptr %in…, ptr %out…, ptr %w)`; records lie in scratch,
one after the other, the world's first. The tables are too long to be text: the module has a global pointer for each,
which whoever links it sets (`data`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from .lower import Lowered, lower
from .running import aligned

COLUMNS = 9  # group, parent, offset in q, offset in v, first number of the table, two outward slots, two inward ones
SIDES = ("own", "parent", "out.own", "out.parent", "in.own", "in.parent")


@dataclass(frozen=True, eq=False)
class RolledFunction:
    """A callee made of sweeps; the fields below `places` are those of `dynamics.rolled.Rolled`, which explains them.

    inputs, outputs   the function's own arguments: name and rows
    places[name]      where a sweep's argument lies: argument of the function, first row in it, and "q" or "v" (at
                      which of a body's offsets) or "root" (rows of the world's record, copied when all is done)
    """

    title: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    places: dict[str, tuple[str, int, str]]
    steps: tuple[tuple[Any, ...], ...]
    inward: tuple[bool, ...]
    areas: tuple[int, int, int]
    slots: tuple[int, ...]
    root: np.ndarray
    kept: dict[str, tuple[int, int]]
    bodies: np.ndarray
    table: np.ndarray

    @cached_property
    def fingerprint(self) -> str:
        """Of the code and of the number of bodies, not of the tables: those are no part of the machine code."""
        parts = [
            self.title,
            self.inputs,
            self.outputs,
            sorted(self.places.items()),
            sorted(self.kept.items()),
            self.inward,
            self.areas,
            self.slots,
            len(self.bodies),
        ]
        digest = hashlib.sha256(repr(parts).encode())
        for sweep in self.steps:
            for step in sweep:
                digest.update(step.function.serialize().encode())
                digest.update(repr((step.inputs, step.outputs)).encode())
        return digest.hexdigest()

    def key(self) -> object:
        return id(self)

    def label(self) -> str:
        return self.title

    def rows_in(self) -> tuple[int, ...]:
        return tuple(n for _, n in self.inputs)

    def rows_out(self) -> tuple[int, ...]:
        return tuple(n for _, n in self.outputs)

    # The questions a kernel asks of a casadi.Function.
    def name(self) -> str:
        return self.title

    def n_in(self) -> int:
        return len(self.inputs)

    def n_out(self) -> int:
        return len(self.outputs)

    def name_in(self, k: int) -> str:
        return self.inputs[k][0]

    def name_out(self, k: int) -> str:
        return self.outputs[k][0]

    def numel_in(self, k: int) -> int:
        return self.inputs[k][1]

    def numel_out(self, k: int) -> int:
        return self.outputs[k][1]

    def size_in(self, k: int) -> tuple[int, int]:
        return self.inputs[k][1], 1

    def size_out(self, k: int) -> tuple[int, int]:
        return self.outputs[k][1], 1

    def n_instructions(self) -> int:
        """Of all steps, each counted once."""
        return sum(step.function.n_instructions() for sweep in self.steps for step in sweep)

    def serialize(self) -> str:
        return self.fingerprint

    @cached_property
    def begins(self) -> tuple[int, int, int]:
        """First row of records, of outward and of inward slots. The world's are the first of each."""
        record, outward, _ = self.areas
        slots = (len(self.bodies) + 1) * record
        return 0, slots, slots + self.slots[0] * outward

    def scratch(self) -> int:
        """Rows of all records and slots."""
        return self.begins[2] + self.slots[1] * self.areas[2]

    def worlds(self, row: int) -> int:
        """Where in scratch a row of the world is, counted through the three areas."""
        for begin, rows in zip(self.begins, self.areas, strict=True):
            if row < rows:
                return begin + row
            row -= rows
        raise IndexError(row)

    def data(self, symbol: str, lanes: int) -> dict[str, np.ndarray]:
        """What the global pointers must point to."""
        return {
            f"{symbol}.bodies": np.ascontiguousarray(self.bodies, np.int32),
            f"{symbol}.table": _spread(self.table, lanes),
            f"{symbol}.root": _spread(self.root, lanes),
        }

    def lower(self, symbol: str, lanes: int) -> Lowered:
        """The function as LLVM IR, with the steps it calls."""
        steps = {
            (s, g): lower(step.function, f"{symbol}.s{s}g{g}", lanes)
            for s, sweep in enumerate(self.steps)
            for g, step in enumerate(sweep)
            if step.outputs
        }
        text = _Writer(self, symbol, lanes, {k: low.symbol for k, low in steps.items()}).text()
        # A sum passed to the parent is read and written at one address, so the steps may not assume otherwise.
        bodies = [low.text.replace(" noalias", "") for low in steps.values()]
        counts = sum((low.counts for low in steps.values()), Counter())
        return Lowered(
            symbol,
            lanes,
            "\n".join([*bodies, text]),
            self.scratch() + max((low.scratch for low in steps.values()), default=0),
            frozenset().union(*(low.declarations for low in steps.values())),
            frozenset().union(*(low.library for low in steps.values())),
            counts,
            sum(low.constants for low in steps.values()),
            len(steps),
        )

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The value of one lane, without machine code: what the sweeps mean."""
        w = np.zeros(self.scratch())
        for row, x in enumerate(self.root):
            w[self.worlds(row)] = x
        given = {n: x for (n, _), x in zip(self.inputs, inputs, strict=True)}
        results = {n: np.zeros(k) for n, k in self.outputs}
        for s, i in self._visits():
            group, parent, *offsets, first = self.bodies[i - 1, :5]
            step, at = self.steps[s][group], dict(zip("qv", offsets, strict=True))
            columns = dict(zip(SIDES, (i, parent, *self.bodies[i - 1, 5:]), strict=True))
            near = {n: w[self.begins[k // 2] + columns[n] * self.areas[k // 2] :] for k, n in enumerate(SIDES)}
            near["table"] = self.table[first:]

            def rows(n: str, row: int, count: int, near: dict = near, at: dict = at) -> np.ndarray:
                if n in near:
                    return near[n][row : row + count]
                argument, start, by = self.places[n]
                start += at[by]
                return (given[argument] if argument in given else results[argument])[start : start + count]

            f = step.function
            arguments = [ca.DM(rows(n, row, f.numel_in(k))) for k, (n, row) in enumerate(step.inputs)]
            for (n, row), value in zip(step.outputs, f.call(arguments), strict=True):
                x = np.asarray(value).ravel()
                rows(n, row, len(x))[:] = x
        for n, (row, count) in self.kept.items():
            argument, start, _ = self.places[n]
            results[argument][start : start + count] = w[self.worlds(row) :][:count]
        return list(results.values())

    def _visits(self) -> Iterator[tuple[int, int]]:
        order = range(1, len(self.bodies) + 1)
        for s, inward in enumerate(self.inward):
            yield from ((s, i) for i in (reversed(order) if inward else order))


def _spread(numbers: np.ndarray, lanes: int) -> np.ndarray:
    """Each number in every lane, at an address fit for vectors."""
    out = aligned((max(len(numbers), 1), lanes))
    out[: len(numbers)] = np.asarray(numbers, float)[:, None]
    return out


class _Writer:
    """Writes the loops. Addresses are in bytes: `row` of one row, `record` of one record."""

    def __init__(self, f: RolledFunction, symbol: str, lanes: int, steps: dict[tuple[int, int], str]):
        self.f, self.symbol, self.steps = f, symbol, steps
        self.type = "double" if lanes == 1 else f"<{lanes} x double>"
        self.row = 8 * lanes
        self.lines: list[str] = []
        self.names = 0
        self.arguments = [n for n, _ in f.inputs] + [n for n, _ in f.outputs]

    def define(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"  %x{self.names} = {text}")
        return f"%x{self.names}"

    def text(self) -> str:
        globals_ = [f"@{self.symbol}.{name} = global ptr null, align 8" for name in ("bodies", "table", "root")]
        pointers = [f"%in{k}" for k in range(len(self.f.inputs))] + [f"%out{k}" for k in range(len(self.f.outputs))]
        self.pointer = dict(zip(self.arguments, pointers, strict=True))
        signature = ", ".join(f"ptr {p}" for p in [*pointers, "%w"])
        for name in ("bodies", "table", "root"):
            self.lines.append(f"  %{name} = load ptr, ptr @{self.symbol}.{name}, align 8")
        self.lines.append(f"  %spare = getelementptr i8, ptr %w, i64 {self.f.scratch() * self.row}")
        self._copy_root()
        for s in range(len(self.f.steps)):
            self._sweep(s)
        self._copy_kept()
        body = "\n".join(self.lines)
        return "\n".join(
            [
                *globals_,
                f"define internal void @{self.symbol}({signature}) nounwind {{",
                "entry:",
                body,
                "  ret void",
                "}",
                "",
            ]
        )

    def _loop(self, label: str, before: str, count: int) -> None:
        self.lines += [
            f"  br label %{label}",
            f"{label}:",
            f"  %{label}.k = phi i64 [0, %{before}], [%{label}.next, %{label}.end]",
        ]

    def _end(self, label: str, count: int) -> None:
        self.lines += [
            f"  br label %{label}.end",
            f"{label}.end:",
            f"  %{label}.next = add nuw nsw i64 %{label}.k, 1",
            f"  %{label}.more = icmp ult i64 %{label}.next, {count}",
            f"  br i1 %{label}.more, label %{label}, label %{label}.done",
            f"{label}.done:",
        ]

    def _copy_root(self) -> None:
        for k in range(len(self.f.root)):
            source = self.define(f"getelementptr i8, ptr %root, i64 {k * self.row}")
            value = self.define(f"load {self.type}, ptr {source}, align 8")
            target = self.define(f"getelementptr i8, ptr %w, i64 {self.f.worlds(k) * self.row}")
            self.lines.append(f"  store {self.type} {value}, ptr {target}, align {self.row}")
        self.block = "entry"

    def _copy_kept(self) -> None:
        for name, (row, count) in self.f.kept.items():
            argument, start, _ = self.f.places[name]
            for k in range(count):
                source = self.define(f"getelementptr i8, ptr %w, i64 {(self.f.worlds(row) + k) * self.row}")
                value = self.define(f"load {self.type}, ptr {source}, align 8")
                target = self.define(f"getelementptr i8, ptr {self.pointer[argument]}, i64 {(start + k) * self.row}")
                self.lines.append(f"  store {self.type} {value}, ptr {target}, align {self.row}")

    def _sweep(self, s: int) -> None:
        label, count = f"sweep{s}", len(self.f.bodies)
        groups = [g for g in range(len(self.f.steps[s])) if (s, g) in self.steps]
        self._loop(label, self.block, count)
        k = f"%{label}.k"
        if self.f.inward[s]:
            k = self.define(f"sub nuw nsw i64 {count - 1}, {k}")
        place = self.define(f"mul nuw nsw i64 {k}, {4 * COLUMNS}")
        place = self.define(f"getelementptr i8, ptr %bodies, i64 {place}")
        group, parent, at_q, at_v, first, *slots = (self._integer(place, c) for c in range(COLUMNS))
        number = self.define(f"add nuw nsw i64 {k}, 1")
        at = {"q": self._rows(at_q), "v": self._rows(at_v)}
        base = {
            n: self._column(j // 2, x) for j, (n, x) in enumerate(zip(SIDES, (number, parent, *slots), strict=True))
        }
        base["table"] = self.define(f"getelementptr i8, ptr %table, i64 {self._rows(first)}")
        if len(self.f.steps[s]) == 1 == len(groups):
            self._call(s, groups[0], base, at)
            self._end(label, count)
        else:
            cases = " ".join(f"i64 {g}, label %{label}.g{g}" for g in groups)
            self.lines.append(f"  switch i64 {group}, label %{label}.end [{cases}]")
            for g in groups:
                self.lines.append(f"{label}.g{g}:")
                self._call(s, g, base, at)
                self.lines.append(f"  br label %{label}.end")
            self.lines.append(f"{label}.none:")
            self._end(label, count)
        self.block = f"{label}.done"

    def _integer(self, place: str, column: int) -> str:
        at = self.define(f"getelementptr i32, ptr {place}, i64 {column}")
        narrow = self.define(f"load i32, ptr {at}, align 4")
        return self.define(f"zext i32 {narrow} to i64")

    def _rows(self, count: str) -> str:
        return self.define(f"mul nuw nsw i64 {count}, {self.row}")

    def _column(self, area: int, number: str) -> str:
        """A body's rows in an area: records, outward slots or inward slots."""
        far = self.define(f"mul nuw nsw i64 {number}, {self.f.areas[area] * self.row}")
        from_there = self.define(f"add nuw nsw i64 {far}, {self.f.begins[area] * self.row}")
        return self.define(f"getelementptr i8, ptr %w, i64 {from_there}")

    def _call(self, s: int, g: int, base: dict[str, str], at: dict[str, str]) -> None:
        step = self.f.steps[s][g]
        pointers = []
        for name, row in (*step.inputs, *step.outputs):
            if name in base:
                pointers.append(self.define(f"getelementptr i8, ptr {base[name]}, i64 {row * self.row}"))
            else:
                argument, start, by = self.f.places[name]
                base_of = self.define(f"getelementptr i8, ptr {self.pointer[argument]}, i64 {start * self.row}")
                pointers.append(self.define(f"getelementptr i8, ptr {base_of}, i64 {at[by]}"))
        arguments = ", ".join(f"ptr {p}" for p in [*pointers, "%spare"])
        self.lines.append(f"  call void @{self.steps[s, g]}({arguments})")
