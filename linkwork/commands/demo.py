"""`demo`: random first contacts of two spacecraft, run, reported, and the hardest of them shown in motion."""

from __future__ import annotations

import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np

import linkwork as lw
from linkwork.commands import tell
from linkwork.commands.demo_chain import chain_demo
from linkwork.commands.options import Json, Whole
from linkwork.commands.report import first_lines
from linkwork.display.sweep_words import summary
from linkwork.errors import RunError
from linkwork.simulation.store import MANIFEST
from linkwork.sweeping.progress import duration
from linkwork.sweeps import SweepResult, execute, manifest_of, read_plan, report

PLAN = "docking.yaml"
SAMPLES = {"docking": 1000, "chain": 4096}


def command(
    what: Literal["docking", "chain"] = "docking",
    /,
    *,
    out: Path = Path("out"),
    samples: Whole | None = None,
    seed: Whole = 1,
    json: Json = False,
) -> int:
    """Random first contacts of two spacecraft, from a plan to a report; `chain`: ten rods against reference digits.

    Parameters
    ----------
    what
        docking: 1,000 first contacts of a probe with a cone, evaluated. chain: the 10-rod chain, then 4,096 starts.
    out
        The folder for plan, results, report and pictures.
    samples
        How many random starts.
    seed
        Sample i starts from what (seed, i) gives.
    """
    count = SAMPLES[what] if samples is None else samples
    if count < 1:
        raise RunError(f"--samples {count}", fix="give one or more")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"--out '{out}': {error.strerror}", fix="give a folder that can be made") from None
    return (docking if what == "docking" else chain_demo)(out, count, seed, json)


def docking(out: Path, samples: int, seed: int, as_json: bool) -> int:
    plan, folder = out / PLAN, out / "docking"
    if not plan.exists():
        plan.write_text(files("linkwork.docking").joinpath("demo.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    task = read_plan(plan, samples=samples, seed=seed)
    _make_room(folder, manifest_of(task))
    if not as_json:
        print(f"{samples:,} random first contacts of a Soyuz's probe with the cone of a module of 20 t, 10 s each;")
        print(f"what varies and how is told in {plan}\n")
    began = time.perf_counter()
    found = execute(task, folder, progress=False if as_json else True)
    seconds = time.perf_counter() - began
    if not found.complete:
        print(f"stopped; {len(found):,} of {samples:,} samples are kept, the same command goes on")
        return 130
    page = folder / "report.html"
    told = report(found, page)
    motion = _motion(found, folder)
    if as_json:
        tell.as_json(_facts(found, seconds, [plan, page, *motion]) | {"summary": dict(summary(told))})
        return 0
    print(f"{samples:,} samples in {duration(seconds)}, building included\n")
    first_lines(told)
    print(f"\nthe report              {page}")
    for file in motion:
        print(f"the hardest, in motion  {file}")
    print(f"another one             linkwork sweep {folder} --replay 17")
    return 0


def _make_room(folder: Path, told: dict[str, Any]) -> None:
    """What an earlier demo left there goes on if it is the same; else it moves aside, for nothing kept is removed."""
    if not (folder / MANIFEST).exists():
        return
    same = ("plan_sha256", "model_sha256", "versions")
    try:
        kept = lw.read_sweep(folder).manifest
        if all(kept.get(word) == told[word] for word in same):
            return
    except RunError:
        pass  # it cannot be read: out of the way too
    aside = next(p for k in range(1, 10_000) if not (p := folder.with_name(f"{folder.name}-{k}")).exists())
    folder.rename(aside)
    print(f"'{folder}' held another sweep; it is now '{aside}'", file=sys.stderr)


def _motion(found: SweepResult, folder: Path) -> list[Path]:
    """The hardest sample as a page to look at and turn about; none where all failed."""
    forces = found["contact_force"]
    if not np.isfinite(forces).any():
        return []
    k = int(np.nanargmax(forces))
    sample = int(found.samples[k])
    runner, run, page = found.who(), found.replay(sample), folder / f"sample-{sample:06d}.html"
    title = f"Sample {sample}, the hardest contact: {forces[k]:,.0f} N, {run.statuses[0].text}"
    lw.animate(run, runner.scene(), page, tell=("contact_force", "stroke", "swing"), title=title)  # type: ignore[attr-defined]
    return [page]


def _facts(found: SweepResult, seconds: float, made: list[Path]) -> dict[str, Any]:
    p = found.estimate()
    return {
        "ok": found.complete,
        "samples": len(found),
        "seconds": seconds,
        "statuses": found.statuses(),
        "success": p._asdict(),
        "sha256": found.sha256,
        "files": [str(file) for file in made],
    }
