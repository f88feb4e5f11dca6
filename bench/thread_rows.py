"""Two threads next to one."""

from __future__ import annotations

from functools import partial

import numpy as np

import linkwork as lw
from bench.measure import Case, Row, Settings, Timed, Wrong, best, row
from bench.models import kernel, pair
from linkwork.compiler.running import cores

BATCH = 65_536


def cases() -> list[Case]:
    return [Case("threads", name, partial(two, name)) for name in ("Z1", "G1")]


def two(name: str, settings: Settings) -> list[Row]:
    if cores() < 2:
        return []
    p = pair(name)
    samples = 4096 if settings.quick else BATCH
    given = {k: x for k, x in p.states(samples).items() if k != "v_dot"}
    k = kernel(p.ours, lw.aba)
    one, both = k.bind(**given, threads=1), k.bind(**given, threads=2)
    if not np.array_equal(one(), both()):
        raise Wrong(f"aba of {name}: two threads give other bits than one")
    things: dict[str, Timed] = {"one": (one, samples), "two": (both, samples)}
    ns = best(things, settings, pinned=False)
    note = f"batch of {samples}; the same bits"
    return [row("aba, two threads", name, ns["two"], "one thread", ns["one"], target=1.7, note=note)]
