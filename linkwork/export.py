"""A result told to others: as text, tables and files, and the numbers that say how far to trust it."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.util import find_spec
from os import PathLike
from pathlib import Path, PurePath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from linkwork import happened
from linkwork.errors import RunError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from linkwork.result import Result, Series, Trust


ENERGIES = ("kinetic_energy", "potential_energy", "work")


def has_energies(run: Result) -> bool:
    return all(name in run for name in ENERGIES)


def energy_balance(run: Result) -> tuple[np.ndarray, np.ndarray]:
    """E(t) − E(0) − work, (sample, time), and the energy in play, (sample,), by which to divide it.

    The energy in play is the largest of: kinetic energy, range of potential energy, work.
    """
    kinetic, potential, work = (run[name].values for name in ENERGIES)
    total = kinetic + potential
    height = np.fmax.reduce(potential, axis=1) - np.fmin.reduce(potential, axis=1)
    play = np.fmax.reduce([np.fmax.reduce(kinetic, axis=1), height, np.fmax.reduce(np.abs(work), axis=1)])
    return total - total[:, :1] - (work - work[:, :1]), np.where(play > 0, play, 1.0)


def assess(run: Result, **known: Any) -> Trust:
    """The trust block of a run: energy balance over the samples that did not fail, and status counts.

    `known` are the fields only the integrator can tell: step_error, steps, refusals, momentum_drift.
    """
    from linkwork.result import Trust

    if "energy_error" not in known and has_energies(run) and np.any(run.ok):
        error, play = energy_balance(run)
        largest = np.where(run.ok, np.fmax.reduce(np.abs(error), axis=1) / play, -1.0)
        largest = np.where(np.isnan(largest), np.inf, largest)
        worst = int(np.argmax(largest))
        known |= {"energy_error": float(largest[worst]), "energy_worst": worst}
    known.setdefault("counts", run.statuses.counts())
    return Trust(**known)


def trust_rows(trust: Trust) -> list[tuple[str, str, str]]:
    """(what, value, what it means), one row for each number."""

    def told(value: float | None, meaning: str, otherwise: str) -> tuple[str, str]:
        if value is None:
            return "–", otherwise
        return (f"{value:,}" if isinstance(value, int) else _short(value)), meaning

    many = trust.energy_worst is not None and sum(trust.counts.values()) > 1
    worst = f"; worst in sample {trust.energy_worst}" if many else ""
    energy = f"largest |E(t) − E(0) − work|, as a part of the energy in play{worst}"
    drift = "largest change of total momentum, as a part of its size"
    step = "largest error estimate of a step, as a part of the tolerance (1 is the limit)"
    again = "steps repeated with a smaller size; many of them hint at stiff or jumping forces"
    silent = "not told by this method"
    rows = [
        ("energy error", *told(trust.energy_error, energy, "energies or work are not known for this run")),
        ("momentum drift", *told(trust.momentum_drift, drift, "told only for systems free of the ground")),
        ("step error", *told(trust.step_error, step, silent)),
        ("steps", *told(trust.steps, "steps taken, all samples together", silent)),
        ("refused steps", *told(trust.refusals, again, silent)),
    ]
    return rows + [("samples", f"{n:,}", text) for text, n in trust.counts.items()]


def aligned(rows: Sequence[tuple[str, str, str]]) -> str:
    """Rows of (what, value, meaning) as columns of text."""
    wide = [max((len(row[k]) for row in rows), default=0) for k in (0, 1)]
    return "\n".join(f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c}" for a, b, c in rows)


def plain(value: Any) -> Any:
    """The same value made of what a text file can hold; of a path only the file's name stays."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, np.ndarray)):
        return [plain(v) for v in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PurePath) or (isinstance(value, str) and _is_a_place(value)):
        return PureWindowsPath(value).name
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def _is_a_place(text: str) -> bool:
    return "\n" not in text and (text.startswith(("/", "~/")) or PureWindowsPath(text).is_absolute())


def provenance(model: str, method: str, **settings: Any) -> dict[str, Any]:
    """Where a run came from: model, method, settings (rtol, atol, step, seed …), package versions, date."""
    from importlib.metadata import PackageNotFoundError, version

    versions = {}
    for package in ("linkwork", "casadi", "llvmlite", "numpy"):
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return plain({"model": model, "method": method, **settings, "versions": versions, "date": date})


