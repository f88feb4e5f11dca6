"""Distributions as records with inverse distribution functions: a uniform number in, a value out.

From `plainmath` alone, so that a value depends on the uniform number and on nothing that is installed.
Beta(½, ½): x = sin²(π u / 2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from ..errors import RunError
from . import incomplete_beta
from .normal import normal, normal_probability
from .plainmath import exp, log, sine


class Distribution(Protocol):
    """A distribution of one number. `told` is what a plan says of it, in SI."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    def quantile(self, u: np.ndarray) -> np.ndarray: ...
    def probability(self, x: float) -> float: ...
    def told(self) -> dict[str, Any]: ...


def _between(name: str, low: float, high: float) -> None:
    if not low < high:
        raise RunError(f"{name} between {low:g} and {high:g} has no support", fix="give the lower limit first")


@dataclass(frozen=True)
class Constant:
    value: float

    @property
    def low(self) -> float:
        return self.value

    @property
    def high(self) -> float:
        return self.value

    def quantile(self, u: np.ndarray) -> np.ndarray:
        return np.full(np.shape(u), self.value)

    def probability(self, x: float) -> float:
        return float(x >= self.value)

    def told(self) -> dict[str, Any]:
        return {"constant": self.value}


@dataclass(frozen=True)
class Uniform:
    low: float
    high: float

    def __post_init__(self) -> None:
        _between("uniform", self.low, self.high)

    def quantile(self, u: np.ndarray) -> np.ndarray:
        return np.clip(self.low + (self.high - self.low) * u, self.low, self.high)

    def probability(self, x: float) -> float:
        return min(max((x - self.low) / (self.high - self.low), 0.0), 1.0)

    def told(self) -> dict[str, Any]:
        return {"uniform": [self.low, self.high]}


@dataclass(frozen=True)
class Normal:
    mean: float
    deviation: float
    low = -math.inf
    high = math.inf

    def __post_init__(self) -> None:
        if not self.deviation > 0:
            raise RunError(f"normal has a standard deviation of {self.deviation:g}", fix="give one above zero")

    def quantile(self, u: np.ndarray) -> np.ndarray:
        return self.mean + self.deviation * normal(u)

    def probability(self, x: float) -> float:
        return float(normal_probability((x - self.mean) / self.deviation))

    def told(self) -> dict[str, Any]:
        return {"normal": [self.mean, self.deviation]}


@dataclass(frozen=True)
class Triangular:
    low: float
    mode: float
    high: float

    def __post_init__(self) -> None:
        _between("triangular", self.low, self.high)
        if not self.low <= self.mode <= self.high:
            text = f"triangular has its peak {self.mode:g} outside {self.low:g} … {self.high:g}"
            raise RunError(text, fix="give [low, peak, high]")

    def quantile(self, u: np.ndarray) -> np.ndarray:
        whole, left, right = self.high - self.low, self.mode - self.low, self.high - self.mode
        rising = self.low + np.sqrt(u * whole * left)
        return np.where(u * whole <= left, rising, self.high - np.sqrt((1 - u) * whole * right))

    def probability(self, x: float) -> float:
        whole, left, right = self.high - self.low, self.mode - self.low, self.high - self.mode
        x = min(max(x, self.low), self.high)
        if x <= self.mode and left > 0:
            return (x - self.low) * (x - self.low) / (whole * left)
        return 1 - (self.high - x) * (self.high - x) / (whole * right) if right > 0 else 1.0

    def told(self) -> dict[str, Any]:
        return {"triangular": [self.low, self.mode, self.high]}


@dataclass(frozen=True)
class Beta:
    """On [low, high], with exponents a−1 and b−1; a = b = ½ is most probable at the edges."""

    a: float
    b: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        _between("beta", self.low, self.high)
        for name, x in (("a", self.a), ("b", self.b)):
            if not 1e-3 <= x <= 1e4:
                raise RunError(f"beta has {name} = {x:g}", fix="give 0.001 … 10,000")

    def quantile(self, u: np.ndarray) -> np.ndarray:
        return np.clip(self.low + (self.high - self.low) * self._part(u), self.low, self.high)

    def _part(self, u: np.ndarray) -> np.ndarray:
        if self.a == self.b == 0.5:
            s = sine(np.where(u <= 0.5, u, 1 - u) * (math.pi / 2))
            return np.where(u <= 0.5, s * s, 1 - s * s)
        if self.b == 1:
            return u if self.a == 1 else exp(log(u) / self.a)
        if self.a == 1:
            return 1 - exp(log(1 - u) / self.b)
        return incomplete_beta.inverse(self.a, self.b, u)

    def probability(self, x: float) -> float:
        part = (min(max(x, self.low), self.high) - self.low) / (self.high - self.low)
        return float(incomplete_beta.incomplete_beta(self.a, self.b, part))

    def told(self) -> dict[str, Any]:
        return {"beta": [self.a, self.b, self.low, self.high]}


