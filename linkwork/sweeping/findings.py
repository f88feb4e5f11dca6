"""What a report tells of a sweep, as records: numbers and words, no drawing. SI throughout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np


class Estimated(Protocol):
    """An estimate between two limits, from so many samples."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def samples(self) -> int: ...


class Share(Protocol):
    """The share of samples for which something holds, among those between two limits."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def middle(self) -> float: ...
    @property
    def share(self) -> Estimated: ...


@dataclass(frozen=True, eq=False)
class Column:
    """One number of each sample that did not fail."""

    name: str
    unit: str
    values: np.ndarray


@dataclass(frozen=True)
class Ended:
    """One way in which samples ended; `first` is the number of one that did."""

    text: str
    count: int
    good: bool
    share: Estimated
    first: int


@dataclass(frozen=True)
class Number:
    """A recorded number over the samples: `count` of them have it."""

    name: str
    unit: str
    count: int
    least: float
    greatest: float
    quantiles: Mapping[float, Estimated]


@dataclass(frozen=True)
class Against:
    """Something told in bins of an input."""

    name: str
    unit: str
    bins: tuple[Share, ...]


@dataclass(frozen=True, eq=False)
class Map:
    """A table over two inputs, first index along x: samples, successes, a quantile of the load."""

    x: str
    y: str
    units: tuple[str, str]
    edges: tuple[np.ndarray, np.ndarray]
    levels: tuple[np.ndarray | None, np.ndarray | None]
    count: np.ndarray
    share: np.ndarray | None
    low: np.ndarray | None
    high: np.ndarray | None
    load: np.ndarray | None


@dataclass(frozen=True)
class Effect:
    """What an input does to a number: `first` and `second` as the sensitivity's `how` says; `clear`: above chance."""

    name: str
    first: Estimated
    second: Estimated
    clear: bool


@dataclass(frozen=True)
class Sensitivity:
    """Effects of all inputs on one number, clear ones before others, the strongest first.

    `how`: "sobol" (first-order and total index) or "ranks" (rank correlation and share explained alone).
    """

    of: str
    how: str
    samples: int
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Sample:
    """One sample with its inputs; `value` is what it is listed for."""

    sample: int
    value: float
    status: str
    inputs: tuple[float, ...]


@dataclass(frozen=True)
class Corner:
    """The samples where a number is greatest and least."""

    name: str
    unit: str
    greatest: tuple[Sample, ...]
    least: tuple[Sample, ...]


@dataclass(frozen=True)
class Check:
    """How far to trust: one number over all samples. `limit`: what this report asks of the largest; None: nothing."""

    name: str
    meaning: str
    count: int
    median: float
    most: float
    largest: float
    worst: int
    limit: float | None = None

    @property
    def fine(self) -> bool:
        return self.limit is None or self.largest <= self.limit


@dataclass(frozen=True, eq=False)
class Envelope:
    """Quantiles over time: 5, 25, 50, 75, 95 % as rows."""

    name: str
    unit: str
    time: np.ndarray
    bands: np.ndarray


class Drawn(NamedTuple):
    """An input and how it varies: what its distribution tells of itself."""

    name: str
    unit: str
    how: Mapping[str, Any]


@dataclass(frozen=True)
class Words:
    """What the study that was run says of itself: meanings of its names and of its ends, what was built."""

    meanings: Mapping[str, str]
    ends: Mapping[str, str]
    built: Mapping[str, str]


@dataclass(frozen=True)
class About:
    """What was run, and how much of it is there. `replay`: the command that runs sample {} again."""

    name: str
    model: str
    design: str
    seed: int
    samples: int
    wanted: int
    why: str
    replay: str
    inputs: tuple[Drawn, ...]
    together: tuple[tuple[str, ...], ...]
    origin: Mapping[str, Any]
    confidence: float
    words: Words


@dataclass(frozen=True, eq=False)
class Success:
    """How often what was asked came true, of the samples that did not fail; `bounds` if those that failed count too."""

    criterion: str
    share: Estimated
    bounds: tuple[float, float]
    against: tuple[Against, ...]
    examples: tuple[Sample, ...]
    held: np.ndarray


@dataclass(frozen=True, eq=False)
class Load:
    """The number by which samples are judged hard, and the quantile of it that maps show."""

    name: str
    unit: str
    share: float
    corner: Corner


@dataclass(frozen=True, eq=False)
class Findings:
    """Everything. `inputs` and `values` are columns of the `used` samples: those that count in shares and quantiles."""

    about: About
    used: int
    statuses: tuple[Ended, ...]
    success: Success | None
    load: Load | None
    numbers: tuple[Number, ...]
    maps: tuple[Map, ...]
    sensitivity: tuple[Sensitivity, ...]
    corners: tuple[Corner, ...]
    failures: tuple[Sample, ...]
    failed: int
    checks: tuple[Check, ...]
    envelopes: tuple[Envelope, ...]
    inputs: tuple[Column, ...]
    values: tuple[Column, ...]
