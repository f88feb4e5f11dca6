"""Writes the straight-line LLVM IR of one function of W lanes, one operation a line.

A value is the name of an SSA register, or a Python float that becomes a constant in every lane. Every
method emits one IEEE operation per lane, so the bits of a lane depend neither on the lane count nor on the
other lanes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = str | float
"""An SSA register of floating-point lanes, or a constant."""

SIGN_BIT = -(1 << 63)


@dataclass(frozen=True)
class Shape:
    """The LLVM types of `lanes` values side by side."""

    lanes: int

    @property
    def value(self) -> str:
        return self.of("double")

    @property
    def integer(self) -> str:
        return self.of("i64")

    @property
    def mask(self) -> str:
        return self.of("i1")

    @property
    def flags(self) -> str:
        """The scalar type that holds one bit a lane."""
        return f"i{self.lanes}"

    @property
    def suffix(self) -> str:
        """The tail of the mangled names of intrinsics."""
        return "f64" if self.lanes == 1 else f"v{self.lanes}f64"

    def of(self, scalar: str) -> str:
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def constant(self, scalar: str, text: str) -> str:
        return text if self.lanes == 1 else f"splat ({scalar} {text})"

    def intrinsic(self, name: str, arity: int) -> str:
        """The declaration of an intrinsic from values to a value."""
        return f"declare {self.value} @llvm.{name}.{self.suffix}({', '.join([self.value] * arity)})"


@dataclass
class Code:
    """The growing body of one function."""

    shape: Shape
    lines: list[str] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    count: int = 0

    def emit(self, text: str) -> str:
        self.count += 1
        name = f"%t{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    # floating point

    def operand(self, x: Value) -> str:
        if isinstance(x, str):
            return x
        bits = struct.unpack("<Q", struct.pack("<d", x))[0]
        return self.shape.constant("double", f"0x{bits:016X}")

    def _binary(self, name: str, a: Value, b: Value) -> str:
        return self.emit(f"{name} {self.shape.value} {self.operand(a)}, {self.operand(b)}")

    def add(self, a: Value, b: Value) -> str:
        return self._binary("fadd", a, b)

    def sub(self, a: Value, b: Value) -> str:
        return self._binary("fsub", a, b)

    def mul(self, a: Value, b: Value) -> str:
        return self._binary("fmul", a, b)

    def div(self, a: Value, b: Value) -> str:
        return self._binary("fdiv", a, b)

    def neg(self, a: str) -> str:
        return self.emit(f"fneg {self.shape.value} {a}")

    def intrinsic(self, name: str, *arguments: Value) -> str:
        self.declared.add(self.shape.intrinsic(name, len(arguments)))
        value = self.shape.value
        inner = ", ".join(f"{value} {self.operand(a)}" for a in arguments)
        return self.emit(f"call {value} @llvm.{name}.{self.shape.suffix}({inner})")

    def fma(self, a: Value, b: Value, c: Value) -> str:
        return self.intrinsic("fma", a, b, c)

    def fabs(self, a: str) -> str:
        return self.intrinsic("fabs", a)

    def sqrt(self, a: str) -> str:
        return self.intrinsic("sqrt", a)

    def copysign(self, size: Value, sign: str) -> str:
        return self.intrinsic("copysign", size, sign)

    def horner(self, z: str, coefficients: Sequence[float]) -> str:
        """The polynomial in z whose coefficients are given from the lowest power up."""
        highest, *others = reversed(coefficients)
        total: Value = highest
        for c in others:
            total = self.fma(total, z, c)
        return self.operand(total)

    def fast_two_sum(self, a: Value, b: Value) -> tuple[str, str]:
        """The rounded sum and its rounding error, when a is zero or not the smaller one (Dekker)."""
        total = self.add(a, b)
        return total, self.add(self.sub(a, total), b)

    def two_sum(self, a: Value, b: Value) -> tuple[str, str]:
        """The rounded sum and its rounding error (Knuth)."""
        total = self.add(a, b)
        b_part = self.sub(total, a)
        return total, self.add(self.sub(a, self.sub(total, b_part)), self.sub(b, b_part))

    def ratio(self, top: str, top_low: Value, bottom: str, bottom_low: Value) -> tuple[str, str]:
        """The quotient of two unevaluated sums, as such a sum, with one division."""
        inverse = self.div(1.0, bottom)
        quotient = self.mul(top, inverse)
        rest = self.fma(self.neg(quotient), bottom, top)
        if top_low != 0.0:
            rest = self.add(rest, top_low)
        if bottom_low != 0.0:
            rest = self.fma(self.neg(quotient), bottom_low, rest)
        return quotient, self.mul(rest, inverse)

    def call(self, name: str, *arguments: Value) -> str:
        """A call of another function of the library, with one result."""
        self.called.add(name)
        value = self.shape.value
        inner = ", ".join(f"{value} {self.operand(a)}" for a in arguments)
        return self.emit(f"call {value} @lw.{name}.{self.shape.lanes}({inner})")

    # masks

    def compare(self, predicate: str, a: Value, b: Value) -> str:
        return self.emit(f"fcmp {predicate} {self.shape.value} {self.operand(a)}, {self.operand(b)}")

    def select(self, mask: str, a: Value, b: Value) -> str:
        value = self.shape.value
        return self.emit(f"select {self.shape.mask} {mask}, {value} {self.operand(a)}, {value} {self.operand(b)}")

    def mask_and(self, a: str, b: str) -> str:
        return self.emit(f"and {self.shape.mask} {a}, {b}")

    def mask_or(self, a: str, b: str) -> str:
        return self.emit(f"or {self.shape.mask} {a}, {b}")

    def mask_xor(self, a: str, b: str) -> str:
        return self.emit(f"xor {self.shape.mask} {a}, {b}")

    def invert(self, a: str) -> str:
        return self.emit(f"xor {self.shape.mask} {a}, {self.shape.constant('i1', 'true')}")

    def outside(self, x: str, low: float, high: float) -> str:
        """Where x is not in [low, high], or is no number."""
        return self.mask_or(self.compare("ult", x, low), self.compare("ugt", x, high))

    # integers

    def bits(self, x: str) -> str:
        return self.emit(f"bitcast {self.shape.value} {x} to {self.shape.integer}")

    def from_bits(self, x: str) -> str:
        return self.emit(f"bitcast {self.shape.integer} {x} to {self.shape.value}")

    def integer(self, name: str, a: str, b: str | int) -> str:
        """One of add, sub, and, or, xor, shl, ashr, lshr."""
        return self.emit(f"{name} {self.shape.integer} {a}, {self.operand_whole(b)}")

    def same(self, a: str, b: str | int) -> str:
        return self.emit(f"icmp eq {self.shape.integer} {a}, {self.operand_whole(b)}")

    def flip_sign(self, x: str, sign: str) -> str:
        """x with its sign bit flipped where the highest bit of the integer `sign` is set."""
        only = self.integer("and", sign, SIGN_BIT)
        return self.from_bits(self.integer("xor", self.bits(x), only))

    def operand_whole(self, b: str | int) -> str:
        return b if isinstance(b, str) else self.shape.constant("i64", str(b))
