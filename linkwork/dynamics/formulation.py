"""What makes a function of a model a formulation: it says how its results are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Formulation = Callable[..., Any]


def returns(*names: str) -> Callable[[Formulation], Formulation]:
    """Name the result (or the results, when the function returns a tuple) of a formulation."""

    def mark(function: Formulation) -> Formulation:
        function.returns = names  # type: ignore[attr-defined]
        return function

    return mark
