"""Transposing pieces of W samples × W rows in registers, from samples to rows of lanes and back.

The first of the log2(W) stages of a transposition is merged into half-width loads, the last into half-width
stores: on the processors at hand loading is cheaper than shuffling.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elementary_ir import Shape

UNROLLED = 4
"""Pieces written out; more become a loop."""
PAST = 32
"""Bytes of which every sample's address must be a multiple to be written past the caches."""


def pack(rows: int, lanes: int) -> str:
    """`void @pack.R(ptr samples, i64 stride, i64 left, ptr rows)`: lane l reads sample min(l, left)."""
    head = f"define internal void @pack.{rows}(ptr noalias %samples, i64 %stride, i64 %left, ptr noalias %rows)"
    return _routine(head, rows, lanes, _Turn.pack)


def unpack(name: str, rows: int, lanes: int, same: Sequence[int] | None = None, past: bool = False) -> str:
    """`void @unpack.NAME(ptr rows, ptr samples, i64 stride, i64 left)`: lane l writes sample min(l, left).

    With `same`, row r is read where row `same[r]` lies, by a table. With `past` there is a second one,
    `@unpack.NAME.past`, for samples at multiples of `PAST` bytes: it writes past the caches.
    """
    parameters = "(ptr noalias %rows, ptr noalias %samples, i64 %stride, i64 %left)"
    head = f"define internal void @unpack.{name}"
    table = "" if same is None else f"@rows.{name}"
    texts = [] if same is None else [_table(table, [8 * lanes * row for row in same])]
    texts.append(_routine(head + parameters, rows, lanes, _Turn.unpack, table))
    if past:
        texts.append(_routine(f"{head}.past{parameters}", rows, lanes, _Turn.unpack, table, True))
    return "".join(texts)


def spread(name: str, lanes: int, same: Sequence[int]) -> str:
    """`void @spread.NAME(ptr rows)`: copy to each row of an output the one of its value."""
    wanted = [row for row, first in enumerate(same) if row != first]
    row, table = Shape(lanes).value, f"@copies.{name}"
    size = 8 * lanes
    return (
        _table(table, [size * r for row in wanted for r in (same[row], row)])
        + f"""\
define internal void @spread.{name}(ptr %rows) noinline nounwind {{
start:
  br label %copy
copy:
  %k = phi i64 [0, %start], [%k.next, %copy]
  %pair = getelementptr [2 x i32], ptr {table}, i64 %k
  %other = getelementptr i32, ptr %pair, i64 1
  %from = load i32, ptr %pair, align 4
  %to = load i32, ptr %other, align 4
  %source = getelementptr i8, ptr %rows, i32 %from
  %target = getelementptr i8, ptr %rows, i32 %to
  %value = load {row}, ptr %source, align {size}
  store {row} %value, ptr %target, align {size}
  %k.next = add i64 %k, 1
  %more = icmp ult i64 %k.next, {len(wanted)}
  br i1 %more, label %copy, label %done
done:
  ret void
}}
"""
    )


def _table(name: str, offsets: Sequence[int]) -> str:
    """Offsets in bytes as a constant of the module."""
    inner = ", ".join(f"i32 {offset}" for offset in offsets)
    return f"{name} = internal constant [{len(offsets)} x i32] [{inner}], align 64\n"


def _routine(head: str, rows: int, lanes: int, piece, table: str = "", past: bool = False) -> str:
    """All pieces of a sample: full ones in a loop when they are many, and what is left."""
    turn = _Turn(lanes, table, past)
    turn.lines += [f"{head} noinline nounwind {{", "start:"]
    samples = turn.pointers()
    full, rest = divmod(rows, lanes)
    if full > UNROLLED:
        turn.lines += ["  br label %piece", "piece:", "  %k = phi i64 [0, %start], [%k.next, %piece]"]
        across = turn.new(f"mul i64 %k, {8 * lanes}")
        first = turn.new(f"mul i64 %k, {lanes}")
        moved = [turn.at(p, across) for p in samples]
        piece(turn, moved, turn.places(first, lanes), lanes)
        turn.lines += ["  %k.next = add i64 %k, 1", f"  %more = icmp ult i64 %k.next, {full}"]
        turn.lines += ["  br i1 %more, label %piece, label %rest", "rest:"]
    else:
        for k in range(full):
            moved = [turn.at(p, 8 * lanes * k) for p in samples]
            piece(turn, moved, turn.places(lanes * k, lanes), lanes)
    if rest:
        moved = [turn.at(p, 8 * lanes * full) for p in samples]
        piece(turn, moved, turn.places(lanes * full, rest), rest)
    return "\n".join([*turn.lines, "  ret void", "}", ""])


