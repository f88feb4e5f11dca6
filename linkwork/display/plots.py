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


def plot(
    run: Result,
    *names: str,
    kind: str | None = None,
    samples: int | Sequence[int] | None = None,
    path: str | PathLike[str] | None = None,
) -> Figure:
    """Draw quantities over time; without names: coordinates, speeds and energy balance.

    "energy" stands for kinetic, potential and total energy, work and their balance. More than 12 samples become bands
    (median, 25–75 %, 5–95 %), fewer become lines; `kind` ("lines" or "bands") and `samples` choose otherwise.
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
        for ax, panel in zip(axes, made, strict=True):
            ax.set_title(panel.title)
            ax.set_ylabel(panel.ylabel)
            ax.set_yscale("log" if panel.log else "linear")
            if bands:
                draw_bands(ax, run.time, panel)
            else:
                labels = (
                    [f"sample {i}" for i in chosen] if len(chosen) > 1 else [x.label for x in panel.lines]
                )
                draw_lines(ax, run.time, _rows(panel), labels)
        _head(figure, run, note)
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
        raise RunError(
            f"no sample {wrong[0]}" if wrong else "no samples to draw", fix=f"the run has {count}, from 0"
        )
    return chosen % count


def _note(run: Result, chosen: np.ndarray, bands: bool, drawn: int, total: int) -> str:
    """What the reader of the picture must know."""
    parts = []
    if bands:
        parts.append("Line: median. Dark band: 25–75 % of the samples; light band: 5–95 %.")
    elif 1 < len(chosen) < len(run.statuses):
        parts.append(f"{len(chosen)} of {len(run.statuses):,} samples drawn.")
    failed = int(np.count_nonzero(~run.ok[chosen]))
    if failed:
        parts.append(
            f"{failed:,} of {len(chosen):,} samples failed (×)"
            if not bands
            else f"{failed:,} of {len(chosen):,} samples failed and are left out from then on"
        )
        parts[-1] += "."
    if drawn < total:
        parts.append(f"{drawn} of {total} panels shown; name the quantities to see others.")
    return " ".join(parts)


def _grid(made: Sequence[Panel], *, stacked: bool, shown: bool) -> tuple[Figure, list[Axes]]:
    """Panels below each other for one sample, else in columns; the time axis is shared."""
    count = len(made)
    columns = 1 if stacked or count == 1 else 2 if count <= 4 else 3
    rows = -(-count // columns)
    small = (
        [0.6 if columns == 1 and count > 1 and panel.log else 1.0 for panel in made]
        if columns == 1
        else [1.0] * rows
    )
    width, height = (8.0, 1.0 + 2.3 * sum(small)) if columns == 1 else (4.4 * columns, 1.0 + 2.3 * rows)
    figure = style.new_figure(width, height if count > 1 else 3.8, shown=shown)
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False, gridspec_kw={"height_ratios": small})
    used = list(axes.ravel()[:count])
    for ax in axes.ravel()[count:]:
        ax.remove()
    for k, ax in enumerate(used):
        if k + columns >= count:
            ax.set_xlabel("time [s]")
            ax.tick_params(labelbottom=True)
    return figure, used


def _head(figure: Figure, run: Result, note: str) -> None:
    model = run.provenance.get("model")
    text = span(run) if not model else f"{model}: {span(run)}"
    figure.suptitle(style.words(text, 110), x=0.01, ha="left", fontsize=10.5, color="#333333")
    if note:
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8, color="#555555")


def draw_lines(ax: Axes, time: np.ndarray, rows: np.ndarray, labels: Sequence[str]) -> None:
    """Lines with their names at the right end, or with a colour scale when they are many."""
    from matplotlib import colormaps

    many = len(rows) > LABELLED
    ends: list[tuple[float, str, Any]] = []
    for k, row in enumerate(rows):
        colour = (
            colormaps[style.MANY](0.92 * k / (len(rows) - 1))
            if many
            else style.PALETTE[k % len(style.PALETTE)]
        )
        dashes = "--" if not many and k >= len(style.PALETTE) else "-"
        seen = np.flatnonzero(np.isfinite(row))
        if not len(seen):
            continue
        marker = "o" if len(seen) == 1 else ""
        ax.plot(time, row, dashes, color=colour, linewidth=0.9 if many else None, marker=marker, markersize=4)
        last = seen[-1]
        if last < len(time) - 1:
            ax.plot(time[last], row[last], "x", color=colour, markersize=6, markeredgewidth=1.6)
        ends.append((float(row[last]), labels[k], colour))
    if not ends:
        ax.text(0.5, 0.5, "no finite values", transform=ax.transAxes, ha="center", color="#555555")
    elif many:
        _colour_scale(ax, labels)
    elif len(rows) > 1:
        _names(ax, ends)


def _names(ax: Axes, ends: list[tuple[float, str, Any]]) -> None:
    """Names beside the ends of their lines, moved apart so that none covers another."""
    low, high = ax.get_ylim()
    ends = sorted(ends, key=lambda end: end[0])
    at = np.array([end[0] for end in ends])
    if ax.get_yscale() == "log":
        at, low, high = np.log(at), np.log(low), np.log(high)
    box = ax.get_position()
    gap = (
        10.5 / 72 / (box.height * ax.figure.get_figheight() * 0.85)
    )  # one line of text, as a part of the axis
    at = np.clip((at - low) / (high - low), 0, 1)
    for k in range(1, len(at)):
        at[k] = max(at[k], at[k - 1] + gap)
    ceiling = max(1.0, gap * (len(at) - 1))
    for k in range(len(at) - 1, -1, -1):
        at[k] = min(at[k], ceiling - gap * (len(at) - 1 - k))
    ax.set_ylim(ax.get_ylim())
    for (_, label, colour), height in zip(ends, at, strict=True):
        ax.text(1.012, height, label, transform=ax.transAxes, va="center", color=colour, fontsize=8.5)


def _colour_scale(ax: Axes, labels: Sequence[str]) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    colours = ListedColormap(colormaps[style.MANY](np.linspace(0, 0.92, 256)))
    bar = ax.figure.colorbar(
        ScalarMappable(Normalize(0, len(labels) - 1), colours), ax=ax, pad=0.015, aspect=14
    )
    ticks = np.unique(np.linspace(0, len(labels) - 1, 5).astype(int))
    bar.set_ticks(list(ticks), labels=[labels[k] for k in ticks])
    bar.outline.set_visible(False)  # type: ignore[operator]


def draw_bands(ax: Axes, time: np.ndarray, panel: Panel) -> None:
    """The median of the samples with a band for the middle half and one for nine in ten."""
    values = panel.lines[0].values
    keep = slice(None)
    if values.size > 20_000_000:
        keep = np.unique(np.linspace(0, len(time) - 1, 500).astype(int))
    q05, q25, q50, q75, q95 = quantiles(values[:, keep], BANDS)
    t, colour = time[keep], style.PALETTE[0]
    ax.fill_between(t, q05, q95, color=colour, alpha=0.18, linewidth=0)
    ax.fill_between(t, q25, q75, color=colour, alpha=0.38, linewidth=0)
    ax.plot(t, q50, color=colour, marker="o" if len(t) == 1 else "", markersize=4)
    if not np.any(np.isfinite(q50)):
        ax.text(0.5, 0.5, "no finite values", transform=ax.transAxes, ha="center", color="#555555")


def quantiles(values: np.ndarray, parts: Sequence[float], room: int = 4_000_000) -> np.ndarray:
    """Quantiles over the samples that are still there, (part, time); `room` numbers at a time."""
    count, times = values.shape
    found = np.full((len(parts), times), np.nan)
    step = max(1, room // max(1, count))
    for start in range(0, times, step):
        block = np.ascontiguousarray(values[:, start : start + step])
        there = np.isfinite(block)
        if there.all():
            found[:, start : start + step] = np.quantile(block, parts, axis=0)
            continue
        for k in np.flatnonzero(there.any(axis=0)):
            found[:, start + k] = np.quantile(block[there[:, k], k], parts)
    return found
