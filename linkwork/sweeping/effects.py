"""Which inputs matter: success in bins of each, effects on every number, maps over two of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from linkwork.errors import RunError, nearest
from linkwork.simulation.estimate import wilson
from linkwork.statistics import ranks
from linkwork.statistics.bins import binned, celled
from linkwork.statistics.indices import sobol_indices
from linkwork.sweeping.evidence import Samples
from linkwork.sweeping.expression import Computed
from linkwork.sweeping.findings import Against, Column, Effect, Map, Sensitivity

Ranked = dict[bytes, dict[str, np.ndarray]]
SUCCESS = "success"
LEAST = 20  # samples, or blocks, without which nothing is said of an effect
NOTHING = 0.01  # a total index whose interval reaches down to this is not told from none
IN_A_CELL = 20  # samples without which a cell has no quantile of the load


def against(columns: Sequence[Column], held: np.ndarray, confidence: float) -> tuple[Against, ...]:
    """In which share of the samples something held, in bins of each input."""
    most = int(np.clip(len(held) // 40, 2, 12))
    return tuple(Against(x.name, x.unit, tuple(binned(x.values, held, most, confidence))) for x in columns)


def sensitivity(samples: Samples, confidence: float) -> tuple[Sensitivity, ...]:
    """Effects of the inputs on success and on every recorded number."""
    good, table = samples.good, samples.table
    of = {SUCCESS: table["success"].astype(float)} if samples.found.plan.success else {}
    of |= {name: table[name].astype(float) for name in samples.of_kind("value")}
    of = {name: np.where(good, y, np.nan) for name, y in of.items()}
    if samples.found.plan.design == "saltelli":
        found = [_sobol(samples, name, y, confidence) for name, y in of.items()]
    else:
        ranked: Ranked = {}
        found = [_ranked(samples, name, y[samples.used], confidence, ranked) for name, y in of.items()]
    return tuple(x for x in found if x is not None)


def _sobol(samples: Samples, name: str, y: np.ndarray, confidence: float) -> Sensitivity | None:
    plan = samples.found.plan
    whole = np.full(plan.samples, np.nan)
    whole[samples.found.samples] = y
    first, total, blocks = sobol_indices(whole, len(plan.varying), confidence)
    if blocks < LEAST or not np.isfinite([x.value for x in total]).all():
        return None
    effects = [Effect(n, first[k], total[k], total[k].low > NOTHING) for k, n in enumerate(plan.varying)]
    return Sensitivity(name, "sobol", blocks, tuple(sorted(effects, key=lambda e: (not e.clear, -e.second.value))))


def _ranked(samples: Samples, name: str, y: np.ndarray, confidence: float, ranked: Ranked) -> Sensitivity | None:
    """`ranked` keeps the inputs' ranks among the same samples."""
    there = np.isfinite(y)
    y, key = y[there], there.tobytes()
    if len(y) < LEAST or (y == y[0]).all():
        return None
    if key not in ranked:
        ranked[key] = {x.name: ranks.ranks(x.values[there]) for x in samples.varied}
    own, effects = ranks.ranks(y), []
    for other, a in ranked[key].items():
        if (a != a[0]).any():
            r, alone = ranks.correlation(a, own, confidence), ranks.explained(a, y, confidence)
            effects.append(Effect(other, r, alone, r.low * r.high > 0 or alone.low > 0))
    effects.sort(key=lambda e: (not e.clear, -max(e.first.value**2, e.second.value)))
    return Sensitivity(name, "ranks", len(y), tuple(effects)) if effects else None


# --- over two inputs ---
def pairs(
    found: Sequence[Sensitivity], load: str, inputs: Sequence[str], there: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """The pairs worth a map besides those `there`: of the three inputs that matter most for success, and of the two
    for the load."""
    strongest = {x.of: [e.name for e in x.effects] for x in found}
    known = [(x.strip(), y.strip()) for x, y in there]
    chosen: list[tuple[str, str]] = []
    for of, most in ((SUCCESS, 3), (load, 2)):
        names = strongest.get(of, [] if strongest else list(inputs))
        for pair in combinations(names[:most], 2):
            if not {pair, pair[::-1]} & {*chosen, *known}:
                chosen.append(pair)
    return chosen


def axis(samples: Samples, text: str) -> Column:
    """An input or recorded number, or an expression of some: "closing", "sqrt(pitch**2 + yaw**2)"."""
    known = samples.of_kind("input", "value", "event")
    label, _, told = ("", "", text) if text in known else (word.strip() for word in text.rpartition("="))
    label = label or told
    if told in known:
        return Column(label, samples.unit(told), samples.table[told][samples.used])
    if re.fullmatch(r"[\w.]+", told):
        raise RunError(f"a map has no axis '{told}'", fix=nearest(told, known))
    computed = Computed({"axis": told}, known, f"the axis '{told}' of a map")
    given = {name: samples.table[name][samples.used].astype(float) for name in known}
    units = {samples.unit(name) for name in computed.used}
    values = computed(given)["axis"]
    # what doubles when all that goes into it doubles has the unit of what went in
    doubled = computed({name: 2 * x for name, x in given.items()})["axis"]
    alike = len(units) == 1 and np.allclose(doubled, 2 * values, rtol=1e-9, atol=0, equal_nan=True)
    return Column(label, units.pop() if alike else "", values)


def split(text: str) -> tuple[str, str]:
    """The two axes of "offset, atan2(y, z)": the comma that stands in no brackets."""
    depth, commas = 0, []
    for k, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            commas.append(k)
    if len(commas) != 1:
        raise RunError(f"a map of '{text[:60]}' does not have two axes", fix="write them as 'offset, closing'")
    return text[: commas[0]], text[commas[0] + 1 :]


def table_over(x: Column, y: Column, held: np.ndarray | None, load: np.ndarray | None, share: float) -> Map:
    """Shares with their intervals, and a quantile of the load, over two columns."""
    there = np.isfinite(x.values) & np.isfinite(y.values)
    most = int(np.clip(np.sqrt(there.sum() / 30), 2, 10))
    cells = celled(x.values[there], y.values[there], held[there] if held is not None else there[there], most)
    rate = low = high = None
    if held is not None:
        pairs = zip(cells.held.flat, cells.count.flat, strict=True)
        found = np.array([wilson(int(h), int(n))[:3] for h, n in pairs]).reshape(*cells.count.shape, 3)
        rate, low, high = np.moveaxis(found, 2, 0)
    hard = cells.quantile(load[there], share, IN_A_CELL) if load is not None else None
    edges, levels = (cells.x.edges, cells.y.edges), (cells.x.levels, cells.y.levels)
    return Map(x.name, y.name, (x.unit, y.unit), edges, levels, cells.count, rate, low, high, hard)
