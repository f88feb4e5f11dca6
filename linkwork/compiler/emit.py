"""What each operation of a tape is in LLVM IR: one table, and the small writer its entries use.

Every entry emits IEEE operations lane by lane, in the meaning CasADi gives them; no fast-math flag anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack

from .elementary_ir import Shape
from .tape import LIBRARY


def splat(shape: Shape, value: float) -> str:
    """A constant in every lane, as LLVM reads it without rounding."""
    return shape.constant("double", f"0x{pack('>d', value).hex().upper()}")


class Emitter:
    """Lines of one function body. Values are texts: a register or a constant; masks are found by value."""

    def __init__(self, shape: Shape):
        self.shape = shape
        self.value, self.mask, self.suffix = shape.value, shape.mask, shape.suffix
        self.zero, self.one = splat(shape, 0.0), splat(shape, 1.0)
        self.declarations: set[str] = set()
        self.library: set[str] = set()
        self.begin()

    def begin(self) -> None:
        """Forget the registers of the part before."""
        self.lines: list[str] = []
        self.masks: dict[str, str] = {}

    def line(self, name: str, text: str) -> str:
        self.lines.append(f"  {name} = {text}")
        return name

    def intrinsic(self, name: str, function: str, *args: str) -> str:
        self.declarations.add(self.shape.intrinsic(function, len(args)))
        inner = ", ".join([f"{self.value} {a}" for a in args])
        return self.line(name, f"call {self.value} @llvm.{function}.{self.suffix}({inner})")

    def negated(self, name: str, a: str) -> str:
        return self.line(f"{name}.n", f"fneg {self.value} {a}")

    def compare(self, name: str, predicate: str, a: str, b: str) -> str:
        return self.line(name, f"fcmp {predicate} {self.value} {a}, {b}")

    def select(self, name: str, mask: str, a: str, b: str) -> str:
        return self.line(name, f"select {self.mask} {mask}, {self.value} {a}, {self.value} {b}")

    def truth(self, a: str) -> str:
        """The mask of a value: set where it is not zero, NaN included."""
        if a not in self.masks:
            name = f"%true.{a[1:]}" if a[0] == "%" else f"%true.c{len(self.masks)}"
            self.masks[a] = self.compare(name, "une", a, self.zero)
        return self.masks[a]

    def logical(self, name: str, mask: str) -> str:
        """The number 1.0 or 0.0 for a mask, which is kept for those who want the mask itself."""
        self.masks[name] = mask
        return self.select(name, mask, self.one, self.zero)


Operation = Callable[..., str]


def _infix(operator: str) -> Operation:
    return lambda e, r, a, b: e.line(r, f"{operator} {e.value} {a}, {b}")


def _function(name: str) -> Operation:
    return lambda e, r, *args: e.intrinsic(r, name, *args)


def _comparison(predicate: str) -> Operation:
    return lambda e, r, a, b: e.logical(r, e.compare(f"{r}.m", predicate, a, b))


def _connective(operator: str) -> Operation:
    return lambda e, r, a, b: e.logical(r, e.line(f"{r}.m", f"{operator} {e.mask} {e.truth(a)}, {e.truth(b)}"))


def _not(e: Emitter, r: str, a: str) -> str:
    return e.logical(r, e.compare(f"{r}.m", "oeq", a, e.zero))


def _sign(e: Emitter, r: str, a: str) -> str:
    """-1, 1, or the value itself when it is a zero or NaN."""
    positive = e.compare(f"{r}.p", "ogt", a, e.zero)
    negative = e.compare(f"{r}.m", "olt", a, e.zero)
    upper = e.select(f"{r}.u", positive, e.one, a)
    return e.select(r, negative, splat(e.shape, -1.0), upper)


def _extreme(predicate: str) -> Operation:
    """The smaller or larger; of a number and NaN the number."""

    def emit(e: Emitter, r: str, a: str, b: str) -> str:
        better = e.compare(f"{r}.m", predicate, a, b)
        chosen = e.select(f"{r}.c", better, a, b)
        other = e.compare(f"{r}.o", "uno", b, b)
        return e.select(r, other, a, chosen)

    return emit


def _call(name: str) -> Operation:
    def emit(e: Emitter, r: str, *args: str) -> str:
        e.library.add(name)
        inner = ", ".join([f"{e.value} {a}" for a in args])
        result = f"{{{e.value}, {e.value}}}" if name == "sincos" else e.value
        return e.line(r, f"call {result} @lw.{name}.{e.shape.lanes}({inner})")

    return emit


def _part_of_pair(index: int) -> Operation:
    return lambda e, r, a: e.line(r, f"extractvalue {{{e.value}, {e.value}}} {a}, {index}")


TABLE: dict[str, Operation] = {
    "add": _infix("fadd"),
    "sub": _infix("fsub"),
    "mul": _infix("fmul"),
    "div": _infix("fdiv"),
    "neg": lambda e, r, a: e.line(r, f"fneg {e.value} {a}"),
    "sq": lambda e, r, a: e.line(r, f"fmul {e.value} {a}, {a}"),
    "twice": lambda e, r, a: e.line(r, f"fadd {e.value} {a}, {a}"),
    "inv": lambda e, r, a: e.line(r, f"fdiv {e.value} {e.one}, {a}"),
    "fma": _function("fma"),
    "fms": lambda e, r, a, b, c: e.intrinsic(r, "fma", a, b, e.negated(r, c)),
    "fnma": lambda e, r, a, b, c: e.intrinsic(r, "fma", e.negated(r, a), b, c),
    "sqrt": _function("sqrt"),
    "floor": _function("floor"),
    "ceil": _function("ceil"),
    "fabs": _function("fabs"),
    "copysign": _function("copysign"),
    "sign": _sign,
    "fmin": _extreme("olt"),
    "fmax": _extreme("ogt"),
    "lt": _comparison("olt"),
    "le": _comparison("ole"),
    "eq": _comparison("oeq"),
    "ne": _comparison("une"),
    "not": _not,
    "and": _connective("and"),
    "or": _connective("or"),
    "if_else_zero": lambda e, r, c, a: e.select(r, e.truth(c), a, e.zero),
    "select": lambda e, r, c, a, b: e.select(r, e.truth(c), a, b),
    "sin": _part_of_pair(0),
    "cos": _part_of_pair(1),
    **{name: _call(name) for name in LIBRARY},
}
"""Operation → what it emits, given the emitter, the name of the result and its operands."""
