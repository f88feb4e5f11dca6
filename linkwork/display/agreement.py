"""How formulations agree, as text and as a page. It only reads what `verify` found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

WORDS = {
    "v_dot": "accelerations",
    "wrenches": "joint wrenches",
    "base_wrench": "base wrench",
    "M": "mass matrix",
    "energy_rate": "energy rate",
}


def as_text(found: Any) -> str:
    """Tables for a terminal: one for each quantity, then what did not take part, notes and the verdict."""
    lines = [f"largest relative differences on {found.samples} random states, seed {found.seed}", ""]
    for quantity, (names, matrix) in found.differences.items():
        lines += [f"{WORDS[quantity]} (allowed {found.allowed[quantity]:.1e})", *_grid(names, matrix), ""]
    for element, words in found.ledger.items():
        if len(set(words.values())) > 1 or "stored, not enforced" in words.values():
            lines.append(f"{element}: " + "; ".join(_grouped(words)))
    lines += [f"left out  {name}: {why}" for name, why in found.refused.items()]
    lines += [f"note      {note}" for note in found.notes]
    return "\n".join([*lines, found.verdict])


def _grid(names: Sequence[str], matrix: Any) -> list[str]:
    """A triangle; columns are told by the numbers of the rows."""
    labels = [f"{k} {name}" for k, name in enumerate(names, 1)]
    width = max(map(len, labels))
    rows = [f"{b:<{width}}" + "".join(f"  {matrix[k, j]:>7.1e}" for k in range(j)) for j, b in enumerate(labels)]
    return [" " * width + "".join(f"  {k:>7}" for k in range(1, len(names))), *rows]


def _grouped(words: Mapping[str, str]) -> list[str]:
    """Verdicts with the formulations that share them."""
    groups: dict[str, list[str]] = {}
    for name, word in words.items():
        groups.setdefault(word, []).append(name)
    if len(groups) == 1:
        return [f"{next(iter(groups))} by all"]
    return [f"{word} by {', '.join(names)}" for word, names in groups.items()]


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #1a1a1a }
table { border-collapse: collapse; margin: .5em 0 1.5em } td, th { padding: .25em .7em; text-align: right }
th { font-weight: 600; color: #444 } td:first-child, th:first-child { text-align: left }
tr + tr td { border-top: 1px solid #e3e3e3 } .ok { background: #eaf5ea } .off { background: #fbe3e0 }
.verdict { font-size: 1.15em; padding: .6em .9em; border-left: 5px solid } p.ok { border-color: #2c7a39 }
p.off { border-color: #b3261e } .left td { text-align: left } code { background: #f2f2f2; padding: .1em .3em }
"""


def write_page(found: Any, path: str | Path) -> Path:
    """One self-contained HTML file."""
    kind = "ok" if found.ok else "off"
    parts = [f"<p class='verdict {kind}'>{escape(found.verdict)}</p>"]
    parts.append(
        f"<p>{found.samples} random states of seed {found.seed}. Each number is the largest difference of two ways, "
        "relative to the largest entry of the quantity in its state. Every way has its own kinematics.</p>"
    )
    for quantity, (names, matrix) in found.differences.items():
        head = "".join(f"<th>{escape(n)}</th>" for n in ("", *names[:-1]))
        rows = ""
        for j, name in enumerate(names[1:], 1):
            cells = "".join(_cell(matrix[k, j], found.allowed[quantity]) for k in range(j))
            rows += f"<tr><td>{escape(name)}</td>{cells}</tr>"
        parts.append(f"<h2>{WORDS[quantity]}</h2><p>allowed {found.allowed[quantity]:.1e}</p>")
        parts.append(f"<table><tr>{head}</tr>{rows}</table>")
    parts.append("<h2>What the model holds</h2><table class='left'>")
    for element, words in found.ledger.items():
        parts.append(f"<tr><td>{escape(element)}</td><td>{escape('; '.join(_grouped(words)))}</td></tr>")
    parts.append("</table>")
    said = [f"<b>{escape(n)}</b> took no part: {escape(why)}" for n, why in found.refused.items()]
    said += [escape(note) for note in found.notes]
    said.append(
        f"Condition of the mass matrix, its diagonal scaled to 1: {found.condition:.1e}. Solving with it takes so many "
        "digits; 1e-10 and 1,000 roundings times this are allowed."
    )
    parts.append("<h2>Notes</h2><ul>" + "".join(f"<li>{text}</li>" for text in said) + "</ul>")
    title = f"{escape(found.model)}: do the formulations agree?"
    page = (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
        f"<style>{STYLE}</style></head><body><h1>{title}</h1>{''.join(parts)}</body></html>\n"
    )
    path = Path(path)
    path.write_text(page, encoding="utf-8")
    return path


def _cell(value: float, allowed: float) -> str:
    return f"<td class='{'ok' if value <= allowed else 'off'}'>{value:.1e}</td>"
