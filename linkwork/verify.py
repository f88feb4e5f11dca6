"""One model, several formulations, the same random states: how far their answers differ.

Each formulation is traced by itself and evaluated by CasADi's own interpreter; `machine code` is the compiled `aba`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from linkwork.compiler.kernel import compile_function
from linkwork.dynamics import energy, kinematics, ledger
from linkwork.dynamics.aba import aba
from linkwork.dynamics.block_matrix import block_matrix
from linkwork.dynamics.crba import crba, forward
from linkwork.dynamics.docking_open import docking_open
from linkwork.dynamics.docking_tree import docking_tree
from linkwork.dynamics.formulation import Formulation, gives
from linkwork.dynamics.kane_graph import kane_graph
from linkwork.dynamics.rnea import wrenches
from linkwork.dynamics.separate_bodies import separate_bodies
from linkwork.dynamics.separate_bodies_planar import separate_bodies_planar
from linkwork.errors import ModelError, RunError
from linkwork.model.model import Model
from linkwork.progress import reporter
from linkwork.verifying.agreement import Agreement
from linkwork.verifying.compare import CLOSE, allowed, compared, condition
from linkwork.verifying.states import State, States

SX = ca.SX
QUANTITIES = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")
MACHINE = "machine code"
FAINT = 1e-5
"""Of the largest mass or inertia: from there on a smaller one is seen. What a way loses by adding up about far points,
some roundings of the largest, is then still far below 1e-10."""

Answers = dict[str, list[np.ndarray]]  # quantity → one array for each state


@gives(*QUANTITIES)
def recursions(model: Model, q: SX, v: SX, tau: SX, f_ext: SX | None = None, t: SX | None = None) -> dict[str, SX]:
    """The fast defaults: articulated bodies, inverse dynamics at their accelerations, composite bodies.

    The energy rate is the derivative of the energy itself along the motion.
    """
    t = SX.sym("t") if t is None else t
    v_dot = aba(model, q, v, tau, f_ext, t)
    f, base = wrenches(model, q, v, v_dot, f_ext, t)
    total = energy.kinetic_energy(model, q, v, t) + energy.gravity_energy(model, q, t)
    state = ca.vertcat(q, v, t)
    rate = ca.jtimes(total, state, ca.vertcat(kinematics.q_dot(model, q, v), v_dot, 1))
    return {"v_dot": v_dot, "wrenches": f, "base_wrench": base, "M": crba(model, q, t), "energy_rate": rate}


WAYS: dict[str, Formulation] = {
    "aba": recursions,
    "forward": forward,
    "separate_bodies": separate_bodies,
    "separate_bodies_planar": separate_bodies_planar,
    "docking_tree": docking_tree,
    "docking_open": docking_open,
    "kane_graph": kane_graph,
    "block_matrix": block_matrix,
}
"""The formulations that are compared, by name."""


def verify(
    model: Model,
    samples: int = 100,
    seed: int = 0,
    *,
    ways: Mapping[str, Formulation] | None = None,
    peers: Iterable[str] = (),
    tolerance: float | None = None,
    sample: int | None = None,
    progress: bool | Callable[..., None] | None = None,
) -> Agreement:
    """Compare all formulations that take this model at random states.

    samples    how many; state i depends on (seed, i) alone. `sample`: only this one
    ways       name → formulation, instead of all (`WAYS`)
    peers      "pinocchio", "mujoco": other packages as further columns, where they are installed
    tolerance  largest relative difference that counts as agreement (default: 1e-10 and, but for the mass matrix,
               100 roundings times its condition in the state, its diagonal scaled to 1; at most 1e-6)
    """
    _check(samples, seed, tolerance, sample)
    if len(model.bodies) == 1:
        raise ModelError(f"'{model.name}' has no bodies: there is nothing to compare", where=model.source)
    ways, others = WAYS if ways is None else _asked(ways), _known(peers)
    numbers = list(range(samples)) if sample is None else [sample]
    drawn = States(model, seed)
    states = [drawn[i] for i in numbers]
    found: dict[str, Answers] = {}
    errors: dict[str, ModelError] = {}
    told: dict[str, dict[str, np.ndarray]] = {}
    notes: list[str] = []
    with reporter(progress, len(ways) + len(others), "formulations") as report:
        for done, (name, way) in enumerate(ways.items(), 1):
            _add_way(model, states, name, way, found, errors)
            if report:
                report(done, len(ways) + len(others))
        if not found:
            raise _by_none(model, errors)
        for done, (name, make) in enumerate(others.items(), 1 + len(ways)):
            try:
                peer = make(model)
            except ModelError as error:
                errors[name] = error
            else:
                title = f"{name} {peer.version}"
                rows = [peer(**s) for s in states]
                found[title] = {q: [row[q] for row in rows] for q in peer.gives}
                told[title] = dict(peer.told)
                notes += peer.notes
            if report:
                report(done, len(ways) + len(others))
    worst_condition, limits = _limits(found, tolerance, len(states))
    quantities = {}
    for quantity in QUANTITIES:
        answers = {n: results[quantity] for n, results in found.items() if quantity in results}
        if len(answers) > 1 and next(iter(answers.values()))[0].size:
            masks = {n: told[n][quantity] for n in answers if quantity in told.get(n, ())}
            unit = _unit(quantity, drawn)
            answers = {n: [x / unit for x in results] for n, results in answers.items()}
            quantities[quantity] = compared(answers, masks, _least(quantity, states), limits[quantity], numbers)
    rows = ledger.rows(model, ways)
    refused = {name: error.what for name, error in errors.items()}
    return Agreement(model.name, len(states), seed, quantities, worst_condition, refused, rows, tuple(notes))


def _check(samples: int, seed: int, tolerance: float | None, sample: int | None) -> None:
    for name, value in (("samples", samples), ("seed", seed), ("sample", sample or 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise RunError(f"{name} = {value!r}", fix="give a whole number")
    if samples < 1:
        raise RunError(f"samples = {samples}", fix="give at least one")
    if seed < 0:
        raise RunError(f"seed = {seed}", fix="give zero or a positive number")
    if sample is not None and sample < 0:
        raise RunError(f"sample = {sample}", fix="states are numbered from 0")
    if tolerance is not None and not (math.isfinite(tolerance) and tolerance > 0):
        raise RunError(f"tolerance = {tolerance}", fix="give a relative difference above zero, 1e-10 say")


def _asked(ways: Any) -> Mapping[str, Formulation]:
    """As they were given, or RunError."""
    fix = 'give formulations by name: ways={"mine": lw.kane_graph, "other": lw.aba}'
    if not isinstance(ways, Mapping) or not ways:
        raise RunError(f"ways = {ways!r} names no formulations", fix=fix)
    for name, way in ways.items():
        if not set(getattr(way, "gives", getattr(way, "returns", ()))) & set(QUANTITIES):
            known = ", ".join(QUANTITIES)
            raise RunError(
                f"way '{name}' gives nothing that can be compared ({known})", fix=f"{fix}; mark one with @gives"
            )
    return ways


def _known(peers: Iterable[str]) -> dict[str, Callable[[Model], Any]]:
    from linkwork.peers import peer

    return {name: peer(name) for name in ([peers] if isinstance(peers, str) else peers)}


def _by_none(model: Model, errors: Mapping[str, ModelError]) -> ModelError:
    """All their reasons, and the place and the way out of the first."""
    first = next(iter(errors.values()))
    reasons = "; ".join(dict.fromkeys(error.what for error in errors.values()))
    return ModelError(f"no formulation takes '{model.name}': {reasons}", where=first.where, fix=first.fix)


def _add_way(
    model: Model, states: list[State], name: str, way: Formulation, found: dict[str, Answers], errors: dict[str, Any]
) -> None:
    wanted = tuple(q for q in QUANTITIES if q in getattr(way, "gives", way.returns))  # type: ignore[attr-defined]
    try:
        f = _traced(model, way.giving(*wanted) if hasattr(way, "giving") else way, wanted)  # type: ignore[attr-defined]
    except ModelError as error:
        errors[name] = error
        return
    rows = [f.call([ca.DM(x) for x in s.values()]) for s in states]
    found[name] = {q: [np.array(row[k]) for row in rows] for k, q in enumerate(wanted)}
    if name == "aba" and model.nv:
        found[MACHINE] = {"v_dot": _by_machine(f, states)}


def _traced(model: Model, way: Formulation, names: tuple[str, ...]) -> ca.Function:
    q, v, tau, t = (SX.sym(n, k) for n, k in (("q", model.nq), ("v", model.nv), ("tau", model.nv), ("t", 1)))
    f_ext = SX.sym("f_ext", len(model.bodies) - 1, 6)
    results = way(model, q, v, tau, f_ext, t)
    results = results if isinstance(results, tuple) else (results,)
    return ca.Function(
        "way", [q, v, tau, f_ext, t], [ca.densify(x) for x in results], ["q", "v", "tau", "f_ext", "t"], list(names)
    )


def _by_machine(f: ca.Function, states: list[State]) -> list[np.ndarray]:
    only = ca.Function("v_dot", f.sx_in(), [f.call(f.sx_in())[0]], f.name_in(), ["v_dot"], {"cse": True})
    given = {k: np.stack([s[k] for s in states]) for k in states[0]}
    given = {k: x[:, 0] if x.shape[1:] == (1,) else x for k, x in given.items()}  # one number has no shape
    found: np.ndarray = compile_function(only)(**given)  # type: ignore[arg-type]
    return [x.reshape(-1, 1) for x in found]


def _limits(found: dict[str, Answers], tolerance: float | None, states: int) -> tuple[float, dict[str, np.ndarray]]:
    """Largest condition of a mass matrix; quantity → what is allowed in each state."""
    matrices = next((results["M"] for results in found.values() if "M" in results), None)
    conditions = np.ones(states) if matrices is None else np.array([condition(M) for M in matrices])
    loose, close = allowed(conditions), np.full(states, CLOSE)
    if tolerance is not None:
        loose = close = np.full(states, tolerance)
    return float(conditions.max()), {q: close if q == "M" else loose for q in QUANTITIES}


def _unit(quantity: str, drawn: States) -> np.ndarray:
    """What entries are counted in, so that a finger's wrench and inertia are seen beside those of its train.

    By the masses and inertias that move, which have no digits below FAINT of the largest of them.
    """
    forces, wrenches = (np.maximum(x, FAINT * x.max(initial=0.0) or 1.0) for x in drawn.scales)
    if quantity == "M":
        return np.sqrt(np.outer(forces, forces))
    return wrenches if quantity == "wrenches" else np.ones(1)


def _least(quantity: str, states: list[State]) -> np.ndarray:
    """What differences are at least relative to: an energy rate of zero may be a difference of large powers."""
    if quantity != "energy_rate":
        return np.zeros(len(states))
    return np.array([np.abs(s["tau"] * s["v"]).sum() for s in states])
