"""How a sample passes from one model to another: poses, momentum, and parameters that follow from its state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from linkwork.compiler.kernel import Kernel, compile_function
from linkwork.compiler.ports import Port
from linkwork.driven import System
from linkwork.dynamics.forces import State
from linkwork.dynamics.transfer import misfits, transfer

SX = ca.SX
Measure = Callable[[State], Any]


@dataclass(frozen=True)
class Pass:
    """To which phase a sample goes, and what goes with it beside poses and momentum.

    `carry`: parameters of the next model ← functions of the state at the event. `frames`: poses (R, r) of massless
    bodies that only the next model has. `speeds` (state) → v replaces the speeds before they are handed on, for
    example by those after an impact. A sample of which a body would jump by more than `within` [m, rad], because the
    next model has no freedom for where it is, ends there and is told.
    """

    to: str
    carry: Mapping[str, Measure] = field(default_factory=dict)
    frames: Mapping[str, Callable[[State], tuple[Any, Any]]] = field(default_factory=dict)
    speeds: Callable[[State], Any] | None = None
    within: float = 1e-6


@dataclass(frozen=True)
class Handover:
    """Machine code of a passage: (t, q, v, p) → q, v of the next model and what is carried, in one column.

    p are the parameters of the model before, then `more`: those that only the next one has. Below them, for each of
    `bodies`, how far it would jump and turn.
    """

    kernel: Kernel
    more: tuple[str, ...]
    bodies: tuple[str, ...]


def handing_over(before: System, after: System, way: Pass) -> Handover:
    """Trace and compile a passage."""
    tr = before.trace
    state = State(tr.model, tr.q, tr.v, tr.t)
    v = tr.v if way.speeds is None else SX(way.speeds(state))
    carried = {name: SX(f(state)) for name, f in way.carry.items()}
    own = dict(tr.parameters)
    more = {n: SX.sym(n) for n in after.model.parameters if n not in own and n not in carried}
    known = {**{n: x for n, x in own.items() if n in after.model.parameters}, **more, **carried}
    new = after.model.replace(known) if known else after.model
    frames = {name: tuple(map(SX, f(state))) for name, f in way.frames.items()}
    q_new, v_new = transfer(tr.model, tr.q, v, new, frames, tr.t)  # type: ignore[arg-type]
    jumps = misfits(tr.model, tr.q, new, q_new, tr.t)
    everything = ca.densify(ca.vertcat(q_new, v_new, *carried.values(), *jumps.values()))
    symbols = ca.vertcat(*own.values(), *more.values(), SX.sym("none"))
    f = ca.Function("hand_over", [tr.t, tr.q, tr.v, symbols], [everything], ["t", "q", "v", "p"], ["y"], {"cse": True})
    shapes = {"t": (), "q": (tr.q.numel(),), "v": (tr.v.numel(),), "p": (symbols.numel(),)}
    kernel = compile_function(
        f, [Port(k, shape=s) for k, s in shapes.items()], [Port("y", shape=(everything.numel(),))]
    )
    return Handover(kernel, tuple(more), tuple(jumps))
