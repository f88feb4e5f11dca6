"""Next to heyoka: its compiled functions on the very same graph, with the options that suit it best."""

from __future__ import annotations

from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import linkwork as lw
from bench.measure import Case, Row, Settings, Timed, best, difference, row, smallest
from bench.models import kernel, pair
from bench.pinocchio_rows import INPUTS, LOADS, ours, size

MODELS = ("Z1", "G1", "ANYmal", "Talos", "chain 10", "chain 100")
OPTIONS: dict[str, dict[str, Any]] = {
    "512 bits": {"force_avx512": True},
    "default width": {"force_avx512": False},
    "compact": {"force_avx512": True, "compact_mode": True},
}
LONGEST = 12_000
"""Instructions above which only the compact mode is tried: the other takes minutes to build."""


def cases() -> list[Case]:
    return [Case("aba heyoka", name, partial(compare, name)) for name in MODELS]


def compare(name: str, settings: Settings) -> list[Row]:
    """ABA of many samples, both sides with inputs and outputs as they want them: blocks here, rows of samples there."""
    p = pair(name)
    given = {k: x for k, x in p.states(size(settings, 4 * p.ours.nv)).items() if k in INPUTS["aba"]}
    k = kernel(p.ours, lw.aba)
    graph = lw.equations(p.ours, lw.aba).casadi
    variables, results = translated(graph)
    rows = np.ascontiguousarray(np.concatenate([given[key].T for key in INPUTS["aba"]]))
    out = np.empty((p.ours.nv, rows.shape[1]))
    expected, gap = k(**given), 0.0
    things: dict[str, Timed] = ours(partial(kernel, p.ours, lw.aba), given, settings)
    for option, chosen in options(graph, settings).items():
        for n in range(1 if settings.quick or option == "compact" else LOADS):
            compiled = cfunc(results, variables, chosen)
            compiled(rows, outputs=out, batch_parallel=False)
            gap = max(gap, difference(expected, out.T, 1e-6, f"aba of {name} by heyoka"))
            call = partial(compiled, rows, outputs=out, batch_parallel=False)
            things[f"heyoka, {option} {n}"] = (call, rows.shape[1])
    ns = best(things, settings)
    way, theirs = smallest(ns, "heyoka")
    batch_first, blocks = smallest(ns, "ours")[1], smallest(ns, "blocks")[1]
    note = (
        f"{rows.shape[1]} samples; {way}; from NumPy, batch first, ours take {batch_first:.0f} ns; differ by {gap:.0e}"
    )
    return [row("aba, own layouts", name, blocks, "heyoka cfunc", theirs, target=1.3, note=note)]


def options(graph: ca.Function, settings: Settings) -> dict[str, dict[str, Any]]:
    if settings.quick:
        return {"512 bits": OPTIONS["512 bits"]}
    return {k: x for k, x in OPTIONS.items() if k == "compact" or graph.n_instructions() <= LONGEST}


def cfunc(results: list[Any], variables: list[Any], chosen: dict[str, Any]) -> Any:
    """Batch mode as wide as the vectors, fast math, no extra accuracy."""
    import heyoka as hy

    return hy.cfunc(results, variables, fast_math=True, high_accuracy=False, **chosen)


def translated(graph: ca.Function) -> tuple[list[Any], list[Any]]:
    """The instructions of a CasADi function as heyoka expressions: variables, results."""
    import heyoka as hy

    operations = {
        ca.OP_ADD: lambda a, b: a + b,
        ca.OP_SUB: lambda a, b: a - b,
        ca.OP_MUL: lambda a, b: a * b,
        ca.OP_DIV: lambda a, b: a / b,
        ca.OP_NEG: lambda a: -a,
        ca.OP_SQ: lambda a: a * a,
        ca.OP_TWICE: lambda a: a + a,
        ca.OP_INV: lambda a: 1.0 / a,
        ca.OP_SIN: hy.sin,
        ca.OP_COS: hy.cos,
        ca.OP_SQRT: hy.sqrt,
        ca.OP_ASSIGN: lambda a: a,
    }
    unary = {ca.OP_NEG, ca.OP_SQ, ca.OP_TWICE, ca.OP_INV, ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_ASSIGN}
    names = [[f"{graph.name_in(k)}_{i}" for i in range(graph.numel_in(k))] for k in range(graph.n_in())]
    inputs = [list(hy.make_vars(*some)) if len(some) > 1 else [hy.make_vars(*some)] for some in names]
    work: dict[int, Any] = {}
    results: list[Any] = [hy.expression(0.0)] * graph.numel_out(0)
    for k in range(graph.n_instructions()):
        code, out, args = graph.instruction_id(k), graph.instruction_output(k), graph.instruction_input(k)
        if code == ca.OP_CONST:
            work[out[0]] = hy.expression(graph.instruction_constant(k))
        elif code == ca.OP_INPUT:
            work[out[0]] = inputs[args[0]][args[1]]
        elif code == ca.OP_OUTPUT:
            results[out[1]] = work[args[0]]
        else:
            work[out[0]] = operations[code](*[work[a] for a in args[: 1 if code in unary else 2]])
    return [x for some in inputs for x in some], results
