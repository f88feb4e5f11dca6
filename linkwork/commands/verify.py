"""`verify`: do the formulations agree on this model? One line of verdict, an exit code for machines."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

import linkwork as lw
from linkwork.commands import tell
from linkwork.commands.options import Base, Fixed, Json, Packages, Whole, for_reading
from linkwork.display.agreement import write_page
from linkwork.errors import RunError
from linkwork.verify import verify
from linkwork.verifying.agreement import Agreement
from linkwork.verifying.states import State, States


def command(
    file: str,
    /,
    *,
    samples: Whole = 100,
    seed: Whole = 0,
    sample: Whole | None = None,
    with_: Annotated[str, Parameter(name="--with", help="Other packages too: pinocchio, mujoco.")] = "",
    tolerance: float | None = None,
    html: Path | None = None,
    base: Base = None,
    fixed: Fixed = None,
    packages: Packages = None,
    json: Json = False,
) -> int:
    """Do all formulations give the same accelerations, wrenches, mass matrix and energy rate for FILE?

    Parameters
    ----------
    samples
        How many random states.
    seed
        State i is what (seed, i) gives.
    sample
        This state alone, shown with its numbers.
    tolerance
        Largest relative difference; by default 1e-10, and more for an ill-conditioned mass matrix.
    html
        Write the matrices of differences as a page.
    """
    peers = [name.strip() for name in with_.split(",") if name.strip()]
    return run(file, for_reading(base, fixed, packages), samples, seed, sample, peers, tolerance, html, json)


def run(
    file: str, options: dict[str, Any], samples: int, seed: int, sample: int | None, peers: list[str],
    tolerance: float | None, html: Path | None, as_json: bool,
) -> int:  # fmt: skip
    if html is not None and html.is_dir():
        raise RunError(f"--html '{html}' is a folder", fix="name a file in it")
    if html is not None and not html.parent.is_dir():
        raise RunError(f"--html '{html}': there is no folder '{html.parent}'", fix="make it first")
    model = lw.read(file, **options)
    found = verify(
        model, samples, seed, peers=peers, tolerance=tolerance, sample=sample, progress=False if as_json else True
    )
    again = _again(file, options, found, peers, tolerance)
    if html is not None:
        write_page(found, html, again)
    if as_json:
        tell.as_json(facts(found) | {"again": again, "page": None if html is None else str(html)})
        return 0 if found.ok else 1
    if sample is not None:
        _show_state(States(model, seed)[sample], model)
    print(found)
    if html is not None:
        print(f"written to {html}")
    if sample is None and again:
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
                "ways": each.names,
                "differences": each.largest,
                "worst": each.worst._asdict(),
            }
            for name, each in found.quantities.items()
        },
        "left_out": found.refused,
        "ledger": found.ledger,
        "notes": found.notes,
    }


def _again(file: str, options: dict[str, Any], found: Agreement, peers: list[str], tolerance: float | None) -> str:
    """The command that looks at the worst state alone; it finds the same differences."""
    if found.first is None:
        return ""
    words = ["linkwork", "verify", file, "--seed", str(found.seed), "--sample", str(found.first[1].sample)]
    words += ["--with", ",".join(peers)] if peers else []
    words += ["--tolerance", repr(tolerance)] if tolerance is not None else []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{'packages' if name == 'package_dirs' else name}", str(one)]
    return shlex.join(words)


def _show_state(s: State, model: lw.Model) -> None:
    for word, names in (("q", model.q_names), ("v", model.v_names), ("tau", model.v_names)):
        rows = [(n, f"{x:.17g}") for n, x in zip(names, s[word], strict=True)]
        tell.table(word, ("", ""), rows, (1,))
    bodies = [b.name for b in model.bodies[1:]]
    rows = [(n, *(f"{x:.9g}" for x in f)) for n, f in zip(bodies, s["f_ext"], strict=True)]
    tell.table("external wrenches", ("", "x", "y", "z", "mx", "my", "mz"), rows, range(1, 7))
    if model.is_moved:
        print(f"t = {s['t'][0]:.17g} s\n")
