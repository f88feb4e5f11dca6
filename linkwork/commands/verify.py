"""`verify`: do the formulations agree on this model? One line of verdict, an exit code for machines."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.commands import tell
from linkwork.verify import Agreement, state, verify


def run(
    file: str, options: dict[str, Any], samples: int, seed: int, sample: int | None, peers: list[str],
    tolerance: float | None, html: Path | None, as_json: bool,
) -> int:  # fmt: skip
    model = lw.read(file, **options)
    found = verify(model, samples, seed, peers=peers, tolerance=tolerance, sample=sample)
    if html is not None:
        found.to_html(html)
    again = _again(file, options, found, peers)
    if as_json:
        tell.as_json(facts(found) | {"again": again, "page": None if html is None else str(html)})
        return 0 if found.ok else 1
    if sample is not None:
        _show_state(state(model, seed, sample), model)
    print(found)
    if html is not None:
        print(f"written to {html}")
    if sample is None:
        print(f"the worst state alone: {again}")
    return 0 if found.ok else 1


def facts(found: Agreement) -> dict[str, Any]:
    return {
        "ok": found.ok,
        "verdict": found.verdict,
        "model": found.model,
        "samples": found.samples,
        "seed": found.seed,
        "condition": found.condition,
        "quantities": {
            name: {
                "ways": names,
                "differences": matrix,
                "allowed": found.allowed[name],
                "worst": dict(zip(("difference", "way", "other", "sample"), found.worst[name], strict=True)),
            }
            for name, (names, matrix) in found.differences.items()
        },
        "left_out": found.refused,
        "ledger": found.ledger,
        "notes": found.notes,
    }


def _again(file: str, options: dict[str, Any], found: Agreement, peers: list[str]) -> str:
    """The command that looks at the worst state."""
    worst = max(found.worst, key=lambda n: found.worst[n][0] / found.allowed[n], default=None)
    words = ["linkwork", "verify", file, "--seed", str(found.seed)]
    words += ["--sample", str(found.worst[worst][3] if worst else 0)]
    words += ["--with", ",".join(peers)] if peers else []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{'packages' if name == 'package_dirs' else name}", str(one)]
    return shlex.join(words)


def _show_state(s: dict[str, np.ndarray], model: lw.Model) -> None:
    for word, names in (("q", model.q_names), ("v", model.v_names), ("tau", model.v_names)):
        rows = [(n, f"{x:.17g}") for n, x in zip(names, s[word], strict=True)]
        tell.table(word, ("", ""), rows, (1,))
