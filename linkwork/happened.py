"""Events of a run as columns, one row for each event, so that tables and files can hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Happened = tuple[tuple[tuple[float, str], ...], ...]


def columns(events: Sequence[Sequence[tuple[float, str]]]) -> dict[str, Any]:
    """Coordinates of a Dataset along `event`: sample, time and name. Nothing where nothing happened."""
    rows = [(sample, time, name) for sample, own in enumerate(events) for time, name in own]
    if not rows:
        return {}
    samples, times, names = zip(*rows, strict=True)
    return {
        "event_sample": ("event", np.array(samples)),
        "event_time": ("event", np.array(times), {"units": "s"}),
        "event_name": ("event", np.array(names)),
    }


def told(data: Mapping[Any, Any], samples: int) -> Happened:
    """What `columns` wrote."""
    found: list[list[tuple[float, str]]] = [[] for _ in range(samples)]
    if "event_time" in data:
        parts = (data[f"event_{part}"].values for part in ("sample", "time", "name"))
        for sample, time, name in zip(*parts, strict=True):
            found[int(sample)].append((float(time), str(name)))
    return tuple(map(tuple, found))
