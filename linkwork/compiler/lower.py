"""CasADi function → text of LLVM IR. Lanes are a matter of types only: every value is a `<W x double>`.

The text is written directly rather than with llvmlite's builder, which takes several times as long. A long
function is split, because LLVM's time grows faster than linearly with the length of a basic block; values
that cross from one part to a later one lie in rows of the scratch array, shared by values that do not live at
the same time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca

from .elementary_ir import Shape
from .emit import TABLE, Emitter, splat
from .order import arrange, cuts
from .tape import LEAVES, Tape, read

WHOLE = 12_000
"""Up to so many operations are one function: nothing crosses, and building stays quick."""
CHUNK = 700
"""Operations per internal function of a longer one, about."""
NEAR = 4_000
"""Up to so many operations of code stay in a processor's cache for instructions, more or less."""
PART = 1_500
"""Operations per part of a longer function whose parts each run on several blocks of samples in turn."""
MANY = 16
"""Rows from which on an output may have its equal ones written once."""


@dataclass(frozen=True)
class Lowered:
    """One function as IR text, to be put into a module with its declarations and library functions."""

    symbol: str
    lanes: int
    text: str
    """Definitions, all internal to the module."""
    scratch: int
    """Rows of the scratch array %w."""
    declarations: frozenset[str]
    """`declare` lines of the LLVM intrinsics in use."""
    library: frozenset[str]
    """Names of the elementary functions in use."""
    counts: Counter[str] = field(repr=False)
    """Operations by kind, after fusing."""
    constants: int
    """Different constants in the code."""
    parts: int
    """Internal functions it was split into."""
    same: tuple[tuple[int, ...] | None, ...] = field(default=(), repr=False)
    """Per output the row that holds each row's value, None when every row holds its own; empty: none is mapped."""


def lower(
    fn: ca.Function,
    symbol: str,
    lanes: int,
    *,
    c_order: bool = False,
    once: bool = False,
    near: bool = False,
    chunk: int | None = None,
) -> Lowered:
    """IR of an SX function as `void @symbol(ptr %in0, …, ptr %out0, …, ptr %w)` on `[row][lane]` doubles.

    Input k has `fn.numel_in(k)` rows, output k `fn.numel_out(k)`, structural zeros included. Rows of matrices
    are in CasADi's column-major order, or with `c_order` in NumPy's. Every array begins at a multiple of `8 *
    lanes` bytes and no two overlap. Bits depend neither on `lanes` nor on `chunk`.

    With `once`, an output with many zeros or equal rows has each different value written once, where it first
    stands, and its other rows not at all: the caller finds them by `same`. With `near`, a function too long for
    the cache for instructions comes in parts for it, `@symbol.0`, `@symbol.1` …, to be called one after the other
    with the same arguments; `@symbol` calls them all.
    """
    tape = arrange(read(fn, c_order))
    same = tuple(first_rows(rows) for rows in tape.outputs) if once else ()
    if chunk is None:
        length = len(tape.nodes)
        chunk = WHOLE if length <= (NEAR if near else WHOLE) else PART if near and length <= WHOLE else CHUNK
    writer = Writer(symbol, lanes, [fn.name_in(k) for k in range(fn.n_in())], tape, cuts(tape, chunk), same)
    text = writer.function()
    return Lowered(
        symbol,
        lanes,
        text,
        writer.scratch,
        frozenset(writer.emitter.declarations),
        frozenset(writer.emitter.library),
        tape.count(),
        sum(node[0] == "const" for node in tape.nodes),
        len(writer.starts),
        same,
    )


def first_rows(rows: Sequence[int | None]) -> tuple[int, ...] | None:
    """For each row of an output the first one of the same value; None when few are the same."""
    first: dict[int | None, int] = {}
    same = tuple(first.setdefault(node, row) for row, node in enumerate(rows))
    return same if len(rows) >= MANY and 4 * len(first) <= 3 * len(rows) else None


