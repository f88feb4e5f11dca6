"""Progress of long work: a bar on a terminal, plain lines elsewhere, silence when it is short."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 1.0  # seconds before anything is shown
EVERY = 5.0  # seconds between plain lines


@contextmanager
def reporter(
    wanted: bool | Callable[..., None] | None, total: int, what: str = "samples"
) -> Iterator[Callable[..., None] | None]:
    """A function (done, total) to report to. `wanted`: a function of one's own, True, False, or None: where it helps."""
    if callable(wanted):
        yield wanted
        return
    if wanted is False:
        yield None
        return
    if sys.stderr.isatty():
        yield from _bar(total, what, wanted is True)
        return
    if wanted:
        yield _lines(what)
        return
    yield None


def _bar(total: int, what: str, at_once: bool) -> Iterator[Callable[..., None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from rich.console import Console

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task, began, shown = bar.add_task(what, total=total), time.monotonic(), False

    def report(done: float, *_: Any) -> None:
        nonlocal shown
        if not shown and (at_once or time.monotonic() - began > PATIENCE):
            bar.start()
            shown = True
        bar.update(task, completed=done)

    try:
        yield report
    finally:
        if shown:
            bar.stop()


def _lines(what: str) -> Callable[..., None]:
    began = last = time.monotonic()

    def report(done: float, total: float, *_: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= EVERY or done >= total:
            last = now
            print(f"{what}: {done:.0f} of {total:.0f}, {now - began:.0f} s", file=sys.stderr, flush=True)

    return report
