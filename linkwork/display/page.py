"""One HTML file that tells a run to someone who was not there: pictures, statuses, trust, final values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from os import PathLike
from typing import Any

import numpy as np

from linkwork.display import style
from linkwork.display.html import document, number, picture, section, table
from linkwork.display.panels import usual
from linkwork.display.plots import draw, quantiles
from linkwork.export import columns, has_energies, how, replacing, span, trust_rows
from linkwork.result import Result

LISTED = 20  # failures told one by one
ROWS = 200  # rows of final values


def page(
    run: Result,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    model: object = None,
    notes: str | Sequence[str] | None = None,
) -> None:
    """Write one HTML file that needs nothing else: what was run, pictures, statuses, trust, final values.

    `model` is shown as `str(model)`; `notes` are paragraphs of plain text.
    """
    with replacing(path) as part:
        part.write_text(_html(run, title, model, notes), encoding="utf-8")


def _html(run: Result, title: str | None, model: object, notes: str | Sequence[str] | None) -> str:
    heading = title or str(run.provenance.get("model") or "Result of a simulation")
    parts = [
        f"<h1>{escape(heading)}</h1>",
        f'<p class="lead">{escape(" · ".join(x for x in (span(run), how(run)) if x))}</p>',
        _verdict(run),
        *(f"<p>{escape(note)}</p>" for note in ([notes] if isinstance(notes, str) else notes or [])),
        section("Motion", _picture(run, [name for name in usual(run) if name != "energy balance"])),
        section("Energy", _picture(run, ("energy",))) if has_energies(run) else "",
        section("Trust", _trust(run)),
        section("Samples", _samples(run)),
        section("Final values", _final(run)),
        section("What was run", _origin(run.provenance) + _tree(model)),
    ]
    return document(heading, parts)


def _verdict(run: Result) -> str:
    failed, count = int(np.count_nonzero(~run.ok)), len(run.statuses)
    if not failed:
        how = str(run.statuses[0])
        verb = "" if how.startswith(("reached", "stopped")) else "ended with "  # a study's ends are names
        text = f"The run {verb}{how}." if count == 1 else f"None of the {count:,} samples failed."
    elif count == 1:
        text = f"The run failed: {run.statuses[0]}."
    else:
        text = f"{failed:,} of {count:,} samples failed."
    return f'<p class="verdict {"bad" if failed else "good"}">{escape(text)}</p>'


def _picture(run: Result, names: Sequence[str]) -> str:
    figure, note = draw(run, names)
    titles = "; ".join(dict.fromkeys(ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")))
    return picture(figure, f"{titles}. {note}")


def _trust(run: Result) -> str:
    rows = [row for row in trust_rows(run.trust) if row[0] != "samples"]
    return table(("number", "value", "what it means"), rows, (1,))


def _samples(run: Result) -> str:
    text = table(("samples", "how they ended"), [(f"{n:,}", ended) for ended, n in run.statuses.counts().items()], ())
    failed = run.failures()
    if failed:
        rest = [f"… and {len(failed) - LISTED:,} more"] if len(failed) > LISTED else []
        text += "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in failed[:LISTED] + rest) + "</ul>\n"
    return text


def _final(run: Result) -> str:
    """Quantiles of the last values of the samples that did not fail; of one sample start, end and range."""
    many = len(run.statuses) > 1
    head = ("5 %", "25 %", "median", "75 %", "95 %") if many else ("start", "end", "least", "greatest")
    rows, total = [], 0
    for s in run.series.values():
        values = s.flat
        for k, (label, unit) in enumerate(columns(s)):
            total += 1
            if total <= ROWS:
                numbers = _spread(values[:, :, k], run.ok) if many else _range(values[0, :, k])
                rows.append((label, style.unit(unit), *map(number, numbers)))
    if not rows:
        return ""
    text = table(("quantity", "unit", *head), rows, range(2, 2 + len(head)))
    if many:
        text += '<p class="quiet">Quantiles over the samples that did not fail, each at its last time.</p>\n'
    return text + (f'<p class="quiet">{ROWS} of {total} quantities shown.</p>\n' if total > ROWS else "")


def last(values: np.ndarray) -> np.ndarray:
    """The last finite value of each row; NaN where there is none."""
    there = np.isfinite(values)
    at = values.shape[1] - 1 - np.argmax(there[:, ::-1], axis=1)
    return np.where(there.any(axis=1), values[np.arange(len(values)), at], np.nan)


def _spread(values: np.ndarray, ok: np.ndarray) -> np.ndarray:
    return quantiles(last(values[ok])[:, None], (0.05, 0.25, 0.5, 0.75, 0.95))[:, 0]


def _range(row: np.ndarray) -> list[float]:
    seen = row[np.isfinite(row)]
    return [seen[0], seen[-1], seen.min(), seen.max()] if len(seen) else [np.nan] * 4


def _origin(provenance: Mapping[str, Any]) -> str:
    def said(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{k} {said(v)}" for k, v in value.items())
        return ", ".join(map(said, value)) if isinstance(value, (list, tuple)) else str(value)

    rows = [(key, said(value)) for key, value in provenance.items() if value is not None]
    return table((), rows, ()) if rows else ""


def _tree(model: object) -> str:
    return "" if model is None else f"<pre>{escape(str(model))}</pre>\n"
