"""Pieces of a page that needs nothing else: one look, sections, tables, pictures inside. All text is escaped here."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from linkwork.display import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CSS = """
:root { color: #1b1f24; background: #fff; color-scheme: light;
  font: 16px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, sans-serif; }
body { max-width: 66rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
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
code { background: #f2f4f6; padding: .05em .3em; border-radius: .2rem; font-size: .86em; }
details { margin: .5rem 0; } summary { cursor: pointer; } td code { white-space: nowrap; }
small { color: #57606a; font-weight: 400; }
table.dense { font-size: .74rem; } .dense th, .dense td { padding: .25rem .4rem .25rem 0; white-space: nowrap; }
.dense tbody th { min-width: 0; }
dl { margin: 1rem 0; max-width: 52rem; } dt { font-weight: 600; float: left; clear: left; width: 13rem; }
dd { margin: 0 0 .45rem 13rem; overflow-wrap: anywhere; }
.care { background: #fdf5e0; border-color: #e69f00; }
@media (max-width: 40rem) { dt { float: none; width: auto; } dd { margin-left: 0; }
  body { padding: 1rem .9rem 3rem; } h1 { font-size: 1.35rem; }
  figure { overflow-x: auto; } img { min-width: 34rem; } }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } h2 { break-after: avoid; }
  figure, tr, .verdict { break-inside: avoid; } pre { white-space: pre-wrap; }
  .scroll, figure { overflow: visible; } img { min-width: 0; } }
"""
# Nothing is fetched and no script runs, whatever a name or a note may hold.
GUARD = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LARGE = 1_500_000  # bytes from which a picture is kept as pixels


def document(heading: str, parts: Sequence[str]) -> str:
    """The whole file; `parts` are HTML."""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{GUARD}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(heading)}</title><style>{CSS}</style>"
    )
    body = "\n".join(filter(None, parts))
    return f'<!doctype html>\n<html lang="en">\n<head>{head}</head>\n<body>\n{body}\n</body>\n</html>\n'


def section(heading: str, inside: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>\n{inside}</section>" if inside else ""


def paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>\n' if kind else f"<p>{escape(text)}</p>\n"


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int],
    code: Sequence[int] = (),
    kind: str = "",
) -> str:
    """A table whose first column names the rows; columns `numbers` are set to the right, `code` as to be typed.

    What stands in a second line of a cell is set small; `kind` "dense" makes room for many columns.
    """

    def cell(tag: str, k: int, text: str) -> str:
        side = ' class="number"' if k in numbers else ""
        above, _, below = text.partition("\n")
        inside = f"<code>{escape(above)}</code>" if k in code and tag == "td" and above else escape(above)
        inside += f"<br><small>{escape(below)}</small>" if below else ""
        return f"<{tag}{side}>{inside}</{tag}>"

    top = "".join(cell("th", k, text) for k, text in enumerate(head))
    body = "\n".join(
        "<tr>" + "".join(cell("td" if k else "th", k, text) for k, text in enumerate(row)) + "</tr>" for row in rows
    )
    head_row = f"<thead><tr>{top}</tr></thead>" if head else ""
    look = f' class="{kind}"' if kind else ""
    return f'<div class="scroll"><table{look}>{head_row}<tbody>\n{body}\n</tbody></table></div>\n'


def answers(rows: Sequence[tuple[str, str]]) -> str:
    """Questions, each with its answer beside it."""
    inside = "\n".join(f"<dt>{escape(asked)}</dt><dd>{escape(told)}</dd>" for asked, told in rows)
    return f"<dl>\n{inside}\n</dl>\n"


def heading(text: str) -> str:
    return f"<h1>{escape(text)}</h1>"


def bullets(lines: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>\n" if lines else ""


def folded(summary: str, inside: str) -> str:
    """What is shown when its heading is clicked."""
    return f"<details><summary>{escape(summary)}</summary>\n{inside}</details>\n"


def picture(figure: Figure, about: str) -> str:
    """The picture as an image inside the page: lines when that is small, else pixels."""
    kind, data = "svg+xml", _drawn(figure, "svg")
    if len(data) > LARGE:
        kind, data = "png", _drawn(figure, "png")
    code = base64.b64encode(data).decode()
    alt = escape(about.replace(r"\$", "$"))
    return f'<figure><img src="data:image/{kind};base64,{code}" alt="{alt}"></figure>\n'


def _drawn(figure: Figure, ending: str) -> bytes:
    data = BytesIO()
    style.write(figure, data, ending)
    return data.getvalue()


def number(value: float) -> str:
    return f"{value + 0.0:.4g}".replace("-", "−") if np.isfinite(value) else "–"
