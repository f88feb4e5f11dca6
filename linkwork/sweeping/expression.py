"""Expressions of named numbers in plans: `peak < 100 N and norm(tool.velocity) > 2 mm/s`. Parsed, never run as Python.

Numbers (with a unit if they have one), names with dots, `pi`, `deg`, + - * / **, the functions of
`linkwork.model.formula`, `norm` and `dot` of vectors; comparisons with `and`, `or`, `not`, which give 1 or 0.
A comparison with what is not a number (the time of an event that did not happen) is false.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from linkwork.compiler.kernel import compile_function
from linkwork.compiler.ports import Port
from linkwork.errors import RunError, nearest
from linkwork.model.formula import DEEPEST, FUNCTIONS, LONGEST, NAMES, OPERATORS
from linkwork.model.units import UNITS, quantity

Resolve = Callable[[str], Any]
COMPARISONS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
VECTORS: dict[str, tuple[int, Callable[..., Any]]] = {"norm": (1, ca.norm_2), "dot": (2, ca.dot)}
_WORD = "|".join(sorted(map(re.escape, UNITS.keys() - {"1"}), key=len, reverse=True))
_WITH_UNIT = re.compile(
    rf"(?<![\w.])(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)\s*((?:{_WORD})(?:\^\d)?(?:[*/](?:{_WORD})(?:\^\d)?)*)(?![\w.(])"
)


def traced(text: str, resolve: Resolve, what: str) -> Any:
    """The expression with the symbols that `resolve` gives for its names."""
    fix = "write something like peak < 100 N and tool.height > 0.2"
    if len(text) > LONGEST:
        raise RunError(f"{what} is an expression of {len(text)} characters", fix=f"at most {LONGEST}")
    try:
        plain = _WITH_UNIT.sub(lambda m: repr(quantity(f"{m[1]} {m[2]}", None)), text.strip())
        return _Walk(resolve, what).value(ast.parse(plain, mode="eval").body, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError):
        raise RunError(f"{what} is an unreadable expression '{text[:60]}'", fix=fix) from None


class _Walk:
    def __init__(self, resolve: Resolve, what: str):
        self.resolve, self.what = resolve, what

    def value(self, node: ast.AST, depth: int) -> Any:
        found = self._any(node, depth)
        if hasattr(found, "numel") and found.numel() != 1:
            fix = "name a component, or take norm(…)"
            raise RunError(f"{self.what} takes a vector of {found.numel()} numbers for one", fix=fix)
        return found

    def _any(self, node: ast.AST, depth: int) -> Any:
        if depth > DEEPEST:
            raise RunError(f"{self.what} is nested too deeply", fix=f"at most {DEEPEST} levels")
        down = depth + 1
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return ca.SX(float(node.value))
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(_dotted(node))
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](self.value(node.left, down), self.value(node.right, down))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Not)):
            value = self.value(node.operand, down)
            if isinstance(node.op, ast.Not):
                return ca.logic_not(value)
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BoolOp):
            join = ca.logic_and if isinstance(node.op, ast.And) else ca.logic_or
            first, *others = (self.value(v, down) for v in node.values)
            for other in others:
                first = join(first, other)
            return first
        if isinstance(node, ast.Compare):
            return self._compared(node, down)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self._call(node.func.id, node.args, down)
        raise RunError(f"{self.what} is more than arithmetic and comparisons", fix="use + - * / ** < > and or not")

    def _named(self, name: str) -> Any:
        return ca.SX(NAMES[name]) if name in NAMES else self.resolve(name)

    def _compared(self, node: ast.Compare, depth: int) -> Any:
        values = [self.value(v, depth) for v in (node.left, *node.comparators)]
        total = None
        for k, op in enumerate(node.ops):
            if type(op) not in COMPARISONS:
                raise RunError(f"{self.what} compares by '{type(op).__name__}'", fix="use < <= > >= == !=")
            one = COMPARISONS[type(op)](values[k], values[k + 1])
            total = one if total is None else ca.logic_and(total, one)
        return total

    def _call(self, name: str, args: list[ast.expr], depth: int) -> Any:
        if name not in FUNCTIONS and name not in VECTORS:
            known = (*FUNCTIONS, *VECTORS)
            raise RunError(f"{self.what} has an unknown function '{name}'", fix=nearest(name, known))
        count, function = FUNCTIONS.get(name) or VECTORS[name]
        if len(args) != count:
            raise RunError(f"{self.what} gives {name} {len(args)} arguments", fix=f"{name} takes {count}")
        read = self._any if name in VECTORS else self.value
        return function(*(read(a, depth) for a in args))


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    raise ValueError("a dot after something that is no name")


class Computed:
    """Expressions of arrays by name, as machine code: bits that do not depend on NumPy."""

    def __init__(self, texts: Mapping[str, str], known: Sequence[str], what: str):
        names, used = list(known), {}

        def resolve(name: str) -> Any:
            if name not in names:
                raise RunError(f"{what} names an unknown '{name}'", fix=nearest(name, names))
            return used.setdefault(name, ca.SX.sym(name))

        found = [ca.densify(ca.SX(traced(text, resolve, what))) for text in texts.values()]
        self.names, self.used = tuple(texts), tuple(used)
        graph = ca.Function("plan", list(used.values()), [ca.vertcat(*found)], {"cse": True})
        ports = [Port(f"in{k}") for k in range(len(used))]
        self._kernel = compile_function(graph, ports, None) if used and found else None
        self._fixed = np.array(graph()["o0"] if "o0" in graph() else []).ravel() if not used and found else None

    def __call__(self, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """One array for each expression."""
        n = len(next(iter(given.values())))
        if self._kernel is None:
            fixed = self._fixed if self._fixed is not None else ()
            return {name: np.full(n, x) for name, x in zip(self.names, fixed, strict=True)}
        inputs: dict[str, Any] = {f"in{k}": np.ascontiguousarray(given[name]) for k, name in enumerate(self.used)}
        values = np.asarray(self._kernel(**inputs)).reshape(n, len(self.names))
        return {name: values[:, k].copy() for k, name in enumerate(self.names)}


@dataclass(frozen=True)
class Succeeds:
    """Where an expression of named arrays holds. It can be sent to another process."""

    text: str
    known: tuple[str, ...]

    def __call__(self, given: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.nan_to_num(self._computed(given)["success"], nan=0.0) != 0

    @cached_property
    def _computed(self) -> Computed:
        return Computed({"success": self.text}, self.known, "success")

    def checked(self) -> Succeeds:
        """Itself; RunError when it cannot be read."""
        _ = self._computed
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Succeeds, (self.text, self.known)
