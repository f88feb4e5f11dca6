"""Next to Pinocchio: dynamics of many samples, of one sample, derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import linkwork as lw
from bench.measure import Case, Row, Settings, Timed, best, difference, row, skipped, smallest
from bench.models import Pair, chain, kernel, pair
from linkwork.dynamics.kinematics import q_dot

MODELS = ("Z1", "G1", "ANYmal", "Talos", "chain 10", "chain 100", "chain 1000")
CACHE = 1 << 19
"""Bytes that inputs and outputs of a batch may have: half of a second-level cache. The pool has its best size."""
POOL_BATCHES = (64, 256, 1024)
INPUTS = {"aba": ("q", "v", "tau"), "rnea": ("q", "v", "v_dot"), "crba": ("q",)}
LOADS = 3
"""How often our machine code is loaded anew, to lie elsewhere in memory."""
FORMULATIONS = {"aba": lw.aba, "rnea": lw.rnea, "crba": lw.crba}
TARGETS = {"aba": {"call": 35, "pool": 25}, "rnea": {"call": 15, "pool": None}, "crba": {"call": 15}}


def cases() -> list[Case]:
    found = [Case(bench, name, partial(batch, bench, name)) for bench in INPUTS for name in MODELS]
    found += [Case("aba one sample", name, partial(single, name)) for name in ("Z1", "G1")]
    return found + [Case("derivatives", name, partial(derivatives, name)) for name in MODELS[:5]]


# --- ours -------------------------------------------------------------------------------------------------------------
def ours(load: Callable[[], Any], given: dict[str, np.ndarray], settings: Settings) -> dict[str, Timed]:
    """Our two ways to evaluate many samples, one thread: NumPy arrays batch first, and blocks.

    The same machine code is a fifth slower, seldom half as fast, where its pages lie badly in the second-level cache:
    it is loaded several times, and the best counts, as with all disturbances.
    """
    samples, things = len(given["q"]), dict[str, Timed]()
    for n in range(1 if settings.quick else LOADS):
        k = load()
        things[f"ours {n}"] = (k.bind(**given, threads=1), samples)
        if hasattr(k, "blocks"):
            things[f"blocks {n}"] = (k.bind_blocks(**k.pack(**given), threads=1), samples)
    return things


def told(ns: Mapping[str, float]) -> tuple[float, str]:
    """Our best time, and what to say of blocks."""
    known = any(key.startswith("blocks") for key in ns)
    return smallest(ns, "ours")[1], f"; blocks {smallest(ns, 'blocks')[1]:.0f} ns" if known else ""


def size(settings: Settings, numbers: int) -> int:
    """Samples of a batch with so many numbers each, in and out: a power of two that the cache holds, 64 at least."""
    return 64 if settings.quick else 1 << max(6, (CACHE // (8 * numbers)).bit_length() - 1)


# --- theirs -----------------------------------------------------------------------------------------------------------
def calls(p: Pair, bench: str, given: dict[str, np.ndarray]) -> dict[str, Callable[[], Any]]:
    """Pinocchio called from Python for one sample after the other, in each convention it offers."""
    import pinocchio as pin

    data = p.there.createData()
    samples = list(zip(*(list(p.moved(given[k], k)) for k in INPUTS[bench]), strict=True))
    function = {"aba": pin.aba, "rnea": pin.rnea, "crba": pin.crba}[bench]
    conventions = () if bench == "rnea" else (pin.Convention.LOCAL, pin.Convention.WORLD)

    def loop() -> None:
        model = p.there
        for sample in samples:
            function(model, data, *sample)

    def loop_in(convention: Any) -> None:
        model = p.there
        for sample in samples:
            function(model, data, *sample, convention)

    return {"call": loop, **{f"call {c}": partial(loop_in, c) for c in conventions}}


def pools(p: Pair, bench: str, settings: Settings) -> dict[str, Timed]:
    """Pinocchio's own batched functions with one thread, for several sizes of batch.

    Columns are samples, each column's numbers side by side; the output is preallocated.
    """
    import pinocchio as pin

    function = {"aba": pin.abaInParallel, "rnea": pin.rneaInParallel}.get(bench)
    if function is None:
        return {}
    pool, found = pin.ModelPool(p.there, 1), dict[str, Timed]()
    for n in POOL_BATCHES[:1] if settings.quick else POOL_BATCHES:
        given = p.states(n)
        arrays = [np.asfortranarray(p.moved(given[k], k).T) for k in INPUTS[bench]]
        out = np.zeros((p.there.nv, n), order="F")
        function(1, pool, *arrays, out)
        few = {k: x[:4] for k, x in given.items()}
        pooled = out.T[:4][:, np.argsort(p.orders[1])]
        difference(pooled, answers(p, bench, few), 1e-9, f"{bench} of {p.name} in the pool")
        found[f"pool of {n}"] = (partial(function, 1, pool, *arrays, out), n)
    return found


def answers(p: Pair, bench: str, given: dict[str, np.ndarray]) -> np.ndarray:
    """Pinocchio's answers in our order."""
    import pinocchio as pin

    data, back = p.there.createData(), np.argsort(p.orders[1])
    samples = zip(*(p.moved(given[k], k) for k in INPUTS[bench]), strict=True)
    if bench == "crba":
        full = [pin.crba(p.there, data, *s) for s in samples]
        whole = np.array([np.triu(M) + np.triu(M, 1).T for M in full])
        return whole[:, back][:, :, back]
    function = {"aba": pin.aba, "rnea": pin.rnea}[bench]
    return np.array([function(p.there, data, *s) for s in samples])[:, back]


