"""One model, several formulations, the same random states: how far their answers differ.

Each formulation is traced by itself and evaluated by CasADi's own interpreter; `machine code` is the compiled `aba`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
from linkwork.errors import ModelError, RunError, nearest
from linkwork.model.model import Model

SX = ca.SX
QUANTITIES = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")
CLOSE = 1e-10
"""Relative to the largest entry of the state; joint-space equations keep so many digits of well-conditioned models."""
EPS = float(np.finfo(float).eps)
MACHINE = "machine code"


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


@dataclass(frozen=True)
class Agreement:
    """What `verify` found. `print(found)` tells it; `found.ok` is the verdict.

    differences   quantity → names of the ways that give it, largest relative difference of every pair
    worst         quantity → largest difference, its two ways, the sample it is found at
    allowed       quantity → what counts as agreement: 1e-10, and what the condition of M takes of the digits
    refused       way → why it did not take part
    ledger        element of the model → its verdict in every formulation
    """

    model: str
    samples: int
    seed: int
    differences: Mapping[str, tuple[tuple[str, ...], np.ndarray]]
    worst: Mapping[str, tuple[float, str, str, int]]
    allowed: Mapping[str, float]
    condition: float
    refused: Mapping[str, str] = field(default_factory=dict)
    ledger: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return bool(self.worst) and all(x[0] <= self.allowed[name] for name, x in self.worst.items())

    @property
    def faults(self) -> list[str]:
        """Quantities that differ more than allowed, the worst first."""
        found = [n for n, x in self.worst.items() if not x[0] <= self.allowed[n]]
        return sorted(found, key=lambda n: -self.worst[n][0] / self.allowed[n])

    @property
    def verdict(self) -> str:
        ways = sorted({w for names, _ in self.differences.values() for w in names})
        if not self.worst:
            return f"{self.model}: nothing to compare; only {', '.join(ways) or 'no formulation'} takes this model"
        name = max(self.worst, key=lambda n: self.worst[n][0] / self.allowed[n])
        value, a, b, sample = self.worst[name]
        words = "agree" if self.ok else "DO NOT AGREE"
        return (
            f"{self.model}: {len(ways)} ways {words} on {self.samples} states; "
            f"worst {value:.1e} in {name} ({a}, {b}, state {sample}), allowed {self.allowed[name]:.1e}"
        )

    def __str__(self) -> str:
        from linkwork.display.agreement import as_text

        return as_text(self)

    def to_html(self, path: Any) -> Any:
        """One page for someone who was not there; returns its path."""
        from linkwork.display.agreement import write_page

        return write_page(self, path)


def verify(
    model: Model,
    samples: int = 100,
    seed: int = 0,
    *,
    ways: Mapping[str, Formulation] | None = None,
    peers: Iterable[str] = (),
    tolerance: float | None = None,
    sample: int | None = None,
) -> Agreement:
    """Compare all formulations that take this model at random states.

    samples    how many; state i depends on (seed, i) alone. `sample`: only this one
    ways       name → formulation, instead of all (`WAYS`)
    peers      "pinocchio", "mujoco": other packages as further columns, where they are installed
    tolerance  largest relative difference that counts as agreement (default: 1e-10 and 1,000 roundings times the
               condition of the mass matrix, its diagonal scaled to 1)
    """
    if samples < 1:
        raise RunError(f"samples = {samples}", fix="give at least one")
    numbers = range(samples) if sample is None else [sample]
    states = [state(model, seed, i) for i in numbers]
    found, refused = _evaluated(model, states, WAYS if ways is None else ways)
    if not found:
        raise ModelError(f"no formulation takes '{model.name}': " + "; ".join(dict.fromkeys(refused.values())))
    notes: list[str] = []
    ours = set(found)
    for name in peers:
        _add_peer(model, states, name, found, refused, notes)
    differences, worst = {}, {}
    for quantity in QUANTITIES:
        names = [n for n, results in found.items() if quantity in results]
        if len(names) > 1:
            values = [found[n][quantity] for n in names]
            differences[quantity], worst[quantity] = _compared(names, values, numbers, set(found) - ours)
    condition = max((_condition(M) for results in found.values() if "M" in results for M in results["M"]), default=1.0)
    loose = CLOSE + 1e3 * EPS * condition
    allowed = {q: tolerance or (CLOSE if q == "M" else loose) for q in QUANTITIES}
    rows = ledger.rows(model, WAYS if ways is None else ways)
    return Agreement(model.name, len(states), seed, differences, worst, allowed, condition, refused, rows, tuple(notes))


def state(model: Model, seed: int, i: int) -> dict[str, np.ndarray]:
    """State i: coordinates within the joints' limits, unit quaternions, speeds, joint forces, wrenches, a time."""
    rng = np.random.default_rng((seed, i))
    q: list[float] = []
    for k in model.independent:
        joint, kind = model.joint(k), model.kind(k)
        own = rng.uniform(-1.5, 1.5, kind.nq)
        if kind.nq == kind.nv:
            low, high = np.maximum(joint.lower, -1.5), np.minimum(joint.upper, 1.5)
            low, high = np.where(low > high, joint.lower, low), np.where(low > high, joint.upper, high)
            own = low + (high - low) * (own + 1.5) / 3
        if kind.quaternion is not None:
            at = slice(kind.quaternion, kind.quaternion + 4)
            own[at] = rng.normal(size=4)
            own[at] /= np.linalg.norm(own[at])
        q += own.tolist()
    bodies = len(model.bodies) - 1
    return {
        "q": np.array(q),
        "v": rng.normal(size=model.nv),
        "tau": rng.normal(size=model.nv),
        "f_ext": rng.normal(size=(bodies, 6)),
        "t": rng.uniform(0, 3, 1) if model.is_moved else np.zeros(1),
    }


