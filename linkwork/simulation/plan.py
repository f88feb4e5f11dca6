"""A plan: which numbers vary and how, how many samples, when it is enough. Data only; it knows no mechanism.

Sample i of a plan depends on the plan, its seed and i (`designs.draw`). Samples are made and kept in parts of `part`
samples; whether it is enough is asked after each part, in order, so that this too depends on the plan alone.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import RunError, nearest
from . import sobol
from .distributions import Constant, Discrete, Distribution, of_told

DESIGNS = ("random", "sobol", "latin", "grid", "table", "saltelli")
PART = 512
MOST = 10**9


@dataclass(frozen=True)
class Input:
    """A number that a sample gets, in SI; a table's column has no distribution."""

    name: str
    distribution: Distribution | None
    unit: str = ""

    @property
    def varies(self) -> bool:
        return self.distribution is not None and not isinstance(self.distribution, Constant)


@dataclass(frozen=True)
class Correlated:
    """Inputs drawn together: normal numbers of this correlation pass through each input's own distribution."""

    names: tuple[str, ...]
    correlation: tuple[tuple[float, ...], ...]

    @cached_property
    def factor(self) -> list[list[float]]:
        """L with L Lᵀ = correlation (Cholesky); a dependent row may have a zero pivot."""
        c, n = self.correlation, len(self.names)
        L = [[0.0] * n for _ in range(n)]
        for i in range(n):
            for j in range(i + 1):
                rest = c[i][j]
                for k in range(j):
                    rest -= L[i][k] * L[j][k]
                if i == j:
                    if rest < -1e-12:
                        raise RunError(
                            f"the covariance of {', '.join(self.names)} has a negative direction",
                            fix="no numbers vary together like this; lower the entries off the diagonal",
                        )
                    L[i][i] = math.sqrt(max(rest, 0.0))
                else:
                    L[i][j] = rest / L[j][j] if L[j][j] > 1e-8 else 0.0
        return L


@dataclass(frozen=True)
class Stop:
    """Enough when the confidence interval of a quantity is narrower than `interval`.

    `of`: "success", "mean of NAME" or "quantile 0.95 of NAME".
    """

    of: str
    interval: float
    confidence: float = 0.95
    least: int = 100

    def __post_init__(self) -> None:
        if not self.interval > 0:
            raise RunError(f"stop: interval is {self.interval:g}", fix="give the whole width, above zero")
        if not 0 < self.confidence < 1:
            raise RunError(f"stop: confidence is {self.confidence:g}", fix="give one between 0 and 1, such as 0.95")