class Writer:
    """Writes the parts of one function; holds what is known within the part being written."""

    def __init__(
        self,
        symbol: str,
        lanes: int,
        names_in: Sequence[str],
        tape: Tape,
        starts: Sequence[int],
        same: Sequence[Sequence[int] | None] = (),
    ):
        self.symbol, self.names_in, self.tape, self.starts = symbol, names_in, tape, starts
        self.emitter = Emitter(Shape(lanes))
        self.row_bytes = 8 * lanes
        self.slots, self.scratch = crossing(tape, starts)
        self.rows: defaultdict[int | None, list[tuple[int, int]]] = defaultdict(list)
        for k, rows in enumerate(tape.outputs):
            first = same[k] if same else None
            for row, node in enumerate(rows):
                if first is None or first[row] == row:
                    self.rows[node].append((k, row))
        self.texts: dict[int, str] = {}
        self.addresses: set[str] = set()

    def function(self) -> str:
        """The whole function: one body, or parts and a body that calls them in turn."""
        pointers = [f"%in{k}" for k in range(len(self.names_in))]
        pointers += [f"%out{k}" for k in range(len(self.tape.outputs))] + ["%w"]
        parameters = ", ".join(f"ptr noalias {p}" for p in pointers)
        arguments = ", ".join(f"ptr {p}" for p in pointers)
        head, tail = f"define internal void @{self.symbol}", "\n  ret void\n}\n"
        # Spilled registers must not straddle cache lines, and LLVM does not align the stack for them.
        attributes = f"nounwind alignstack({max(16, self.row_bytes)})"
        stops = [*self.starts[1:], len(self.tape.nodes)]
        bodies = [self._body(start, stop) for start, stop in zip(self.starts, stops, strict=True)]
        if len(bodies) == 1:
            return f"{head}({parameters}) {attributes} {{\n{bodies[0]}{tail}"
        texts = [f"{head}.{k}({parameters}) noinline {attributes} {{\n{b}{tail}" for k, b in enumerate(bodies)]
        calls = "\n".join(f"  call void @{self.symbol}.{k}({arguments})" for k in range(len(bodies)))
        return "\n".join([*texts, f"{head}({parameters}) {attributes} {{\n{calls}{tail}"])

    def _body(self, start: int, stop: int) -> str:
        """One part: operations in order, loads before their first use, stores as soon as there is a value."""
        self.emitter.begin()
        self.texts, self.addresses = {}, set()
        nodes = self.tape.nodes
        if start == 0:
            self._store_leaves()
        for k in range(start, stop):
            node = nodes[k]
            if node[0] in LEAVES:
                continue
            operands = [self.texts.get(a) or self._fetch(a) for a in node[1:]]
            name = self.texts[k] = f"%v{k}"
            TABLE[node[0]](self.emitter, name, *operands)
            if k in self.rows:
                for out, row in self.rows[k]:
                    self._store(name, f"%out{out}", row)
            if k in self.slots:
                self._store(name, "%w", self.slots[k])
        return "\n".join(self.emitter.lines)

    def _store_leaves(self) -> None:
        """Outputs that are inputs, constants or structural zeros."""
        for out, row in self.rows.get(None, ()):
            self._store(self.emitter.zero, f"%out{out}", row)
        for k, node in enumerate(self.tape.nodes):
            if node[0] in LEAVES:
                for out, row in self.rows.get(k, ()):
                    self._store(self.texts.get(k) or self._fetch(k), f"%out{out}", row)

    def _fetch(self, k: int) -> str:
        """The text of a value this part has not got yet: a constant, or a load of an input or scratch row."""
        node = self.tape.nodes[k]
        if node[0] == "const":
            text = splat(self.emitter.shape, node[1])
        elif node[0] == "in":
            text = self._load(f"%{self.names_in[node[1]]}.{node[2]}", f"%in{node[1]}", node[2])
        else:
            text = self._load(f"%v{k}", "%w", self.slots[k])
        self.texts[k] = text
        return text

    def _address(self, pointer: str, row: int) -> str:
        if row == 0:
            return pointer
        name = f"{pointer}.at.{row}"
        if name not in self.addresses:
            self.addresses.add(name)
            self.emitter.line(name, f"getelementptr i8, ptr {pointer}, i64 {row * self.row_bytes}")
        return name

    def _load(self, name: str, pointer: str, row: int) -> str:
        address = self._address(pointer, row)
        return self.emitter.line(name, f"load {self.emitter.value}, ptr {address}, align {self.row_bytes}")

    def _store(self, value: str, pointer: str, row: int) -> None:
        address = self._address(pointer, row)
        self.emitter.lines.append(f"  store {self.emitter.value} {value}, ptr {address}, align {self.row_bytes}")


def crossing(tape: Tape, starts: Sequence[int]) -> tuple[dict[int, int], int]:
    """Scratch row of each value that a later part uses, and the number of rows.

    A row is free for another value in the parts after its last reader, not already in that part: there the
    order of loads and stores is not fixed.
    """
    stops = [*starts[1:], len(tape.nodes)]
    made: list[int] = []
    last: dict[int, int] = {}
    part = 0
    for k, node in enumerate(tape.nodes):
        while k >= stops[part]:
            part += 1
        made.append(part)
        if node[0] not in LEAVES:
            for a in node[1:]:
                if made[a] < part and tape.nodes[a][0] not in LEAVES:
                    last[a] = part
    slots: dict[int, int] = {}
    expiring: defaultdict[int, list[int]] = defaultdict(list)
    free: list[int] = []
    part = total = 0
    for k in sorted(last):
        while part < made[k]:
            free.extend(expiring[part])
            part += 1
        if not free:
            free.append(total)
            total += 1
        slots[k] = free.pop()
        expiring[last[k]].append(slots[k])
    return slots, total
