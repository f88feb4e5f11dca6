"""What makes a function of a model a formulation: it says how its results are called.

Quantities that several formulations give, and what they mean in all of them:

    v_dot         (nv)          joint accelerations
    wrenches      (bodies × 6)  of each joint on its body, drive included: [force; moment], body origin and axes
    base_wrench   (6)           of the mechanism on the world: at the world's origin, world axes
    M             (nv × nv)     joint-space mass matrix, rotor inertias included
    energy_rate                 rate of the kinetic and gravity energy of bodies and rotors [W]

`tau` is the whole joint force: Sᵀ wrench = tau − rotor inertia · v_dot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from linkwork.errors import ModelError, RunError, nearest

if TYPE_CHECKING:
    from linkwork.dynamics.sweeps import Results, Sweep
    from linkwork.model.model import Model
    from linkwork.spatial import SX

Formulation = Callable[..., Any]
SHAPES: dict[str, Callable[[Model], tuple[int, int]]] = {
    "v_dot": lambda model: (model.nv, 1),
    "wrenches": lambda model: (len(model.bodies) - 1, 6),
    "base_wrench": lambda model: (6, 1),
    "M": lambda model: (model.nv, model.nv),
    "energy_rate": lambda model: (1, 1),
}


def returns(
    *names: str,
    sweeps: Sequence[Sweep] | None = None,
    root: Callable[[Model], Results] | None = None,
    by_pairs: bool = False,
) -> Callable[[Formulation], Formulation]:
    """Name the result (or the results, when the function returns a tuple) of a formulation.

    With `sweeps` and what the world's body offers to them, a long model can be run in loops over tables; the results
    are then results of the sweeps, one value for each speed. `by_pairs`: its graph grows with pairs of joints.
    """

    def mark(function: Formulation) -> Formulation:
        function.returns = names  # type: ignore[attr-defined]
        function.sweeps, function.root = sweeps, root  # type: ignore[attr-defined]
        function.by_pairs = by_pairs  # type: ignore[attr-defined]
        return function

    return mark


def gives(
    *names: str,
    refuses: Mapping[str, str] | None = None,
    approximates: Mapping[str, str] | None = None,
    by_pairs: bool = False,
) -> Callable[[Formulation], Formulation]:
    """Make a formulation of a function that returns a dictionary with these quantities, "v_dot" first among them.

    The formulation returns v_dot alone; `formulation.giving("v_dot", "M")` is one that returns more. `refuses`: element
    of a model (see `ledger.ELEMENTS`) → why this formulation cannot take it; it is refused by name before running.
    `approximates`: option of this formulation, as it is called → what is left out with it.
    """

    def mark(solve: Formulation) -> Formulation:
        def giving(*wanted: str) -> Formulation:
            for name in wanted:
                if name not in names:
                    raise ModelError(f"'{solve.__name__}' gives no '{name}'", fix=nearest(name, names))

            @wraps(solve)
            def chosen(
                model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None, **more: Any
            ) -> Any:
                from linkwork.dynamics.ledger import refuse

                refuse(chosen, model)
                found = solve(model, q, v, tau, f_ext, t, **more)
                results = tuple(found[name] for name in wanted)
                for name, x in zip(wanted, results, strict=True):
                    _check_shape(solve.__name__, name, x, model)
                return results if len(results) != 1 else results[0]

            chosen.returns, chosen.sweeps = wanted, None  # type: ignore[attr-defined]
            chosen.gives, chosen.giving, chosen.refuses = names, giving, dict(refuses or {})  # type: ignore[attr-defined]
            chosen.approximates, chosen.by_pairs = dict(approximates or {}), by_pairs  # type: ignore[attr-defined]
            return chosen

        return giving("v_dot")

    return mark


def _check_shape(formulation: str, name: str, x: Any, model: Model) -> None:
    """Results are compared entry by entry: a transposed or flattened one must not pass for the right one."""
    promised = SHAPES[name](model) if name in SHAPES else x.shape
    if x.shape != promised and (x.numel() or 0 not in promised):
        found, right = (" × ".join(map(str, shape)) for shape in (x.shape, promised))
        raise ModelError(
            f"'{formulation}' gives '{name}' as {found}, not {right}",
            fix="return what linkwork/dynamics/formulation.py promises of this quantity",
        )


def accelerations_of(formulation: Any) -> None:
    """Raise RunError for what is no formulation of accelerations alone. A user's own function is taken at its word."""
    fix = "give a formulation of v_dot: lw.aba, lw.forward, lw.separate_bodies, lw.kane_graph …"
    if not callable(formulation):
        raise RunError(f"formulation {formulation!r} is no function", fix=fix)
    if not hasattr(formulation, "__name__"):
        own = "def mine(model, q, v, tau, f_ext=None, t=None): return …"
        raise RunError(f"formulation {type(formulation).__name__}(…) has no name", fix=f"write a function: {own}")
    name, returned = formulation.__name__, getattr(formulation, "returns", ("v_dot",))
    if returned != ("v_dot",):
        raise RunError(f"'{name}' gives {', '.join(returned)}, not accelerations alone", fix=fix)
