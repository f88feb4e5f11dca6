"""A sweep that is finished, or as far as it has come: samples as labelled arrays, estimates, single samples again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.driven import System
from linkwork.errors import LinkworkError, RunError, nearest
from linkwork.export import _engine, plain, replacing
from linkwork.model.model import Model
from linkwork.model.native import read_yaml
from linkwork.result import Result
from linkwork.simulation import estimate, parts
from linkwork.simulation.designs import draw
from linkwork.simulation.estimate import Interval
from linkwork.simulation.parted import GOOD, Runner
from linkwork.simulation.parts import Digest
from linkwork.simulation.plan import Plan
from linkwork.simulation.store import Folder, Memory
from linkwork.sweeping.reading import samples_of_told, task_of
from linkwork.sweeping.studies import made

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MODEL = "model.yaml"


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """What a sweep gave. `sweep["peak"]` is an array over samples, `sweep.data` all of it as an xarray.Dataset.

    Names: inputs and recorded numbers by their own; times of events by the event's name, `hit.count` how often;
    `elbow(t)` a trajectory; `energy_error`, `steps` … how far to trust; `code`, `status`, `where`, `end`, `success`.
    """

    plan: Plan
    store: Folder | Memory
    manifest: Mapping[str, Any]
    runner: Runner | None = field(default=None)

    # --- which samples -----------------------------------------------------------------------------------------
    @cached_property
    def parts(self) -> list[int]:
        finished = self.manifest.get("finished")
        last = finished["parts"] if finished else self.plan.parts
        return [k for k in range(last) if self.store.has(k)]

    @cached_property
    def samples(self) -> np.ndarray:
        """Numbers of the samples that are there."""
        return np.array([i for k in self.parts for i in self.plan.span(k)], np.int64)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def complete(self) -> bool:
        """Has the sweep come to its end?"""
        return bool(self.manifest.get("finished"))

    @property
    def sha256(self) -> str:
        """SHA-256 of all columns of all samples in order; the same for the same bits, however they were computed."""
        digest = Digest()
        for k in self.parts:
            digest.add(self.store.get(k))
        return digest.value()

    # --- arrays ------------------------------------------------------------------------------------------------
    @cached_property
    def _columns(self) -> dict[str, tuple[str, str]]:
        """Name → (column of the parts, unit)."""
        found = {x.name: (f"input:{x.name}", x.unit) for x in self.plan.inputs}
        for column, unit in self.manifest["columns"].items():
            kind, _, name = column.partition(":")
            found[f"{name}.count" if kind == "count" else f"{name}(t)" if kind == "trajectory" else name] = (
                column,
                unit,
            )
        ends = {"code": "", "end": "s", "success": "", "status": "", "where": ""}
        return found | {name: ("text" if name == "status" else name, unit) for name, unit in ends.items()}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._columns)

    @cached_property
    def _kept(self) -> dict[str, np.ndarray]:
        return {}

    def __getitem__(self, name: str) -> np.ndarray:
        """One value for each sample; of a trajectory (sample, time)."""
        if name not in self._columns:
            raise RunError(f"this sweep has no '{name}'", fix=nearest(str(name), self.names))
        if name not in self._kept:
            self._kept.update(self._read([name]))
        return self._kept[name]

    def _read(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        columns = [self._columns[name][0] for name in names]
        got = [self.store.get(k, columns) for k in self.parts]
        found: dict[str, np.ndarray] = {}
        for name, column in zip(names, columns, strict=True):
            if column in ("text", "where"):
                found[name] = np.array([x for one in got for x in parts.lines(one[column])], dtype=object)
            else:
                found[name] = np.concatenate([one[column] for one in got]) if got else np.zeros(0)
        return found

    @cached_property
    def data(self) -> xr.Dataset:
        """Everything, over "sample", trajectories over "time" too; units in the attributes."""
        import xarray as xr

        arrays: dict[str, Any] = {}
        found = self._read(list(self._columns))
        for name, (column, unit) in self._columns.items():
            kind, colon, _ = column.partition(":")
            about = {"kind": kind if colon else "status", **({"units": unit} if unit else {})}
            values = found[name].astype(str) if found[name].dtype == object else found[name]
            arrays[name] = (("sample", "time") if kind == "trajectory" else ("sample",), values, about)
        coords: dict[str, Any] = {"sample": self.samples}
        if self.manifest["times"]:
            coords["time"] = ("time", np.array(self.manifest["times"]), {"units": "s"})
        about = {"plan": self.plan.name, "model": self.manifest["model"], "seed": self.plan.seed}
        return xr.Dataset(arrays, coords, attrs=about | {"manifest": json.dumps(plain(self.manifest))})

    # --- numbers -----------------------------------------------------------------------------------------------
    @property
    def ok(self) -> np.ndarray:
        """True for each sample that did not fail."""
        return self["code"] <= GOOD

    @property
    def values(self) -> tuple[str, ...]:
        """Names of recorded numbers and of times of events."""
        return tuple(n for n, (column, _) in self._columns.items() if column.startswith(("value:", "event:")))

    def quantiles(self, *names: str, q: Sequence[float] = (0.05, 0.5, 0.95)) -> pd.DataFrame:
        """A row for each name (all recorded numbers without), a column for each quantile; failed samples left out."""
        import pandas as pd

        rows = {
            name: [estimate.quantile(self[name][self.ok], share).value for share in q] for name in names or self.values
        }
        return pd.DataFrame.from_dict(rows, orient="index", columns=[f"{100 * share:g} %" for share in q])

    def estimate(self, of: str = "success", confidence: float = 0.95) -> Interval:
        """value, low, high, samples of "success", "mean of NAME", "quantile 0.95 of NAME"; failed samples left out."""
        kind, _, name = estimate.parse(of)
        if kind == "success" and not self.plan.success:
            raise RunError("the plan of this sweep does not say what success is", fix="add success: peak < 100")
        values = self[name] if name else np.zeros(len(self))
        return estimate.interval(of, confidence, self.ok, self["success"] == 1, values)

    def failures(self) -> list[str]:
        """One line for each failed sample: "sample 17: diverged at t = 0.132 s in elbow.rate"."""
        lines = []
        for k in np.flatnonzero(~self.ok).tolist():
            where = f" in {self['where'][k]}" if self["where"][k] and ":" not in self["status"][k] else ""
            lines.append(f"sample {self.samples[k]}: {self['status'][k]} at t = {self['end'][k]:.4g} s{where}")
        return lines

    def statuses(self) -> dict[str, int]:
        """How many samples ended in which way, most frequent first."""
        found: dict[str, int] = {}
        for text in self["status"]:
            found[text] = found.get(text, 0) + 1
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    # --- one sample --------------------------------------------------------------------------------------------
    def inputs(self, sample: int) -> dict[str, float]:
        """The inputs of a sample, from the plan; it need not have been run."""
        if not 0 <= sample < self.plan.samples:
            raise RunError(f"there is no sample {sample}", fix=f"0 … {self.plan.samples - 1}")
        return {name: float(x[0]) for name, x in draw(self.plan, np.array([sample])).items()}

    def replay(self, sample: int) -> Result:
        """That sample again with its whole motion; its numbers are those of the sweep, bit for bit."""
        given = self.inputs(sample)
        for name, value in given.items():
            if not np.isfinite(value):
                raise RunError(f"sample {sample} cannot be run: {name} is {value}", fix="look at the table")
        runner = self.who()
        if not hasattr(runner, "replay"):
            raise RunError(f"'{runner.name}' replays no single samples", fix="run its samples yourself")
        return runner.replay({name: np.array([x]) for name, x in given.items()})  # type: ignore[attr-defined]

    def who(self) -> Runner:
        """Whoever computes its samples."""
        if self.runner is not None:
            return self.runner
        assert isinstance(self.store, Folder)
        file, run = self.store.path / MODEL, self.plan.run
        if "options" in run:
            runner: Runner = made(run["study"], run["options"])
        elif not file.is_file():
            text = f"the model '{self.manifest['model']}' was made in Python and is not kept with the sweep"
            raise RunError(text, where=f"folder '{self.store}'", fix="lw.read_sweep(folder, model)")
        else:
            runner = samples_of_told(read_yaml(file), self.plan)
        if runner.fingerprint() != self.manifest["model_sha256"]:
            text = "what this version makes of the model differs from what the sweep was made with"
            raise RunError(text, where=f"folder '{self.store}'", fix="lw.read_sweep(folder, model), or that version")
        return runner

    # --- to others ---------------------------------------------------------------------------------------------
    def to_pandas(self) -> pd.DataFrame:
        """A row for each sample, a column for each number; trajectories are left out. `attrs` has the units."""
        import pandas as pd

        names = [n for n, (column, _) in self._columns.items() if not column.startswith("trajectory:")]
        table = pd.DataFrame(self._read(names), index=pd.Index(self.samples, name="sample"))
        table.attrs["units"] = {name: self._columns[name][1] for name in names}
        return table

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """The table of `to_pandas` as a Parquet file."""
        with replacing(path) as part:
            self.to_pandas().to_parquet(part)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """`data` as a netCDF file."""
        with replacing(path) as part:
            self.data.rename({n: n.replace("/", "∕") for n in self.names if "/" in n}).to_netcdf(part, engine=_engine())

    def report(self, path: str | PathLike[str], **options: Any) -> None:
        """One HTML file that tells what came out and why to believe it; `options` as of `linkwork.sweeps.report`."""
        from linkwork.sweeping.report import report

        report(self, path, **options)

    def __repr__(self) -> str:
        of = "" if self.complete and len(self) == self.plan.samples else f" of {self.plan.samples:,}"
        lines = [f"Sweep '{self.plan.name}' of '{self.manifest['model']}': {len(self):,}{of} samples"]
        lines += [f"  {n:>9,}  {text}" for text, n in list(self.statuses().items())[:8]]
        if self.plan.success and len(self):
            p = self.estimate()
            lines.append(f"  success {p.value:.4g} ({p.low:.4g} … {p.high:.4g}, 95 %)")
        if self.values and len(self):
            lines.append(str(self.quantiles()))
        return "\n".join(lines)


def read_sweep(folder: str | PathLike[str], model: Model | System | Runner | None = None) -> SweepResult:
    """The sweep in a folder, finished or not. `model`: for replays, where it was made in Python."""
    store = Folder(Path(folder))
    manifest = store.manifest
    try:
        plan = Plan.of_told(manifest["plan"])
        _ = manifest["columns"], manifest["times"], manifest["model"], manifest["model_sha256"]
    except (LinkworkError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"its manifest cannot be read: {error}", where=f"folder '{folder}'", fix="restore it") from None
    return SweepResult(plan, store, manifest, None if model is None else _runner(model, plan, manifest))


def _runner(model: Any, plan: Plan, manifest: Mapping[str, Any]) -> Runner:
    runner = model
    if isinstance(model, (Model, System)):
        base = model if isinstance(model, Model) else model.model
        if isinstance(model, System) and (model.events or model.formulation.__name__ != "aba"):
            raise RunError("a system with events or a formulation of its own", fix="give the runner: task.runner")
        runner = samples_of_told(base, plan)
    if runner.fingerprint() != manifest["model_sha256"]:
        raise RunError(f"'{runner.name}' is not the model this sweep was made with", fix="give that one")
    return runner


__all__ = ["SweepResult", "read_sweep", "task_of"]