def _short(value: float) -> str:
    return f"{value:.2g}".replace("e-0", "e-").replace("e+0", "e")


def how(run: Result) -> str:
    """Method and tolerances in one line: "dopri5, rtol 1e-09, seed 7"."""
    said = run.provenance
    parts = [str(said["method"])] if said.get("method") is not None else []
    numbers = [(k, said[k]) for k in ("rtol", "atol", "step", "seed") if said.get(k) is not None]
    return ", ".join(parts + [f"{k} {_short(x) if isinstance(x, float) else x}" for k, x in numbers])


def span(run: Result) -> str:
    """How much there is: "500 samples, 401 times from 0 to 10 s"."""
    n, t = len(run.statuses), run.time
    times = f"{len(t):,} times from {t[0]:g} to {t[-1]:g} s" if len(t) else "no times"
    return f"{n:,} sample{'' if n == 1 else 's'}, {times}"


def summary(run: Result) -> str:
    """What `print(run)` shows. A trust block that would take long to work out is left for `run.trust`."""
    name = run.provenance.get("model")
    lines = [f"Result{f' of {name!r}' if name else ''}: {span(run)}" + (f" ({how(run)})" if how(run) else "")]
    for s in run.series.values():
        shown = [f"{label} [{unit}]" for label, unit in columns(s)]
        more = f", … {len(shown)} in all" if len(shown) > 6 else ""
        lines.append(f"  {s.name:<10}{', '.join(shown[:6])}{more}" if s.values.ndim > 2 else f"  {shown[0]}")
    more = [name for name in run.known if name not in run.series and name not in run.coordinates]
    if more:
        lines.append(f"  {'on demand':<10}{', '.join(more[:6])}{f', … {len(more)} in all' if len(more) > 6 else ''}")
    failed = run.failures()
    lines += [f"  {line}" for line in failed[:3]]
    lines += [f"  … {len(failed):,} failed samples in all: run.failures()"] if len(failed) > 3 else []
    cheap = "trust" in vars(run) or not callable(run.checks) or len(run.statuses) * len(run.time) <= 1_000_000
    if cheap:
        return "\n".join([*lines, *(f"  {line}" for line in str(run.trust).splitlines())])
    return "\n".join([*lines, "  trust: see run.trust"])


def columns(s: Series) -> list[tuple[str, str]]:
    """(label, unit) of each component: "elbow" of q, "kinetic_energy", "tool.position.x"."""
    if s.values.ndim == 2:
        return [(s.name, s.units[0])]
    own = "" if s.name in ("q", "v") else f"{s.name}."
    return [(f"{own}{c}", unit) for c, unit in zip(s.components, s.units, strict=True)]


def _chosen(run: Result, names: Sequence[str]) -> list[Series]:
    """Without those that have no components, as the coordinates of a mechanism without freedom."""
    chosen = (run[name] for name in dict.fromkeys(names or run.series))
    return [s for s in chosen if s.flat.shape[2]]


def to_xarray(run: Result, names: Sequence[str] = ()) -> xr.Dataset:
    """A Dataset over (sample, time) and one dimension of components for each quantity that has them."""
    import xarray as xr

    lead = ("time",) if run.single else ("sample", "time")
    one = 0 if run.single else slice(None)
    ends = run.statuses
    coords: dict[str, Any] = {"time": ("time", run.time, {"units": "s"})}
    coords |= {} if run.single else {"sample": np.arange(len(ends))}
    for key, column in (
        ("code", ends.code),
        ("status", ends.text),
        ("end", ends.time),
        ("where", ends.where),
    ):
        coords[f"sample_{key}"] = (lead[:-1], np.asarray(column)[one])
    coords["sample_end"] += ({"units": "s"},)
    coords |= happened.columns(run.events)
    arrays = {}
    for s in _chosen(run, names):
        key = s.name.replace("/", "∕")  # a slash would open a group in a netCDF file
        same = len(set(s.units)) == 1
        about = {"quantity": s.name, "units": s.units[0] if same else ", ".join(s.units)}
        about |= {"frame": s.frame} if s.frame else {}
        if s.components:
            axis = f"{key}_component"
            about |= {"component_shape": list(s.values.shape[2:])}
            coords |= {axis: list(s.components), f"{key}_units": (axis, list(s.units))}
            arrays[key] = ((*lead, axis), s.flat[one], about)
        else:
            arrays[key] = (lead, s.values[one], about)
    simple = {k: v for k, v in run.provenance.items() if isinstance(v, (str, float)) or type(v) is int}
    return xr.Dataset(arrays, coords, attrs=simple | {"provenance": json.dumps(dict(run.provenance))})