@dataclass(frozen=True)
class Discrete:
    """Some values, each with its weight; without weights all alike. They are the levels of a full grid."""

    values: tuple[float, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.values:
            raise RunError("there is no value to choose from", fix="give values: [1, 2, 5]")
        if self.weights and len(self.weights) != len(self.values):
            raise RunError(f"{len(self.weights)} weights for {len(self.values)} values", fix="give one for each")
        if self.weights and (min(self.weights) < 0 or not 0 < sum(self.weights) < math.inf):
            raise RunError("the weights are not all zero or more, with a sum above zero", fix="mend the weights")

    @property
    def low(self) -> float:
        return min(self.values)

    @property
    def high(self) -> float:
        return max(self.values)

    def quantile(self, u: np.ndarray) -> np.ndarray:
        weights = self.weights or (1.0,) * len(self.values)
        steps = list(accumulate(weights))
        place = np.searchsorted(np.array(steps[:-1]) / steps[-1], u, side="right")
        return np.array(self.values)[place]

    def probability(self, x: float) -> float:
        weights = self.weights or (1.0,) * len(self.values)
        return sum(w for v, w in zip(self.values, weights, strict=True) if v <= x) / sum(weights)

    def told(self) -> dict[str, Any]:
        return {"discrete": {"values": list(self.values), "weights": list(self.weights)}}


@dataclass(frozen=True)
class Truncated:
    """Another distribution, given that the value lies between two limits."""

    of: Distribution
    low: float
    high: float

    def __post_init__(self) -> None:
        (name,) = self.of.told()
        _between(f"{name}, truncated", self.low, self.high)
        if isinstance(self.of, (Constant, Discrete, Truncated)):
            raise RunError(f"{name} cannot be truncated", fix="leave the values out that are not wanted")
        if not self._share[1] - self._share[0] > 1e-290:
            text = f"{name}, truncated to {self.low:g} … {self.high:g}, has no support there"
            raise RunError(text, fix="widen the limits, or move the distribution")

    @property
    def _mirror(self) -> bool:
        """Beyond the middle of a normal distribution what is left is told exactly from the other side only."""
        return isinstance(self.of, Normal) and self.low > self.of.mean

    @property
    def _share(self) -> tuple[float, float]:
        low, high = self.low, self.high
        if isinstance(self.of, Normal) and self._mirror:
            low, high = 2 * self.of.mean - high, 2 * self.of.mean - low
        return self.of.probability(low), self.of.probability(high)

    def quantile(self, u: np.ndarray) -> np.ndarray:
        first, last = self._share
        part = first + (last - first) * (1 - u if self._mirror else u)
        value = self.of.quantile(np.clip(part, 2.0**-1070, 1 - 2.0**-53))
        if isinstance(self.of, Normal) and self._mirror:
            value = 2 * self.of.mean - value
        return np.clip(value, self.low, self.high)

    def probability(self, x: float) -> float:
        (first, last), mirror = self._share, isinstance(self.of, Normal) and self._mirror
        here = self.of.probability(2 * self.of.mean - x if isinstance(self.of, Normal) and mirror else x)
        part = min(max((here - first) / (last - first), 0.0), 1.0)
        return 1 - part if mirror else part

    def told(self) -> dict[str, Any]:
        return {**self.of.told(), "truncate": [self.low, self.high]}


KINDS: dict[str, tuple[int, ...]] = {
    "uniform": (2,),
    "normal": (2,),
    "triangular": (3,),
    "beta": (2, 4),
    "arcsine": (2,),
}
"""Distributions told by a list of numbers, and how many those may be; `arcsine` is Beta(½, ½) by its other name."""


def of_numbers(kind: str, numbers: Sequence[float]) -> Distribution:
    """The distribution of that kind, from numbers in SI."""
    if kind == "arcsine":
        return Beta(0.5, 0.5, *numbers)
    return {"uniform": Uniform, "normal": Normal, "triangular": Triangular, "beta": Beta}[kind](*numbers)


def of_told(told: dict[str, Any]) -> Distribution:
    """The distribution that `told()` tells."""
    (kind, numbers), *limits = told.items()
    if kind == "constant":
        return Constant(numbers)
    if kind == "discrete":
        return Discrete(tuple(numbers["values"]), tuple(numbers["weights"]))
    made = of_numbers(kind, numbers)
    return Truncated(made, *limits[0][1]) if limits else made
