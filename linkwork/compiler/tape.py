"""A CasADi graph as a list of values in static single assignment, ready to be written out.

`read` walks CasADi's instruction list once. What it makes is a `Tape`: node k is `(operation, *arguments)`,
arguments being earlier nodes. Four rewrites are made here, all functions of the graph alone, so that bits do
not depend on the number of lanes:

- **fusing**: a product (or square) whose one use is a sum or difference joins it as a fused multiply-add.
  When both sides of `a*b + c*d` could join, the right one does: `fma(c, d, a*b)`; for `x - a*b` it is
  `fma(-a, b, x)`.
- **sine and cosine of one argument** are one call with two results.
- **one reciprocal**: several divisions by one value become products with its reciprocal (CasADi itself turns
  `x * (1/d)` into `x / d`, however it was written). This moves a quotient by at most one last place.
- **either or**: CasADi writes `if_else(c, x, y)` as `(c ? x : 0) + (!c ? y : 0)`; it becomes one selection.
"""

from __future__ import annotations

import struct
from collections import Counter
from dataclasses import dataclass, field

import casadi as ca

from ..errors import CompileError

Node = tuple
"""`("const", value)`, `("in", k, row)`, or `(operation, *node indices)`."""

OPERATIONS: dict[int, str] = {
    ca.OP_ADD: "add",
    ca.OP_SUB: "sub",
    ca.OP_MUL: "mul",
    ca.OP_DIV: "div",
    ca.OP_NEG: "neg",
    ca.OP_SQRT: "sqrt",
    ca.OP_SQ: "sq",
    ca.OP_TWICE: "twice",
    ca.OP_INV: "inv",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_FABS: "fabs",
    ca.OP_SIGN: "sign",
    ca.OP_COPYSIGN: "copysign",
    ca.OP_FMIN: "fmin",
    ca.OP_FMAX: "fmax",
    ca.OP_LT: "lt",
    ca.OP_LE: "le",
    ca.OP_EQ: "eq",
    ca.OP_NE: "ne",
    ca.OP_NOT: "not",
    ca.OP_AND: "and",
    ca.OP_OR: "or",
    ca.OP_IF_ELSE_ZERO: "if_else_zero",
    ca.OP_EXP: "exp",
    ca.OP_LOG: "log",
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_SIN: "sin",
    ca.OP_COS: "cos",
    ca.OP_TAN: "tan",
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_ATAN2: "atan2",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_TANH: "tanh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_FMOD: "fmod",
    ca.OP_REMAINDER: "remainder",
    ca.OP_ERF: "erf",
    ca.OP_ERFINV: "erfinv",
    ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
    ca.OP_HYPOT: "hypot",
}
"""Every scalar operation of CasADi that has a meaning here: the one CasADi gives it, to the last few places.

The one exception is `erfinv`: CasADi's own value is off by up to 1e-6 (near 0.7), ours by a few last places.
"""

UNARY = frozenset(
    """neg sqrt sq twice inv floor ceil fabs sign not exp log sin cos tan asin acos atan sinh cosh tanh asinh
    acosh atanh erf erfinv log1p expm1""".split()
)
LIBRARY = frozenset(
    """exp log pow tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh fmod remainder erf erfinv log1p
    expm1 hypot sincos""".split()
)
"""Operations that are calls of an elementary function."""
LOGICAL = frozenset("lt le eq ne not and or".split())
"""Operations whose value is 0.0 or 1.0."""
LEAVES = frozenset(("const", "in"))
_COPIES = (ca.OP_ASSIGN, ca.OP_LIFT)
_NAMES = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}


@dataclass
class Tape:
    """Nodes in an order that respects their arguments, and which of them is each row of each output."""

    nodes: list[Node] = field(default_factory=list)
    outputs: list[list[int | None]] = field(default_factory=list)
    """Per output, per row: its node, or None for a structural zero."""

    def uses(self) -> list[int]:
        """How often each node is an argument or an output."""
        count = [0] * len(self.nodes)
        for node in self.nodes:
            if node[0] not in LEAVES:
                for a in node[1:]:
                    count[a] += 1
        for rows in self.outputs:
            for r in rows:
                if r is not None:
                    count[r] += 1
        return count

    def count(self) -> Counter[str]:
        """Operations by kind."""
        return Counter(node[0] for node in self.nodes if node[0] not in LEAVES)


def read(fn: ca.Function, c_order: bool = False) -> Tape:
    """The tape of an SX function, common subexpressions shared, dead code gone, products fused.

    Rows of matrices are in CasADi's column-major order, or with `c_order` in NumPy's. Refuses MX functions,
    free symbols and operations without a meaning here, by name.
    """
    if not fn.is_a("SXFunction"):
        raise CompileError(f"function '{fn.name()}' is a {fn.class_name()}, not an SX function", fix="use fn.expand()")
    if fn.has_free():
        free = ", ".join(f"'{name}'" for name in fn.get_free())
        raise CompileError(f"function '{fn.name()}' has free symbols: {free}", fix="make them inputs")
    inputs = fn.sx_in()
    shared = ca.Function(fn.name(), inputs, ca.cse(fn.call(inputs, True, False)))
    tape = _walk(shared, c_order)
    tape = _prune(_select(tape))
    return _prune(_fuse(_share_reciprocals(tape)))