# --- comparisons ------------------------------------------------------------------------------------------------------
def batch(bench: str, name: str, settings: Settings) -> list[Row]:
    """Many samples, one thread each: against calls from Python, and against the pool where there is one."""
    if bench == "crba" and name == "chain 1000":
        why = "crba has no loops over tables, and half a million pairs of joints are not unrolled"
        return [skipped(bench, name, why)]
    if name == "chain 1000":
        return extended(bench, name, settings)
    p = pair(name)
    numbers = len(INPUTS[bench]) * p.ours.nv + p.ours.nv ** (2 if bench == "crba" else 1)
    every = p.states(size(settings, numbers))
    given = {k: every[k] for k in INPUTS[bench]}
    k = kernel(p.ours, FORMULATIONS[bench])
    few = {key: x[:32] for key, x in given.items()}
    gap = difference(k(**few), answers(p, bench, few), 1e-9, f"{bench} of {name}")
    some, things = 64, ours(partial(kernel, p.ours, FORMULATIONS[bench]), given, settings)
    things |= {
        key: (f, min(some, len(given["q"])))
        for key, f in calls(p, bench, {key: x[:some] for key, x in given.items()}).items()
    }
    things |= pools(p, bench, settings)
    ns = best(things, settings)
    mine, blocks = told(ns)
    note = f"batch of {len(given['q'])}{blocks}; answers differ by {gap:.0e}"
    rows = []
    for peer, text in (("call", "Pinocchio, Python call"), ("pool", "Pinocchio, pool")):
        if any(key.startswith(peer) for key in ns):
            way, theirs = smallest(ns, peer)
            said = f"{note}; {way}" if peer == "pool" else note
            rows.append(row(bench, name, mine, text, theirs, target=TARGETS[bench][peer], note=said))
    return rows


def extended(bench: str, name: str, settings: Settings) -> list[Row]:
    """A chain too long for Pinocchio, whose data hold tensors of joints³: next to its chain of 200, in proportion.

    The answers are checked against our own inverse; that of rnea is ill-conditioned.
    """
    short, links = pair("chain 200"), int(name.split()[1])
    p = Pair(name, chain(links), None)
    given = {k: p.states(64)[k] for k in INPUTS[bench]}
    back = {"aba": "rnea", "rnea": "aba"}[bench]
    here, there = kernel(p.ours, FORMULATIONS[bench]), kernel(p.ours, FORMULATIONS[back])
    few = {k: x[:8] for k, x in given.items()}
    target, result = INPUTS[bench][2], INPUTS[back][2]
    again = there(q=few["q"], v=few["v"], **{result: here(**few)})
    gap = difference(again, few[target], 1e-6 if bench == "aba" else 1e-4, f"{back} of {bench} of {name}")
    some = short.states(16)
    things = ours(partial(kernel, p.ours, FORMULATIONS[bench]), given, settings) | pools(short, bench, settings)
    things |= {key: (f, 16) for key, f in calls(short, bench, {k: some[k] for k in INPUTS[bench]}).items()}
    ns, rows = best(things, settings), []
    for peer, text in (("call", "Python call"), ("pool", "pool")):
        theirs = smallest(ns, peer)[1] * links / 200
        note = f"batch of 64; {back} undoes it to {gap:.0e}; Pinocchio cannot hold it: 5 × its chain of 200"
        rows.append(row(bench, name, told(ns)[0], f"Pinocchio, {text}", theirs, target=TARGETS[bench][peer], note=note))
    return rows


