"""Transposing pieces of W samples × W rows in registers, from samples to rows of lanes and back.

The first of the log2(W) stages of a transposition is merged into half-width loads, the last into half-width
stores: on the processors at hand loading is cheaper than shuffling.
"""

from __future__ import annotations

from collections.abc import Sequence

from .elementary_ir import Shape

UNROLLED = 4
"""Pieces written out; more become a loop."""


def pack(rows: int, lanes: int) -> str:
    """`void @pack.R(ptr samples, i64 stride, i64 left, ptr rows)`: lane l reads sample min(l, left)."""
    head = f"define internal void @pack.{rows}(ptr noalias %samples, i64 %stride, i64 %left, ptr noalias %rows)"
    return _routine(head, rows, lanes, _Turn.pack)


def unpack(rows: int, lanes: int) -> str:
    """`void @unpack.R(ptr rows, ptr samples, i64 stride, i64 left)`: lane l writes sample min(l, left)."""
    parameters = "ptr noalias %rows, ptr noalias %samples, i64 %stride, i64 %left"
    head = f"define internal void @unpack.{rows}({parameters})"
    return _routine(head, rows, lanes, _Turn.unpack)


def _routine(head: str, rows: int, lanes: int, piece) -> str:
    """All pieces of a sample: full ones in a loop when they are many, and what is left."""
    turn = _Turn(lanes)
    turn.lines += [f"{head} noinline nounwind {{", "start:"]
    samples = turn.pointers()
    full, rest = divmod(rows, lanes)
    if full > UNROLLED:
        turn.lines += ["  br label %piece", "piece:", "  %k = phi i64 [0, %start], [%k.next, %piece]"]
        across = turn.new(f"mul i64 %k, {8 * lanes}")
        down = turn.new(f"mul i64 %k, {8 * lanes * lanes}")
        moved = [turn.at(p, across) for p in samples]
        piece(turn, moved, turn.at("%rows", down), lanes)
        turn.lines += ["  %k.next = add i64 %k, 1", f"  %more = icmp ult i64 %k.next, {full}"]
        turn.lines += ["  br i1 %more, label %piece, label %rest", "rest:"]
    else:
        for k in range(full):
            moved = [turn.at(p, 8 * lanes * k) for p in samples]
            piece(turn, moved, turn.at("%rows", 8 * lanes * lanes * k), lanes)
    if rest:
        moved = [turn.at(p, 8 * lanes * full) for p in samples]
        piece(turn, moved, turn.at("%rows", 8 * lanes * lanes * full), rest)
    return "\n".join([*turn.lines, "  ret void", "}", ""])


class _Turn:
    """Writes the code that turns one piece."""

    def __init__(self, lanes: int):
        self.lanes, self.half = lanes, lanes // 2
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

    def pack(self, samples: Sequence[str], rows: str, count: int) -> None:
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
                place = self.at(rows, 8 * self.lanes * done)
                self.lines.append(f"  store {self.row} {vector}, ptr {place}, align {8 * self.lanes}")
                done += 1

    def unpack(self, samples: Sequence[str], rows: str, count: int) -> None:
        """Load `count` rows, store `count` values of each sample."""
        half = self.half
        for first in (0, half)[: 1 if count <= half else 2]:
            wanted = min(half, count - first)
            vectors = []
            for k in range(first, first + wanted):
                place = self.at(rows, 8 * self.lanes * k)
                vectors.append(self.new(f"load {self.row}, ptr {place}, align {8 * self.lanes}"))
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
                self.lines.append(f"  store <{width} x double> {value}, ptr {place}, align 8")
            done += width
