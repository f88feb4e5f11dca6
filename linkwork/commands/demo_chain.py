"""`demo chain`: the 10-rod chain, once to 12 digits, then from thousands of random starts."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.commands import tell
from linkwork.commands.chain import ENERGY, KNOWN_MISS, chain, misses
from linkwork.errors import RunError
from linkwork.progress import reporter

UNTIL = 10.0
TOLERANCE = 1e-9  # of the random starts


def chain_demo(out: Path, samples: int, seed: int, as_json: bool) -> int:
    model = chain()
    if not as_json:
        print(f"{model.name}: {model.nv} hinges, {UNTIL:g} s\n")
    one = reference(model)
    if not as_json:
        _tell_reference(one)
    many, run = ensemble(model, samples, seed, quiet=as_json)
    interrupted = "not run" in run.statuses.text
    files = pictures(out, model, run, one, many)
    if as_json:
        tell.as_json({"ok": bool(np.all(run.ok)), "reference": one, "ensemble": many, "files": files})
    else:
        print()
        _tell_ensemble(many)
        for line in run.failures()[:5]:
            print(line, file=sys.stderr)
        for path in files:
            print(f"wrote {path}")
    return 130 if interrupted else 0 if bool(np.all(run.ok)) else 1


def reference(model: lw.Model) -> dict[str, Any]:
    """The reference start at the tightest tolerance a double can hold, against 113-bit digits."""
    began = time.perf_counter()
    run = lw.simulate(model, until=UNTIL, method="dop853", rtol=1e-12, atol=1e-12, times=int(UNTIL), progress=False)
    seconds = time.perf_counter() - began
    return {
        "misses": {str(t): miss for t, miss in misses(run).items()},
        "known_misses": {str(t): miss for t, miss in KNOWN_MISS.items()},
        "energy_miss": float(np.max(np.abs(run["energy"][:] - ENERGY))),
        "steps": run.trust.steps,
        "seconds": seconds,
    }


def starts(samples: int, seed: int) -> np.ndarray:
    """Hinge angles about the reference start: ±30° at the top, ±6° below. Sample i follows from (seed, i)."""
    width = np.radians([30.0] + [6.0] * 9)
    draws = (np.random.default_rng([seed, i]).uniform(-1, 1, 10) for i in range(samples))
    return np.array([-1.0] + [0.0] * 9) + width * np.array(list(draws))


def ensemble(model: lw.Model, samples: int, seed: int, quiet: bool) -> tuple[dict[str, Any], lw.Result]:
    q = starts(samples, seed)
    began = time.perf_counter()
    with reporter(False if quiet else True, samples, "random starts") as report:
        run = lw.simulate(model, {"q": q}, UNTIL, rtol=TOLERANCE, atol=TOLERANCE, times=200, progress=report or False)
    seconds = time.perf_counter() - began
    trust = run.trust
    ended = int(np.sum([text != "not run" for text in run.statuses.text]))
    return {
        "samples": ended,
        "seed": seed,
        "tolerance": TOLERANCE,
        "seconds": seconds,
        "samples_per_second": ended / seconds,
        "steps": trust.steps,
        "energy_error": trust.energy_error,
        "worst_sample": trust.energy_worst,
        "failed": int(np.sum(~run.ok)),
    }, run


def pictures(out: Path, model: lw.Model, run: lw.Result, one: dict[str, Any], many: dict[str, Any]) -> list[str]:
    from linkwork.display import style

    try:
        style.need_matplotlib()
    except RunError as error:
        print(f"no pictures: {error}", file=sys.stderr)
        return []
    names = (
        "tip.position.x",
        "tip.position.y",
        "hinge1",
        "hinge1.rate",
        "hinge10",
        "hinge10.rate",
        "energy balance",
    )
    lw.plot(run, *names, path=out / "chain.png")
    notes = [
        f"{many['samples']:,} random starts (seed {many['seed']}) about the reference start: the first hinge "
        "within ±30°, the others within ±6°, all at rest.",
        f"The reference start alone, at rtol = atol = 1e-12, ends within {one['misses']['10']:.1e} "
        "of digits from 113-bit arithmetic.",
    ]
    lw.page(run, out / "chain.html", title="A chain of ten rods", model=model, notes=notes)
    return [str(out / "chain.png"), str(out / "chain.html")]


def _tell_reference(one: dict[str, Any]) -> None:
    rows = [(f"{t} s", f"{one['misses'][t]:.1e}", f"{one['known_misses'][t]:.1e}") for t in one["misses"]]
    tell.table(
        "reference start, dop853 at 1e-12, against digits from 113-bit arithmetic",
        ("time", "largest error here", "another DOP853 in doubles"), rows, (0, 1, 2),
    )  # fmt: skip
    print(
        f"{one['steps']:,} steps in {one['seconds']:.2f} s (building included); "
        f"energy off by {one['energy_miss']:.1e} J\n"
    )


def _tell_ensemble(many: dict[str, Any]) -> None:
    rows = [
        ("samples", f"{many['samples']:,}", f"{UNTIL:g} s each, dop853 at {many['tolerance']:g}"),
        ("time", f"{many['seconds']:.1f} s", f"{many['samples_per_second']:,.0f} samples a second"),
        ("steps", f"{many['steps']:,}", f"{many['steps'] / many['seconds'] / 1e6:.2f} million a second"),
        ("energy error", f"{many['energy_error']:.1e}", f"of the energy; sample {many['worst_sample']}"),
        ("failed", f"{many['failed']:,}", "" if many["failed"] else "none"),
    ]  # fmt: skip
    tell.table(f"random starts, seed {many['seed']}", ("", "", ""), rows, (1,))
