"""Pictures of what a sweep tells: how samples ended, success and load over the inputs, what matters, motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.display import style
from linkwork.display.sweep_words import label, scale
from linkwork.sweeping.findings import Against, Column, Findings, Sensitivity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, RED, GREEN = style.PALETTE[0], style.PALETTE[1], style.PALETTE[2]
DRAWN = 2000  # points of a scatter
PANELS = 18
MARGINS = (0.62, 0.12, 0.5, 0.1)  # inches left, right, below and above each of several axes
CLASSES = 40


def panels(
    count: int, columns: int = 3, height: float = 2.2, margins: tuple[float, float, float, float] | None = MARGINS
) -> tuple[Figure, list[Axes]]:
    """A figure of so many axes in rows; the page is as wide as three. Without margins they are found by drawing."""
    columns = min(columns, count)
    rows = -(-count // columns)
    width, high = 9.6 if columns > 1 else 8.0, max(height * rows, 1.3)
    figure = style.new_figure(width, high, shown=False)
    grid = figure.add_gridspec(rows, columns)
    if count > 1 and margins is not None:
        left, right, bottom, top = margins
        figure.set_layout_engine("none")
        gaps = {"wspace": (left + right) / (width / columns - left - right)}
        gaps["hspace"] = (bottom + top) / (high / rows - bottom - top)
        grid.update(left=left / width, right=1 - right / width, bottom=bottom / high, top=1 - top / high, **gaps)
    return figure, [figure.add_subplot(grid[k // columns, k % columns]) for k in range(count)]


def title(ax: Axes, text: str, longest: int = 42) -> None:
    ax.set_title(style.words(text, longest))


def statuses(found: Findings) -> Figure:
    """How samples ended: shares with their intervals."""
    rows = found.statuses[:12][::-1]
    figure, (ax,) = panels(1, height=0.8 + 0.3 * len(rows))
    value = np.array([100 * r.share.value for r in rows])
    ends = np.array([[100 * r.share.low for r in rows], [100 * r.share.high for r in rows]])
    colours = [BLUE if r.good else RED for r in rows]
    ax.barh(range(len(rows)), value, color=colours, alpha=0.75, height=0.62)
    ax.errorbar(value, range(len(rows)), xerr=np.abs(ends - value), fmt="none", ecolor="#333333", capsize=3, lw=1)
    ax.set_yticks(range(len(rows)), [style.words(f"{r.text}  {r.count:,}", 60) for r in rows])
    ax.set_xlim(0, 105)
    ax.set_xlabel("share of the samples [%]")
    ax.grid(axis="y", visible=False)
    return figure


def against(rows: Sequence[Against], overall: float) -> Figure:
    """Success in bins of each input, with intervals; the dashed line is that of all samples."""
    rows = rows[:PANELS]
    figure, axes = panels(len(rows))
    for ax, row in zip(axes, rows, strict=True):
        _shares(ax, row)
        ax.axhline(100 * overall, color="#666666", lw=1, ls="--")
        ax.set_ylim(-3, 103)
        ax.set_ylabel("success [%]")
        ax.set_xlabel(style.words(label(row.name, row.unit)))
    return figure


def _shares(ax: Axes, row: Against) -> None:
    by = scale(row.unit)
    x = np.array([by * b.middle for b in row.bins])
    y = np.array([100 * b.share.value for b in row.bins])
    across = np.abs([[by * b.low for b in row.bins] - x, [by * b.high for b in row.bins] - x])
    up = np.abs([[100 * b.share.low for b in row.bins] - y, [100 * b.share.high for b in row.bins] - y])
    ax.errorbar(x, y, yerr=up, xerr=across, fmt="o", color=BLUE, ms=3.5, lw=1, ecolor="#7fb2d6")
    ax.margins(x=0.05)


def spread(found: Findings) -> Figure:
    """Histograms of the recorded numbers; lines at 5, 50, 95 %."""
    columns = [c for c in found.values if np.isfinite(c.values).any()][:PANELS]
    figure, axes = panels(len(columns), height=1.9)
    for ax, column in zip(axes, columns, strict=True):
        x = column.values[np.isfinite(column.values)] * scale(column.unit)
        half = max((x.max() - x.min()) / 2, 1e-9 * abs(x).max(), 1e-300)  # of numbers that are all but the same too
        middle = (x.max() + x.min()) / 2
        counts, edges = np.histogram(x, CLASSES, (middle - half, middle + half))
        ax.stairs(counts, edges, fill=True, color=BLUE, alpha=0.55)
        for q, dash in zip(np.quantile(x, (0.05, 0.5, 0.95)), ("--", "-", "--"), strict=True):
            ax.axvline(q, color="#333333", lw=1, ls=dash)
        ax.set_xlabel(style.words(label(column.name, column.unit)))
        ax.set_yticks([])
        ax.grid(visible=False)
        ax.spines["left"].set_visible(False)
    return figure


def load_against(found: Findings, inputs: Sequence[Column], load: Column) -> Figure:
    """The load of each sample over the inputs; line: 95 % of the samples of a bin lie below."""
    figure, axes = panels(len(inputs))
    there = np.isfinite(load.values)
    y = load.values[there] * scale(load.unit)
    held = found.success.held[there] if found.success is not None else np.ones(len(y), bool)
    step = max(1, len(y) // DRAWN)
    for ax, column in zip(axes, inputs, strict=True):
        x = column.values[there] * scale(column.unit)
        for mask, colour in ((held, BLUE), (~held, RED)):
            chosen = np.flatnonzero(mask[::step]) * step
            ax.plot(x[chosen], y[chosen], "o", ms=2, alpha=0.35, color=colour, mew=0, rasterized=True)
        middle, high = _upper(x, y, min(12, len(x) // 40))
        ax.plot(middle, high, color="#222222", lw=1.6)
        ax.set_xlabel(style.words(label(column.name, column.unit)))
        ax.margins(x=0.03)
    for ax in axes[::3]:
        ax.set_ylabel(style.words(label(load.name, load.unit)))
    return figure


def _upper(x: np.ndarray, y: np.ndarray, bins: int) -> tuple[list[float], list[float]]:
    levels, at = np.unique(x, return_inverse=True)
    if len(levels) <= 12:
        parts = [np.flatnonzero(at == k) for k in range(len(levels))]
    elif bins < 2:
        return [], []
    else:
        parts = np.array_split(np.argsort(x, kind="stable"), bins)
    return [float(np.median(x[p])) for p in parts], [float(np.quantile(y[p], 0.95)) for p in parts]


# --- what matters ---
def effects(chosen: Sequence[Sensitivity]) -> Figure:
    """Effects of the inputs with intervals: dark the first measure, light the second; grey: not above chance."""
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    most = max(min(len(s.effects), 12) for s in chosen)
    figure, axes = panels(len(chosen), 2, 1.2 + 0.36 * most, margins=None)
    for ax, one in zip(axes, chosen, strict=True):
        rows = one.effects[:12][::-1]
        place = np.arange(len(rows))
        names = ("alone", "with others") if one.how == "sobol" else ("rank correlation", "explains alone")
        for k, (at, colour) in enumerate(((0.18, BLUE), (-0.18, GREEN))):
            parts = [e.first if k == 0 else e.second for e in rows]
            value = np.array([p.value for p in parts])
            error = np.abs([[p.low for p in parts] - value, [p.high for p in parts] - value])
            colours = [colour if e.clear else "#bbbbbb" for e in rows]
            ax.barh(place + at, value, height=0.32, color=colours, alpha=0.8)
            ax.errorbar(value, place + at, xerr=error, fmt="none", ecolor="#333333", lw=0.9, capsize=2)
        ax.axvline(0, color="#555555", lw=0.8)
        ax.set_yticks(place, [style.words(e.name, 28) for e in rows])
        ax.grid(axis="y", visible=False)
        ax.xaxis.set_major_locator(MaxNLocator(6))
        ax.set_xlim(min(-0.05, *(e.first.low for e in rows)) * 1.1, 1.05)
        title(ax, one.of)
        handles = [Patch(color=colour, label=name) for name, colour in zip(names, (BLUE, GREEN), strict=True)]
        ax.legend(handles=handles, loc="lower right", fontsize=7.5, frameon=False)
    return figure


def everything(found: Findings) -> Figure:
    """Effects of all inputs on all numbers: total indices, or rank correlations."""
    rows = found.sensitivity[:PANELS]
    names = list(dict.fromkeys(e.name for s in rows for e in s.effects))[:24]
    sobol = rows[0].how == "sobol"
    values = np.full((len(rows), len(names)), np.nan)
    for i, s in enumerate(rows):
        for e in s.effects:
            if e.name in names:
                values[i, names.index(e.name)] = e.second.value if sobol else e.first.value
    figure, (ax,) = panels(1, height=1.2 + 0.3 * len(rows))
    low, colours = (0, "Blues") if sobol else (-1, "RdBu_r")
    ax.imshow(values, cmap=colours, vmin=low, vmax=1, aspect="auto", alpha=0.85)
    for i, j in np.ndindex(*values.shape):
        if np.isfinite(values[i, j]):
            dark = abs(values[i, j]) > 0.6
            ax.text(
                j,
                i,
                f"{values[i, j]:.2f}".replace("-", "−"),
                ha="center",
                va="center",
                fontsize=7,
                color="w" if dark else "#222222",
            )
    ax.set_xticks(
        range(len(names)), [style.words(n, 20) for n in names], rotation=35, ha="right", rotation_mode="anchor"
    )
    ax.set_yticks(range(len(rows)), [style.words(s.of, 30) for s in rows])
    ax.grid(visible=False)
    return figure


def envelopes(found: Findings) -> Figure:
    """Median, and bands of the middle half and of nine in ten, over time."""
    figure, axes = panels(len(found.envelopes), 3 if len(found.envelopes) > 1 else 1)
    for ax, one in zip(axes, found.envelopes, strict=True):
        q05, q25, q50, q75, q95 = one.bands * scale(one.unit)
        ax.fill_between(one.time, q05, q95, color=BLUE, alpha=0.18, linewidth=0)
        ax.fill_between(one.time, q25, q75, color=BLUE, alpha=0.38, linewidth=0)
        ax.plot(one.time, q50, color=BLUE)
        ax.set_xlabel("time [s]")
        ax.set_ylabel(style.words(label(one.name, one.unit), 40))
    return figure