def to_pandas(run: Result, names: Sequence[str] = ()) -> pd.DataFrame:
    """A wide table: rows (sample, time), columns "elbow [rad]"."""
    import pandas as pd

    samples, times = len(run.statuses), len(run.time)
    index: Any = pd.Index(run.time, name="time [s]")
    if not run.single:
        index = pd.MultiIndex.from_product([range(samples), run.time], names=["sample", "time [s]"])
    table = {}
    for s in _chosen(run, names):
        for k, (label, unit) in enumerate(columns(s)):
            table[f"{label} [{unit}]"] = s.flat[:, :, k].reshape(samples * times)
    return pd.DataFrame(table, index=index)


@contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[Path]:
    """A path to write to beside the wanted one; it takes its place when all went well and else vanishes."""
    target = Path(path)
    where, fix = f"file '{target}'", "give a path in a folder that exists and that you may write to"
    if not target.parent.is_dir():
        raise RunError(f"there is no folder '{target.parent}' to write it in", where=where, fix=fix)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        yield part
        os.replace(part, target)
    except PermissionError:
        raise RunError("no permission to write it", where=where, fix=fix) from None
    except OSError as error:
        raise RunError(f"cannot be written: {error.strerror or error}", where=where, fix=fix) from error
    finally:
        part.unlink(missing_ok=True)


def to_csv(run: Result, path: str | PathLike[str], names: Sequence[str] = ()) -> None:
    """The table of `to_pandas` as text; every number reads back to the same bits."""
    with replacing(path) as part:
        to_pandas(run, names).to_csv(part)


def _engine() -> Literal["h5netcdf", "netcdf4"]:
    if find_spec("h5netcdf") and find_spec("h5py"):
        return "h5netcdf"
    if find_spec("netCDF4"):
        return "netcdf4"
    raise RunError("netCDF files need h5netcdf and h5py, which are missing", fix="pip install h5netcdf h5py")


def to_netcdf(run: Result, path: str | PathLike[str], names: Sequence[str] = ()) -> None:
    """Arrays, statuses, provenance and trust in one netCDF file."""
    with replacing(path) as part:
        data = to_xarray(run, names)
        data.attrs["trust"] = json.dumps(plain(asdict(run.trust)))
        data.to_netcdf(part, engine=_engine())


def from_netcdf(path: str | PathLike[str]) -> Result:
    """What `to_netcdf` wrote."""
    import xarray as xr

    from linkwork.result import Result, Series, Statuses, Trust

    where = f"file '{path}'"
    if not Path(path).is_file():
        raise RunError("there is no such file", where=where)
    try:
        data = xr.load_dataset(path, engine=_engine(), decode_times=False, decode_timedelta=False)
        said, trust = json.loads(data.attrs["provenance"]), Trust(**json.loads(data.attrs["trust"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RunError("it is not a result", where=where, fix="read a file that run.to_netcdf wrote") from error
    single = "sample" not in data.dims
    series = {}
    for key, array in data.data_vars.items():
        names, units = data.coords.get(f"{key}_component"), data.coords.get(f"{key}_units")
        about = array.attrs
        values = array.values[None] if single else array.values
        if names is None or units is None:
            s = Series(about["quantity"], values, (), (about["units"],), about.get("frame"), single)
        else:
            values = values.reshape(*values.shape[:2], *np.atleast_1d(about["component_shape"]))
            texts = tuple(map(str, names.values)), tuple(map(str, units.values))
            s = Series(about["quantity"], values, *texts, about.get("frame"), single)
        series[s.name] = s
    ends = {k: np.atleast_1d(data[f"sample_{k}"].values) for k in ("code", "status", "end", "where")}
    texts = tuple(map(str, ends["status"])), tuple(map(str, ends["where"]))
    statuses = Statuses(ends["code"], texts[0], ends["end"], texts[1])
    events = happened.told(data.coords, len(statuses))
    return Result(data["time"].values, series, statuses, said, checks=trust, single=single, events=events)
