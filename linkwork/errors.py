"""Every error says what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Place:
    """Where something was said: a file and a line, printed as `arm.yaml:31`."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class LinkworkError(Exception):
    """What is wrong; where (a `Place` or text); how to mend it."""

    def __init__(self, what: str, *, where: Place | str | None = None, fix: str | None = None):
        self.what, self.where, self.fix = what, where, fix
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where is not None else ""
        fix = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{place}{self.what}{fix}"


class ModelError(LinkworkError):
    """The description of a mechanism cannot be a mechanism."""


class CompileError(LinkworkError):
    """A graph cannot be made into machine code."""


class RunError(LinkworkError):
    """A computation was asked for that cannot be done, or its input does not fit."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Advice for an unknown name: the closest known ones, else the first few."""
    known = list(known)
    close = get_close_matches(str(name), known, n=3, cutoff=0.6)
    if close:
        return "did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    if not known:
        return "there are none"
    shown = ", ".join(f"'{k}'" for k in known[:8])
    return f"known: {shown}{', …' if len(known) > 8 else ''}"