def _rows(sparsity: ca.Sparsity, c_order: bool) -> list[int]:
    """Dense row of each structural nonzero."""
    rows, cols = sparsity.size1(), sparsity.size2()
    found = sparsity.find()
    if not c_order or rows == 1 or cols == 1:
        return found
    return [(k % rows) * cols + k // rows for k in found]


def _walk(fn: ca.Function, c_order: bool) -> Tape:
    """CasADi's instructions on work registers, renamed to values."""
    tape = Tape(outputs=[[None] * fn.numel_out(k) for k in range(fn.n_out())])
    nodes, known = tape.nodes, {}
    rows_in = [_rows(fn.sparsity_in(k), c_order) for k in range(fn.n_in())]
    rows_out = [_rows(fn.sparsity_out(k), c_order) for k in range(fn.n_out())]
    register: dict[int, int] = {}

    def intern(key: Node, node: Node) -> int:
        if key not in known:
            known[key] = len(nodes)
            nodes.append(node)
        return known[key]

    for k in range(fn.n_instructions()):
        code = fn.instruction_id(k)
        out = fn.instruction_output(k)
        args = fn.instruction_input(k)
        if code == ca.OP_CONST:
            value = fn.instruction_constant(k)
            register[out[0]] = intern(("const", struct.pack("<d", value)), ("const", value))
        elif code == ca.OP_INPUT:
            node = ("in", args[0], rows_in[args[0]][args[1]])
            register[out[0]] = intern(node, node)
        elif code == ca.OP_OUTPUT:
            tape.outputs[out[0]][rows_out[out[0]][out[1]]] = register[args[0]]
        elif code in _COPIES:
            register[out[0]] = register[args[0]]
        else:
            name = OPERATIONS.get(code)
            if name is None:
                known_as = _NAMES.get(code, str(code))
                raise CompileError(f"function '{fn.name()}' uses {known_as}, which cannot be compiled")
            operands = [register[a] for a in args[: 1 if name in UNARY else 2]]
            register[out[0]] = _push(nodes, intern, name, operands)
    return tape


def _push(nodes: list[Node], intern, name: str, operands: list[int]) -> int:
    """Append one operation; sine and cosine of one argument share a call."""
    if name in ("sin", "cos"):
        call = ("sincos", operands[0])
        both = intern(call, call)
        node = (name, both)
        return intern(node, node)
    nodes.append((name, *operands))
    return len(nodes) - 1


def _select(tape: Tape) -> Tape:
    """Make `(c ? x : 0) + (!c ? y : 0)` one selection."""
    nodes = tape.nodes
    for k, node in enumerate(nodes):
        if node[0] != "add":
            continue
        x, y = nodes[node[1]], nodes[node[2]]
        if x[0] != "if_else_zero" or y[0] != "if_else_zero":
            continue
        if nodes[y[1]] == ("not", x[1]):
            nodes[k] = ("select", x[1], x[2], y[2])
        elif nodes[x[1]] == ("not", y[1]):
            nodes[k] = ("select", y[1], y[2], x[2])
    return tape


def _share_reciprocals(tape: Tape) -> Tape:
    """Divisions by a value that is divided by more than once become products with its reciprocal."""
    divisors = Counter(node[-1] for node in tape.nodes if node[0] in ("div", "inv"))
    nodes: list[Node] = []
    number: list[int] = []
    reciprocal: dict[int, int] = {}
    for node in tape.nodes:
        arguments = [] if node[0] in LEAVES else [number[a] for a in node[1:]]
        if node[0] in ("div", "inv") and divisors[node[-1]] > 1:
            if arguments[-1] not in reciprocal:
                reciprocal[arguments[-1]] = len(nodes)
                nodes.append(("inv", arguments[-1]))
            one = reciprocal[arguments[-1]]
            number.append(one if node[0] == "inv" else len(nodes))
            if node[0] == "div":
                nodes.append(("mul", arguments[0], one))
            continue
        number.append(len(nodes))
        nodes.append(node if node[0] in LEAVES else (node[0], *arguments))
    return Tape(nodes, [[None if r is None else number[r] for r in rows] for rows in tape.outputs])


def _fuse(tape: Tape) -> Tape:
    """Join products used once with the sum that uses them: `fma` a*b+c, `fms` a*b-c, `fnma` c-a*b."""
    nodes, uses = tape.nodes, tape.uses()

    def factors(k: int) -> tuple[int, int] | None:
        node = nodes[k]
        if uses[k] != 1 or node[0] not in ("mul", "sq"):
            return None
        return node[1], node[-1]

    for k, node in enumerate(nodes):
        if node[0] not in ("add", "sub"):
            continue
        x, y = node[1], node[2]
        if pair := factors(y):
            nodes[k] = ("fma" if node[0] == "add" else "fnma", *pair, x)
        elif pair := factors(x):
            nodes[k] = ("fma" if node[0] == "add" else "fms", *pair, y)
    return tape


def _prune(tape: Tape) -> Tape:
    """Drop values nobody uses, renumbering the rest in the same order."""
    nodes = tape.nodes
    wanted = [False] * len(nodes)
    for rows in tape.outputs:
        for r in rows:
            if r is not None:
                wanted[r] = True
    for k in range(len(nodes) - 1, -1, -1):
        node = nodes[k]
        if wanted[k] and node[0] not in LEAVES:
            for a in node[1:]:
                wanted[a] = True
    number: dict[int, int] = {}
    kept: list[Node] = []
    for k, node in enumerate(nodes):
        if wanted[k]:
            number[k] = len(kept)
            kept.append(node if node[0] in LEAVES else (node[0], *[number[a] for a in node[1:]]))
    return Tape(kept, [[None if r is None else number[r] for r in rows] for rows in tape.outputs])
