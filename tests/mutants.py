"""Formulations with one deliberate error each, imported under private names: no file of the package is changed.

A site is a place in the source where a sign or an index stands; its mutant is the source with that place changed:

    a + b, a − b        the other sign, also in +=, −=         −a         a
    A.T                 A                                      cross(a, b)     cross(b, a)
    x[k], x[:k], x[k:]  the next index of three, the other part (but of shapes)
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

PRIVATE = "mutant_of_"
Key = tuple[str, str, str, int]
"""File, function, what stands there, the how-manieth of its like."""


@dataclass(frozen=True)
class Site:
    """A place that can be changed: module, function (or Class.function), what stands there and what shall stand."""

    module: str
    function: str
    old: str
    new: str
    number: int  # among those of the module
    nth: int = 0  # among those of the function with the same words

    def __str__(self) -> str:
        again = f" (no. {self.nth + 1})" if self.nth else ""
        return f"{self.module.rpartition('.')[2]}.{self.function}: {self.old} → {self.new}{again}"

    @property
    def key(self) -> Key:
        return self.module.rpartition(".")[2], self.function, self.old, self.nth


def changed(node: ast.AST) -> ast.AST | None:
    """The node with its sign or index changed; None where there is nothing to change."""
    match node:
        case ast.BinOp(left, ast.Add() as op, right) | ast.BinOp(left, ast.Sub() as op, right) if _numeric(node):
            return ast.BinOp(left, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), right)
        case ast.AugAssign(target, ast.Add() as op, value) | ast.AugAssign(target, ast.Sub() as op, value):
            if isinstance(value, (ast.Name, ast.List, ast.ListComp)) and isinstance(target, ast.Name):
                return None  # lists
            return ast.AugAssign(target, ast.Sub() if isinstance(op, ast.Add) else ast.Add(), value)
        case ast.UnaryOp(ast.USub(), operand) if not isinstance(operand, ast.Constant):
            return operand
        case ast.Attribute(value, "T"):
            return value
        case ast.Call(ast.Name("cross") as name, [a, b], []):
            return ast.Call(name, [b, a], [])
        case ast.Subscript(ast.Attribute(_, "shape"), _, _):
            return None  # how many, not how large: of square matrices both are the same
        case ast.Subscript(value, ast.Constant(int(k)), ast.Load()) if 0 <= k <= 2:
            return ast.Subscript(value, ast.Constant((k + 1) % 3), ast.Load())
        case ast.Subscript(value, ast.Slice(None, ast.Constant(int(k)), None), ast.Load()):
            return ast.Subscript(value, ast.Slice(ast.Constant(k), None, None), ast.Load())
        case ast.Subscript(value, ast.Slice(ast.Constant(int(k)), None, None), ast.Load()):
            return ast.Subscript(value, ast.Slice(None, ast.Constant(k), None), ast.Load())
    return None


def _numeric(node: ast.BinOp) -> bool:
    """Not sums of lists, tuples or text."""
    parts = (node.left, node.right)
    return not any(isinstance(x, (ast.List, ast.ListComp, ast.Tuple, ast.JoinedStr)) for x in parts) and not any(
        isinstance(x, ast.Constant) and isinstance(x.value, str) for x in parts
    )


class _Walk(ast.NodeTransformer):
    """Counts the places of a module in the order of its text; changes number `wanted`."""

    def __init__(self, module: str, wanted: int | None = None) -> None:
        self.module, self.wanted, self.sites, self.path = module, wanted, [], []

    def _inside(self, node: ast.AST) -> ast.AST:
        self.path.append(node.name)  # type: ignore[attr-defined]
        if isinstance(node, ast.ClassDef):
            self.generic_visit(node)
        else:  # neither decorators nor annotations
            node.body = [self.visit(x) for x in node.body]  # type: ignore[attr-defined]
        self.path.pop()
        return node

    visit_FunctionDef = visit_ClassDef = _inside

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        new = changed(node)
        if new is not None:
            old, words = ast.unparse(node), ast.unparse(new)
            function = ".".join(self.path) or "table"
            nth = sum(s.function == function and (s.old, s.new) == (old, words) for s in self.sites)
            self.sites.append(Site(self.module, function, old, words, len(self.sites), nth))
            if self.sites[-1].number == self.wanted:
                return ast.copy_location(new, node)
        return super().generic_visit(node)


@cache
def source(module: str) -> str:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).read_text()


@cache
def sites(module: str, functions: tuple[str, ...] = ()) -> tuple[Site, ...]:
    """All places of a module, or of some of its functions (those of a class by Class.function)."""
    walk = _Walk(module)
    walk.visit(ast.parse(source(module)))
    found = tuple(s for s in walk.sites if not functions or s.function.split(".<")[0] in functions)
    missing = set(functions) - {s.function for s in found}
    assert not missing, f"{module} has no place to change in {sorted(missing)}"
    return found


class _Rename(ast.NodeTransformer):
    """Imports from modules of the set go to their private copies."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.modules = modules

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if node.module in self.modules:
            node.module = PRIVATE + node.module.replace(".", "_")
        return node


@contextmanager
def imported(modules: Sequence[str], site: Site | None = None) -> Iterator[dict[str, ModuleType]]:
    """Private copies of modules (those that are imported first), one of them with the site changed, by their names."""
    found: dict[str, ModuleType] = {}
    try:
        for name in modules:
            tree: ast.AST = ast.parse(source(name))
            if site is not None and site.module == name:
                tree = _Walk(name, site.number).visit(tree)
            tree = ast.fix_missing_locations(_Rename(modules).visit(tree))
            private = PRIVATE + name.replace(".", "_")
            module = found[name] = ModuleType(private)
            sys.modules[private] = module  # dataclasses look their module up
            exec(compile(tree, f"<{private}>", "exec"), module.__dict__)  # type: ignore[arg-type]
        yield found
    finally:
        for module in found.values():
            sys.modules.pop(module.__name__, None)