Results = dict[str, list[np.ndarray]]  # quantity → one array per state


def _evaluated(
    model: Model, states: list[dict[str, np.ndarray]], ways: Mapping[str, Formulation]
) -> tuple[dict[str, Results], dict[str, str]]:
    found: dict[str, Results] = {}
    refused: dict[str, str] = {}
    for name, way in ways.items():
        wanted = tuple(q for q in QUANTITIES if q in getattr(way, "gives", way.returns))  # type: ignore[attr-defined]
        try:
            f = _traced(model, way.giving(*wanted) if hasattr(way, "giving") else way, wanted)  # type: ignore[attr-defined]
        except ModelError as error:
            refused[name] = error.what
            continue
        found[name] = {q: [] for q in wanted}
        for s in states:
            for q, x in zip(wanted, f.call([ca.DM(x) for x in s.values()]), strict=True):
                found[name][q].append(np.array(x))
        if name == "aba":
            found[MACHINE] = {"v_dot": _by_machine(f, states)}
    return found, refused


def _traced(model: Model, way: Formulation, names: tuple[str, ...]) -> ca.Function:
    q, v, tau, t = (SX.sym(n, k) for n, k in (("q", model.nq), ("v", model.nv), ("tau", model.nv), ("t", 1)))
    f_ext = SX.sym("f_ext", len(model.bodies) - 1, 6)
    results = way(model, q, v, tau, f_ext, t)
    results = results if isinstance(results, tuple) else (results,)
    return ca.Function(
        "way", [q, v, tau, f_ext, t], [ca.densify(x) for x in results], ["q", "v", "tau", "f_ext", "t"], list(names)
    )


def _by_machine(f: ca.Function, states: list[dict[str, np.ndarray]]) -> list[np.ndarray]:
    only = ca.Function("v_dot", f.sx_in(), [f.call(f.sx_in())[0]], f.name_in(), ["v_dot"], {"cse": True})
    given = {k: np.stack([s[k] for s in states]) for k in states[0]}
    given["t"] = given["t"][:, 0]
    found: np.ndarray = compile_function(only)(**given)  # type: ignore[arg-type]
    return [x.reshape(-1, 1) for x in found]


def _add_peer(
    model: Model, states: list[dict[str, np.ndarray]], name: str, found: dict[str, Results], refused: dict[str, str],
    notes: list[str],
) -> None:  # fmt: skip
    from linkwork.peers import PEERS

    if name not in PEERS:
        raise RunError(f"there is no peer '{name}'", fix=nearest(name, PEERS))
    try:
        peer = PEERS[name](model)
    except ModelError as error:
        refused[name] = error.what
        return
    title = f"{name} {peer.version}"
    found[title] = {q: [] for q in peer.gives}
    for s in states:
        for q, x in peer(s["q"], s["v"], s["tau"], s["f_ext"]).items():
            found[title][q].append(np.asarray(x, float))
    notes += peer.notes


def _compared(
    names: list[str], values: list[list[np.ndarray]], numbers: Iterable[int], peers: set[str]
) -> tuple[tuple[tuple[str, ...], np.ndarray], tuple[float, str, str, int]]:
    """Largest relative difference of every pair, and the worst of all with its state.

    A peer says NaN of what it does not tell; of ours NaN is a fault.
    """
    numbers = list(numbers)
    flat = [np.stack([np.ravel(x) for x in v]) for v in values]
    told = np.all([~np.isnan(x) | (n not in peers) for n, x in zip(names, flat, strict=True)], axis=0)
    size = np.max([np.max(np.where(told, np.abs(x), 0), axis=1, initial=0) for x in flat], axis=0)
    size = np.maximum(size, 0.01 * np.median(size))
    matrix = np.zeros((len(names), len(names)))
    worst = (-1.0, names[0], names[1], numbers[0])
    for a, b in itertools.combinations(range(len(names)), 2):
        gap = np.max(np.where(told, np.abs(flat[a] - flat[b]), 0), axis=1, initial=0)
        off = np.divide(gap, size, out=np.where(gap > 0, np.inf, 0.0), where=size > 0)
        off = np.where(np.isnan(off), np.inf, off)
        at = int(np.argmax(off))
        matrix[a, b] = matrix[b, a] = off[at]
        if off[at] > worst[0]:
            worst = (float(off[at]), names[a], names[b], numbers[at])
    return (tuple(names), matrix), worst


def _condition(M: np.ndarray) -> float:
    """Of a mass matrix with its diagonal scaled to 1, so that units do not count."""
    if not M.size or not np.isfinite(M).all():
        return 1.0
    d = np.sqrt(np.abs(np.diag(M)))
    scale = np.where(d > 0, d, 1.0)
    values = np.linalg.eigvalsh(M / np.outer(scale, scale))
    return float(values[-1] / max(values[0], values[-1] * EPS))
