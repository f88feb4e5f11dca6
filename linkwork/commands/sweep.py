"""`sweep`: a plan → many samples in a folder; what it would cost; one sample again.

Exit codes: 0 all samples have a result (those that failed are told); 1 plan, model, folder, disk or cluster are at
fault; 130 stopped, the same command goes on.
"""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from linkwork.commands import tell
from linkwork.commands.options import Flag, Json, Whole
from linkwork.errors import LinkworkError, RunError
from linkwork.simulation import parts
from linkwork.simulation.designs import draw
from linkwork.simulation.parted import Task
from linkwork.simulation.store import Folder
from linkwork.sweeping.progress import duration
from linkwork.sweeps import SweepResult, execute, manifest_of, read_plan, read_sweep

TRIAL = 64  # samples run to tell the cost
SHOWN = 5


@dataclass(frozen=True)
class Order:
    """What was asked for on the command line."""

    plan: str
    out: Path | None = None
    dry_run: bool = False
    replay: int | None = None
    workers: int | None = None
    cluster: str | None = None
    threads: int | None = None
    samples: int | None = None
    seed: int | None = None


def sweep(order: Order, as_json: bool) -> int:
    if order.replay is not None:
        return again(order, as_json)
    task = read_plan(order.plan, samples=order.samples, seed=order.seed)
    if order.dry_run:
        return cost(task, as_json)
    if order.out is None:
        raise RunError("there is no folder to write to", fix="--out runs/a; or --dry-run to see what it would cost")
    began = time.perf_counter()
    found = execute(
        task, order.out, threads=order.threads, workers=order.workers, cluster=order.cluster,
        progress=False if as_json else True, said=lambda text: print(text, file=sys.stderr),
    )  # fmt: skip
    (_json if as_json else _print)(found, time.perf_counter() - began, order.out)
    if not found.complete:
        done = f"{len(found):,} of {found.plan.samples:,} samples are kept"
        print(f"stopped; {done}, the same command goes on", file=sys.stderr)
        return 130
    return 0


def _json(found: SweepResult, seconds: float, out: Path) -> None:
    finished = found.manifest.get("finished") or {}
    tell.as_json(
        {
            "ok": found.complete,
            "plan": found.plan.name,
            "model": found.manifest["model"],
            "samples": len(found),
            "wanted": found.plan.samples,
            "why": finished.get("why"),
            "statuses": found.statuses(),
            "success": found.estimate()._asdict() if found.plan.success and len(found) else None,
            "quantiles": {n: row.to_dict() for n, row in found.quantiles().iterrows()} if len(found) else {},
            "sha256": finished.get("sha256"),
            "seconds": seconds,
            "folder": str(out),
        }
    )


def _print(found: SweepResult, seconds: float, out: Path) -> None:
    n, finished = len(found), found.manifest.get("finished") or {}
    rows = [(text, f"{count:,}", "") for text, count in found.statuses().items()]
    if found.plan.success and n:
        p = found.estimate()
        rows.append(("success", f"{p.value:.4g}", f"{p.low:.4g} … {p.high:.4g} with 95 % confidence (Wilson)"))
    title = f"{found.plan.name}: {n:,} samples of '{found.manifest['model']}', {duration(seconds)}"
    tell.table(title, ("", "", ""), rows, (1,))
    if n and found.values:
        table = found.quantiles(q=(0.0, 0.05, 0.5, 0.95, 1.0))
        units = {name: unit for name, (_, unit) in found._columns.items()}
        lines = [(str(name), units[str(name)], *(tell.number(x, 5) for x in row)) for name, row in table.iterrows()]
        tell.table("quantiles of samples that did not fail", ("", "unit", *table.columns), lines, (2, 3, 4, 5, 6))
    for line in found.failures()[:SHOWN]:
        print(line)
    more = len(found.failures()) - SHOWN
    if more > 0:
        print(f"… and {more:,} more")
    if finished and finished["why"] != "all samples":
        print(f"enough: {finished['why']}")
    if finished:
        print(f"SHA-256 {finished['sha256']}")
    print(f"kept in {out}")


def cost(task: Task, as_json: bool) -> int:
    """What it would take: nothing is written."""
    n = min(TRIAL, task.plan.samples)
    began = time.perf_counter()
    task.columns(np.arange(n))
    built = time.perf_counter() - began
    began = time.perf_counter()
    columns = task.columns(np.arange(n))
    seconds = (time.perf_counter() - began) * task.plan.samples / n
    disk = len(parts.packed(columns)) * task.plan.samples // n
    first = draw(task.plan, np.arange(min(SHOWN, task.plan.samples)))
    ended: dict[str, int] = {}
    for text in parts.lines(columns["text"]):
        ended[text] = ended.get(text, 0) + 1
    if as_json:
        first_rows = {name: x.tolist() for name, x in first.items()}
        found = {"samples": task.plan.samples, "parts": task.plan.parts, "seconds": seconds, "bytes": disk}
        tell.as_json({"ok": True, **found, "build_seconds": built, "first": first_rows, "trial": ended})
        return 0
    plan = task.plan
    rows = [
        ("samples", f"{plan.samples:,}", f"design {plan.design}, seed {plan.seed}, {plan.parts:,} parts"),
        ("time", duration(seconds), f"on this machine, from {n} samples; and {duration(built)} to build"),
        ("disk", _size(disk), ""),
        *((f"trial: {text}", f"{count}", "") for text, count in ended.items()),
    ]
    tell.table(f"{plan.name}: what it would take", ("", "", ""), rows, (1,))
    units = {x.name: x.unit for x in plan.inputs}
    head = ("sample", *(f"{name} [{units[name]}]" if units[name] else name for name in first))
    lines = [(str(i), *(tell.number(first[name][i]) for name in first)) for i in range(len(next(iter(first.values()))))]
    tell.table("first samples", head, lines, range(len(head)))
    return 0


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} GB"


