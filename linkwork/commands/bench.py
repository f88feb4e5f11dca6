"""`bench`: run the benches of the repository one stands in, and tell the ratios."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from linkwork.commands import tell
from linkwork.commands.options import Flag, Json
from linkwork.errors import RunError


def command(*, only: str | None = None, quick: Annotated[bool, Flag] = False, json: Json = False) -> int:
    """How fast, against whom. Runs the benches of the repository you stand in.

    Parameters
    ----------
    only
        Comparisons whose name contains this.
    quick
        Small batches: does it run?
    """
    return bench(only, quick, json)


def bench(only: str | None, quick: bool, as_json: bool) -> int:
    run, table = found("run"), found("table")
    if as_json:
        tell.as_json(run.rows(quick, only))
        return 0
    print(table.machine(), flush=True)
    run.rows(quick, only, lambda rows: print(table.plain(rows), flush=True))
    return 0


def found(module: str) -> Any:
    """A module of the repository's `bench`: where one stands, or beside the package."""
    import linkwork

    for root in (Path.cwd(), Path(linkwork.__file__).resolve().parent.parent):
        if (root / "bench" / "run.py").is_file():
            if str(root) not in sys.path:
                sys.path.insert(0, str(root))
            return import_module(f"bench.{module}")
    raise RunError(
        "there are no benches here: they are part of the repository, not of the installed package",
        fix="clone the repository and run `make bench` in it",
    )
