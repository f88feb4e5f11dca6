"""Tables of what a sweep tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwork.display.html import bullets, folded, paragraph, table
from linkwork.display.sweep_words import (
    command,
    label,
    matters,
    number,
    percent,
    quantity,
    scale,
    share,
    span,
    unit,
)
from linkwork.sweeping.findings import Check, Corner, Effect, Findings, Sample, Sensitivity


def statuses(found: Findings) -> str:
    rows = [
        (row.text, f"{row.count:,}", share(row.share), "" if row.good else "failed", command(found, row.first))
        for row in found.statuses
    ]
    return table(("how samples ended", "samples", "share", "", "one of them"), rows, (1, 2), code=(4,))


def numbers(found: Findings) -> str:
    """A row for each recorded number: each estimate above its interval."""
    if not found.numbers:
        return ""
    shares = list(found.numbers[0].quantiles)
    head = ("quantity", "unit", "samples", "least", *_heads(shares), "greatest")
    rows = []
    for x in found.numbers:
        estimates = [f"{number(x.quantiles[q].value, x.unit)}\n{span(x.quantiles[q], x.unit)}" for q in shares]
        rows.append(
            (x.name, unit(x.unit), f"{x.count:,}", number(x.least, x.unit), *estimates, number(x.greatest, x.unit))
        )
    return table(head, rows, range(2, len(head)))


def _heads(shares: Sequence[float]) -> list[str]:
    return ["median" if q == 0.5 else f"{100 * q:g} %" for q in shares]


def sensitivity(found: Findings, one: Sensitivity) -> str:
    """Effects of all inputs on one number; those that do not stand out of chance say so."""
    heads = ("alone (first order)", "with others (total)") if one.how == "sobol" else ("rank correlation", "explains alone")

    def row(e: Effect) -> tuple[str, ...]:
        limits = [f"{number(x.low, '', 2)} … {number(x.high, '', 2)}" for x in (e.first, e.second)]
        values = [number(x.value, "", 2) for x in (e.first, e.second)]
        if one.how == "ranks":
            values[1] = percent(max(e.second.value, 0.0)) if math.isfinite(e.second.value) else "–"
            limits[1] = f"{100 * e.second.low:.2g} … {100 * e.second.high:.2g} %"
        return (e.name, values[0], limits[0], values[1], limits[1], "" if matters(e, one.how) else "not above chance")

    head = ("input", heads[0], "interval", heads[1], "interval", "")
    return table(head, [row(e) for e in one.effects], (1, 2, 3, 4))


# --- single samples ---
def samples(found: Findings, rows: Sequence[Sample], what: str = "", of: str = "") -> str:
    """Samples with their inputs and the command that runs each again; `what` they are listed for."""
    if not rows:
        return ""
    own = (label(what, of),) if what else ()
    head = ("sample", *own, "ended", *(label(name, u) for name, u, _ in found.about.inputs), "run it again")
    lines = []
    for row in rows:
        value = (number(row.value, of),) if what else ()
        given = [number(x, u) for (_, u, _), x in zip(found.about.inputs, row.inputs, strict=True)]
        lines.append((str(row.sample), *value, row.status, *given, command(found, row.sample)))
    first = 2 + len(own)
    numeric = [*range(1, 1 + len(own)), *range(first, first + len(found.about.inputs))]
    return table(head, lines, numeric, code=(len(head) - 1,))


def corner(found: Findings, one: Corner, *, fold: bool = True) -> str:
    """Where a number is greatest and where it is least."""
    if not one.greatest:
        return ""
    inside = paragraph("greatest") + samples(found, one.greatest, one.name, one.unit)
    if one.greatest[0].value != one.least[0].value:
        inside += paragraph("least") + samples(found, one.least, one.name, one.unit)
    if not fold:
        return inside
    most, least = one.greatest[0], one.least[0]
    told = (
        f"{one.name}: {quantity(most.value, one.unit)} in sample {most.sample}, "
        f"{quantity(least.value, one.unit)} in sample {least.sample}"
    )
    return folded(told, inside)


def failures(found: Findings) -> str:
    if not found.failed:
        return ""
    rest = found.failed - len(found.failures)
    text = samples(found, found.failures, "time", "s")
    return text + (paragraph(f"… and {rest:,} more.", "quiet") if rest > 0 else "")


# --- trust and origin ---
def checks(found: Findings) -> str:
    def row(c: Check) -> tuple[str, ...]:
        told = "" if c.limit is None else f"at most {c.limit:g}: " + ("kept" if c.fine else "NOT KEPT")
        name, values = c.name.replace("_", " "), [number(x, "", 3) for x in (c.median, c.most, c.largest)]
        return (name, *values, f"{c.worst}", told, c.meaning, command(found, c.worst))

    head = ("number", "median", "99 %", "greatest", "in sample", "this report asks", "what it means", "run it again")
    refused = "; samples that it is not told of are left out" if any(c.count < found.about.samples for c in found.checks) else ""
    text = table(head, [row(c) for c in found.checks], (1, 2, 3, 4), code=(7,)) if found.checks else ""
    return text + bullets(
        [
            f"Over the samples that did not fail{refused}.",
            "These numbers tell how well the equations were solved, not how well the model describes the real thing.",
            "A sample run again gives the numbers of this sweep bit for bit; so does the whole sweep on another machine "
            "with the same versions: compare the SHA-256 of all results below.",
        ]
    )


def drawn(found: Findings) -> str:
    rows = [(name, u or "–", how) for name, u, how in found.about.inputs]
    return table(("input", "unit", "how it varies, in this unit"), rows, ())


def origin(found: Findings) -> str:
    about = found.about

    def said(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{k} {said(v)}" for k, v in value.items())
        return str(value)

    rows = [(key, said(value)) for key, value in about.origin.items() if value]
    rows.insert(1, ("design", f"{about.design}, seed {about.seed}, {about.samples:,} of {about.wanted:,} samples"))
    return table((), rows, ())


__all__ = ["checks", "corner", "drawn", "failures", "numbers", "origin", "samples", "scale", "sensitivity", "statuses"]
