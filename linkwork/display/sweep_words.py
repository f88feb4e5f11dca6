"""What a sweep tells, in plain sentences, and the ways in which its numbers are written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from linkwork.display import style
from linkwork.sweeping.findings import Against, Check, Drawn, Estimated, Findings, Sample

DEGREES = {"rad": "°", "rad/s": "°/s", "rad/s^2": "°/s²"}
RARE = 0.01  # a share of failed samples from which a sweep is not to be believed
FEW = 100
MANY = 4  # numbers of the load's unit that are told at once


def scale(unit: str) -> float:
    """By what a number is multiplied to be shown: angles in degrees."""
    return 180 / math.pi if unit in DEGREES else 1.0


def unit(text: str) -> str:
    shown = DEGREES.get(text) or style.unit(text).replace("*", "·")
    return "" if shown == "–" else shown


def label(name: str, of: str) -> str:
    """A name with its unit: "pitch [°]"."""
    return f"{name} [{unit(of)}]" if unit(of) else name


def number(value: float, of: str = "", digits: int = 4) -> str:
    """The number as it is shown, without its unit."""
    if not math.isfinite(value):
        return "–"
    x = value * scale(of) + 0.0
    whole = 10**digits <= float(f"{abs(x):.{digits}g}") < 1e7
    return (f"{x:,.0f}" if whole else f"{x:.{digits}g}").replace("e-0", "e-").replace("e+0", "e").replace("-", "−")


def quantity(value: float, of: str) -> str:
    return f"{number(value, of)} {unit(of)}".rstrip()


def percent(value: float, sign: str = " %") -> str:
    """A share in percent, to a tenth; a small one to two digits."""
    if not math.isfinite(value):
        return "–"
    x = 100 * value
    return (f"{x:.1f}".removesuffix(".0") if x == 0 or abs(x) >= 1 else f"{x:.2g}") + sign


def span(x: Estimated, of: str = "") -> str:
    """The limits of an estimate; an open one where the samples are too few for it."""
    low = number(x.low, of) if math.isfinite(x.low) else "?"
    return f"{low} … {number(x.high, of) if math.isfinite(x.high) else '?'}"


def share(x: Estimated) -> str:
    return f"{percent(x.value)} ({percent(x.low, '')} … {percent(x.high)})"


def counted(n: int, word: str = "sample") -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def command(found: Findings, sample: int) -> str:
    return found.about.replay.replace("{}", str(sample))


def inputs(found: Findings, sample: Sample) -> str:
    """ "closing 0.31 m/s, offset 0.28 m"."""
    told = zip(found.about.inputs, sample.inputs, strict=True)
    return ", ".join(f"{one.name} {number(x, one.unit, 3)} {unit(one.unit)}".rstrip() for one, x in told)


def drawn(one: Drawn) -> str:
    """How an input varies, in the unit it is shown in: "normal [30, 5], 15 … 45"."""
    return _distribution(one.how, one.unit)


def _distribution(how: Mapping[str, Any], of: str) -> str:
    (kind, x), *limits = how.items()
    if kind == "discrete":
        weights = f", weights {_row(x['weights'], '')}" if x["weights"] else ""
        return f"values {_row(x['values'], of)}{weights}"
    if kind == "beta":
        a, b, *x = x
        kind = "arcsine" if a == b == 0.5 else f"beta of {a:g} and {b:g},"
    low, high = limits[0][1] if limits else (-math.inf, math.inf)
    within = [f"from {number(low, of)}"] * math.isfinite(low) + [f"to {number(high, of)}"] * math.isfinite(high)
    told = f"{kind} {_row([x] if isinstance(x, (int, float)) else x, of)}".strip()
    return ", cut ".join([told, *([" ".join(within)] if within else [])])


def _row(values: Sequence[float], of: str) -> str:
    shown = [number(x, of) for x in values[:12]]
    return ", ".join(shown) + (f", … {len(values)} in all" if len(values) > 12 else "")


# --- in short ---
def summary(found: Findings) -> list[tuple[str, str]]:
    """What a reader asks first, with answers: how many, will it do, how hard, which start is worst, what matters."""
    about = found.about
    of = "" if about.samples == about.wanted else f" of {about.wanted:,}"
    said = [("What was done?", f"{counted(about.samples)}{of} of {about.model}{_ended(found)}")]
    if not found.used:
        return [*said, ("Will it succeed?", "No sample came to an end from which anything could be told.")]
    return said + [row for tell in (_succeeds, _hits, _matters) for row in tell(found)]


def _ended(found: Findings) -> str:
    ways = [f"{row.text} {percent(row.share.value)}" for row in found.statuses if row.good]
    failed = f"{found.failed:,} failed" if found.failed else "none failed"
    return f"; {failed}." + (f" They ended so: {', '.join(ways)}." if 1 < len(ways) <= 6 else "")


def _succeeds(found: Findings) -> list[tuple[str, str]]:
    if found.success is None:
        return [("Will it succeed?", "The plan does not say what success is.")]
    p, (low, high) = found.success.share, found.success.bounds
    apart = found.used + found.failed < found.about.samples  # of a Saltelli block not all are independent
    of = f"the {counted(found.used)} that are independent" if apart else "the samples"
    said = (
        f"In {percent(p.value)} of {of} ({found.success.criterion}); "
        f"between {percent(p.low, '')} and {percent(p.high)} with {100 * found.about.confidence:g} % confidence."
    )
    if found.failed:
        said += f" Whatever the failed samples would have done, in {percent(low, '')} to {percent(high)} of those run."
    return [("Will it succeed?", said)]


def _hits(found: Findings) -> list[tuple[str, str]]:
    load = found.load
    if load is None or not load.corner.greatest:
        return []
    worst = load.corner.greatest[0]
    said = [_reaches(found, load.name)]
    said += [_reaches(found, x.name) for x in found.numbers if x.unit == load.unit and x.name != load.name and x.count]
    start = (
        f"Sample {worst.sample} ({worst.status}) by {load.name}: {inputs(found, worst)}. "
        f"Run it again: {command(found, worst.sample)}"
    )
    rare = _rarest(found)
    return [
        ("How hard does it get?", " ".join(said[:MANY])),
        ("Which start is worst?", f"{start}{f'. {rare}.' if rare else ''}"),
    ]


def _reaches(found: Findings, name: str) -> str:
    """The greatest of a number, and what it stays below in most samples."""
    x = next(x for x in found.numbers if x.name == name)
    said, most = f"{x.name} reaches {quantity(x.greatest, x.unit)}", x.quantiles.get(0.99)
    if most is not None and most.samples >= FEW:
        limits = f" ({span(most, x.unit)})" if math.isfinite(most.high) else ""
        of = "" if x.count == found.used else f" {x.count:,}"
        said += f"; it stays below {quantity(most.value, x.unit)}{limits} in 99 % of the{of} samples"
        said += "" if x.count == found.used else " that have it"
    return f"{said}."


def _rarest(found: Findings) -> str:
    """Where success is rarest: the lowest bin of the input whose bins differ most."""
    rows = [a for a in found.success.against if len(a.bins) > 1] if found.success else []
    if not rows:
        return ""

    def spread(a: Against) -> float:
        return max(b.share.low for b in a.bins) - min(b.share.high for b in a.bins)

    most = max(rows, key=spread)
    low = min(most.bins, key=lambda b: b.share.value)
    if spread(most) <= 0:
        return ""
    ends = f"{number(low.low, most.unit, 3)} … {_brief(low.high, most.unit)}"
    where = _brief(low.middle, most.unit) if low.low == low.high else ends
    return f"Success is rarest at {most.name} {where}: {share(low.share)}"


def _brief(value: float, of: str) -> str:
    return f"{number(value, of, 3)} {unit(of)}".rstrip()


def _matters(found: Findings) -> list[tuple[str, str]]:
    """The strongest inputs, for success and for the load."""
    said = []
    for of in dict.fromkeys(("success", found.load.name if found.load else "")):
        felt = next((x for x in found.sensitivity if x.of == of), None)
        strong = [e.name for e in felt.effects if e.clear][:3] if felt else []
        if strong:
            said.append(f"{of} depends most on {_listed(strong)}")
    if not said:
        return [("What matters?", "No single input shows a clear effect.")] if found.sensitivity else []
    text = "; ".join(said)
    return [("What matters?", f"{text[0].upper()}{text[1:]}.")]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --- is it to be believed? ---
def verdict(found: Findings) -> tuple[str, str]:
    """("good", "care" or "bad", the sentence)."""
    bad, care = _doubts(found)
    checks = {c.name: c for c in found.checks}
    kept = [f"{_plainly(c)} at most {number(c.largest, '', 2)}" for c in _judged(checks)]
    if bad:
        return "bad", f"Not to be believed as it stands: {'; '.join(bad + care)}."
    if care:
        return "care", f"To be taken with care: {'; '.join(care)}." + (f" Else: {', '.join(kept)}." if kept else "")
    return "good", f"The numbers can be believed: no sample failed, {', '.join(kept)} over all samples."


def _judged(checks: dict[str, Check]) -> list[Check]:
    return [c for c in checks.values() if c.limit is not None]


def _plainly(check: Check) -> str:
    return check.name.replace("_", " ")


def _doubts(found: Findings) -> tuple[list[str], list[str]]:
    bad, care = [], []
    about = found.about
    if not found.used:
        bad.append("there is no sample to tell from")
    if about.samples and found.failed:
        part = found.failed / about.samples
        (bad if part >= RARE else care).append(f"{percent(part)} of the samples failed")
    for c in found.checks:
        if not c.fine:
            text = f"{_plainly(c)} reaches {number(c.largest, '', 2)} in sample {c.worst}, more than {c.limit:g}"
            (care if c.name.endswith("drift") else bad).append(text)
    if not about.why:
        care.append(f"the sweep is not finished, {about.samples:,} of {about.wanted:,} samples are there")
    if 0 < found.used < FEW:
        care.append(f"{counted(found.used)} {'is' if found.used == 1 else 'are'} few")
    if found.used and not any(c.limit is not None for c in found.checks):
        care.append("nothing was recorded of energy, momentum or step errors")
    return bad, care


def notes(found: Findings) -> list[str]:
    """How the estimates are to be read, by the design of the samples."""
    design, level = found.about.design, f"{100 * found.about.confidence:g} %"
    said = [
        f"Intervals have {level} confidence: Wilson's for shares; for quantiles, percentiles of 2,000 bootstrap "
        "resamples from a stream with the plan's seed ('?' where so few samples have no such limit). Failed samples "
        "are left out."
    ]
    said += {
        "sobol": ["Intervals are those of independent samples: for a Sobol sequence they are on the safe side."],
        "latin": ["Intervals are those of independent samples: for a Latin hypercube they are on the safe side."],
        "grid": ["The samples are the points of a grid: shares and quantiles are of its points, not probabilities."],
        "table": ["The samples are the rows of a table: intervals hold if they were drawn independently."],
        "saltelli": [
            f"Of each block of the Saltelli design only the two independent samples count in shares, quantiles and "
            f"maps ({found.used:,}); worst samples and trust are of all {found.about.samples:,}."
        ],
    }.get(design, [])
    if found.about.why and found.about.why != "all samples":
        said.append(f"The sweep was to end early and did: {found.about.why}. That makes intervals slightly too narrow.")
    for names in found.about.together:
        said.append(f"{', '.join(names)} were drawn together: what one of them explains includes what the others do.")
    return said
