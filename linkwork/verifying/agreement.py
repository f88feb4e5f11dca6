"""What `verify` found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from linkwork.verifying.compare import Differences, Worst


@dataclass(frozen=True)
class Agreement:
    """How far the formulations of a model lie apart. `print(found)` tells it; `found.ok` is the verdict.

    quantities   quantity → `Differences` of every pair of ways that give it
    condition    largest condition of the mass matrix in these states, its diagonal scaled to 1
    refused      way → why it did not take part
    ledger       element of the model → its verdict in every formulation
    """

    model: str
    samples: int
    seed: int
    quantities: Mapping[str, Differences]
    condition: float
    refused: Mapping[str, str] = field(default_factory=dict)
    ledger: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def worst(self) -> dict[str, Worst]:
        """quantity → the worst difference, its two ways, its state and what is allowed there."""
        return {name: found.worst for name, found in self.quantities.items()}

    @property
    def faults(self) -> list[str]:
        """Quantities that differ more than allowed, the worst first."""
        return [name for name in self._by_rank if not self.quantities[name].shares.max() <= 1]

    @property
    def ok(self) -> bool:
        return bool(self.quantities) and not self.faults

    @property
    def ways(self) -> list[str]:
        """All that took part, in the order in which they were asked."""
        return list(dict.fromkeys(way for found in self.quantities.values() for way in found.names))

    @property
    def first(self) -> tuple[str, Worst] | None:
        """The quantity with the worst difference of all."""
        return (self._by_rank[0], self.worst[self._by_rank[0]]) if self.quantities else None

    @property
    def _by_rank(self) -> list[str]:
        return sorted(self.quantities, key=lambda name: self.worst[name].rank, reverse=True)

    @property
    def verdict(self) -> str:
        """One line."""
        if self.first is None:
            return f"{self.model}: nothing to compare"
        name, (value, a, b, sample, allowed) = self.first
        words = "agree" if self.ok else "DO NOT AGREE"
        states = f"{self.samples} states" if self.samples > 1 else f"state {sample}"
        return (
            f"{self.model}: {len(self.ways)} ways {words} on {states}; worst {value:.1e} in {name} "
            f"({a}, {b}, state {sample}), allowed {allowed:.1e}"
        )

    def __str__(self) -> str:
        from linkwork.display.agreement import as_text

        return as_text(self)

    def to_html(self, path: str | Path) -> Path:
        """One page for someone who was not there; returns its path."""
        from linkwork.display.agreement import write_page

        return write_page(self, path)
