"""Machine code that carries samples in and out of lanes: the driver of a kernel.

A kernel's data lies in memory as samples, one after the other; its code wants `[row][lane]`. The driver turns
W samples at a time: pieces of W rows × W lanes are loaded sample by sample, transposed in registers and
stored row by row, and back again for the outputs. Outputs of which the code writes equal rows
only once (`lower(…, once=True)`) are read by a table of rows.

A driver is `i32(ptr context)` and returns 0, the context being 64-bit words: first block, last block (not included),
number of samples, scratch, then address and stride in bytes of every input and output. A stride of 0 shares
one sample among all (an input only). In the last block lanes beyond the last sample repeat it, both reading
and writing, so that nothing outside the arrays is touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

from .transpose import PAST, pack, spread, unpack

MUCH = 1 << 22
"""Bytes of an output from which on it is written past the caches: they would not keep it for its reader."""
FEW = 16
"""Rows from which on an output may be."""


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


@dataclass(frozen=True)
class Driver:
    """The loops around one lowered function: the rows of each input and output, and of its scratch."""

    symbol: str
    lanes: int
    rows_in: tuple[int, ...]
    rows_out: tuple[int, ...]
    scratch: int
    same: tuple[Sequence[int] | None, ...] = ()
    """Per output the row that holds each row's value, or None when all rows are written; empty: all are."""

    @cached_property
    def bytes_of_scratch(self) -> int:
        """What the context's scratch must hold, aligned to 64 bytes."""
        return self._place(len(self.rows_in) + len(self.rows_out)) + self.scratch * self.lanes * 8

    def _place(self, k: int) -> int:
        """Where in scratch the rows of the k-th argument begin."""
        return sum(_round_up(rows * self.lanes * 8, 64) for rows in (self.rows_in + self.rows_out)[:k])

    def text(self) -> str:
        """Definitions of `blocks`, on data that lies in lanes already, and `samples`, on rows of numbers."""
        parts = [self._blocks()]
        if self.lanes > 1:
            plain = {rows for rows, same in zip_longest(self.rows_out, self.same) if same is None}
            parts += [pack(rows, self.lanes) for rows in sorted(set(self.rows_in))]
            parts += [unpack(str(rows), rows, self.lanes, None, self._may_pass(rows)) for rows in sorted(plain)]
            for k, same in enumerate(self.same):
                if same is not None:
                    parts.append(unpack(f"same{k}", len(same), self.lanes, same, self._may_pass(len(same))))
                    parts.append(spread(f"same{k}", self.lanes, same))
            parts += [self._samples(), "!0 = !{i32 1}"]
        return "\n".join(parts)

    def _may_pass(self, rows: int) -> bool:
        """Whether an output may be written past the caches, in pieces of whole registers at aligned addresses."""
        return self.lanes >= 4 and rows >= FEW and 8 * rows % PAST == 0

    def symbols(self) -> tuple[str, ...]:
        """What the outside may call."""
        return ("blocks", "samples") if self.lanes > 1 else ("blocks",)

    def declarations(self) -> set[str]:
        if self.lanes == 1:
            return set()
        return {"declare i64 @llvm.umin.i64(i64, i64)"}

    def _head(self) -> list[str]:
        """Read the context into registers."""
        lines = []
        words = ["first", "last", "count", "scratch"]
        for k in range(len(self.rows_in) + len(self.rows_out)):
            words += [f"base{k}", f"stride{k}"]
        for k, word in enumerate(words):
            kind = "ptr" if word == "scratch" or word.startswith("base") else "i64"
            lines.append(f"  %{word}.p = getelementptr i64, ptr %context, i64 {k}")
            lines.append(f"  %{word} = load {kind}, ptr %{word}.p, align 8")
        return lines

    def _blocks(self) -> str:
        """One call per block on the caller's own memory; with one lane a block is a sample."""
        total = len(self.rows_in) + len(self.rows_out)
        lines = ["define i32 @blocks(ptr %context) nounwind {", "start:", *self._head()]
        lines += [
            "  %some = icmp slt i64 %first, %last",
            "  br i1 %some, label %block, label %done",
            "block:",
        ]
        lines.append("  %b = phi i64 [%first, %start], [%next, %block]")
        for k in range(total):
            lines.append(f"  %offset{k} = mul i64 %b, %stride{k}")
            lines.append(f"  %at{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}")
        arguments = ", ".join([*(f"ptr %at{k}" for k in range(total)), "ptr %scratch"])
        lines.append(f"  call void @{self.symbol}({arguments})")
        for k, same in enumerate(self.same):
            if same is not None:
                lines.append(f"  call void @spread.same{k}(ptr %at{len(self.rows_in) + k})")
        lines += ["  %next = add i64 %b, 1"]
        lines += ["  %more = icmp slt i64 %next, %last", "  br i1 %more, label %block, label %done"]
        return "\n".join([*lines, "done:", "  ret i32 0", "}", ""])

    def _samples(self) -> str:
        """W samples per block: pack the inputs that differ between samples, call, unpack."""
        n_in, total = len(self.rows_in), len(self.rows_in) + len(self.rows_out)
        lines = ["define i32 @samples(ptr %context) nounwind {", "start:", *self._head()]
        for k in range(total):
            lines.append(f"  %rows{k} = getelementptr i8, ptr %scratch, i64 {self._place(k)}")
        lines.append(f"  %w = getelementptr i8, ptr %scratch, i64 {self._place(total)}")
        lines.append("  %end = sub i64 %count, 1")
        for k, rows in enumerate(self.rows_in):
            lines.append(f"  %shared{k} = icmp eq i64 %stride{k}, 0")
            lines += [f"  br i1 %shared{k}, label %once{k}, label %then{k}", f"once{k}:"]
            lines.append(f"  call void @pack.{rows}(ptr %base{k}, i64 0, i64 0, ptr %rows{k})")
            lines += [f"  br label %then{k}", f"then{k}:"]
        lines += [line for k in range(len(self.rows_out)) for line in self._choice(k)]
        before = f"then{n_in - 1}" if n_in else "start"
        after = f"put{n_in - 1}" if n_in else "block"
        lines += [
            "  %some = icmp slt i64 %first, %last",
            "  br i1 %some, label %block, label %done",
            "block:",
        ]
        lines.append(f"  %b = phi i64 [%first, %{before}], [%next, %{after}]")
        lines.append(f"  %sample = mul i64 %b, {self.lanes}")
        lines.append("  %left = sub i64 %end, %sample")
        for k, rows in enumerate(self.rows_in):
            lines += [f"  br i1 %shared{k}, label %put{k}, label %get{k}", f"get{k}:"]
            lines += self._at(k)
            lines.append(f"  call void @pack.{rows}(ptr %at{k}, i64 %stride{k}, i64 %left, ptr %rows{k})")
            lines += [f"  br label %put{k}", f"put{k}:"]
        arguments = ", ".join([*(f"ptr %rows{k}" for k in range(total)), "ptr %w"])
        lines.append(f"  call void @{self.symbol}({arguments})")
        for k, rows in enumerate(self.rows_out, n_in):
            lines += self._at(k)
            name = f"%unpack{k - n_in}" if self._may_pass(rows) else self._unpack(k - n_in)
            lines.append(f"  call void {name}(ptr %rows{k}, ptr %at{k}, i64 %stride{k}, i64 %left)")
        lines += ["  %next = add i64 %b, 1", "  %more = icmp slt i64 %next, %last"]
        # What went past the caches must be there before another thread is told so.
        fence = ["  fence seq_cst"] if any(map(self._may_pass, self.rows_out)) else []
        return "\n".join([*lines, "  br i1 %more, label %block, label %done", "done:", *fence, "  ret i32 0", "}", ""])

    def _unpack(self, k: int) -> str:
        """The function that unpacks an output."""
        return f"@unpack.{self.rows_out[k]}" if not self.same or self.same[k] is None else f"@unpack.same{k}"

    def _choice(self, k: int) -> list[str]:
        """Choose how an output is unpacked: past the caches when all samples together are much."""
        rows, name, a = self.rows_out[k], self._unpack(k), k + len(self.rows_in)
        if not self._may_pass(rows):
            return []
        return [
            f"  %bytes{k} = mul i64 %count, {8 * rows}",
            f"  %much{k} = icmp uge i64 %bytes{k}, {MUCH}",
            f"  %number{k} = ptrtoint ptr %base{a} to i64",
            f"  %both{k} = or i64 %number{k}, %stride{a}",
            f"  %low{k} = and i64 %both{k}, {PAST - 1}",
            f"  %fits{k} = icmp eq i64 %low{k}, 0",
            f"  %past{k} = and i1 %much{k}, %fits{k}",
            f"  %unpack{k} = select i1 %past{k}, ptr {name}.past, ptr {name}",
        ]

    def _at(self, k: int) -> list[str]:
        return [
            f"  %offset{k} = mul i64 %sample, %stride{k}",
            f"  %at{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}",
        ]
