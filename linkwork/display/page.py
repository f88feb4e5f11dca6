"""One HTML file that tells a run to someone who was not there: pictures, statuses, trust, final values."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape
from io import BytesIO
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.display import style
from linkwork.display.panels import usual
from linkwork.display.plots import draw, quantiles
from linkwork.export import columns, has_energies, how, replacing, span, trust_rows
from linkwork.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CSS = """
:root { color: #1b1f24; background: #fff; color-scheme: light;
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, sans-serif; }
body { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; padding-bottom: .3rem; border-bottom: 1px solid #d9dde2; }
p { margin: .4rem 0; max-width: 46rem; overflow-wrap: anywhere; }
.lead { color: #57606a; }
.verdict { display: inline-block; margin: .9rem 0 0; padding: .3rem .7rem; border-radius: .3rem;
  border-left: .3rem solid; }
.good { background: #e9f5f0; border-color: #009e73; }
.bad { background: #fbece3; border-color: #d55e00; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .32rem .9rem .32rem 0;
  border-bottom: 1px solid #e7eaee; }
thead th { border-bottom: 2px solid #c9ced4; white-space: nowrap; }
th { font-weight: 600; }
tbody th { font-weight: 500; overflow-wrap: anywhere; min-width: 7rem; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td.unit, .quiet { color: #57606a; }
pre { background: #f5f7f9; padding: .8rem 1rem; overflow-x: auto; font-size: .82rem; line-height: 1.4; }
figure { margin: 1.2rem 0; }
img { display: block; width: 100%; height: auto; }
ul { padding-left: 1.2rem; }
@media (max-width: 40rem) { body { padding: 1rem .9rem 3rem; } h1 { font-size: 1.35rem; }
  figure { overflow-x: auto; } img { min-width: 34rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } h2 { break-after: avoid; }
  figure, tr, .verdict { break-inside: avoid; } pre { white-space: pre-wrap; }
  .scroll, figure { overflow: visible; } img { min-width: 0; } }
"""
# Nothing is fetched and no script runs, whatever a name or a note may hold.
GUARD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LISTED = 20  # failures told one by one
ROWS = 200  # rows of final values
LARGE = 1_500_000  # bytes from which a picture is kept as pixels


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
        _section("Motion", _picture(run, [name for name in usual(run) if name != "energy balance"])),
        _section("Energy", _picture(run, ("energy",))) if has_energies(run) else "",
        _section("Trust", _trust(run)),
        _section("Samples", _samples(run)),
        _section("Final values", _final(run)),
        _section("What was run", _origin(run.provenance) + _tree(model)),
    ]
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{GUARD}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{CSS}</style>"
    )
    body = "\n".join(filter(None, parts))
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def _section(heading: str, inside: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>\n{inside}</section>" if inside else ""


def _verdict(run: Result) -> str:
    failed, count = int(np.count_nonzero(~run.ok)), len(run.statuses)
    if not failed:
        text = f"The run {run.statuses[0]}." if count == 1 else f"None of the {count:,} samples failed."
    elif count == 1:
        text = f"The run failed: {run.statuses[0]}."
    else:
        text = f"{failed:,} of {count:,} samples failed."
    return f'<p class="verdict {"bad" if failed else "good"}">{escape(text)}</p>'


def _picture(run: Result, names: Sequence[str]) -> str:
    """The picture as an image inside the page: lines when that is small, else pixels."""
    figure, note = draw(run, names)
    kind, data = "svg+xml", _drawn(figure, "svg")
    if len(data) > LARGE:
        kind, data = "png", _drawn(figure, "png")
    code = base64.b64encode(data).decode()
    titles = "; ".join(dict.fromkeys(ax.get_title(loc="left") for ax in figure.axes if ax.get_title(loc="left")))
    about = escape(f"{titles}. {note}".replace(r"\$", "$"))
    return f'<figure><img src="data:image/{kind};base64,{code}" alt="{about}"></figure>\n'


def _drawn(figure: Figure, ending: str) -> bytes:
    data = BytesIO()
    style.write(figure, data, ending)
    return data.getvalue()


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> str:
    """A table whose first column names the rows and whose columns `numbers` are set to the right."""

    def cell(tag: str, k: int, text: str) -> str:
        kind = ' class="number"' if k in numbers else ""
        return f"<{tag}{kind}>{escape(text)}</{tag}>"

    top = "".join(cell("th", k, text) for k, text in enumerate(head))
    body = "\n".join(
        "<tr>" + "".join(cell("td" if k else "th", k, text) for k, text in enumerate(row)) + "</tr>" for row in rows
    )
    head_row = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f'<div class="scroll"><table>{head_row}<tbody>\n{body}\n</tbody></table></div>\n'


def _trust(run: Result) -> str:
    rows = [row for row in trust_rows(run.trust) if row[0] != "samples"]
    return _table(("number", "value", "what it means"), rows, (1,))


def _samples(run: Result) -> str:
    text = _table(("samples", "how they ended"), [(f"{n:,}", ended) for ended, n in run.statuses.counts().items()], ())
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
                rows.append((label, style.unit(unit), *map(_number, numbers)))
    if not rows:
        return ""
    text = _table(("quantity", "unit", *head), rows, range(2, 2 + len(head)))
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


def _number(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "−") if np.isfinite(value) else "–"


def _origin(provenance: Mapping[str, Any]) -> str:
    def said(value: Any) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{k} {said(v)}" for k, v in value.items())
        return ", ".join(map(said, value)) if isinstance(value, (list, tuple)) else str(value)

    rows = [(key, said(value)) for key, value in provenance.items() if value is not None]
    return _table((), rows, ()) if rows else ""


def _tree(model: object) -> str:
    return "" if model is None else f"<pre>{escape(str(model))}</pre>\n"
