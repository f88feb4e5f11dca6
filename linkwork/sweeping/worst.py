"""Single samples worth a look: where numbers are greatest and least, those that failed, those without success."""

from __future__ import annotations

import numpy as np

from linkwork.sweeping.evidence import Samples
from linkwork.sweeping.findings import Corner, Sample

LISTED = 5
FAILED = 20


def sample(samples: Samples, at: int, value: float = np.nan) -> Sample:
    """The sample at a place in the table."""
    inputs = tuple(float(samples.table[name][at]) for name in samples.of_kind("input"))
    return Sample(int(samples.found.samples[at]), value, str(samples.table["status"][at]), inputs)


def corner(samples: Samples, name: str, most: int = LISTED) -> Corner:
    """The samples that did not fail where a number is greatest, and where it is least."""
    x = np.where(samples.good, samples.table[name].astype(float), np.nan)
    there = np.flatnonzero(np.isfinite(x))
    high, low = (there[np.argsort(sign * x[there], kind="stable")[:most]].tolist() for sign in (-1, 1))
    greatest, least = ([sample(samples, k, float(x[k])) for k in order] for order in (high, low))
    return Corner(name, samples.unit(name), tuple(greatest), tuple(least))


def failures(samples: Samples) -> tuple[Sample, ...]:
    """The first samples that failed, with the time at which they did."""
    return tuple(
        sample(samples, int(k), float(samples.table["end"][k])) for k in np.flatnonzero(~samples.good)[:FAILED]
    )


def without_success(samples: Samples) -> tuple[Sample, ...]:
    """For each way of ending without failing, the first samples that were no success."""
    held, status = samples.table["success"] == 1, samples.table["status"].astype(str)
    rows = np.flatnonzero(samples.good & ~held)
    found: list[Sample] = []
    for text in dict.fromkeys(status[rows].tolist()):
        found += [sample(samples, int(k)) for k in rows[status[rows] == text][:3]]
    return tuple(found)
