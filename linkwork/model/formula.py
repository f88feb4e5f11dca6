"""Formulas of time in files: `0.1*sin(2*pi*t)`. Parsed and walked, never evaluated as Python.

Numbers, `t`, `pi`, `deg` (π/180), + - * / **, brackets, and the functions below. The result is SI.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca

from linkwork.errors import ModelError, nearest
from linkwork.model import forms
from linkwork.model.forms import Source
from linkwork.model.units import Where, quantity

FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "sin": (1, ca.sin), "cos": (1, ca.cos), "tan": (1, ca.tan),
    "asin": (1, ca.asin), "acos": (1, ca.acos), "atan": (1, ca.atan), "atan2": (2, ca.atan2),
    "sinh": (1, ca.sinh), "cosh": (1, ca.cosh), "tanh": (1, ca.tanh),
    "exp": (1, ca.exp), "log": (1, ca.log), "sqrt": (1, ca.sqrt), "abs": (1, ca.fabs), "sign": (1, ca.sign),
    "min": (2, ca.fmin), "max": (2, ca.fmax),
}  # fmt: skip
NAMES = {"pi": math.pi, "deg": math.pi / 180}
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
LONGEST, DEEPEST = 500, 40


@dataclass(frozen=True)
class Formula:
    """A function of time that knows its text."""

    text: str

    def __call__(self, t: Any) -> Any:
        return _walk(ast.parse(self.text, mode="eval").body, ca.SX(t), 0)


def formula(given: Any, dimension: str, where: Where, what: str) -> Formula | float:
    """A number (with a unit, if it has one) or a Formula from text."""
    if not isinstance(given, str):
        return quantity(given, dimension, where, what)
    try:
        return quantity(given, dimension, where, what)
    except ModelError as error:
        if not any(c.isalpha() for c in given) or ("unit" in error.what and "(" not in given and "t" not in given):
            raise
    fix = "write a formula of time such as 0.1*sin(2*pi*t)"
    if len(given) > LONGEST:
        raise ModelError(f"{what} is a formula of {len(given)} characters", where=where, fix=f"at most {LONGEST}")
    made = Formula(given.strip())
    try:
        value = made(ca.SX.sym("t"))
    except _Refused as refused:
        raise ModelError(f"{what}: {refused.args[0]}", where=where, fix=refused.args[1]) from None
    except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError):
        raise ModelError(f"{what} is an unreadable formula '{given[:60]}'", where=where, fix=fix) from None
    if ca.SX(value).is_constant() and not math.isfinite(float(value)):
        raise ModelError(f"{what} is {float(value)}", where=where, fix="give a formula with finite values")
    return made


class _Refused(Exception):
    pass


def _walk(node: ast.AST, t: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise _Refused("a formula nested too deeply", f"at most {DEEPEST} levels")
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        if node.value > 1e30:
            raise _Refused("a formula with a number beyond anything mechanical", "check it")
        return ca.SX(float(node.value))
    if isinstance(node, ast.Name):
        if node.id == "t":
            return t
        if node.id not in NAMES:
            raise _Refused(f"a formula with an unknown name '{node.id}'", nearest(node.id, ("t", *NAMES, *FUNCTIONS)))
        return ca.SX(NAMES[node.id])
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = _walk(node.left, t, depth + 1), _walk(node.right, t, depth + 1)
        return OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _walk(node.operand, t, depth + 1)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        name = node.func.id
        if name not in FUNCTIONS:
            raise _Refused(f"a formula with an unknown function '{name}'", nearest(name, FUNCTIONS))
        count, function = FUNCTIONS[name]
        if len(node.args) != count:
            raise _Refused(f"a formula gives {name} {len(node.args)} arguments", f"{name} takes {count}")
        return function(*(_walk(a, t, depth + 1) for a in node.args))
    raise _Refused("a formula with something other than arithmetic", "use + - * / ** and functions of t")


def at_time(value: Formula | float, t: Any) -> Any:
    return value(t) if isinstance(value, Formula) else ca.SX(value)


# --- motions ---
@dataclass(frozen=True)
class Moving:
    """A prescribed motion told by formulas: position, and roll, pitch, yaw or a quaternion (w, x, y, z)."""

    position: tuple[Formula | float, ...]
    rotation: tuple[Formula | float, ...]

    def __call__(self, t: Any) -> tuple[list[Any], list[Any]]:
        position = [at_time(x, t) for x in self.position]
        turn = [at_time(x, t) for x in self.rotation]
        if len(turn) == 4:
            return position, turn
        (sr, cr), (sp, cp), (sy, cy) = [(ca.sin(x / 2), ca.cos(x / 2)) for x in turn]
        return position, [
            cy * cp * cr + sy * sp * sr,
            cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
        ]


def moving(given: Any, source: Source, what: str) -> Moving:
    """A Moving from {position: …, rotation: … or quat_wxyz: …}, each entry a number or a formula of time."""
    where, known = source.at("motion"), ("position", "rotation", "quat_wxyz")
    if not isinstance(given, dict):
        fix = "give position and rotation, formulas of time"
        raise ModelError(f"motion of {what} is {forms.brief(given)}", where=where, fix=fix)
    if wrong := [k for k in given if k not in known]:
        raise ModelError(f"motion of {what} has an unknown key '{wrong[0]}'", where=where, fix=nearest(wrong[0], known))
    if "rotation" in given and "quat_wxyz" in given:
        raise ModelError(f"motion of {what} tells its rotation twice", where=where, fix="keep one of them")
    position = forms.listed(given.get("position", (0, 0, 0)), 3, where, f"position of {what}", "three formulas")
    if "quat_wxyz" in given:
        word, count, unit, turn = "quat_wxyz", 4, "1", given["quat_wxyz"]
    else:
        word, count, unit, turn = "rotation", 3, "rad", given.get("rotation", (0, 0, 0))
    turn = forms.listed(turn, count, where, f"{word} of {what}", f"{count} formulas")
    return Moving(
        tuple(formula(e, "m", where, f"position of {what}") for e in position),
        tuple(formula(e, unit, where, f"{word} of {what}") for e in turn),
    )
