"""All comparisons: `python -m bench.run [--quick] [--json] [--only NAME] [--readme] [--list]`."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from typing import Any

from bench import children, docking_rows, formulation_rows, heyoka_rows, mujoco_rows, pinocchio_rows, thread_rows
from bench.measure import Case, Row, Settings, Wrong, skipped
from bench.table import machine, plain, write_csv, write_readme

SUBJECTS = (pinocchio_rows, heyoka_rows, mujoco_rows, docking_rows, children, thread_rows, formulation_rows)


def cases(only: str | None = None) -> list[Case]:
    """The comparisons whose name, `aba.Z1` for example, contains `only`."""
    found = [case for subject in SUBJECTS for case in subject.cases()]
    return [case for case in found if only is None or only.lower() in case.name.lower()]


def rows(
    quick: bool = False, only: str | None = None, tell: Callable[[list[Row]], None] | None = None
) -> list[dict[str, Any]]:
    """Run the comparisons: `{bench, model, ours_ns, peer, peer_ns, ratio}` and, where they apply, target, met, note.

    A comparison that cannot be made, because a peer is missing or the answers differ, is a row of NaN with the reason
    as its note.
    """
    found: list[Row] = []
    for case in cases(only):
        try:
            some = case.run(Settings(quick))
        except ImportError as error:
            some = [skipped(case.bench, case.model, f"not installed: {error.name}")]
        except Wrong as error:
            some = [skipped(case.bench, case.model, f"not timed: {error}")]
        except Exception as error:
            some = [skipped(case.bench, case.model, f"failed: {type(error).__name__}: {error}")]
        found += some
        if tell is not None:
            tell(some)
    return found


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small batches, few repeats: does it run?")
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    parser.add_argument("--only", metavar="NAME", help="comparisons whose name contains NAME")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    parser.add_argument("--list", action="store_true", help="print the names of the comparisons")
    asked = parser.parse_args(words)
    if asked.list:
        print("\n".join(case.name for case in cases(asked.only)))
        return 0
    if not asked.json:
        print(machine(), flush=True)
    found = rows(asked.quick, asked.only, None if asked.json else lambda some: print(plain(some), flush=True))
    if asked.json:
        clean = [{k: None if isinstance(x, float) and not math.isfinite(x) else x for k, x in r.items()} for r in found]
        json.dump(clean, sys.stdout, indent=1)
        print()
    if not asked.quick and asked.only is None:
        write_csv(found)
    if asked.readme:
        write_readme(found)
    missed = [r for r in found if not r.get("met", True) or not math.isfinite(r["ratio"])]
    if not asked.json:
        print(f"{len(found)} rows, {len(missed)} missed or not measured")
    return 0


if __name__ == "__main__":
    sys.exit(main())
