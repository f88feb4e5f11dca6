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
GROUP = 4
"""Blocks that each part of a long function works on before the next part begins, at most: code that does not fit into
the cache for instructions is then fetched once for all of them (G1's articulated bodies: a sixth faster)."""
NEAR = 1 << 18
"""Bytes of scratch that a group of blocks may fill: a part of a second-level cache."""
FULL = 2_000
"""Operations of a function in one part from which on its code and that of packing displace each other in the cache for
instructions: packing, function and unpacking then each run on NARROW_GROUP blocks whose rows fit into NARROW bytes of a
first-level cache (ANYmal's articulated bodies: a fifth faster)."""
NARROW_GROUP, NARROW = 8, 5 << 13
LONG = 64
"""Parts from which on not even a second-level cache holds the code (some 13 kB each). Fetching it then costs more than
what a group has aside: GROUP_OF_LONG blocks in FAR bytes (Talos' derivatives: a third faster)."""
GROUP_OF_LONG, FAR = 8, 1 << 23


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
    parts: int = 1
    """How many functions it is; several are called one after the other."""
    operations: int = 0
    """How many operations these are, all together."""

    @cached_property
    def bytes_of_scratch(self) -> int:
        """What the context's scratch must hold, aligned to 64 bytes."""
        return self.group * self._bytes

    @cached_property
    def _bytes(self) -> int:
        """What a block needs of it."""
        return _round_up(self._place(len(self.rows_in) + len(self.rows_out)) + self.scratch * self.lanes * 8, 64)

    @cached_property
    def group(self) -> int:
        """Blocks that go through each part before the next part begins."""
        if self.parts == 1:
            most, room = (NARROW_GROUP, NARROW) if self.lanes > 1 and self.operations >= FULL else (1, 0)
        else:
            most, room = (GROUP_OF_LONG, FAR) if self.parts >= LONG else (GROUP, NEAR)
        return min(most, max(1, room // max(self._bytes, 1)))  # a mechanism without freedom has no rows

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
        smallest = {"declare i64 @llvm.smin.i64(i64, i64)"}
        return smallest if self.lanes == 1 else {*smallest, "declare i64 @llvm.umin.i64(i64, i64)"}

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
        """The parts on the caller's own memory; with one lane a block is a sample."""
        total = len(self.rows_in) + len(self.rows_out)
        places = [line for k in range(total) for line in self._at(k, "%b")]
        arguments = ", ".join([*(f"ptr %at{k}" for k in range(total)), "ptr %own"])
        stages = [[*self._head(), *places, f"  call void @{part}({arguments})"] for part in self._symbols]
        for k, same in enumerate(self.same):
            if same is not None:
                stages[-1].append(f"  call void @spread.same{k}(ptr %at{len(self.rows_in) + k})")
        return self._loops("blocks", [], "start", stages, 8 * self.lanes * self.scratch)

    def _samples(self) -> str:
        """W samples per block: pack the inputs that differ between samples, run the parts, unpack."""
        n_in, total = len(self.rows_in), len(self.rows_in) + len(self.rows_out)
        once: list[str] = []
        for k, rows in enumerate(self.rows_in):
            once += [f"  %rows{k} = getelementptr i8, ptr %scratch, i64 {self._place(k)}", *self._shared(k)]
            once += [f"  br i1 %shared{k}, label %once{k}, label %then{k}", f"once{k}:"]
            once.append(f"  call void @pack.{rows}(ptr %base{k}, i64 0, i64 0, ptr %rows{k})")
            once += [f"  br label %then{k}", f"then{k}:"]
        sample = [
            f"  %sample = mul i64 %b, {self.lanes}",
            "  %end = sub i64 %count, 1",
            "  %left = sub i64 %end, %sample",
        ]
        packing = [*self._head(), *sample]
        for k, rows in enumerate(self.rows_in):
            packing += [*self._shared(k), f"  br i1 %shared{k}, label %put{k}, label %get{k}", f"get{k}:"]
            packing += [*self._rows(k), *self._at(k, "%sample")]
            packing.append(f"  call void @pack.{rows}(ptr %at{k}, i64 %stride{k}, i64 %left, ptr %rows{k})")
            packing += [f"  br label %put{k}", f"put{k}:"]
        calling = [*self._head(), *[line for k in range(total) for line in self._rows(k)]]
        for k in range(n_in):
            calling += [*self._shared(k), f"  %first{k} = getelementptr i8, ptr %scratch, i64 {self._place(k)}"]
            calling.append(f"  %at{k} = select i1 %shared{k}, ptr %first{k}, ptr %rows{k}")
        names = [f"ptr %at{k}" if k < n_in else f"ptr %rows{k}" for k in range(total)]
        calling.append(f"  %w = getelementptr i8, ptr %own, i64 {self._place(total)}")
        arguments = ", ".join([*names, "ptr %w"])
        calls = [[*calling, f"  call void @{part}({arguments})"] for part in self._symbols]
        unpacking = [*self._head(), *sample]
        for k, rows in enumerate(self.rows_out):
            unpacking += [*self._choice(k), *self._rows(k + n_in), *self._at(k + n_in, "%sample")]
            name = f"%unpack{k}" if self._may_pass(rows) else self._unpack(k)
            unpacking.append(
                f"  call void {name}(ptr %rows{k + n_in}, ptr %at{k + n_in}, i64 %stride{k + n_in}, i64 %left)"
            )
        before = f"then{n_in - 1}" if n_in else "start"
        return self._loops("samples", once, before, [packing, *calls, unpacking], self._bytes)

    def _loops(self, name: str, once: list[str], before: str, stages: Sequence[list[str]], size: int) -> str:
        """Group after group of blocks, in each one stage after the other, each on all blocks of the group.

        A stage is a piece of code that fits into the processor's cache for instructions; `%own` is the block's own
        scratch of `size` bytes.
        """
        texts = []
        for k, stage in enumerate(stages):
            head = f"define internal void @{name}.{k}(ptr %context, i64 %b, ptr %own) alwaysinline nounwind {{"
            texts.append("\n".join([head, "start:", *stage, "  ret void", "}", ""]))
        lines = [f"define i32 @{name}(ptr %context) nounwind {{", "start:", *self._head(), *once]
        lines += ["  %some = icmp slt i64 %first, %last", "  br i1 %some, label %group, label %done", "group:"]
        lines += [f"  %g = phi i64 [%first, %{before}], [%stop, %turn]"]
        lines += [f"  %end = add i64 %g, {self.group}", "  %stop = call i64 @llvm.smin.i64(i64 %end, i64 %last)"]
        lines += ["  br label %stage0"]
        for k in range(len(stages)):
            after = f"%stage{k + 1}" if k + 1 < len(stages) else "%turn"
            lines += [
                f"stage{k}:",
                f"  %b{k} = phi i64 [%g, %{f'again{k - 1}' if k else 'group'}], [%next{k}, %again{k}]",
                f"  %in{k} = sub i64 %b{k}, %g",
                f"  %offset{k}.own = mul i64 %in{k}, {size}",
                f"  %own{k} = getelementptr i8, ptr %scratch, i64 %offset{k}.own",
                f"  call void @{name}.{k}(ptr %context, i64 %b{k}, ptr %own{k})",
                f"  br label %again{k}",
                f"again{k}:",
                f"  %next{k} = add i64 %b{k}, 1",
                f"  %more{k} = icmp slt i64 %next{k}, %stop",
                f"  br i1 %more{k}, label %stage{k}, label {after}",
            ]
        lines += ["turn:", "  %again = icmp slt i64 %stop, %last", "  br i1 %again, label %group, label %done", "done:"]
        # What went past the caches must be there before another thread is told so.
        fence = ["  fence seq_cst"] if any(map(self._may_pass, self.rows_out)) else []
        return "\n".join([*texts, *lines, *fence, "  ret i32 0", "}", ""])

    @property
    def _symbols(self) -> list[str]:
        """The functions that are called one after the other."""
        return [self.symbol] if self.parts == 1 else [f"{self.symbol}.{k}" for k in range(self.parts)]

    def _rows(self, k: int) -> list[str]:
        """Where the rows of an argument lie."""
        return [f"  %rows{k} = getelementptr i8, ptr %own, i64 {self._place(k)}"]

    def _shared(self, k: int) -> list[str]:
        """Whether all samples share an input."""
        return [f"  %shared{k} = icmp eq i64 %stride{k}, 0"]

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

    def _at(self, k: int, number: str) -> list[str]:
        """Where the caller's numbers begin of the block or sample of that number."""
        return [
            f"  %offset{k} = mul i64 {number}, %stride{k}",
            f"  %at{k} = getelementptr i8, ptr %base{k}, i64 %offset{k}",
        ]