class _Turn:
    """Writes the code that turns one piece."""

    def __init__(self, lanes: int, table: str = "", past: bool = False):
        self.lanes, self.half, self.table, self.past = lanes, lanes // 2, table, past
        self.row = Shape(lanes).value
        self.lines: list[str] = []
        self.count = 0

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def at(self, pointer: str, offset: str | int) -> str:
        return pointer if offset == 0 else self.new(f"getelementptr i8, ptr {pointer}, i64 {offset}")

    def pointers(self) -> list[str]:
        """The address of each lane's sample; lanes past the last one take the last."""
        found = []
        for lane in range(self.lanes):
            index = self.new(f"call i64 @llvm.umin.i64(i64 {lane}, i64 %left)")
            offset = self.new(f"mul i64 {index}, %stride")
            found.append(self.at("%samples", offset))
        return found

    def places(self, first: int | str, count: int) -> list[str]:
        """The addresses of rows from `first` on, or where the table says that they are."""
        if not self.table:
            size = 8 * self.lanes
            base = self.at("%rows", size * first if isinstance(first, int) else self.new(f"mul i64 {first}, {size}"))
            return [self.at(base, size * k) for k in range(count)]
        found = []
        at = self.new(f"getelementptr i32, ptr {self.table}, i64 {first}")
        for k in range(count):
            offset = self.new(f"load i32, ptr {self.at(at, 4 * k)}, align 4")
            found.append(self.new(f"getelementptr i8, ptr %rows, i32 {offset}"))
        return found

    def pack(self, samples: Sequence[str], rows: Sequence[str], count: int) -> None:
        """Load `count` values of each sample, store `count` rows."""
        half, done = self.half, 0
        for first in (0, half)[: 1 if count <= half else 2]:
            wanted = min(half, count - first)
            pieces = [self._load(self.at(p, 8 * first), wanted) for p in samples]
            vectors = [self._joined(pieces[i], pieces[i + half]) for i in range(half)]
            distance = half // 2
            while distance:
                vectors = self._exchange(vectors, distance)
                distance //= 2
            for vector in vectors[:wanted]:
                self.lines.append(f"  store {self.row} {vector}, ptr {rows[done]}, align {8 * self.lanes}")
                done += 1

    def unpack(self, samples: Sequence[str], rows: Sequence[str], count: int) -> None:
        """Load `count` rows, store `count` values of each sample."""
        half = self.half
        for first in (0, half)[: 1 if count <= half else 2]:
            wanted = min(half, count - first)
            vectors = []
            for k in range(first, first + wanted):
                vectors.append(self.new(f"load {self.row}, ptr {rows[k]}, align {8 * self.lanes}"))
            vectors += ["poison"] * (half - wanted)
            distance = 1
            while distance < half:
                vectors = self._exchange(vectors, distance)
                distance *= 2
            for i, vector in enumerate(vectors):
                self._store(vector, 0, self.at(samples[i], 8 * first), wanted)
            for i, vector in enumerate(vectors):
                self._store(vector, half, self.at(samples[i + half], 8 * first), wanted)

    def _shuffle(self, a: str, b: str, mask: Sequence[int], width: int) -> str:
        kind = f"<{width} x double>"
        inner = ", ".join(f"i32 {m}" for m in mask)
        return self.new(f"shufflevector {kind} {a}, {kind} {b}, <{len(mask)} x i32> <{inner}>")

    def _exchange(self, vectors: Sequence[str], distance: int) -> list[str]:
        """One stage: swap the off-diagonal halves of each square of side 2 * distance."""
        lanes, result = self.lanes, list(vectors)
        for i in range(len(vectors)):
            if not i & distance:
                a, b = vectors[i], vectors[i + distance]
                low = [lanes + j - distance if j & distance else j for j in range(lanes)]
                high = [lanes + j if j & distance else j + distance for j in range(lanes)]
                result[i] = self._shuffle(a, b, low, lanes)
                result[i + distance] = self._shuffle(a, b, high, lanes)
        return result

    def _joined(self, a: str, b: str) -> str:
        if self.half == 1:
            first = self.new(f"insertelement {self.row} poison, double {a}, i32 0")
            return self.new(f"insertelement {self.row} {first}, double {b}, i32 1")
        return self._shuffle(a, b, range(self.lanes), self.half)

    def _load(self, pointer: str, count: int) -> str:
        """Half a vector of which the first `count` values are read."""
        half = self.half
        if half == 1:
            return self.new(f"load double, ptr {pointer}, align 8")
        kind = f"<{half} x double>"
        if count == half:
            return self.new(f"load {kind}, ptr {pointer}, align 8")
        vector, done = "poison", 0
        if count >= 2:
            pair = self.new(f"load <2 x double>, ptr {pointer}, align 8")
            vector, done = self._shuffle(pair, "poison", (*range(2), *[2] * (half - 2)), 2), 2
        for k in range(done, count):
            value = self.new(f"load double, ptr {self.at(pointer, 8 * k)}, align 8")
            vector = self.new(f"insertelement {kind} {vector}, double {value}, i32 {k}")
        return vector

    def _store(self, vector: str, first: int, pointer: str, count: int) -> None:
        """Write `count` values of a vector from index `first`, and nothing beyond them."""
        done = 0
        while done < count:
            width = next(w for w in (4, 2, 1) if w <= count - done)
            place = self.at(pointer, 8 * done)
            if width == 1:
                value = self.new(f"extractelement {self.row} {vector}, i32 {first + done}")
                self.lines.append(f"  store double {value}, ptr {place}, align 8")
            else:
                picked = range(first + done, first + done + width)
                value = self._shuffle(vector, "poison", picked, self.lanes)
                how = f"align {8 * width}, !nontemporal !0" if self.past else "align 8"
                self.lines.append(f"  store <{width} x double> {value}, ptr {place}, {how}")
            done += width
