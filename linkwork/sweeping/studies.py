"""Studies that a plan may name instead of a model: `study: docking`.

A study is whatever `simulation.parted.Runner` describes. What is listed here is made by calling the function named,
with the plan's `options` as keywords.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from linkwork.errors import RunError, nearest
from linkwork.model.yamltree import Node
from linkwork.simulation.parted import Runner

STUDIES: dict[str, str] = {"docking": "linkwork.docking.plan:docking"}
"""Name → "module:function"."""


def refuse_unknown(name: str) -> None:
    """Refuse a name that is not listed."""
    if name not in STUDIES:
        raise RunError(f"there is no study '{name}'", fix=nearest(name, STUDIES))


def study(name: str, options: Node | None) -> Runner:
    """The study of that name, with the options of a plan."""
    given: Any = options.plain() if options is not None else {}
    if given is not None and not isinstance(given, dict):
        raise RunError(f"the options of '{name}' are {given!r}", fix="write options: {name: value}")
    return made(name, given or {})


def made(name: str, options: Mapping[str, Any]) -> Runner:
    """The study of that name."""
    refuse_unknown(name)
    module, _, function = STUDIES[name].partition(":")
    return getattr(import_module(module), function)(**options)
