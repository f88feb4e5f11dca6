"""A program: lowered functions joined by loops and masks, as data.

A program is one loop, `while any lane of the mask is active, do the body`, over named buffers of rows ×
lanes. Its state lies wholly in the buffers, so the loop can stop after any number of turns and go on later.
`program_llvm` lowers it to machine code; `program_interpret` runs it in plain Python and is its definition.

A statement says where its numbers are by *views*: a run of rows of one buffer. Inside `ForRows` a view with a
stride moves by that many rows each turn. A *mask* is a view of one row that holds 0.0 or 1.0 in each lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import casadi as ca
import numpy as np

from ..errors import CompileError
from .lower import Lowered, lower


@runtime_checkable
class Callee(Protocol):
    """What a `Call` may call: a function of rows that can be lowered for any number of lanes."""

    def key(self) -> object:
        """Equal for two callees that may share one lowered function."""
        ...

    def label(self) -> str:
        """A short name."""
        ...

    def rows_in(self) -> tuple[int, ...]:
        """Rows of each input."""
        ...

    def rows_out(self) -> tuple[int, ...]:
        """Rows of each output."""
        ...

    def lower(self, symbol: str, lanes: int) -> Lowered:
        """The function as LLVM IR under the name `symbol`."""
        ...

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The value of one lane, without machine code."""
        ...


