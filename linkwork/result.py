"""What happened: labelled arrays of a run, how each sample ended, where it came from, how far to trust it.

A quantity is stored as (sample, time, component) and has a name. What is not stored but follows from the
motion ("tool.position", "kinetic_energy", "shoulder.wrench") is computed when asked for by name, and kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork import export
from linkwork.errors import RunError, nearest
from linkwork.export import assess, energy_balance, provenance  # noqa: F401  (part of this module's names)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def _fixed(values: Any, kind: type = float) -> np.ndarray:
    """The same numbers as an array that refuses to be written to."""
    view = np.asarray(values, kind).view()
    view.flags.writeable = False
    return view


def _set(record: Any, **fields: Any) -> None:
    for name, value in fields.items():
        object.__setattr__(record, name, value)


@dataclass(frozen=True, eq=False, repr=False)
class Series(np.lib.mixins.NDArrayOperatorsMixin):
    """One quantity over time. `values` is (sample, time) for a scalar, else (sample, time, component …).

    As an array (`np.asarray(s)`, `s[...]`, `s + 1`, `s.shape`) it has no sample axis when `single`.
    """

    name: str
    values: np.ndarray
    components: tuple[str, ...] = ()
    units: tuple[str, ...] = ("",)
    frame: str | None = None
    single: bool = False

    def __post_init__(self) -> None:
        values, components = _fixed(self.values), tuple(self.components)
        units = (self.units,) if isinstance(self.units, str) else tuple(self.units)
        units = units * max(1, len(components)) if len(units) == 1 else units
        inner, count = values.shape[2:], len(components)
        shaped = values.ndim >= 2 and (int(np.prod(inner)) == count if inner else not count)
        if not shaped or len(units) != (count if inner else 1) or (self.single and len(values) != 1):
            what = f"values of shape {values.shape} do not fit {count} components with {len(units)} units"
            fix = "give (sample, time), or (sample, time, component) with a name and a unit for each component"
            raise RunError(what, where=f"quantity '{self.name}'", fix=fix)
        _set(self, values=values, components=components, units=units)

    @property
    def flat(self) -> np.ndarray:
        """Always (sample, time, component), also for scalars and matrices."""
        count = len(self.components) if self.values.ndim > 2 else 1
        return self.values.reshape(*self.values.shape[:2], count)

    @property
    def shape(self) -> tuple[int, ...]:
        return np.asarray(self).shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values[0] if self.single else self.values, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = (np.asarray(x) if isinstance(x, Series) else x for x in inputs)
        return getattr(ufunc, method)(*arrays, **options)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __len__(self) -> int:
        return self.shape[0]

    def sel(self, sample: Any = None, component: str | Sequence[str] | None = None) -> Series:
        """The same quantity for one sample (or a list, slice or mask of them), or for some components."""
        chosen = self if component is None else self._part(component)
        if sample is None:
            return chosen
        try:
            values = chosen.values[sample]
        except IndexError:
            raise RunError(f"no sample {sample}: the run has {len(self.values)}, counted from 0") from None
        one = isinstance(sample, (int, np.integer))
        return replace(chosen, values=values[None] if one else values, single=one)

    def _part(self, component: str | Sequence[str]) -> Series:
        names = [component] if isinstance(component, str) else list(component)
        for name in names:
            if name not in self.components:
                raise RunError(f"'{self.name}' has no component '{name}'", fix=nearest(name, self.components))
        rows = [self.components.index(name) for name in names]
        values, units = self.flat[:, :, rows], tuple(self.units[r] for r in rows)
        if isinstance(component, str):
            name = f"{self.name}.{component}"
            return replace(self, name=name, values=values[:, :, 0], components=(), units=units)
        return replace(self, values=values, components=tuple(names), units=units)

    def __repr__(self) -> str:
        inside = ", ".join(f"{c} [{u}]" for c, u in zip(self.components, self.units, strict=False))
        frame = f", in {self.frame}" if self.frame else ""
        return f"<{self.name} {inside or f'[{self.units[0]}]'}{frame}: {' × '.join(map(str, self.shape))}>"


class Code(IntEnum):
    """How a sample ended. Up to STOPPED it is good; every larger number is a failure."""

    FINISHED = 0
    STOPPED = 1
    DIVERGED = 2
    STEP_TOO_SMALL = 3
    TOO_MANY_STEPS = 4
    BAD_START = 5
    NOT_RUN = 6


class Status(NamedTuple):
    """How one sample ended: a code, words, the time reached, and the coordinate or joint to look at."""

    code: int
    text: str
    time: float
    where: str = ""

    def __str__(self) -> str:
        return f"{self.text} at t = {self.time:.4g} s{f' in {self.where}' if self.where else ''}"


@dataclass(frozen=True, eq=False)
class Statuses:
    """One `Status` per sample, as columns."""

    code: np.ndarray
    text: tuple[str, ...]
    time: np.ndarray
    where: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = tuple(self.where) or ("",) * len(self.text)
        _set(self, code=_fixed(self.code, int), time=_fixed(self.time), text=tuple(self.text), where=where)
        if len({len(self.code), len(self.time), len(self.text), len(self.where)}) != 1:
            raise RunError("the columns of a status table differ in length")

    @classmethod
    def finished(cls, samples: int, end: float) -> Statuses:
        return cls(np.zeros(samples, int), ("reached the end",) * samples, np.full(samples, end))

    def __len__(self) -> int:
        return len(self.code)

    def __getitem__(self, sample: int) -> Status:
        return Status(int(self.code[sample]), self.text[sample], float(self.time[sample]), self.where[sample])

    @property
    def ok(self) -> np.ndarray:
        return self.code <= Code.STOPPED

    def counts(self) -> dict[str, int]:
        """How many samples ended in which way, most frequent first."""
        return dict(Counter(self.text).most_common())


@dataclass(frozen=True)
class Trust:
    """Numbers that say how far to believe a run. None means: not known for this run.

    Energy and momentum are relative; `step_error` is the largest error estimate of a step over its tolerance.
    """

    energy_error: float | None = None
    energy_worst: int | None = None
    momentum_drift: float | None = None
    step_error: float | None = None
    steps: int | None = None
    refusals: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        return export.aligned(export.trust_rows(self))


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What a run gave. `run["elbow"]`, `run["elbow.rate"]`, `run["tool.position"]`, `run["kinetic_energy"]` …

    `series` are the stored quantities, `q` and `v` with one component per coordinate ("elbow", "elbow.rate").
    `outputs` computes any name in `known` when it is asked for. After a sample has ended its rows are NaN.
    `events[sample]` tells (time, name) of each event, `end(sample)` where the sample ended.
    """

    time: np.ndarray
    series: Mapping[str, Series]
    statuses: Statuses
    provenance: Mapping[str, Any] = field(default_factory=dict)
    outputs: Callable[[str], Series] | None = None
    known: tuple[str, ...] = ()
    checks: Trust | Callable[[Result], Trust] = assess
    single: bool = False
    events: tuple[tuple[tuple[float, str], ...], ...] = ()
    last: np.ndarray | None = None
    _kept: dict[str, Series] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        _set(self, time=_fixed(self.time), known=tuple(self.known))
        _set(self, provenance=MappingProxyType(export.plain(self.provenance)))
        _set(self, series=MappingProxyType({name: self._checked(s) for name, s in self.series.items()}))

    def _checked(self, s: Series) -> Series:
        if s.values.shape[:2] != (len(self.statuses), len(self.time)):
            what = f"{s.values.shape[:2]} values for {len(self.statuses)} samples and {len(self.time)} times"
            raise RunError(what, where=f"quantity '{s.name}'")
        return s if s.single == self.single else replace(s, single=self.single)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the single coordinates and speeds stored in `q` and `v`."""
        return tuple(c for key in ("q", "v") if key in self.series for c in self.series[key].components)

    @property
    def names(self) -> tuple[str, ...]:
        """What `run[name]` answers to: stored quantities, coordinates, and what is computed on demand."""
        return tuple(dict.fromkeys((*self.series, *self.coordinates, *self.known)))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> Series:
        """A stored quantity, a coordinate, one computed on demand, or a component ("tool.position.x")."""
        if name in self.series:
            return self.series[name]
        if name not in self._kept:
            self._kept[name] = self._find(name)
        return self._kept[name]

    def _find(self, name: str) -> Series:
        for key in ("q", "v"):
            if key in self.series and name in self.series[key].components:
                return replace(self.series[key].sel(component=name), name=name)
        if name in self.known and self.outputs is not None:
            return self._checked(self.outputs(name))
        whole, dot, part = str(name).rpartition(".")
        if dot and whole in self:
            return self[whole].sel(component=part)
        reason = "" if self.outputs else " (it was read from a file, which holds what was written to it)"
        raise RunError(f"this run has no quantity '{name}'{reason}", fix=nearest(str(name), self.names))

    @property
    def ok(self) -> np.ndarray:
        """True for each sample that did not fail."""
        return self.statuses.ok

    def end(self, sample: int = 0) -> dict[str, float]:
        """Coordinates and speeds by name where a sample ended, which for one stopped by an event is between `time`s."""
        if self.last is None:
            raise RunError("this run does not know where its samples ended", fix="ask the run that simulate() returned")
        return dict(zip(self.coordinates, self.last[sample].tolist(), strict=False))

    def failures(self) -> list[str]:
        """One line for each failed sample: "sample 17: diverged at t = 0.132 s in elbow.rate"."""
        return [f"sample {i}: {self.statuses[i]}" for i in np.flatnonzero(~self.ok).tolist()]

    @cached_property
    def trust(self) -> Trust:
        """Energy balance, momentum drift, step errors, status counts; `print(run.trust)` explains each."""
        return self.checks if isinstance(self.checks, Trust) else self.checks(self)

    def __repr__(self) -> str:
        return export.summary(self)

    def to_xarray(self, *names: str) -> xr.Dataset:
        """A Dataset over (sample, time) of the named quantities; without names, of the stored ones."""
        return export.to_xarray(self, names)

    def to_pandas(self, *names: str) -> pd.DataFrame:
        """One row per time (and sample, when many), one column per component, named like "elbow [rad]"."""
        return export.to_pandas(self, names)

    def to_netcdf(self, path: str | PathLike[str], *names: str) -> None:
        """Write a netCDF file that `Result.from_netcdf` reads back; without names, the stored quantities."""
        export.to_netcdf(self, path, names)

    def to_csv(self, path: str | PathLike[str], *names: str) -> None:
        """Write the table of `to_pandas` as text that reads back to the same bits."""
        export.to_csv(self, path, names)

    @classmethod
    def from_netcdf(cls, path: str | PathLike[str]) -> Result:
        """What `to_netcdf` wrote: arrays, statuses, provenance, trust; no more is computed on demand."""
        return export.from_netcdf(path)
