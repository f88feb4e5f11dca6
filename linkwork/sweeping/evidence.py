"""The samples of a sweep as arrays, and what they tell one by one: statuses, numbers, trust, envelopes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork.simulation.estimate import wilson
from linkwork.statistics.bootstrap import quantiles
from linkwork.sweeping.findings import Check, Column, Ended, Envelope, Number
from linkwork.sweeping.result import SweepResult

SHARES = (0.05, 0.5, 0.95, 0.99)
BANDS = (0.05, 0.25, 0.5, 0.75, 0.95)
ENVELOPES = 12
MEANINGS: dict[str, tuple[str, float | None]] = {
    "energy_error": ("largest |E(t) − E(0) − work|, as a part of the energy in play", 1e-3),
    "momentum_drift": ("largest change of total momentum, as a part of its size; nothing acts from outside", 1e-6),
    "angular_drift": ("the same of the angular momentum", 1e-6),
    "step_error": ("largest error estimate of a step, as a part of the tolerance", 1.0),
    "steps": ("steps taken", None),
    "refusals": ("steps repeated with a smaller size; many of them hint at stiff or jumping forces", None),
}
"""What columns of trust mean, and the most of them that this report takes without a warning."""


@dataclass(frozen=True, eq=False)
class Samples:
    """All samples of a sweep, and which of them count."""

    found: SweepResult

    @cached_property
    def table(self) -> Mapping[str, np.ndarray]:
        """Every column but trajectories, read at once."""
        frame = self.found.to_pandas()
        return {str(name): frame[name].to_numpy() for name in frame.columns}

    def of_kind(self, *kinds: str) -> list[str]:
        return [n for n, (column, _) in self.found._columns.items() if column.partition(":")[0] in kinds]

    def unit(self, name: str) -> str:
        return self.found._columns[name][1]

    @cached_property
    def good(self) -> np.ndarray:
        """Did not fail."""
        return self.found.ok

    @cached_property
    def used(self) -> np.ndarray:
        """Counts in shares and quantiles: did not fail and, in a Saltelli block, is A or B, which are independent."""
        plan = self.found.plan
        if plan.design != "saltelli":
            return self.good
        d = len(plan.varying)
        member = self.found.samples % (d + 2)
        return self.good & ((member == 0) | (member == d + 1))

    @property
    def columns(self) -> list[Column]:
        """Recorded numbers, then times of events, of the samples that count."""
        names = self.of_kind("value") + self.of_kind("event")
        return [Column(name, self.unit(name), self.table[name][self.used]) for name in names]

    @property
    def varied(self) -> list[Column]:
        """Inputs that are not the same in all samples that count."""
        found = [Column(name, self.unit(name), self.table[name][self.used]) for name in self.of_kind("input")]
        return [x for x in found if len(x.values) and (x.values != x.values[0]).any()]


def statuses(samples: Samples, confidence: float) -> tuple[Ended, ...]:
    """How samples ended, most frequent first."""
    texts, first, count = np.unique(samples.table["status"].astype(str), return_index=True, return_counts=True)
    total = len(samples.good)
    rows = [
        Ended(
            str(texts[k]), int(count[k]), bool(samples.good[first[k]]), wilson(int(count[k]), total, confidence),
            int(samples.found.samples[first[k]]),
        )
        for k in range(len(texts))
    ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (-row.count, row.text)))


def numbers(samples: Samples, confidence: float) -> tuple[Number, ...]:
    """Quantiles of every recorded number and time of an event."""
    rows = []
    for x in samples.columns:
        there = x.values[np.isfinite(x.values)]
        found = quantiles(there, SHARES, samples.found.plan.seed, confidence)
        ends = (float(there.min()), float(there.max())) if len(there) else (np.nan, np.nan)
        rows.append(Number(x.name, x.unit, len(there), *ends, dict(zip(SHARES, found, strict=True))))
    return tuple(rows)


def checks(samples: Samples, meanings: Mapping[str, str]) -> tuple[Check, ...]:
    """Every number that says how far to trust, over the samples that did not fail; `meanings` of the study's own."""
    rows, known = [], samples.of_kind("trust")
    for name in known + [n for n in samples.of_kind("value") if n in MEANINGS and n not in known]:
        x = np.where(samples.good, np.abs(samples.table[name].astype(float)), np.nan)
        x = np.where(np.isnan(x), -1.0, x)
        count = int((x >= 0).sum())
        if not count:
            continue
        meaning, limit = MEANINGS.get(name, ("", None))
        middle, most = np.quantile(x[x >= 0], (0.5, 0.99), method="inverted_cdf")
        worst = int(np.argmax(x))
        sample = int(samples.found.samples[worst])
        meaning = str(meanings.get(name, meaning))
        rows.append(Check(name, meaning, count, float(middle), float(most), float(x[worst]), sample, limit))
    return tuple(rows)


def envelopes(samples: Samples) -> tuple[Envelope, ...]:
    """Quantiles over time of the first trajectories that are kept; a sample counts as long as it lasts."""
    time = np.array(samples.found.manifest["times"], float)
    rows = []
    for name in samples.of_kind("trajectory")[:ENVELOPES]:
        values = samples.found._read([name])[name][samples.used]  # not kept: they may be many
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a time at which no sample is left
            bands = np.nanquantile(values, BANDS, axis=0) if len(values) else np.full((len(BANDS), len(time)), np.nan)
        rows.append(Envelope(name.removesuffix("(t)"), samples.unit(name), time, bands))
    return tuple(rows)