@dataclass(frozen=True)
class Plan:
    """Inputs, design, count, seed. `run` is what whoever computes the samples is told, as plain data."""

    name: str
    inputs: tuple[Input, ...]
    samples: int
    seed: int = 0
    design: str = "random"
    part: int = PART
    correlated: tuple[Correlated, ...] = ()
    table: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    stop: Stop | None = None
    success: str = ""
    run: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.design not in DESIGNS:
            raise RunError(f"there is no design '{self.design}'", fix=nearest(self.design, DESIGNS))
        for what, x, low in (("samples", self.samples, 1), ("part", self.part, 1), ("seed", self.seed, 0)):
            if isinstance(x, bool) or not isinstance(x, int) or not low <= x <= (MOST if what != "seed" else 2**64):
                raise RunError(f"{what} is {x!r}", fix=f"give a whole number, {low} or more")
        self._names()
        {"grid": self._grid, "table": self._rows, "sobol": self._sobol, "saltelli": self._saltelli}.get(
            self.design, lambda: None
        )()
        if self.stop is not None and self.design in ("grid", "latin", "saltelli"):
            fix = "use design: random or sobol, or leave out stop"
            raise RunError(f"a design '{self.design}' is whole only with all its samples, so it cannot stop", fix=fix)
        for group in self.correlated:
            _ = group.factor

    def _names(self) -> None:
        names = [x.name for x in self.inputs]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise RunError(f"input '{twice[0]}' is told twice", fix="remove one of them")
        free = [x.name for x in self.inputs if x.varies]
        seen: set[str] = set()
        for group in self.correlated:
            for name in group.names:
                if name not in free:
                    raise RunError(f"correlate names '{name}', which does not vary", fix=nearest(name, free))
                if name in seen:
                    raise RunError(f"correlate names '{name}' twice", fix="keep one group for it")
                seen.add(name)
        if self.correlated and self.design in ("grid", "saltelli"):
            raise RunError(f"a design '{self.design}' has independent inputs", fix="leave out correlate")
        if self.table and self.design != "table":
            raise RunError(f"there is a table, but the design is '{self.design}'", fix="design: table")

    def _grid(self) -> None:
        total = 1
        for x in self.inputs:
            if isinstance(x.distribution, Discrete) and not x.distribution.weights:
                total *= len(x.distribution.values)
            elif x.varies:
                fix = "give it values: [1, 2, 5] or linspace: [first, last, count]"
                raise RunError(f"a grid needs levels, but '{x.name}' has a distribution", fix=fix)
        self._count(total, "the grid has")

    def _rows(self) -> None:
        lengths = {name: len(column) for name, column in self.table.items()}
        if not lengths or len(set(lengths.values())) > 1:
            raise RunError(f"a table of columns of lengths {lengths}", fix="give every column a value for each sample")
        self._count(next(iter(lengths.values())), "the table has")

    def _count(self, total: int, what: str) -> None:
        if self.samples != total:
            raise RunError(f"samples is {self.samples:,}, but {what} {total:,}", fix="leave out samples")

    def _sobol(self) -> None:
        if (d := len(self.varying)) > sobol.DIMENSIONS:
            raise RunError(f"{d} inputs, but Sobol points of {sobol.DIMENSIONS}", fix="use design: latin")

    def _saltelli(self) -> None:
        d = len(self.varying)
        if 2 * d > sobol.DIMENSIONS:
            raise RunError(f"{d} inputs, but a Saltelli design of up to {sobol.DIMENSIONS // 2}", fix="vary fewer")
        if self.samples % (d + 2):
            below = self.samples // (d + 2) or 1
            fix = f"samples: {below * (d + 2)} or {(below + 1) * (d + 2)}"
            raise RunError(f"a Saltelli design of {d} inputs has a multiple of {d + 2} samples", fix=fix)

    # --- in parts ---
    @cached_property
    def varying(self) -> tuple[str, ...]:
        """Inputs that are drawn, in the order of the plan."""
        return tuple(x.name for x in self.inputs if x.varies)

    @property
    def parts(self) -> int:
        return -(-self.samples // self.part)

    def span(self, part: int) -> range:
        """The samples of a part."""
        return range(part * self.part, min((part + 1) * self.part, self.samples))

    # --- as data ---
    def told(self) -> dict[str, Any]:
        """Everything, as JSON can hold it; numbers read back to the same bits."""
        return {
            "name": self.name,
            "samples": self.samples,
            "seed": self.seed,
            "design": self.design,
            "part": self.part,
            "inputs": [
                {"name": x.name, "unit": x.unit, "is": x.distribution.told() if x.distribution else None}
                for x in self.inputs
            ],
            "correlated": [
                {"names": [*g.names], "correlation": [[*r] for r in g.correlation]} for g in self.correlated
            ],
            "table": {name: list(column) for name, column in self.table.items()},
            "stop": dict(vars(self.stop)) if self.stop else None,
            "success": self.success,
            "run": dict(self.run),
        }

    @classmethod
    def of_told(cls, told: Mapping[str, Any]) -> Plan:
        inputs = [Input(x["name"], of_told(x["is"]) if x["is"] else None, x["unit"]) for x in told["inputs"]]
        groups = [
            Correlated(tuple(g["names"]), tuple(tuple(row) for row in g["correlation"])) for g in told["correlated"]
        ]
        return cls(
            told["name"], tuple(inputs), told["samples"], told["seed"], told["design"], told["part"], tuple(groups),
            {name: tuple(column) for name, column in told["table"].items()},
            Stop(**told["stop"]) if told["stop"] else None, told["success"], told["run"],
        )  # fmt: skip

    def sha256(self) -> str:
        return hashlib.sha256(text_of(self.told()).encode()).hexdigest()


def text_of(told: Any) -> str:
    """One way of writing plain data."""
    return json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def differences(old: Mapping[str, Any], new: Mapping[str, Any], at: str = "") -> list[str]:
    """What differs between two plans that are told: "samples: 100 → 200"."""
    found: list[str] = []
    for key in dict.fromkeys((*old, *new)):
        a, b = old.get(key), new.get(key)
        if a == b or text_of(a) == text_of(b):
            continue
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += differences(a, b, f"{at}{key}.")
        elif key == "inputs" and isinstance(a, Sequence) and isinstance(b, Sequence):
            named = [{x["name"]: x["is"] for x in side} for side in (a, b)]
            found += differences(named[0], named[1], "vary.") or ["vary: another order"]
        else:
            found.append(f"{at}{key}: {_brief(a)} → {_brief(b)}")
    return found


def _brief(value: Any) -> str:
    text = "nothing" if value is None else text_of(value)
    return text if len(text) <= 60 else text[:57] + "…"