@dataclass(frozen=True)
class Traced:
    """A `casadi.Function` as a callee."""

    function: ca.Function

    def key(self) -> object:
        return self.function.__hash__()

    def label(self) -> str:
        return self.function.name()

    def rows_in(self) -> tuple[int, ...]:
        return tuple(self.function.numel_in(k) for k in range(self.function.n_in()))

    def rows_out(self) -> tuple[int, ...]:
        return tuple(self.function.numel_out(k) for k in range(self.function.n_out()))

    def lower(self, symbol: str, lanes: int) -> Lowered:
        function = self.function if self.function.is_a("SXFunction") else self.function.expand()
        return lower(function, symbol, lanes)

    def evaluate(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        values = self.function.call([ca.DM(x) if x.size else ca.DM(0, 1) for x in inputs])
        return [np.asarray(ca.densify(v)).ravel(order="F") for v in values]


def callee(function: ca.Function | Callee) -> Callee:
    """A callee as such, a `casadi.Function` wrapped."""
    return Traced(function) if isinstance(function, ca.Function) else function


@dataclass(frozen=True)
class View:
    """Rows `first … first + rows` of a buffer; in turn i of `ForRows` they lie `i * stride` further on."""

    buffer: str
    first: int
    rows: int
    stride: int = 0

    def __getitem__(self, part: int | slice) -> View:
        """Some of the rows."""
        start, stop, step = (slice(part, part + 1) if isinstance(part, int) else part).indices(self.rows)
        if step != 1 or (isinstance(part, int) and stop != start + 1):
            raise IndexError(f"{part} of {self}")
        return replace(self, first=self.first + start, rows=max(stop - start, 0))

    def __iter__(self) -> Iterator[View]:
        return (self[k] for k in range(self.rows))

    def each(self) -> View:
        """One row at a time, for `ForRows`."""
        return replace(self, rows=1, stride=1)

    def span(self, turns: int) -> range:
        """Every row touched in so many turns."""
        return range(self.first, self.first + self.rows + self.stride * (turns - 1))

    def meets(self, other: View) -> bool:
        """Whether the two may touch a common row in the same turn of their loop."""
        if self.buffer != other.buffer or not (self.rows and other.rows):
            return False
        if self.stride != other.stride:
            return True
        return self.first < other.first + other.rows and other.first < self.first + self.rows


@dataclass(frozen=True)
class Call:
    """outputs = function(inputs) in every lane. An output may be an input too: inputs are read first."""

    function: Callee
    inputs: tuple[View, ...]
    outputs: tuple[View, ...]


@dataclass(frozen=True)
class ForRows:
    """Do the body `count` times, views with a stride moving on; in this order."""

    count: int
    body: tuple[Call, ...]


@dataclass(frozen=True)
class While:
    """While any lane of the mask is nonzero, at most `limit` times: do the body, in all lanes. 1: *if*."""

    mask: View
    body: tuple[Statement, ...]
    limit: int | None = None


@dataclass(frozen=True)
class Assign:
    """Where the mask is nonzero: target = source."""

    mask: View
    target: View
    source: View


@dataclass(frozen=True)
class Take:
    """Where the mask is nonzero: target = the next number of the queue, an int64 shared by all threads."""

    mask: View
    target: View
    queue: str


@dataclass(frozen=True)
class Gather:
    """Where the mask is nonzero: target = `array[index, :]`, an array of rows of `target.rows` doubles."""

    mask: View
    target: View
    array: str
    index: View


@dataclass(frozen=True)
class Scatter:
    """Where the mask is nonzero: `array[index, :]` = source."""

    mask: View
    source: View
    array: str
    index: View


Statement = Call | ForRows | While | Assign | Take | Gather | Scatter


@dataclass(frozen=True)
class Program:
    """`while any lane of mask: body` over `buffers` (name → rows) and `arrays` (names of memory outside)."""

    name: str
    buffers: Mapping[str, int]
    arrays: tuple[str, ...]
    mask: View
    body: tuple[Statement, ...]

    def __post_init__(self) -> None:
        _check_rows(self.mask, 1, self.buffers, "the mask of the loop")
        for statement in self.body:
            _check(statement, self, 1)

    def calls(self) -> Iterator[Call]:
        """Every call, in the order of the text."""
        return _calls(self.body)


@dataclass
class Layout:
    """The buffers of a program while it is being written: `rows` declares one and gives its view."""

    buffers: dict[str, int] = field(default_factory=dict)

    def rows(self, name: str, count: int = 1) -> View:
        """A new buffer."""
        if name in self.buffers:
            raise CompileError(f"buffer '{name}' is declared twice")
        self.buffers[name] = count
        return View(name, 0, count)


def call(function: ca.Function | Callee, inputs: Iterable[View], outputs: Iterable[View]) -> Call:
    """A call statement."""
    return Call(callee(function), tuple(inputs), tuple(outputs))


def for_rows(count: int, function: ca.Function | Callee, inputs: Iterable[View], outputs: Iterable[View]) -> ForRows:
    """One call for each row."""
    return ForRows(count, (call(function, inputs, outputs),))


def when(mask: View, *body: Statement) -> While:
    """Do the body once if any lane of the mask is nonzero."""
    return While(mask, body, 1)


def _calls(body: Iterable[Statement]) -> Iterator[Call]:
    for statement in body:
        if isinstance(statement, Call):
            yield statement
        elif isinstance(statement, (ForRows, While)):
            yield from _calls(statement.body)


def _check_rows(view: View, rows: int, buffers: Mapping[str, int], what: str, turns: int = 1) -> None:
    """The view exists and has so many rows."""
    if view.buffer not in buffers:
        raise CompileError(f"{what}: there is no buffer '{view.buffer}'")
    span = view.span(turns)
    if view.rows != rows or span.start < 0 or (view.rows and span.stop > buffers[view.buffer]):
        raise CompileError(f"{what}: {view} does not fit, {rows} rows are wanted, turns {turns}")


def _check(statement: Statement, program: Program, turns: int) -> None:
    """Every view lies in its buffer and fits what it is used for."""
    buffers = program.buffers
    match statement:
        case Call(function, inputs, outputs):
            for views, rows, side in (
                (inputs, function.rows_in(), "input"),
                (outputs, function.rows_out(), "output"),
            ):
                if len(views) != len(rows):
                    raise CompileError(f"call of '{function.label()}': {len(views)} {side}s for {len(rows)}")
                for k, (view, count) in enumerate(zip(views, rows, strict=True)):
                    _check_rows(view, count, buffers, f"call of '{function.label()}', {side} {k}", turns)
        case ForRows(count, body):
            for inner in body:
                _check(inner, program, count)
        case While(mask, body, _):
            _check_rows(mask, 1, buffers, "while")
            for inner in body:
                _check(inner, program, 1)
        case Assign(mask, target, source):
            _check_rows(mask, 1, buffers, "assign")
            _check_rows(source, target.rows, buffers, "assign")
            _check_rows(target, target.rows, buffers, "assign")
        case Take(mask, target, name) | Gather(mask, target, name, _) | Scatter(mask, target, name, _):
            _check_rows(mask, 1, buffers, f"'{name}'")
            _check_rows(target, 1 if isinstance(statement, Take) else target.rows, buffers, f"'{name}'")
            if name not in program.arrays:
                raise CompileError(f"there is no array '{name}'")
            if not isinstance(statement, Take):
                _check_rows(statement.index, 1, buffers, f"'{name}'")
