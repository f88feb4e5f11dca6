"""How far a sweep has come: samples, rate, time left. One line, rewritten on a terminal, else told now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

PATIENCE, OFTEN, SELDOM = 0.5, 0.2, 5.0


class Progress:
    """`at(done)` is told how many samples there are of all; those there at the beginning do not count for the rate.

    `whole`: samples of whole parts.
    """

    def __init__(self, wanted: bool | Callable[..., None] | None, total: int):
        terminal = sys.stderr.isatty()
        self.tell = wanted if callable(wanted) else None
        self.lines = wanted is True and not terminal
        self.bar = (wanted is True or wanted is None) and terminal and self.tell is None
        self.total, self.first, self.whole, self.shown = total, -1, 0, False
        self.began = self.last = time.monotonic()

    def at(self, done: int) -> None:
        if self.tell is not None:
            self.tell(done, self.total)
        now = time.monotonic()
        if self.first < 0:
            self.first, self.began = done, now
        if not (self.bar or self.lines) or now - self.began < PATIENCE:
            return
        if now - self.last < (OFTEN if self.bar else SELDOM) and done < self.total:
            return
        self.last = now
        text = line(done - self.first, done, self.total, now - self.began)
        if self.bar:
            print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)
            self.shown = True
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.shown:
            print(file=sys.stderr)
            self.shown = False


def line(new: int, done: int, total: int, seconds: float) -> str:
    """ "1,536 of 5,000 samples, 214 a second, 16 s left"."""
    text = f"{done:,} of {total:,} samples"
    if new <= 0 or seconds <= 0:
        return text
    rate = new / seconds
    left = f", {duration((total - done) / rate)} left" if done < total else f", {duration(seconds)}"
    return f"{text}, {rate:,.{0 if rate >= 10 else 2}f} a second{left}"


def duration(seconds: float) -> str:
    """Seconds in words: "16 s", "4 min", "2.5 h"."""
    if seconds < 1:
        return f"{seconds:.1g} s"
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )
