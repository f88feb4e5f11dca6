"""`report`: what a sweep tells, as one HTML file.

Exit codes: 0 the file is written (whatever it says); 1 folder, results or file are at fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from linkwork.commands import tell
from linkwork.commands.options import Json
from linkwork.display.sweep_words import summary, verdict
from linkwork.sweeping.findings import Estimated, Findings, Sample
from linkwork.sweeping.report import report

PAGE = "report.html"


@dataclass(frozen=True)
class Order:
    """What was asked for on the command line."""

    folder: Path
    out: Path | None = None
    maps: tuple[str, ...] = ()
    load: str | None = None
    share: float = 0.95
    confidence: float = 0.95


def command(
    folder: Path,
    /,
    *,
    out: Path | None = None,
    map: Annotated[
        list[str] | None, Parameter(negative="", help="Two inputs, e.g. 'offset, closing'; again for more.")
    ] = None,
    load: str | None = None,
    share: float = 0.95,
    confidence: float = 0.95,
    json: Json = False,
) -> int:
    """What the sweep in FOLDER tells: success, loads, what matters, worst samples, and why to believe it.

    Parameters
    ----------
    out
        The HTML file; without it report.html in the folder.
    load
        The recorded number that tells how hard a sample was; without it the first force.
    share
        The quantile of the load that maps show.
    confidence
        Of all intervals.
    """
    return run(Order(folder, out, tuple(map or ()), load, share, confidence), json)


def run(order: Order, as_json: bool) -> int:
    path = order.out or order.folder / PAGE
    options: dict[str, Any] = {"maps": order.maps, "load": order.load, "share": order.share}
    found = report(order.folder, path, **options, confidence=order.confidence)
    if as_json:
        tell.as_json({"ok": True, "page": str(path), **facts(found)})
        return 0
    first_lines(found)
    print(f"written to {path}")
    return 0


def first_lines(found: Findings) -> None:
    """What is asked first, and the answers."""
    for asked, told in [*summary(found), ("Is it to be believed?", verdict(found)[1])]:
        print(tell.readable(f"{asked:<24}{told}"))


def facts(found: Findings) -> dict[str, Any]:
    """Everything that is a number or a word, in SI."""
    about, success, load = found.about, found.success, found.load
    names = [x.name for x in about.inputs]

    def one(s: Sample) -> dict[str, Any]:
        given = dict(zip(names, s.inputs, strict=True))
        return {"sample": s.sample, "value": s.value, "status": s.status, "inputs": given}

    against = {x.name: [_bin(b) for b in x.bins] for x in success.against} if success else {}
    return {
        "summary": dict(summary(found)),
        "verdict": dict(zip(("kind", "text"), verdict(found), strict=True)),
        "plan": about.name, "model": about.model, "design": about.design, "seed": about.seed,
        "samples": about.samples, "wanted": about.wanted, "used": found.used, "failed": found.failed,
        "replay": about.replay, "origin": about.origin, "confidence": about.confidence,
        "statuses": {x.text: {"samples": x.count, "good": x.good, **_told(x.share)} for x in found.statuses},
        "success": {"criterion": success.criterion, **_told(success.share), "bounds": success.bounds,
                    "against": against, "without": [one(s) for s in success.examples]} if success else None,
        "numbers": {x.name: {"unit": x.unit, "samples": x.count, "least": x.least, "greatest": x.greatest,
                    "quantiles": {f"{q:g}": _told(e) for q, e in x.quantiles.items()}} for x in found.numbers},
        "maps": [{"x": m.x, "y": m.y, "x_edges": m.edges[0], "y_edges": m.edges[1], "x_levels": m.levels[0],
                  "y_levels": m.levels[1], "samples": m.count, "success": m.share, "low": m.low, "high": m.high,
                  "load": m.load} for m in found.maps],
        "sensitivity": {s.of: {"how": s.how, "samples": s.samples, "effects": {
                        e.name: dict(zip(MEASURES[s.how], (_told(e.first), _told(e.second)), strict=True))
                        for e in s.effects}} for s in found.sensitivity},
        "load": load.name if load else None,
        "worst": {c.name: {"greatest": [one(s) for s in c.greatest], "least": [one(s) for s in c.least]}
                  for c in ([load.corner] if load else []) + list(found.corners)},
        "failures": [one(s) for s in found.failures],
        "trust": {c.name: {"median": c.median, "99 %": c.most, "greatest": c.largest, "sample": c.worst,
                  "limit": c.limit, "kept": c.fine} for c in found.checks},
    }  # fmt: skip


MEASURES = {"sobol": ("first", "total"), "ranks": ("rank_correlation", "explained")}


def _told(x: Estimated) -> dict[str, Any]:
    return {"value": x.value, "low": x.low, "high": x.high}


def _bin(b: Any) -> dict[str, Any]:
    return {"from": b.low, "to": b.high, "samples": b.share.samples, **_told(b.share)}
