"""One HTML file that tells a sweep to someone who was not there: what came out, and why to believe it."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING

from linkwork.display import style, sweep_pictures, sweep_tables
from linkwork.display.html import answers, document, folded, heading, paragraph, picture, section
from linkwork.display.maps import maps
from linkwork.display.sweep_words import counted, inputs, label, notes, percent, share, summary, verdict
from linkwork.export import replacing
from linkwork.sweeping.findings import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def sweep_page(found: Findings, path: str | PathLike[str]) -> None:
    """Write the file."""
    style.need_matplotlib()
    text = _html(found)
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", errors="replace")


def _html(found: Findings) -> str:
    about = found.about
    lead = f"{counted(about.samples)} of {about.model} · {about.design} design, seed {about.seed}"
    kind, said = verdict(found)
    top = f"{about.name}: what the sweep tells"
    parts = [
        heading(top),
        paragraph(lead, "lead"),
        answers(summary(found)),
        paragraph(said, f"verdict {kind}"),
        section("How the samples ended", _ended(found)),
        section("Will it succeed?", _success(found)),
        section("Over two inputs", _maps(found)),
        section("How large do the numbers get?", _numbers(found)),
        section("What matters?", _matters(found)),
        section("Worst samples", _worst(found)),
        section("Motion", _motion(found)),
        section("Why believe it?", sweep_tables.checks(found)),
        section("What was run", _run(found)),
    ]
    return document(top, parts)


def _drawn(draw: Callable[[], Figure], about: str) -> str:
    from matplotlib import rc_context

    with rc_context({**style.LOOK, "axes.formatter.use_mathtext": False}):  # parsing it takes most of the time
        return picture(draw(), about)


def _ended(found: Findings) -> str:
    if not found.statuses:
        return paragraph("There are no samples yet.")
    text = _drawn(lambda: sweep_pictures.statuses(found), "Shares of the ways in which samples ended")
    text += sweep_tables.statuses(found)
    return text + (paragraph("Samples that failed") + sweep_tables.failures(found) if found.failed else "")


def _success(found: Findings) -> str:
    success = found.success
    if success is None:
        return paragraph(
            "The plan does not say. Write success: followed by what is asked of a sample, and run it again."
        )
    text = paragraph(
        f"Success is {success.criterion}. Share of successes: {share(success.share)}, {counted(found.used)}."
    )
    if success.against:
        about = "Success in bins of each input"
        text += _drawn(lambda: sweep_pictures.against(success.against, success.share.value), about)
        text += paragraph(
            "Each point is a bin of equal count (or one value): the share of successes with its interval, and the "
            "width of the bin. Dashed: all samples.",
            "quiet",
        )
    return text


def _maps(found: Findings) -> str:
    text = "".join(
        _drawn(lambda one=one: maps(found, [one]), f"Map over {one.x} and {one.y}")  # type: ignore[misc]
        for one in found.maps
    )
    told = "Cells of equal count, or one for each value. White: too few samples to tell."
    return text + paragraph(told, "quiet") if text else ""


def _numbers(found: Findings) -> str:
    if not found.numbers:
        return paragraph("Nothing was recorded.")
    text = sweep_tables.numbers(found)
    text += "".join(paragraph(note, "quiet") for note in notes(found))
    if any(x.count for x in found.numbers):
        text += _drawn(lambda: sweep_pictures.spread(found), "Histograms of the recorded numbers")
        text += paragraph("Lines at 5 %, the median and 95 % of the samples that have the number.", "quiet")
    return text + _loads(found)


def _loads(found: Findings) -> str:
    load = found.load
    column = next((c for c in found.values if load and c.name == load.name), None)
    if load is None or column is None or not found.inputs:
        return ""
    felt = next((s for s in found.sensitivity if s.of == load.name), None)
    order = [e.name for e in felt.effects] if felt else []
    known = {c.name: c for c in found.inputs}
    chosen = [known[n] for n in order if n in known][:6] or list(found.inputs)[:6]
    told = f"{label(load.name, load.unit)} of single samples over the inputs that matter most for it"
    text = _drawn(lambda: sweep_pictures.load_against(found, chosen, column), told)
    colours = "; orange: without success" if found.success is not None else ""
    return text + paragraph(f"{told}{colours}. Line: {percent(0.95)} of the samples of a bin lie below.", "quiet")


def _matters(found: Findings) -> str:
    if not found.sensitivity:
        return ""
    load = found.load.name if found.load else ""
    chosen = [s for s in found.sensitivity if s.of in ("success", load)] or list(found.sensitivity[:1])
    sobol = chosen[0].how == "sobol"
    text = _drawn(lambda: sweep_pictures.effects(chosen), "Effects of the inputs")
    text += paragraph(
        "Sobol indices: the share of the variance that an input makes alone, and together with all others."
        if sobol
        else "Rank correlation (Spearman) tells the direction of an effect that rises or falls; the share of the "
        "variance that an input explains alone (first-order Sobol index, from bins) also sees one that rises on both "
        "sides.",
        "quiet",
    )
    for one in chosen:
        of = f"{one.samples:,} blocks" if sobol else counted(one.samples)
        text += folded(f"{one.of}, from {of}, as a table", sweep_tables.sensitivity(found, one))
    if len(found.sensitivity) > 1:
        text += _drawn(lambda: sweep_pictures.everything(found), "Effects of all inputs on all numbers")
        text += paragraph("Total Sobol indices." if sobol else "Rank correlations of all.", "quiet")
    return text


def _worst(found: Findings) -> str:
    text = ""
    if found.load is not None and found.load.corner.greatest:
        worst = found.load.corner.greatest[0]
        text += paragraph(f"By {found.load.name}; the worst start is {inputs(found, worst)}.")
        text += sweep_tables.corner(found, found.load.corner, fold=False)
    if found.success is not None and found.success.examples:
        text += paragraph("Without success, the first of each way of ending:")
        text += sweep_tables.samples(found, found.success.examples)
    others = "".join(sweep_tables.corner(found, one) for one in found.corners)
    return text + (paragraph("By the other numbers (click to unfold):") + others if others else "")


def _motion(found: Findings) -> str:
    if not found.envelopes:
        return ""
    text = _drawn(lambda: sweep_pictures.envelopes(found), "Median and bands over time")
    return text + paragraph("Line: median. Dark band: 25 … 75 % of the samples; light band: 5 … 95 %.", "quiet")


def _run(found: Findings) -> str:
    text = sweep_tables.origin(found) + paragraph("What varied:") + sweep_tables.inputs(found)
    return text + (paragraph("What was built:") + sweep_tables.built(found) if found.about.words.built else "")
