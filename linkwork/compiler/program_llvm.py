"""Program → text of LLVM IR: `i64 @run(ptr state, ptr arrays, i64 turns)`.

The buffers lie one after the other in one block of memory, `state`, as rows of `lanes` doubles; `arrays` is a
table of pointers. The value returned is 1 while a lane is active. Lowered functions are called on addresses
inside the block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import CompileError
from .lower import Lowered
from .program import Assign, Call, Callee, ForRows, Gather, Program, Scatter, Statement, Take, View, While

TEMPORARY = 64
"""Rows that an output may have which is an input too."""


@dataclass(frozen=True)
class LoweredProgram:
    """A program as IR text with the functions it calls."""

    symbol: str
    lanes: int
    text: str
    functions: tuple[tuple[Callee, Lowered], ...]
    offsets: Mapping[str, int]
    """First row of each buffer in the block."""
    rows: int
    """Rows of the whole block."""

    @property
    def callees(self) -> tuple[Lowered, ...]:
        return tuple(low for _, low in self.functions)


def lower_program(program: Program, lanes: int, symbol: str = "run") -> LoweredProgram:
    """Lower the program and every function it calls for so many lanes."""
    callees: dict[object, tuple[Callee, Lowered]] = {}
    for statement in program.calls():
        function = statement.function
        if function.key() not in callees:
            name = f"f{len(callees)}.{''.join(c if c.isalnum() else '_' for c in function.label())}"
            callees[function.key()] = function, function.lower(name, lanes)
    offsets, rows = _place(program.buffers, lanes)
    scratch = max((lowered.scratch for _, lowered in callees.values()), default=0)
    emitter = _Emitter(program, lanes, offsets, rows, {key: low.symbol for key, (_, low) in callees.items()})
    text = emitter.function(symbol)
    return LoweredProgram(symbol, lanes, text, tuple(callees.values()), offsets, rows + scratch)


def _place(buffers: Mapping[str, int], lanes: int) -> tuple[dict[str, int], int]:
    """First row of each buffer; every one begins at a multiple of 64 bytes."""
    step = max(1, 8 // lanes)
    offsets, at = {}, 0
    for name, rows in buffers.items():
        offsets[name] = at
        at += -(-rows // step) * step
    return offsets, at


@dataclass
class _Emitter:
    """Writes the blocks of `run`; knows the block being written, for phi nodes."""

    program: Program
    lanes: int
    offsets: Mapping[str, int]
    scratch: int
    symbols: Mapping[object, str]
    lines: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)
    pointers: dict[str, str] = field(default_factory=dict)
    block: str = "entry"
    names: int = 0

    def __post_init__(self) -> None:
        self.type = "double" if self.lanes == 1 else f"<{self.lanes} x double>"
        self.bits = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        self.align = 8 * self.lanes

    def function(self, symbol: str) -> str:
        self.pointers = {
            name: self.define(f"load ptr, ptr {self.item(k)}, align 8") for k, name in enumerate(self.program.arrays)
        }
        self.statement(While(self.program.mask, self.program.body), None, limit="%turns")
        active = self.define(f"zext i1 {self.any(self.program.mask)} to i64")
        body = "\n".join([*self.entry, *self.lines])
        head = f"define i64 @{symbol}(ptr %state, ptr %arrays, i64 %turns) nounwind {{\nentry:\n"
        return f"{head}{body}\n  ret i64 {active}\n}}\n"

    # names, blocks, addresses

    def name(self) -> str:
        self.names += 1
        return f"%x{self.names}"

    def define(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")
        self.block = name

    def labels(self, *tails: str) -> list[str]:
        self.names += 1
        return [f"b{self.names}.{tail}" for tail in tails]

    def item(self, k: int) -> str:
        return self.define(f"getelementptr ptr, ptr %arrays, i64 {k}")

    def address(self, view: View, turn: str | None) -> str:
        """Where the view begins in this turn of a loop over rows."""
        at = self.define(f"getelementptr i8, ptr %state, i64 {(self.offsets[view.buffer] + view.first) * self.align}")
        if turn is None or view.stride == 0:
            return at
        far = self.define(f"mul nuw nsw i64 {turn}, {view.stride * self.align}")
        return self.define(f"getelementptr i8, ptr {at}, i64 {far}")

    def load(self, address: str) -> str:
        return self.define(f"load {self.type}, ptr {address}, align {self.align}")

    def store(self, value: str, address: str) -> None:
        self.line(f"store {self.type} {value}, ptr {address}, align {self.align}")

    def chosen(self, mask: View) -> str:
        """The lanes of a mask."""
        value = self.load(self.address(mask, None))
        return self.define(f"fcmp une {self.type} {value}, zeroinitializer")

    def any(self, mask: View) -> str:
        chosen = self.chosen(mask)
        if self.lanes == 1:
            return chosen
        flags = self.define(f"bitcast {self.bits} {chosen} to i{self.lanes}")
        return self.define(f"icmp ne i{self.lanes} {flags}, 0")

    # statements

    def statement(self, statement: Statement, turn: str | None, limit: str | None = None) -> None:
        match statement:
            case Call(function, inputs, outputs):
                self.call(function, inputs, outputs, turn)
            case ForRows(count, body):
                self.loop(count, lambda i: [self.statement(inner, i) for inner in body])
            case While(mask, body, bound):
                self.loop_while(mask, body, limit or (None if bound is None else str(bound)))
            case Assign(mask, target, source):
                self.assign(mask, target, source)
            case _:
                self.each_lane(statement.mask, lambda lane: self.move(statement, lane))

    def loop(self, count: int, body) -> None:
        """Do `body(i)` for i = 0 … count − 1."""
        if count == 0:
            return
        if count == 1:
            body(None)
            return
        head, done = self.labels("rows", "done")
        before, i = self.block, self.name()
        following = self.name()
        self.line(f"br label %{head}")
        self.label(head)
        at = len(self.lines)
        self.lines.append("")
        body(i)
        self.lines[at] = f"  {i} = phi i64 [0, %{before}], [{following}, %{self.block}]"
        self.line(f"{following} = add nuw nsw i64 {i}, 1")
        again = self.define(f"icmp ult i64 {following}, {count}")
        self.line(f"br i1 {again}, label %{head}, label %{done}")
        self.label(done)

    def loop_while(self, mask: View, body: Sequence[Statement], limit: str | None) -> None:
        head, inside, done = self.labels("while", "body", "done")
        if limit == "1":
            self.line(f"br i1 {self.any(mask)}, label %{inside}, label %{done}")
            self.label(inside)
            for inner in body:
                self.statement(inner, None)
            self.line(f"br label %{done}")
            self.label(done)
            return
        before, count, following = self.block, self.name(), self.name()
        self.line(f"br label %{head}")
        self.label(head)
        at = len(self.lines)
        self.lines.append("")
        go = self.any(mask)
        if limit is not None:
            within = self.define(f"icmp ult i64 {count}, {limit}")
            go = self.define(f"and i1 {go}, {within}")
        self.line(f"br i1 {go}, label %{inside}, label %{done}")
        self.label(inside)
        for inner in body:
            self.statement(inner, None)
        self.line(f"{following} = add i64 {count}, 1")
        self.lines[at] = f"  {count} = phi i64 [0, %{before}], [{following}, %{self.block}]"
        self.line(f"br label %{head}")
        self.label(done)

    def call(self, function: Callee, inputs: Sequence[View], outputs: Sequence[View], turn: str | None) -> None:
        """Call on addresses. An output that is an input too goes through a temporary: none may overlap."""
        arguments = [self.address(v, turn) for v in inputs]
        late = []
        for k, view in enumerate(outputs):
            at = self.address(view, turn)
            if any(view.meets(other) for other in inputs):
                if view.rows > TEMPORARY:
                    raise CompileError(
                        f"call of '{function.label()}': output {k} of {view.rows} rows is an input too",
                        fix="give it a buffer of its own",
                    )
                temporary = self.name()
                self.entry.append(f"  {temporary} = alloca [{view.rows} x {self.type}], align {max(self.align, 16)}")
                late.append((temporary, at, view.rows))
                at = temporary
            arguments.append(at)
        arguments.append(self.define(f"getelementptr i8, ptr %state, i64 {self.scratch * self.align}"))
        self.line(f"call void @{self.symbols[function.key()]}({', '.join('ptr ' + a for a in arguments)})")
        for source, target, rows in late:
            for r in range(rows):
                value = self.load(self.define(f"getelementptr i8, ptr {source}, i64 {r * self.align}"))
                self.store(value, self.define(f"getelementptr i8, ptr {target}, i64 {r * self.align}"))

    def assign(self, mask: View, target: View, source: View) -> None:
        if target.rows == 0:
            return
        chosen = self.chosen(mask)

        def row(i: str | None) -> None:
            to, old = self.address(target.each(), i), self.address(source.each(), i)
            value = self.define(
                f"select {self.bits} {chosen}, {self.type} {self.load(old)}, {self.type} {self.load(to)}"
            )
            self.store(value, to)

        self.loop(target.rows, row)

    def each_lane(self, mask: View, body) -> None:
        """Do `body(lane)` in every lane of the mask, lane by lane."""
        at = self.address(mask, None)

        def one(lane: str | None) -> None:
            value = self.define(f"load double, ptr {self.lane(at, lane)}, align 8")
            yes = self.define(f"fcmp une double {value}, 0.0")
            inside, done = self.labels("lane", "next")
            self.line(f"br i1 {yes}, label %{inside}, label %{done}")
            self.label(inside)
            body(lane)
            self.line(f"br label %{done}")
            self.label(done)

        self.loop(self.lanes, one)

    def lane(self, address: str, lane: str | None) -> str:
        return address if lane is None else self.define(f"getelementptr double, ptr {address}, i64 {lane}")

    def move(self, statement: Take | Gather | Scatter, lane: str | None) -> None:
        """Between one lane and memory."""
        if isinstance(statement, Take):
            number = self.define(f"atomicrmw add ptr {self.pointers[statement.queue]}, i64 1 monotonic")
            value = self.define(f"sitofp i64 {number} to double")
            target = self.lane(self.address(statement.target, None), lane)
            self.line(f"store double {value}, ptr {target}, align 8")
            return
        view = statement.target if isinstance(statement, Gather) else statement.source
        if view.rows == 0:
            return
        at = self.define(f"load double, ptr {self.lane(self.address(statement.index, None), lane)}, align 8")
        index = self.define(f"fptosi double {at} to i64")
        first = self.define(f"mul i64 {index}, {view.rows * 8}")
        memory = self.define(f"getelementptr i8, ptr {self.pointers[statement.array]}, i64 {first}")

        def row(i: str | None) -> None:
            inside = self.lane(self.address(view.each(), i), lane)
            outside = self.define(f"getelementptr double, ptr {memory}, i64 {i or 0}")
            source, target = (outside, inside) if isinstance(statement, Gather) else (inside, outside)
            value = self.define(f"load double, ptr {source}, align 8")
            self.line(f"store double {value}, ptr {target}, align 8")

        self.loop(view.rows, row)
