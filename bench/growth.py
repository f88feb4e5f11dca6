"""How the formulations grow with the number of bodies: `python -m bench.growth [--quick] [--out FILE]`.

Chains of revolute joints with axes in turn, `separate_bodies_planar` on chains of rods in a plane. Each graph is
unrolled, counted and, where that does not take minutes, compiled and timed: many samples on one core. What would have
more than COUNTED operations is not traced, more than COMPILED not compiled.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import linkwork as lw
from bench.formulation_rows import rods
from bench.measure import Settings, best
from bench.models import Pair, chain
from bench.pinocchio_rows import size
from bench.table import machine, time
from linkwork.dynamics.formulation import Formulation

PICTURE = Path(__file__).absolute().parent.parent / "docs" / "images" / "growth.png"
LENGTHS = (5, 10, 20, 30, 50, 100, 150, 200)
COUNTED, COMPILED = 600_000, 200_000
FITTED = 20
"""Bodies from which on an exponent is fitted: before, the first bodies of a chain count."""


@dataclass(frozen=True)
class Curve:
    form: Formulation
    model: Callable[[int], lw.Model]
    colour: str
    line: str  # what grows in proportion is drawn through


CURVES = {
    "aba": Curve(lw.aba, chain, "#0072B2", "-"),
    "docking_open": Curve(lw.docking_open, chain, "#009E73", "-"),
    "separate_bodies": Curve(lw.separate_bodies, chain, "#D55E00", "-"),
    "separate_bodies_planar": Curve(lw.separate_bodies_planar, rods, "#E69F00", "-"),
    "kane_graph, all at once": Curve(lw.kane_graph.giving("v_dot_a"), chain, "#56B4E9", "-"),
    "forward": Curve(lw.forward, chain, "#444444", "--"),
    "docking_tree": Curve(lw.docking_tree, chain, "#009E73", "--"),
    "kane_graph": Curve(lw.kane_graph, chain, "#56B4E9", "--"),
    "block_matrix": Curve(lw.block_matrix, chain, "#CC79A7", "--"),
}
Points = dict[int, tuple[int, float]]
"""Bodies → operations, nanoseconds a sample (NaN: not compiled)."""


def measured(curve: Curve, settings: Settings, lengths: tuple[int, ...] = LENGTHS) -> Points:
    found: Points = {}
    for n in lengths:
        last = max(found, default=None)
        if last is not None and found[last][0] * (n / last) ** slope(found, 0, least=0) > COUNTED:
            break
        model = curve.model(n)
        asked = lw.equations(model, curve.form, unroll=True)
        operations, ns = asked.casadi.n_instructions(), math.nan
        if operations <= COMPILED:
            samples = size(settings, 4 * n)
            kernel, states = lw.compile(asked), Pair("chain", model, None).states(samples)
            given = {k: states[k] for k in ("q", "v", "tau")}
            ns = best({"ours": (kernel.bind(**given, threads=1), samples)}, settings)["ours"]
        found[n] = operations, ns
    return found


def slope(found: Points, which: int, least: int = FITTED) -> float:
    """Exponent of the growth of operations (0) or times (1), by least squares of logarithms."""
    known = [(n, p[which]) for n, p in found.items() if math.isfinite(p[which])]
    some = [x for x in known if x[0] >= least]
    some = some if len(some) > 1 else known
    if len(some) < 2:
        return 3.0  # not known yet
    x, y = np.log(np.array(some, float)).T
    return float(np.polyfit(x, y, 1)[0])


def told(name: str, found: Points) -> str:
    """A row for each length, the exponents below."""
    lines = [f"{name:<24}{n:>5} bodies {ops:>8} operations {time(ns) or '–':>9}" for n, (ops, ns) in found.items()]
    return "\n".join([*lines, f"{'':<24}grows as n^{slope(found, 0):.2f}, in time as n^{slope(found, 1):.2f}"])


def draw(points: dict[str, Points], path: Path) -> None:
    from linkwork.display import style

    style.need_matplotlib()
    from matplotlib import rc_context

    with rc_context(style.LOOK):
        figure = style.new_figure(10.5, 4.8, shown=False)
        panels = figure.subplots(1, 2)
        for which, (axes, title) in enumerate(zip(panels, ("operations", "time a sample [ns]"), strict=True)):
            for name, found in points.items():
                n = [k for k, p in found.items() if math.isfinite(p[which])]
                label = f"{name}: $n^{{{slope(found, which):.1f}}}$"
                look = {"color": CURVES[name].colour, "marker": ".", "label": label}
                axes.plot(n, [found[k][which] for k in n], CURVES[name].line, **look)
            axes.set(xscale="log", yscale="log", xlabel="bodies n of a chain", title=title, xlim=(4.5, 230))
            ticks = [5, 10, 20, 50, 100, 200]
            axes.set_xticks(ticks, labels=map(str, ticks))
            axes.minorticks_off()
            axes.legend(fontsize=7.5, frameon=False, loc="upper left")
        style.save(figure, path)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("bench.growth", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 20 bodies: does it run?")
    parser.add_argument("--out", type=Path, default=PICTURE, metavar="FILE", help="where the picture goes")
    asked = parser.parse_args(words)
    points: dict[str, Points] = {}
    print(machine(), flush=True)
    for name, curve in CURVES.items():
        points[name] = measured(curve, Settings(asked.quick), LENGTHS[:3] if asked.quick else LENGTHS)
        print(told(name, points[name]), flush=True)
    draw(points, asked.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