def again(order: Order, as_json: bool) -> int:
    """One sample with its whole motion, as netCDF and as a page."""
    assert order.replay is not None
    folder = Path(order.plan) if Path(order.plan).is_dir() else order.out
    kept = read_sweep(folder) if folder is not None and (folder / "manifest.json").exists() else None
    if Path(order.plan).is_dir():
        if kept is None:
            raise RunError("holds no sweep", where=f"folder '{order.plan}'", fix="name a plan, or a sweep's folder")
        found = kept
    else:
        task = read_plan(order.plan, samples=order.samples, seed=order.seed)
        told = manifest_of(task)
        if kept is not None and kept.manifest["plan_sha256"] != told["plan_sha256"]:
            raise RunError("holds a sweep of another plan", where=f"folder '{folder}'", fix="leave --out away")
        found = SweepResult(task.plan, Folder(folder or "."), told, task.runner)
    run = found.replay(order.replay)
    stem = (folder if kept is not None and folder is not None else Path()) / f"replay-{order.replay:06d}"
    files = [str(stem.with_suffix(".nc"))]
    run.to_netcdf(files[0])
    files += _page(run, stem.with_suffix(".html"), found, order.replay)
    same = None if kept is None else _same(kept, order.replay)
    if as_json:
        inputs = found.inputs(order.replay)
        tell.as_json({"ok": True, "sample": order.replay, "inputs": inputs, "same": same, "files": files})
        return 0
    print(f"sample {order.replay} of {found.plan.name}: {run.statuses[0]}")
    units = {x.name: x.unit for x in found.plan.inputs}
    rows = [(name, tell.number(x, 8), units[name]) for name, x in found.inputs(order.replay).items()]
    tell.table("inputs", ("", "value", "unit"), rows, (1,))
    if same is not None:
        print("its numbers are those of the sweep, bit for bit" if same else "ITS NUMBERS DIFFER FROM THE SWEEP'S")
    for file in files:
        print(f"wrote {file}")
    return 0


def _same(kept: SweepResult, sample: int) -> bool | None:
    """Are the numbers of the sample, computed again, those of the sweep? None: it was not run there."""
    at = np.flatnonzero(kept.samples == sample)
    if not len(at):
        return None
    part, runner = sample // kept.plan.part, kept.who()
    before, row = kept.store.get(part), sample - part * kept.plan.part
    after = Task(kept.plan, runner).columns(np.array([sample]))
    return all(np.array_equal(before[c][row], after[c][0], equal_nan=True) for c in (*runner.columns, "code", "end"))


def _page(run: Any, path: Path, found: SweepResult, sample: int) -> list[str]:
    """What happened as a page of numbers, and as one of the mechanism in motion, which is opened where it can be."""
    import linkwork as lw
    from linkwork.display import style
    from linkwork.display.animation import animate
    from linkwork.display.sweep_words import quantity

    title = f"{found.plan.name}, sample {sample}"
    made, moving = [], path.with_name(f"{path.stem}-motion.html")
    who = found.who()
    drawn = who.scene() if hasattr(who, "scene") else getattr(who, "model", None)  # type: ignore[attr-defined]
    if drawn is not None:
        try:
            animate(run, drawn, moving, tell=getattr(who, "shown", ()), title=title)
            made.append(str(moving))
            _open(moving)
        except LinkworkError as error:  # of a sample that failed at once there is nothing to be seen
            print(f"no motion: {error}", file=sys.stderr)
    try:
        style.need_matplotlib()
    except RunError as error:
        print(f"no page: {error}", file=sys.stderr)
        return made
    units = {x.name: x.unit for x in found.plan.inputs}
    told = ", ".join(f"{name} {quantity(x, units[name])}" for name, x in found.inputs(sample).items())
    lw.page(run, path, title=title, notes=[f"Inputs: {told}."])
    return [str(path), *made]


def _open(path: Path) -> None:
    """In the browser, for someone who sits in front of it."""
    here = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if sys.stdout.isatty() and here:
        webbrowser.open(path.resolve().as_uri())


def command(
    plan: str,
    /,
    *,
    out: Path | None = None,
    dry_run: Annotated[bool, Flag] = False,
    replay: Whole | None = None,
    workers: Whole | None = None,
    cluster: str | None = None,
    threads: Whole | None = None,
    samples: Whole | None = None,
    seed: Whole | None = None,
    json: Json = False,
) -> int:
    """Run the many samples of PLAN; the same command goes on where it was stopped.

    Parameters
    ----------
    out
        The folder that keeps the results.
    dry_run
        Tell time, disk and the first samples; run and write nothing.
    replay
        Run this one sample again and write its whole motion. PLAN may then be the folder of a sweep.
    workers
        Compute on so many Dask workers on this machine.
    cluster
        Compute on the Dask cluster of this scheduler: tcp://…
    threads
        Threads of this process; all cores without it.
    samples
        How many, other than the plan says. It is then another plan.
    seed
        The same of the seed.
    """
    return sweep(Order(plan, out, dry_run, replay, workers, cluster, threads, samples, seed), json)
