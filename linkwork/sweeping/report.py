"""A sweep → what it tells → one HTML file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import RunError, nearest
from linkwork.simulation.estimate import wilson
from linkwork.simulation.plan import Input
from linkwork.simulation.store import Folder
from linkwork.sweeping import effects, evidence, worst
from linkwork.sweeping.evidence import Samples
from linkwork.sweeping.findings import About, Drawn, Findings, Load, Map, Sensitivity, Success, Words
from linkwork.sweeping.result import SweepResult, read_sweep

FORCES = ("N", "N*m", "N m", "Pa", "N*s")
HARDEST = 10


def report(
    found: SweepResult | str | PathLike[str],
    path: str | PathLike[str] | None = None,
    *,
    maps: Sequence[str] = (),
    load: str | None = None,
    share: float = 0.95,
    confidence: float = 0.95,
) -> Findings:
    """Write what a sweep tells as one HTML file that needs nothing else.

    found       a sweep, or its folder
    path        the file; without one only the findings are returned
    maps        pairs of inputs, "offset, closing", or of expressions, "offset, tilt = sqrt(pitch**2 + yaw**2)"
    load        the recorded number that tells how hard a sample was; the first force without it
    share       the quantile of it that maps show
    """
    sweep = found if isinstance(found, SweepResult) else opened(found)
    told = findings(sweep, maps=maps, load=load, share=share, confidence=confidence)
    if path is not None:
        from linkwork.display.sweep_page import sweep_page

        sweep_page(told, path)
    return told


def opened(folder: str | PathLike[str]) -> SweepResult:
    """The sweep of a folder."""
    if not Path(folder).is_dir():
        what = "is a file, not the folder of a sweep" if Path(folder).exists() else "is not there"
        raise RunError(what, where=f"folder '{folder}'", fix="name a folder that `linkwork sweep … --out` wrote")
    return read_sweep(folder)


def findings(
    found: SweepResult,
    *,
    maps: Sequence[str] = (),
    load: str | None = None,
    share: float = 0.95,
    confidence: float = 0.95,
) -> Findings:
    """Everything a report tells, as records."""
    for what, x in (("the share of a quantile", share), ("confidence", confidence)):
        if not 0 < x < 1:
            raise RunError(f"{what} is {x:g}", fix="give one between 0 and 1, such as 0.95")
    samples = Samples(found)
    hard = _load(samples, load, share)
    axes = [effects.split(text) for text in maps]
    felt = effects.sensitivity(samples, confidence) if len(found) else ()
    success = _success(samples, confidence)
    values = [name for name in samples.of_kind("value") if not hard or name != hard.name] if len(found) else []
    return Findings(
        about=_about(samples, confidence),
        used=int(samples.used.sum()),
        statuses=evidence.statuses(samples, confidence),
        success=success,
        load=hard,
        numbers=evidence.numbers(samples, confidence),
        maps=_maps(samples, axes, felt, success, hard),
        sensitivity=felt,
        corners=tuple(worst.corner(samples, name) for name in values),
        failures=worst.failures(samples),
        failed=int((~samples.good).sum()),
        checks=evidence.checks(samples, _words(found, "meanings")),
        envelopes=evidence.envelopes(samples) if len(found) else (),
        inputs=tuple(samples.varied),
        values=tuple(samples.columns),
    )


def _about(samples: Samples, confidence: float) -> About:
    found, plan = samples.found, samples.found.plan
    finished = found.manifest.get("finished") or {}
    origin: dict[str, Any] = {
        "plan": plan.name,
        "SHA-256 of the plan": found.manifest.get("plan_sha256"),
        "model": found.manifest["model"],
        "SHA-256 of the model": found.manifest["model_sha256"],
        "settings": {k: x for k, x in plan.run.items() if not isinstance(x, (dict, list)) and x is not None},
        "options": plan.run.get("options"),
        "success": plan.success or None,
        "versions": {**found.manifest.get("versions", {}), **found.manifest.get("also", {})},
        "SHA-256 of all results": _checked(found, finished),
    }
    return About(
        plan.name, str(found.manifest["model"]), plan.design, plan.seed, len(found), plan.samples,
        finished.get("why", ""), _replay(found), tuple(Drawn(x.name, x.unit, _told(x)) for x in plan.inputs),
        tuple(group.names for group in plan.correlated), origin, confidence,
        Words(*({str(k): str(x) for k, x in _words(found, kind).items()} for kind in ("meanings", "ends", "built"))),
    )  # fmt: skip


def _words(found: SweepResult, kind: str) -> Any:
    """What the study said of itself when the sweep was begun."""
    return found.manifest.get("words", {}).get(kind, {})


def _checked(found: SweepResult, finished: dict[str, Any]) -> str:
    """The digest of what is there; it has to be that of the manifest."""
    digest = found.sha256
    if finished and finished.get("sha256") != digest:
        where = f"folder '{found.store}'"
        raise RunError("its results are not those its manifest tells of", where=where, fix="run the sweep again")
    return digest


def _told(x: Input) -> Mapping[str, Any]:
    return x.distribution.told() if x.distribution is not None else {"table": []}


def _replay(found: SweepResult) -> str:
    if isinstance(found.store, Folder):
        return f"linkwork sweep {shlex.quote(str(found.store))} --replay {{}}"
    return "found.replay({})"


def _load(samples: Samples, name: str | None, share: float) -> Load | None:
    known = samples.of_kind("value", "event")
    if name is not None and name not in known:
        raise RunError(f"this sweep records no '{name}'", fix=nearest(name, known))
    if not len(samples.found):
        return None
    values = [n for n in samples.of_kind("value") if np.isfinite(samples.table[n][samples.good].astype(float)).any()]
    forces = [n for n in values if samples.unit(n) in FORCES]
    chosen = name or next(iter(forces + values), None)
    if chosen is None:
        return None
    return Load(chosen, samples.unit(chosen), share, worst.corner(samples, chosen, HARDEST))


def _success(samples: Samples, confidence: float) -> Success | None:
    criterion = samples.found.plan.success
    if not criterion:
        return None
    held = samples.table["success"] == 1
    used, failed = samples.used, int((~samples.good).sum())
    share = wilson(int(held[used].sum()), int(used.sum()), confidence)
    total, succeeded = len(held), int(held.sum())
    bounds = (succeeded / total, (succeeded + failed) / total) if total else (0.0, 1.0)
    columns = samples.varied
    return Success(
        criterion, share, bounds, effects.against(columns, held[used], confidence), worst.without_success(samples),
        held[used],
    )  # fmt: skip


def _maps(
    samples: Samples, axes: list[tuple[str, str]], felt: Sequence[Sensitivity], success: Success | None,
    hard: Load | None,
) -> tuple[Map, ...]:  # fmt: skip
    if int(samples.used.sum()) < effects.LEAST:
        return ()
    names = [x.name for x in samples.varied]
    chosen = axes
    if not axes:
        wanted = [effects.split(text) for text, needs in _words(samples.found, "maps") if {*needs} <= {*names}]
        chosen = wanted + effects.pairs(felt, hard.name if hard else "", names, wanted)
    held = success.held if success else None
    load = samples.table[hard.name][samples.used].astype(float) if hard else None
    share = hard.share if hard else 0.5
    return tuple(
        effects.table_over(effects.axis(samples, x), effects.axis(samples, y), held, load, share) for x, y in chosen
    )
