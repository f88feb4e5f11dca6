"""How formulations agree, as text and as a page. It only reads what `verify` found."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from linkwork.display.html import bullets, document, paragraph, section, table
from linkwork.export import replacing

WORDS = {
    "v_dot": "accelerations",
    "wrenches": "joint wrenches",
    "base_wrench": "base wrench",
    "M": "mass matrix",
    "energy_rate": "energy rate",
}
LETTERS = {
    "v_dot": "The v_dot of every joint, for given q, v, tau and external wrenches",
    "wrenches": "Force and moment in every joint, on its body, body origin and axes",
    "base_wrench": "Force and moment of the mechanism on the world, at its origin",
    "M": "Joint-space mass matrix, rotors included",
    "energy_rate": "Rate of kinetic and gravity energy; relative to the joint forces' powers where larger",
}
ILL = 1e6
"""Condition from which on it is told: solving leaves ten digits or less."""
STYLE = """<style>
.shares td { text-align: right; padding: .28rem .6rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.shares thead th { text-align: right; font-weight: 500; padding: .28rem .6rem; vertical-align: bottom; }
.shares tbody th { padding-right: .9rem; white-space: nowrap; min-width: 0; }
td.in { background: #e9f5f0; } td.out { background: #fbd9c8; font-weight: 600; } td.same { background: #f5f7f9; }
</style>"""


def as_text(found: Any) -> str:
    """Tables for a terminal: one for each quantity, then what did not take part, notes and the verdict."""
    states = f"{found.samples} random states" if found.samples > 1 else "one state"
    lines = [f"{found.model}: largest relative differences on {states}, seed {found.seed}", ""]
    for quantity, each in found.quantities.items():
        lines += [
            f"{WORDS[quantity]} (worst in state {each.worst.sample}, allowed there {each.worst.allowed:.1e})",
            *_grid(each),
            "",
        ]
    lines += [f"{element}: {'; '.join(grouped(words))}" for element, words in found.ledger.items() if _matters(words)]
    lines += [f"left out  {name}: {why}" for name, why in found.refused.items()]
    lines += [f"note      {note}" for note in found.notes]
    if found.condition > ILL:
        lines.append(
            f"note      condition of the mass matrix up to {found.condition:.1e}: so many digits are not there"
        )
    return "\n".join([*lines, found.verdict])


def _grid(each: Any) -> list[str]:
    """A triangle; columns are told by the numbers of the rows. `!` marks what is more than its state allows."""
    labels = [f"{k} {name}" for k, name in enumerate(each.names, 1)]
    width = max(map(len, labels))
    rows = [
        f"  {label:<{width}}" + "".join(f"  {each.largest[k, j]:>7.1e}{_mark(each, k, j)}" for k in range(j))
        for j, label in enumerate(labels)
    ]
    return ["  " + " " * width + "".join(f"  {k:>7} " for k in range(1, len(labels))).rstrip(), *map(str.rstrip, rows)]


def _mark(each: Any, k: int, j: int) -> str:
    return " " if each.shares[k, j] <= 1 else "!"


def _matters(words: Mapping[str, str]) -> bool:
    return set(words.values()) != {"exact"}


def grouped(words: Mapping[str, str]) -> list[str]:
    """Verdicts with the formulations that share them."""
    groups: dict[str, list[str]] = {}
    for name, word in words.items():
        groups.setdefault(word, []).append(name)
    if len(groups) == 1:
        return [f"{next(iter(groups))} (all)"]
    return [f"{word} ({', '.join(names)})" for word, names in groups.items()]


def write_page(found: Any, path: str | Path, again: str = "") -> Path:
    """One self-contained HTML file. `again`: the command that looks at the worst state alone."""
    title = f"{found.model}: do the formulations agree?"
    states = f"{found.samples} random states of seed {found.seed}" if found.samples > 1 else f"seed {found.seed}"
    parts = [
        STYLE,
        f"<h1>{escape(title)}</h1>",
        paragraph(
            f"{states} · {len(found.ways)} ways · condition of the mass matrix up to {found.condition:.1e}", "lead"
        ),
        paragraph(found.verdict, f"verdict {'good' if found.ok else 'bad'}"),
        paragraph(
            "Every way derives the equations by itself, down to the kinematics. A number is the largest difference of "
            "two ways in any of the states, relative to the largest entry of the quantity in its state; wrenches and "
            "mass matrices are counted in the masses and moments of inertia that move there."
        ),
        f"<p>The worst state alone: <code>{escape(again)}</code></p>" if again else "",
    ]
    parts += [section(WORDS[name].capitalize(), _matrix(name, each)) for name, each in found.quantities.items()]
    parts.append(section("What took no part", table(("way", "why"), list(found.refused.items()), ())))
    parts.append(section("What is known", bullets([*found.notes, *_limits(found)])))
    rows = [(element, "; ".join(grouped(words))) for element, words in found.ledger.items()]
    parts.append(section("What the model holds", table(("element", "how it is taken"), rows, ())))
    with replacing(path) as part:
        part.write_text(document(title, parts), encoding="utf-8")
    return Path(path)


def _limits(found: Any) -> list[str]:
    return [
        f"Allowed is a relative difference of 1e-10, and 100 roundings times the condition of the mass matrix in the "
        f"state (its diagonal scaled to 1, here up to {found.condition:.1e}), since solving with it costs so many "
        "digits; of the mass matrix itself 1e-10. More than 1e-6 is never allowed. A tolerance that was given replaces "
        "all of this."
    ]


def _matrix(name: str, each: Any) -> str:
    head = "".join(f"<th>{escape(n)}</th>" for n in ("", *each.names[:-1]))
    rows = []
    for j, way in enumerate(each.names[1:], 1):
        cells = "".join(_cell(each.largest[k, j], each.shares[k, j]) for k in range(j))
        rows.append(f"<tr><th>{escape(way)}</th>{cells}</tr>")
    worst, about = each.worst, LETTERS[name]
    told = (
        f"Worst: {worst.difference:.1e}, {worst.way} and {worst.other}, in state {worst.sample}, "
        f"where {worst.allowed:.1e} is allowed."
    )
    grid = f'<table class="shares"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return paragraph(f"{about}. {told}") + f'<div class="scroll">{grid}</div>\n'


def _cell(value: float, share: float) -> str:
    kind = "same" if value == 0 else "in" if share <= 1 else "out"
    return f'<td class="{kind}">{f"{value:.1e}" if value else "0"}</td>'