def single(name: str, settings: Settings) -> list[Row]:
    """One sample, called from Python: bound once, and as a plain call."""
    import pinocchio as pin

    p = pair(name)
    given = {k: x[0] for k, x in p.states(1).items() if k != "v_dot"}
    there = [p.moved(given[k][None], k)[0] for k in INPUTS["aba"]]
    k, data = kernel(p.ours, lw.aba), p.there.createData()
    bound, back = k.bind(**given), np.argsort(p.orders[1])
    gap = difference(bound(), pin.aba(p.there, data, *there)[back], 1e-9, f"aba of {name}")
    things: dict[str, Timed] = {
        "bound": (bound, 1),
        "plain": (partial(k, **given), 1),
        "call": (partial(pin.aba, p.there, data, *there), 1),
        "call world": (partial(pin.aba, p.there, data, *there, pin.Convention.WORLD), 1),
    }
    ns = best(things, settings)
    theirs, note = smallest(ns, "call")[1], f"answers differ by {gap:.0e}"
    target = 1.0 if name == "Z1" else None
    return [
        row("aba one sample, bound", name, ns["bound"], "Pinocchio, Python call", theirs, target=target, note=note),
        row("aba one sample, call", name, ns["plain"], "Pinocchio, Python call", theirs, target=target, note=note),
    ]


def derivatives(name: str, settings: Settings) -> list[Row]:
    """∂ABA/∂(q, v) of many samples. Ours are by the coordinates, Pinocchio's by the tangent; the check translates."""
    import pinocchio as pin

    p = pair(name)
    numbers = 3 * p.ours.nv + 2 * p.ours.nv**2
    given = {k: x for k, x in p.states(size(settings, numbers)).items() if k != "v_dot"}
    asked = lw.equations(p.ours, lw.aba).jacobian("v_dot", ["q", "v"]).only("d_v_dot_d_q", "d_v_dot_d_v")
    k, data, back = lw.compile(asked), p.there.createData(), np.argsort(p.orders[1])
    samples = list(zip(*(list(p.moved(given[key], key)) for key in INPUTS["aba"]), strict=True))
    few = {key: x[:8] for key, x in given.items()}
    found = k(**few)
    by_q = np.array([Jq @ N for Jq, N in zip(found["d_v_dot_d_q"], tangents(p, few["q"]), strict=True)])
    expected = [[m[back][:, back] for m in pin.computeABADerivatives(p.there, data, *s)[:2]] for s in samples[:8]]
    theirs = np.array(expected)
    gap = max(
        difference(by_q, theirs[:, 0], 1e-8, f"d aba / dq of {name}"),
        difference(found["d_v_dot_d_v"], theirs[:, 1], 1e-8, f"d aba / dv of {name}"),
    )

    def loop() -> None:
        function, model = pin.computeABADerivatives, p.there
        for q, v, tau in samples[:64]:
            function(model, data, q, v, tau)

    things = ours(partial(lw.compile, asked), given, settings) | {"call": (loop, min(64, len(samples)))}
    ns = best(things, settings)
    mine, blocks = told(ns)
    note = f"batch of {len(samples)}{blocks}; answers differ by {gap:.0e}"
    return [row("d aba / d(q, v)", name, mine, "Pinocchio, Python call", ns["call"], target=8, note=note)]


def tangents(p: Pair, q: np.ndarray) -> np.ndarray:
    """dq/dt by v at each q: what turns derivatives by the coordinates into derivatives by the tangent."""
    model = p.ours
    at, v = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv)
    f = ca.Function("tangent", [at], [ca.densify(ca.jacobian(q_dot(model, at, v), v))])
    return np.array([np.array(f(x)) for x in q])
