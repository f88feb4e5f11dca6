"""Maps over two inputs: in each cell the share of successes, or a quantile of the load, and how many samples it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.display import style
from linkwork.display.sweep_pictures import panels, title
from linkwork.display.sweep_words import label, number, percent, scale
from linkwork.sweeping.findings import Findings, Map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WRITTEN = 10  # cells in a row that still have room for a number
MARGINS = (0.85, 0.1, 0.55, 0.3)
COUNTED = 8  # and for how many samples there are
LINE, CHARACTER = 1 / 30, 1 / 60  # of the height and width of a map
FEWEST = 5  # samples below which a cell is left white


def maps(found: Findings, chosen: Sequence[Map]) -> Figure:
    """For each pair of inputs what is known of it: success at the left, the load at the right."""
    kinds = [k for k in ("share", "load") if any(getattr(m, k) is not None for m in chosen)]
    figure, axes = panels(len(chosen) * len(kinds), len(kinds), 3.6, MARGINS)
    for i, one in enumerate(chosen):
        for j, kind in enumerate(kinds):
            ax = axes[i * len(kinds) + j]
            _share(ax, one) if kind == "share" else _load(ax, one, found)
    return figure


def _share(ax: Axes, one: Map) -> None:
    if one.share is None:
        return
    values = np.where(one.count >= FEWEST, 100 * one.share, np.nan)
    text = [[f"{v:.0f}" if np.isfinite(v) else "" for v in row] for row in values]
    _cells(ax, one, values, text, ("cividis", 0, 100), "success [%]")
    few = "samples" if max(values.shape) <= COUNTED else f"{one.count.min():,} … {one.count.max():,} samples a cell"
    title(ax, f"success [%] ({few})", 60)


def _load(ax: Axes, one: Map, found: Findings) -> None:
    load = found.load
    if load is None or one.load is None or not np.isfinite(one.load).any():
        ax.set_axis_off()
        ax.text(0.5, 0.5, "too few samples in each cell", ha="center", color="#555555", transform=ax.transAxes)
        return
    values = one.load * scale(load.unit)
    text = [[number(v, "", 3) if np.isfinite(v) else "" for v in row] for row in values]
    _cells(ax, one, values, text, ("viridis", None, None), label(load.name, load.unit))
    title(ax, f"{percent(load.share)} of samples below: {label(load.name, load.unit)}", 60)


def _cells(
    ax: Axes, one: Map, values: np.ndarray, text: list[list[str]], colours: tuple[str, Any, Any], what: str
) -> None:
    """Coloured cells with numbers written in; levels of a grid are as wide as each other."""
    from matplotlib.ticker import MaxNLocator

    x, y = (_edges(one, k) for k in (0, 1))
    name, low, high = colours
    mesh = ax.pcolormesh(x, y, values.T, cmap=name, vmin=low, vmax=high, edgecolors="white", linewidth=0.5)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, aspect=22)
    bar.outline.set_visible(False)  # type: ignore[operator]
    bar.ax.tick_params(labelsize=7.5)
    for i, j in np.ndindex(*values.shape):
        if max(values.shape) <= WRITTEN and text[i][j]:
            colour = "white" if float(mesh.norm(values[i, j])) < 0.55 else "#111111"  # type: ignore[arg-type]
            at = (float(x[i] + x[i + 1]) / 2, float(y[j] + y[j + 1]) / 2)
            wide, tall = float(x[i + 1] - x[i]) / float(x[-1] - x[0]), float(y[j + 1] - y[j]) / float(y[-1] - y[0])
            counted = what.startswith("success") and max(values.shape) <= COUNTED and tall > 2 * LINE
            if tall > LINE and wide > CHARACTER * len(text[i][j]):
                said = text[i][j] + (f"\n({one.count[i, j]})" if counted else "")
                ax.text(*at, said, ha="center", va="center", fontsize=6.3, color=colour, linespacing=0.95)
    for k, (axis, edges) in enumerate(((ax.xaxis, x), (ax.yaxis, y))):
        levels, by = one.levels[k], scale(one.units[k])
        if levels is None:
            axis.set_major_locator(MaxNLocator(5))
        else:
            axis.set_ticks((edges[:-1] + edges[1:]) / 2, [number(v * by, "", 3) for v in levels])
    ax.set_xlabel(style.words(label(one.x, one.units[0]), 60))
    ax.set_ylabel(style.words(label(one.y, one.units[1]), 60))
    ax.grid(visible=False)


def _edges(one: Map, k: int) -> np.ndarray:
    if one.levels[k] is not None:
        return np.arange(len(one.edges[k]), dtype=float)
    return one.edges[k] * scale(one.units[k])
