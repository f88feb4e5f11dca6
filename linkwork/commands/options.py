"""Options that several commands have, and what they become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token

Base = Annotated[Literal["fixed", "free"] | None, Parameter(help="URDF: root link welded to the world, or floating.")]
Fixed = Annotated[Literal["keep", "merge"] | None, Parameter(help="URDF: keep fixed joints, or merge what they join.")]
Packages = Annotated[
    list[Path] | None, Parameter(negative="", help="URDF: a folder in which package:// is looked for.")
]
Json = Annotated[bool, Parameter(negative="", show_default=False, help="Print JSON, for a machine.")]
Flag = Parameter(negative="", show_default=False)


def whole(kind: Any, tokens: Sequence[Token]) -> int:
    """A whole number, and no part of one left away."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a whole number") from None


Whole = Annotated[int, Parameter(converter=whole)]


def for_reading(base: str | None, fixed: str | None, packages: list[Path] | None) -> dict[str, Any]:
    """What `lw.read` is told besides the file."""
    given = {"base": base, "fixed": fixed, "package_dirs": packages}
    return {k: x for k, x in given.items() if x is not None}
