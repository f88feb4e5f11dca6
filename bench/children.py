"""Measured in processes of their own: long chains and their memory, times of building, of importing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import Case, Row, Settings, limit, row, skipped

ROOT = Path(__file__).absolute().parent.parent
LENGTHS = (100, 1_000, 10_000, 100_000)
NS_A_BODY = 200
MEMORY = 1e9
COLD = {"Z1": 1.0, "G1": 3.0, "chain 1000": 1.0, "chain 100000": 1.0}
"""Seconds allowed; those of chains are for rolled code, whatever its length."""
CACHED = {"Z1": 0.1, "G1": 0.1}
"""The same from the cache; rolled code may take as long as cold, since its tables are made from the model each time."""


def cases() -> list[Case]:
    return [
        Case("long chain", "one sample", chains),
        *(Case("build", name, partial(building, name)) for name in COLD),
        Case("import", "linkwork", importing),
    ]


def child(*words: str, cache: str | None = None) -> dict[str, Any]:
    """One line of JSON from `bench.child`; its complaint, if it has one, is raised."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    if cache is not None:
        env["LINKWORK_CACHE"] = cache
    done = subprocess.run(
        [sys.executable, "-m", "bench.child", *words], cwd=ROOT, env=env, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no answer"])[-1])
    return json.loads(done.stdout.splitlines()[-1])


def chains(settings: Settings) -> list[Row]:
    """ABA of one sample of ever longer chains, and the memory of the longest."""
    rows: list[Row] = []
    times: dict[int, float] = {}
    for n in LENGTHS[:2] if settings.quick else LENGTHS:
        name = f"chain {n}"
        try:
            found = child("chain", str(n))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            rows.append(skipped("aba one sample, a body", name, str(error)))
            continue
        times[n] = found["ns"]
        note = f"model made in {found['model']:.1f} s, code in {found['build']:.2f} s, {found['peak'] / 1e6:.0f} MB"
        rows.append(limit("aba one sample, a body", name, found["ns"], NS_A_BODY, note))
        if n == LENGTHS[-1]:
            spent, share, used = found["ns"] * n, MEMORY / found["peak"], f"{found['peak'] / 1e6:.0f} MB in all"
            rows.append(row("peak memory", name, spent, "1 GB", spent, target=1.0, ratio=share, note=used))
    if len(times) > 1:
        fast, slow = min(times.values()), max(times.values())
        lengths, note = f"chains of {min(times)} to {max(times)}", f"slowest length over fastest: {slow / fast:.2f}"
        rows.append(row("flat within 2", lengths, slow, "fastest × 2", 2 * fast, target=1.0, note=note))
    return rows


def building(name: str, settings: Settings) -> list[Row]:
    """Cold in an empty cache, then again from it."""
    repeats = 1 if settings.quick else 3
    cold: list[dict[str, Any]] = []
    warm: list[dict[str, Any]] = []
    try:
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(child("build", name, cache=cache))
                warm.append(child("build", name, cache=cache))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [skipped("build, cold", name, str(error))]
    rows = []
    cached = CACHED.get(name, COLD[name])
    for title, found, allowed in (("build, cold", cold, COLD[name]), ("build, from cache", warm, cached)):
        least = min(found, key=lambda x: x["seconds"])
        note = (
            f"of which tracing {least['trace']:.2f} s; not counted: reading the model, {least['read']:.2f} s, and the "
        )
        note += f"first call, {least['first']:.2f} s, most of it the system's for fresh memory"
        rows.append(limit(title, name, 1e9 * least["seconds"], 1e9 * allowed, note))
    return rows


def importing(settings: Settings) -> list[Row]:
    found = min(child("import")["seconds"] for _ in range(2 if settings.quick else 7))
    return [limit("import linkwork", "", 1e9 * found, 0.5e9)]
