"""Words, tables and JSON on stdout."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwork.errors import LinkworkError, Place

if TYPE_CHECKING:
    from rich.console import Console

WIDE = 160  # columns where nobody looks at a screen


def console() -> Console:
    """Where tables go; text is taken as it is, whatever brackets a name may hold."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else WIDE
    return Console(width=width, markup=False, highlight=False, emoji=False, soft_wrap=False)


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> None:
    """A table; columns `numbers` are set to the right. Nothing when there are no rows."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_header=any(head))
    for k, text in enumerate(head):
        made.add_column(text, justify="right" if k in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    if made.row_count:
        out = console()
        out.print(Text(title, "bold"))
        out.print(made)
        out.print()


def as_json(value: Any) -> None:
    """One JSON document; what JSON has no number for (NaN, ∞) becomes null."""
    print(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(x) for k, x in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) else str(value)


def error(error: LinkworkError) -> dict[str, Any]:
    place = error.where if isinstance(error.where, Place) else None
    return {
        "kind": type(error).__name__,
        "what": error.what,
        "file": place.file if place else None,
        "line": place.line if place else None,
        "where": None if error.where is None else str(error.where),
        "fix": error.fix,
    }


def readable(text: str) -> str:
    """The same text without characters that would steer a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def number(value: Any, digits: int = 6) -> str:
    return f"{float(value):.{digits}g}"


def numbers(values: Iterable[Any], digits: int = 4) -> str:
    return ", ".join(number(x, digits) for x in values)
