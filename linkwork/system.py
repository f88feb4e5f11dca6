"""The bridge between what a mechanism is and numbers: model + formulation → Equations → Kernel.

The only file that knows both halves. Tracing replaces every declared parameter of the model by a symbol and calls the
formulation once; the formulation never knows.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from linkwork.compiler.kernel import Kernel, Port, compile_function
from linkwork.compiler.rolled import RolledFunction
from linkwork.dynamics import forces as own_forces
from linkwork.dynamics.aba import aba
from linkwork.dynamics.crba import forward
from linkwork.dynamics.formulation import Formulation
from linkwork.dynamics.long import LONG
from linkwork.dynamics.rolled import Rolled, rolled
from linkwork.dynamics.slopes import slopes
from linkwork.errors import ModelError, nearest
from linkwork.model.lump import lumped
from linkwork.model.model import Model
from linkwork.traced import Equations, Slopes, memory_of, recall

SX = ca.SX


# --- tracing ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Trace:
    """A model with symbols in place of its parameters, and symbols for its state."""

    model: Model
    q: SX
    v: SX
    t: SX
    parameters: Mapping[str, SX]
    defaults: Mapping[str, float] = field(default_factory=dict)


def trace(model: Model) -> Trace:
    symbols = {name: SX.sym(name) for name in model.parameters}
    defaults = {name: float(model.values[name]) for name in model.parameters}
    traced = model.replace(symbols) if symbols else model
    return Trace(traced, SX.sym("q", model.nq), SX.sym("v", model.nv), SX.sym("t"), symbols, defaults)


def _per(rows: str, names: str, units: str) -> Callable[[Model], tuple[Any, ...]]:
    return lambda m: (getattr(m, names), getattr(m, units), None, (getattr(m, rows),))


_Q, _V, _TAU = (
    _per(*x) for x in (("nq", "q_names", "q_units"), ("nv", "v_names", "v_units"), ("nv", "v_names", "tau_units"))
)
INPUTS: dict[str, Callable[[Model], tuple[Any, ...]]] = {
    "q": _Q,
    "v": _V,
    "tau": _TAU,
    "v_dot": lambda m: (m.v_names, tuple(f"{u}^2" for u in m.v_units), None, (m.nv,)),
    "dt": lambda m: ((), ("s",), None, ()),
    "q0": _Q,
    "q1": _Q,
    "f_ext": lambda m: (tuple(b.name for b in m.bodies[1:]), (), None, (len(m.bodies) - 1, 6)),
    "t": lambda m: ((), ("s",), np.array(0.0), ()),
}
"""Every input a formulation may ask for, by name: components, units, default, shape."""


def input_port(model: Model, name: str) -> Port:
    return Port(name, *INPUTS[name](model))


PAIRS = 300
"""Bodies above which formulations with a term for each pair of joints are not unrolled unasked: it takes 10 s there."""


def equations(
    model: Model,
    formulation: Formulation,
    *,
    forces: bool = False,
    external: bool = False,
    give: Iterable[str] = (),
    unroll: bool | None = None,
    **fixed: Any,
) -> Equations:
    """Trace one formulation over one model.

    Inputs are what the formulation takes (q, v, tau, v_dot …), the time when a joint's motion is prescribed, and every
    declared parameter of the model. `tau` is the whole generalised force; with `forces=True` the model's own forces
    (joint springs, damping, friction, laws) are added to it. With `external=True` there is an input `f_ext`
    (bodies × 6): wrenches [force; moment] at each body's origin in its axes. What else the formulation takes is given
    by keyword, for example `equations(model, jacobian, frame="tool")`. A formulation that can give several quantities
    (`formulation.gives`) returns those named by `give`: `equations(model, kane_graph, give=["v_dot", "M"])`.

    Recursive formulations of long models (over 150 bodies) stay loops over tables, whose build time does not depend on
    the length; `unroll` decides otherwise.
    """
    if not isinstance(model, Model) or not callable(formulation):
        text = f"equations() takes a Model and a formulation, not {_said(model)} and {_said(formulation)}"
        raise ModelError(text, fix='equations(lw.read("arm.yaml"), lw.aba)')
    if give:
        formulation = _giving(formulation, [give] if isinstance(give, str) else give)
    if unroll is None and len(model.tree) > PAIRS and getattr(formulation, "by_pairs", False):
        much = f"has a term for each pair of joints, too many to unroll for {len(model.tree)} bodies"
        text = f"'{formulation.__name__}' {much}"
        raise ModelError(text, fix="lw.aba and lw.rnea run in loops over tables; unroll=True unrolls all the same")
    if unroll is None:
        unroll = len(model.tree) <= LONG or getattr(formulation, "sweeps", None) is None
    if not unroll:
        return _rolled(model, formulation, forces or external or bool(fixed))
    memory = memory_of(model, formulation, {**fixed, "forces": forces, "external": external})

    @cache
    def traced() -> Equations:
        return _traced(model, formulation, forces, external, fixed)

    def shorter(output: str, wrt: Sequence[str]) -> list[SX] | None:
        found = traced().slopes
        return None if found is None else found(output, wrt)

    return recall(memory, lambda: traced()._graph, shorter) or replace(traced(), memory=memory)


def _traced(
    model: Model, formulation: Formulation, forces: bool, external: bool, fixed: Mapping[str, Any]
) -> Equations:
    tr = trace(model)
    arguments: dict[str, Any] = dict(fixed)
    symbols: dict[str, SX] = {}
    wanted = inspect.signature(formulation).parameters
    if unknown := [k for k in fixed if k not in wanted]:
        raise ModelError(f"'{formulation.__name__}' takes no '{unknown[0]}'", fix=nearest(unknown[0], list(wanted)[1:]))
    if external and "f_ext" not in wanted:
        raise ModelError(f"'{formulation.__name__}' takes no external wrenches", fix="leave external out")
    for name in list(wanted)[1:]:
        skip = (name == "t" and not (model.is_moved or forces)) or (name == "f_ext" and not external)
        if name in fixed or skip:
            continue
        if name in INPUTS:
            port = input_port(model, name)
            state = {"q": tr.q, "v": tr.v, "t": tr.t}
            symbols[name] = state.get(name) if name in state else SX.sym(name, *(port.shape or (1,)))  # type: ignore[assignment]
        elif wanted[name].default is inspect.Parameter.empty:
            raise ModelError(
                f"'{formulation.__name__}' needs '{name}'",
                fix=f"equations(model, {formulation.__name__}, {name}=…)",
            )
    arguments.update(symbols)
    if forces:
        results = _with_forces(tr, formulation, arguments, wanted)
    else:
        results = formulation(tr.model, **arguments)
    names = getattr(formulation, "returns", (formulation.__name__,))
    results = results if isinstance(results, tuple) else (results,)
    results = tuple(_expression(formulation, x) for x in results)
    outputs = [_output_port(model, name, x) for name, x in zip(names, results, strict=True)]
    found = _assemble(f"{model.name}_{formulation.__name__}", tr, symbols, outputs, results, forces)
    return replace(found, slopes=_slopes(tr, formulation, arguments, results[0], found))


def _slopes(
    tr: Trace, formulation: Formulation, arguments: Mapping[str, Any], v_dot: SX, made: Equations
) -> Slopes | None:
    """Derivatives of forward dynamics need not differentiate its elimination; see `dynamics/slopes.py`."""
    f_ext = arguments.get("f_ext")
    if formulation not in (aba, forward) or (f_ext is not None and ca.depends_on(f_ext, ca.vertcat(tr.q, tr.v))):
        return None

    def shorter(output: str, wrt: Sequence[str]) -> list[SX] | None:
        if output != "v_dot":
            return None
        symbols = dict(zip((p.name for p in made.inputs), made.symbols, strict=True))
        return slopes(tr.model, **arguments, v_dot=v_dot, wrt=[symbols[name] for name in wrt])

    return shorter


def _said(thing: Any) -> str:
    return getattr(thing, "__name__", type(thing).__name__)


def _expression(formulation: Formulation, x: Any) -> SX:
    try:
        return x if isinstance(x, SX) else SX(x)
    except (NotImplementedError, TypeError):
        fix = "return a CasADi expression, or a tuple of them"
        raise ModelError(f"'{formulation.__name__}' returned {type(x).__name__}", fix=fix) from None


def _giving(formulation: Formulation, names: Iterable[str]) -> Formulation:
    if not hasattr(formulation, "giving"):
        returned = ", ".join(getattr(formulation, "returns", ()))
        raise ModelError(f"'{formulation.__name__}' gives only {returned or 'its result'}", fix="leave `give` out")
    return formulation.giving(*names)  # type: ignore[attr-defined]


def _rolled(model: Model, formulation: Formulation, more: bool) -> Equations:
    if more or model.parameters:
        raise ModelError(
            f"'{model.name}' has {len(model.tree)} bodies and is run in loops over tables, "
            "which take no own forces, wrenches or parameters here",
            fix="leave them out, or equations(…, unroll=True), which takes long to build",
        )
    if getattr(formulation, "sweeps", None) is None:
        raise ModelError(f"'{formulation.__name__}' is not made of sweeps", fix="unroll=True")
    names = [n for n in inspect.signature(formulation).parameters if n in ("q", "v", "tau", "v_dot")]
    inputs = {n: "q" if n == "q" else "v" for n in names}
    outputs = {n: "v" for n in formulation.returns}  # type: ignore[attr-defined]
    short = lumped(model)
    data = rolled(short, formulation.__name__, formulation.sweeps, formulation.root(short), inputs, outputs)  # type: ignore[attr-defined]
    lengths = {"q": model.nq, "v": model.nv}
    function = rolled_function(
        data, {n: lengths[by] for n, by in inputs.items()}, {n: lengths[by] for n, by in outputs.items()}
    )
    return Equations(
        f"{model.name}_{formulation.__name__}",
        tuple(input_port(model, n) for n in inputs),
        tuple(input_port(model, n) for n in outputs),
        lambda: ((), ()),
        rolled=function,
    )


def rolled_function(
    data: Rolled,
    inputs: Mapping[str, int],
    outputs: Mapping[str, int],
    places: Mapping[str, tuple[str, int]] | None = None,
) -> RolledFunction:
    """Sweeps as a function of arguments: one for each name, or at `places`: name → (argument, first row)."""
    where = {n: (*(places or {}).get(n, (n, 0)), by) for n, by in data.by.items()}
    return RolledFunction(
        data.name, tuple(inputs.items()), tuple(outputs.items()), where, data.steps, data.inward,
        data.areas, data.slots, data.root, dict(data.kept), data.bodies, data.table,
    )  # fmt: skip


def _with_forces(tr: Trace, formulation: Formulation, arguments: dict[str, Any], wanted: Mapping[str, Any]) -> Any:
    if "tau" not in wanted and "v_dot" not in wanted:
        raise ModelError(f"'{formulation.__name__}' has no joint forces to add to", fix="leave forces out")
    tau, wrenches = own_forces.totals(tr.model, own_forces.applied(tr.model, tr.q, tr.v, tr.t))
    if wrenches is not None:
        given = arguments.get("f_ext")
        arguments["f_ext"] = wrenches if given is None else given + wrenches
    if "tau" in wanted:
        arguments["tau"] = arguments["tau"] + tau
        return formulation(tr.model, **arguments)
    results = formulation(tr.model, **arguments)
    return results - tau if getattr(formulation, "returns", ()) == ("tau",) else results


SHAPES: dict[str, Callable[[Model], tuple[int, ...]]] = {
    "M": lambda m: (m.nv, m.nv),
    "J": lambda m: (6, m.nv),
    **dict.fromkeys(("h", "tau_gravity", "dv"), lambda m: (m.nv,)),
}
"""Outputs that keep their axes where there is one freedom."""


def _output_port(model: Model, name: str, x: SX) -> Port:
    if name in INPUTS and (port := input_port(model, name)).shape == (x.shape[0],):
        return port
    if name in SHAPES and math.prod(shape := SHAPES[name](model)) == x.numel():
        return Port(name, shape=shape)
    shape = () if x.shape == (1, 1) else (x.shape[0],) if x.shape[1] == 1 else x.shape
    return Port(name, shape=shape)


def _assemble(
    name: str,
    tr: Trace,
    symbols: dict[str, SX],
    outputs: list[Port],
    results: tuple[SX, ...],
    forces: bool,
) -> Equations:
    everything = ca.veccat(*results)
    free = {s.name() for s in ca.symvar(everything)}
    notes = []
    for parameter in tr.parameters:
        word = parameter.rpartition(".")[2]
        if parameter in symbols or parameter in ("out", "threads"):
            raise ModelError(f"parameter '{parameter}' has the name of an input", fix="give the constant another name")
        if (
            parameter not in free
            and not forces
            and word in ("damping", "friction", "stiffness", "rest", "friction_speed")
        ):
            notes.append(f"parameter '{parameter}' has no effect here: own forces are left out (forces=True adds them)")
    if not ({"t"} & free) and "t" in symbols:
        symbols = {k: x for k, x in symbols.items() if k != "t"}
    ports = [input_port(tr.model, k) for k in symbols]
    ports += [Port(k, default=np.array(tr.defaults[k]), shape=()) for k in tr.parameters]
    graph = (*symbols.values(), *tr.parameters.values()), tuple(ca.densify(x) for x in results)
    return Equations(name, tuple(ports), tuple(outputs), lambda: graph, tuple(notes))


# --- compiling ------------------------------------------------------------------------------------------
def compile(
    equations: Equations, *, free: Iterable[str] | None = None, lanes: int | None = None, cache: bool = True
) -> Kernel:
    """Machine code for traced equations.

    free: the parameters that stay inputs of the kernel (default: all that were declared); the others are folded in
    at their values. lanes: samples per vector (default: as the machine has them).
    """
    if not isinstance(equations, Equations):
        raise ModelError(
            f"compile() takes Equations, not {type(equations).__name__}", fix="compile(equations(model, aba))"
        )
    if free is not None:
        equations = equations.bound(free)
    graph = equations.lowerable if cache else equations.rolled or equations.casadi
    return compile_function(graph, equations.inputs, equations.outputs, lanes=lanes, cache=cache)


def function(model: Model, formulation: Formulation, **options: Any) -> Callable[..., Any]:
    """Equations and kernel in one: `lw.function(model, lw.crba)(q=Q)`."""
    return compile(equations(model, formulation, **options))
