"""Pictures of a result: lines for one sample, bands for many."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.display import style
from linkwork.display.panels import Panel, panels
from linkwork.errors import RunError
from linkwork.export import span
from linkwork.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABELLED = 12  # lines with a name beside them; more are told apart by a colour scale
DRAWN = 100  # lines of samples drawn at most
SHOWN = 12  # panels at most
BANDS = (0.05, 0.25, 0.5, 0.75, 0.95)

End = tuple[float, str, Any]  # where a line ends, its name, its colour


def plot(
    run: Result,
    *names: str,
    kind: str | None = None,
    samples: int | Sequence[int] | None = None,
    path: str | PathLike[str] | None = None,
) -> Figure:
    """Draw quantities over time; without names: coordinates, speeds and energy balance.

    "energy" stands for kinetic, potential and total energy, work and their balance. More than 12 samples
    become bands (median, 25–75 %, 5–95 %), fewer become lines; `kind` ("lines" or "bands") and `samples`
    choose otherwise.
    `path` saves the picture as PNG, SVG or PDF.
    """
    figure, _ = draw(run, names, kind, samples, shown=path is None)
    if path is not None:
        style.save(figure, path)
    return figure


def draw(
    run: Result,
    names: Sequence[str],
    kind: str | None = None,
    samples: int | Sequence[int] | None = None,
    *,
    shown: bool = False,
) -> tuple[Figure, str]:
    """The figure and the sentence below it."""
    style.need_matplotlib()
    from matplotlib import rc_context

    chosen = _samples(run, samples)
    if kind not in (None, "lines", "bands"):
        raise RunError(f"there is no kind of picture '{kind}'", fix="give kind='lines' or kind='bands'")
    bands = len(chosen) > 1 and (kind == "bands" or (kind is None and len(chosen) > LABELLED))
    if not bands and len(chosen) > DRAWN:
        chosen = chosen[np.linspace(0, len(chosen) - 1, DRAWN).astype(int)]
    made = panels(run, names)
    if len(chosen) < len(run.statuses):
        made = [panel.of(chosen) for panel in made]
    if len(chosen) > 1:
        made = [one for panel in made for one in panel.apart()]
    total = len(made)
    made = made if total <= SHOWN else [*made[: SHOWN - 1], made[-1]]
    note = _note(run, chosen, bands, len(made), total)
    with rc_context(style.LOOK):
        figure, axes = _grid(made, stacked=len(chosen) == 1, shown=shown)
        named: list[tuple[Axes, list[End]]] = []
        for ax, panel in zip(axes, made, strict=True):
            ax.set_title(panel.title)
            ax.set_ylabel(panel.ylabel)
            ax.set_yscale("log" if panel.log else "linear")
            if len(run.time) > 1:
                ax.set_xlim(run.time[0], run.time[-1])
            if bands:
                draw_bands(ax, run.time, panel)
            else:
                labels = [f"sample {i}" for i in chosen] if len(chosen) > 1 else [x.label for x in panel.lines]
                named.append((ax, draw_lines(ax, run.time, _rows(panel), labels)))
        _head(figure, run, note)
        figure.get_layout_engine().execute(figure)  # type: ignore[union-attr]
        for ax, ends in named:
            draw_names(ax, ends)
    return figure, note


def _rows(panel: Panel) -> np.ndarray:
    """Every line of every sample: (line, time)."""
    return np.concatenate([line.values for line in panel.lines])


def _samples(run: Result, samples: int | Sequence[int] | None) -> np.ndarray:
    """Numbers of the samples to draw."""
    count = len(run.statuses)
    chosen = np.arange(count) if samples is None else np.atleast_1d(np.asarray(samples, int))
    wrong = [int(i) for i in chosen if not -count <= i < count]
    if wrong or not len(chosen):
        raise RunError(f"no sample {wrong[0]}" if wrong else "no samples to draw", fix=f"the run has {count}, from 0")
    return chosen % count


def _note(run: Result, chosen: np.ndarray, bands: bool, drawn: int, total: int) -> str:
    """What the reader of the picture must know."""
    parts, count = [], len(run.statuses)
    if bands:
        parts.append("Line: median. Dark band: 25–75 % of the samples; light band: 5–95 %.")
    if len(chosen) == 1 < count:
        parts.append(f"Sample {chosen[0]} of {count:,}.")
    elif len(chosen) < count:
        parts.append(f"{len(chosen):,} of {count:,} samples drawn.")
    failed = int(np.count_nonzero(~run.ok[chosen]))
    if len(chosen) == 1 and failed:
        parts.append(f"× {run.statuses[int(chosen[0])]}.")
    elif failed:
        parts.append(f"{failed:,} failed: {'left out from then on' if bands else 'end at a ×'}.")
    if drawn < total:
        parts.append(f"{drawn} of {total} panels shown; name the quantities to see others.")
    return " ".join(parts)


def _grid(made: Sequence[Panel], *, stacked: bool, shown: bool) -> tuple[Figure, list[Axes]]:
    """Panels below each other for one sample, else in columns; an error goes below, as wide as all."""
    wide = made[-1:] if made[-1].log else []
    above = len(made) - len(wide)
    columns = 1 if stacked or above < 2 else 2 if above in (2, 4) else 3
    rows = -(-above // columns)
    heights = [1.0] * rows + [0.6 if above else 1.0] * len(wide)
    size = (8.0, 1.0 + 2.3 * sum(heights)) if columns == 1 else (3.6 * columns + 1.4, 1.1 + 2.3 * sum(heights))
    figure = style.new_figure(size[0], max(size[1], 3.8), shown=shown)
    grid = figure.add_gridspec(rows + len(wide), columns, height_ratios=heights)
    axes: list[Axes] = []
    for k in range(len(made)):
        place = grid[k // columns, k % columns] if k < above else grid[rows, :]
        axes.append(figure.add_subplot(place, sharex=axes[0] if axes else None))
        lowest = k == len(made) - 1 if columns == 1 else k + columns >= above
        axes[-1].tick_params(labelbottom=lowest)
        if lowest:
            axes[-1].set_xlabel("time [s]")
    return figure, axes


def _head(figure: Figure, run: Result, note: str) -> None:
    model = run.provenance.get("model")
    text = span(run) if not model else f"{model}: {span(run)}"
    figure.suptitle(style.words(text, 110), x=0.01, ha="left", fontsize=10.5, color="#333333")
    if note:
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#555555")


def draw_lines(ax: Axes, time: np.ndarray, rows: np.ndarray, labels: Sequence[str]) -> list[End]:
    """Lines, with a colour scale when they are many; else their ends, where their names belong."""
    from matplotlib import colormaps

    many = len(rows) > LABELLED
    ends: list[End] = []
    for k, row in enumerate(rows):
        colour = colormaps[style.MANY](0.92 * k / (len(rows) - 1)) if many else style.PALETTE[k % len(style.PALETTE)]
        dashes = "--" if not many and k >= len(style.PALETTE) else "-"
        seen = np.flatnonzero(np.isfinite(row))
        if not len(seen):
            continue
        marker = "o" if len(seen) == 1 else ""
        ax.plot(
            time,
            row,
            dashes,
            color=colour,
            linewidth=0.9 if many else None,
            alpha=0.8 if many else 1,
            marker=marker,
            markersize=4,
        )
        last = seen[-1]
        if last < len(time) - 1:
            ax.plot(time[last], row[last], "x", color=colour, markersize=6, markeredgewidth=1.6, clip_on=False)
        ends.append((float(row[last]), labels[k], colour))
    if not ends:
        _nothing(ax)
    if many and ends:
        _colour_scale(ax, labels)
    return [] if many or len(rows) == 1 else ends


def draw_names(ax: Axes, ends: list[End]) -> None:
    """Names beside the ends of their lines, moved apart so that none covers another."""
    if not ends:
        return
    low, high = ax.get_ylim()
    ends = sorted(ends, key=lambda end: end[0])
    at = np.array([end[0] for end in ends])
    if ax.get_yscale() == "log":
        at, low, high = np.log(at), np.log(low), np.log(high)
    gap = 10.5 / 72 * ax.figure.dpi / ax.get_window_extent().height  # one line of text, as a part of the axis
    at = _apart(np.clip((at - low) / (high - low), 0, 1), gap)
    ax.set_ylim(ax.get_ylim())
    for (_, label, colour), height in zip(ends, at, strict=True):
        ax.text(
            1.012,
            height,
            style.words(label, 32),
            transform=ax.transAxes,
            va="center",
            color=colour,
            fontsize=8.5,
        )


def _apart(at: np.ndarray, gap: float) -> np.ndarray:
    """The nearest increasing places that lie at least `gap` apart: crowded ones spread about their middle."""
    groups: list[list[float]] = []
    for place in at - gap * np.arange(len(at)):
        groups.append([float(place)])
        while len(groups) > 1 and np.mean(groups[-2]) > np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    steps = gap * np.arange(len(at))
    spread = np.concatenate([np.full(len(g), np.mean(g)) for g in groups]) + steps
    return np.maximum(np.minimum(spread, 1 - steps[::-1]), steps)  # and within the axis while there is room


def _colour_scale(ax: Axes, labels: Sequence[str]) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    colours = ListedColormap(colormaps[style.MANY](np.linspace(0, 0.92, 256)))
    bar = ax.figure.colorbar(ScalarMappable(Normalize(0, len(labels) - 1), colours), ax=ax, pad=0.015, aspect=14)
    ticks: list[int] = np.unique(np.linspace(0, len(labels) - 1, 5).astype(int)).tolist()
    bar.set_ticks(ticks)
    bar.ax.set_yticklabels([style.words(labels[k], 32) for k in ticks])
    bar.outline.set_visible(False)  # type: ignore[operator]


def _nothing(ax: Axes) -> None:
    said = "zero" if ax.get_yscale() == "log" else "no finite values"
    ax.text(0.5, 0.5, said, transform=ax.transAxes, ha="center", color="#555555")


def draw_bands(ax: Axes, time: np.ndarray, panel: Panel) -> None:
    """The median of the samples with a band for the middle half and one for nine in ten."""
    values = panel.lines[0].values
    keep = slice(None)
    if values.size > 20_000_000:
        keep = np.unique(np.linspace(0, len(time) - 1, 250).astype(int))
    q05, q25, q50, q75, q95 = quantiles(values[:, keep], BANDS)
    t, colour = time[keep], style.PALETTE[0]
    ax.fill_between(t, q05, q95, color=colour, alpha=0.18, linewidth=0)
    ax.fill_between(t, q25, q75, color=colour, alpha=0.38, linewidth=0)
    ax.plot(t, q50, color=colour, marker="o" if len(t) == 1 else "", markersize=4)
    if not np.any(np.isfinite(q50)):
        _nothing(ax)


def quantiles(values: np.ndarray, parts: Sequence[float], room: int = 4_000_000) -> np.ndarray:
    """Quantiles over the samples that are still there, (part, time); `room` numbers at a time."""
    count, times = values.shape
    found = np.full((len(parts), times), np.nan)
    step = max(1, room // max(1, count))
    for start in range(0, times, step):
        block = np.ascontiguousarray(values[:, start : start + step].T)
        there = np.isfinite(block)
        for k, row in enumerate(block):
            row = row if there[k].all() else row[there[k]]
            if len(row):
                found[:, start + k] = np.quantile(row, parts, overwrite_input=True)
    return found
