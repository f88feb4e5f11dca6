"""Progress of long work: a bar on a terminal, plain lines elsewhere, silence when it is short."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0  # seconds before anything is shown
EVERY = 5.0  # seconds between plain lines

Report = Callable[..., None]


@contextmanager
def reporter(wanted: bool | Report | None, total: int, what: str = "samples") -> Iterator[Report | None]:
    """A function (done, total) to report to.

    `wanted`: a function of one's own; True: a bar on a terminal, plain lines elsewhere; None: a bar on a
    terminal, nothing elsewhere; False: nothing.
    """
    if callable(wanted):
        yield wanted
    elif wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield None
    elif sys.stderr.isatty():
        with _bar(total, what) as report:
            yield report
    else:
        yield _lines(what)


@contextmanager
def _bar(total: int, what: str) -> Iterator[Report]:
    """A bar; of a single piece of work only the time it has taken can be told."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns: list[ProgressColumn] = [TextColumn("{task.description}")]
    if total > 1:
        columns += [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(elapsed_when_finished=True)]
    else:
        columns += [SpinnerColumn(), TimeElapsedColumn(), TextColumn("Ctrl-C keeps what is done")]
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what if total > 1 else "running", total=total if total > 1 else None)
    began, shown = time.monotonic(), False

    def report(done: float, *_: Any) -> None:
        nonlocal shown
        if not shown and time.monotonic() - began > PATIENCE:
            bar.start()
            shown = True
        if total > 1:
            bar.update(task, completed=done)

    try:
        yield report
    finally:
        if shown:
            bar.stop()


def _lines(what: str) -> Report:
    """One line every few seconds, and a last one if there was any; nothing when all is done at once."""
    began = last = time.monotonic()

    def report(done: float, total: float, *_: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < EVERY and not (done >= total and last > began):
            return
        last, spent = now, now - began
        left = f", about {spent * (total / done - 1):.0f} s left" if 0 < done < total else ""
        print(f"{done:,.0f} of {total:,.0f} {what}, {spent:.0f} s{left}", file=sys.stderr, flush=True)

    return report
