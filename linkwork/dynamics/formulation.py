"""What makes a function of a model a formulation: it says how its results are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwork.dynamics.sweeps import Results, Sweep
    from linkwork.model.model import Model

Formulation = Callable[..., Any]


def returns(
    *names: str, sweeps: Sequence[Sweep] | None = None, root: Callable[[Model], Results] | None = None
) -> Callable[[Formulation], Formulation]:
    """Name the result (or the results, when the function returns a tuple) of a formulation.

    With `sweeps` and what the world's body offers to them, a long model can be run in loops over tables; the results
    are then results of the sweeps, one value for each speed.
    """

    def mark(function: Formulation) -> Formulation:
        function.returns = names  # type: ignore[attr-defined]
        function.sweeps, function.root = sweeps, root  # type: ignore[attr-defined]
        return function

    return mark
