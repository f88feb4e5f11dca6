"""Tables of what a sweep tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwork.display.html import bullets, folded, paragraph, table
from linkwork.display.sweep_words import (
    command,
    drawn,
    number,
    quantity,
    share,
    span,
    unit,
)
from linkwork.sweeping.findings import Check, Corner, Effect, Findings, Sample, Sensitivity


def statuses(found: Findings) -> str:
    rows = [
        (
            _meant(row.text, found.about.words.ends),
            f"{row.count:,}",
            share(row.share),
            "" if row.good else "failed",
            command(found, row.first),
        )
        for row in found.statuses
    ]
    return table(("how samples ended", "samples", "share", "", "one of them"), rows, (1, 2), code=(4,))


def _meant(name: str, meanings: Mapping[str, str]) -> str:
    """A name, and what it means in small letters below it."""
    return f"{name}\n{meanings[name]}" if name in meanings else name


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
            (
                _meant(x.name, found.about.words.meanings),
                unit(x.unit),
                f"{x.count:,}",
                number(x.least, x.unit),
                *estimates,
                number(x.greatest, x.unit),
            )
        )
    return table(head, rows, range(2, len(head)))


def _heads(shares: Sequence[float]) -> list[str]:
    return ["median" if q == 0.5 else f"{100 * q:g} %" for q in shares]


def sensitivity(found: Findings, one: Sensitivity) -> str:
    """Effects of all inputs on one number; those that do not stand out of chance say so."""
    heads = (
        ("alone (first order)", "with others (total)") if one.how == "sobol" else ("rank correlation", "explains alone")
    )

    def row(e: Effect) -> tuple[str, ...]:
        told = [f"{_hundredths(x.value)}\n{_hundredths(x.low)} … {_hundredths(x.high)}" for x in (e.first, e.second)]
        return (e.name, *told, "" if e.clear else "not above chance")

    return table(("input", *heads, ""), [row(e) for e in one.effects], (1, 2))


def _hundredths(x: float) -> str:
    return f"{x:.3f}".replace("-", "−") if math.isfinite(x) else "–"


# --- single samples ---
def samples(found: Findings, rows: Sequence[Sample], what: str = "", of: str = "") -> str:
    """Samples with their inputs and the command that runs each again; `what` they are listed for."""
    if not rows:
        return ""
    own, inputs = ((what, of),) if what else (), [(x.name, x.unit) for x in found.about.inputs]
    head = (
        "sample",
        *(f"{n}\n{unit(u)}" for n, u in own),
        "ended",
        *(f"{n}\n{unit(u)}" for n, u in inputs),
        "run it again",
    )
    lines = []
    for row in rows:
        value = (number(row.value, of),) if what else ()
        given = [number(x, u, 3) for (_, u), x in zip(inputs, row.inputs, strict=True)]
        lines.append((str(row.sample), *value, row.status, *given, command(found, row.sample)))
    first = 2 + len(own)
    numeric = [*range(1, 1 + len(own)), *range(first, first + len(inputs))]
    return table(head, lines, numeric, code=(len(head) - 1,), kind="dense")


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
        told = "" if c.limit is None else f"{c.limit:g} at most: " + ("kept" if c.fine else "NOT KEPT")
        values = [number(x, "", 3) for x in (c.median, c.most, c.largest)]
        return (f"{c.name.replace('_', ' ')}\n{c.meaning}", *values, f"{c.worst}", told, command(found, c.worst))

    head = ("number", "median", "99 %", "greatest", "in sample", "this report asks", "run it again")
    refused = (
        "; samples that have no such number are left out"
        if any(c.count < found.about.samples - found.failed for c in found.checks)
        else ""
    )
    text = table(head, [row(c) for c in found.checks], (1, 2, 3, 4), code=(6,)) if found.checks else ""
    return text + bullets(
        [
            f"Over the samples that did not fail{refused}.",
            "These numbers tell how well the equations were solved, not how well the model describes the real thing.",
            "A sample run again gives the numbers of this sweep bit for bit; so does the whole sweep on another "
            "machine with the same versions: compare the SHA-256 of all results below.",
        ]
    )


def inputs(found: Findings) -> str:
    known = found.about.words.meanings
    rows = [(_meant(one.name, known), unit(one.unit) or "–", drawn(one)) for one in found.about.inputs]
    return table(("input", "unit", "how it varies"), rows, ())


def built(found: Findings) -> str:
    """What the study was made of, part by part."""
    rows = [*found.about.words.built.items()]
    return table(("part", "its numbers"), rows, ()) if rows else ""


def origin(found: Findings) -> str:
    about = found.about

    def said(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(
                f"{k} ({said(v)})" if isinstance(v, Mapping) else f"{k} {said(v)}" for k, v in value.items()
            )
        return ", ".join(map(said, value)) if isinstance(value, (list, tuple)) else str(value)

    rows = [(key, said(value)) for key, value in about.origin.items() if value]
    rows.insert(1, ("design", f"{about.design}, seed {about.seed}, {about.samples:,} of {about.wanted:,} samples"))
    return table((), rows, ())
