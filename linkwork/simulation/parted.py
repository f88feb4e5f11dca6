"""A sweep part by part: draw the samples, have them computed, keep them, ask whether it is enough.

Whoever computes samples is a `Runner`. Columns of a part are named by kind: "input:payload.mass", "value:peak",
"event:hit" (time of the first), "count:hit", "trust:energy_error", "trajectory:tool.position.z"; besides these "code",
"end", "text", "where" tell how each sample ended and "success" whether it did what was asked (−1: not asked).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import RunError
from . import estimate, parts
from .designs import draw
from .parts import Columns, Damaged, Digest
from .plan import Plan
from .store import Store

GOOD, BAD_START, NOT_RUN = 1, 5, 6  # codes as in `result.Code`: up to GOOD a sample is good

Tell = Callable[[int, int], None]


class Runner(Protocol):
    """What can compute samples: a model, or a study of several phases that stands in for one.

    `inputs`: what it takes → SI unit.  `columns`: what it gives → unit, named by kind as above.  `times` of its
    trajectories (empty without).  `fingerprint()`: a text that differs when any result could.
    `run_samples` gets one array a name and returns one array for each of `columns`, and besides "code" (see
    `result.Code`), "end" (time), "text" and "where" (lists). A sample's numbers may depend on its own inputs alone.

    It may have `words` for its report: {"meanings": name → what it is, "ends": text → what it is, "maps":
    [[text, inputs it needs]], "built": part → its numbers}.
    """

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> Mapping[str, str]: ...
    @property
    def columns(self) -> Mapping[str, str]: ...
    @property
    def times(self) -> np.ndarray: ...

    def fingerprint(self) -> str: ...

    def run_samples(
        self, inputs: Mapping[str, np.ndarray], *, threads: int | None = None, progress: Tell | None = None
    ) -> Mapping[str, Any]: ...


class Interrupted(KeyboardInterrupt):
    """Ctrl-C came while a part was computed; that part is not kept."""


@dataclass(frozen=True)
class Task:
    """A plan and who computes it. `succeeds` says of inputs and values which samples did what was asked."""

    plan: Plan
    runner: Runner
    succeeds: Callable[[Mapping[str, np.ndarray]], np.ndarray] | None = None

    def part(self, k: int, *, threads: int | None = None, progress: Tell | None = None) -> dict[str, np.ndarray]:
        """The columns of part k. They depend on the plan, the runner and k alone."""
        return self.columns(np.array(self.plan.span(k)), threads=threads, progress=progress)

    def columns(
        self, index: np.ndarray, *, threads: int | None = None, progress: Tell | None = None
    ) -> dict[str, np.ndarray]:
        """The columns of any samples."""
        inputs = draw(self.plan, index)
        bad = [name for name in inputs if not np.isfinite(inputs[name]).all()]
        good = np.all([np.isfinite(inputs[name]) for name in bad], axis=0) if bad else np.ones(len(index), bool)
        n = len(index)
        found: dict[str, np.ndarray] = {f"input:{name}": inputs[name] for name in inputs}
        found |= {name: np.full(self._shape(name, n), np.nan) for name in self.runner.columns}
        code, end = np.full(n, BAD_START, np.int8), np.full(n, 0.0)
        text, where = ["bad start"] * n, [""] * n
        for i in np.flatnonzero(~good).tolist():
            name = next(name for name in bad if not np.isfinite(inputs[name][i]))
            text[i], where[i] = f"bad start: {name} is {inputs[name][i]}", name
        if good.any():
            given = {name: np.ascontiguousarray(x[good]) for name, x in inputs.items()}
            gave = self.runner.run_samples(given, threads=threads, progress=progress)
            check_gives(self.runner, gave, int(good.sum()))
            code[good], end[good] = gave["code"], gave["end"]
            if (code == NOT_RUN).any():
                raise Interrupted
            for i, t, w in zip(np.flatnonzero(good).tolist(), gave["text"], gave["where"], strict=True):
                text[i], where[i] = t, w
            for name in self.runner.columns:
                found[name][good] = gave[name]
        found |= {"code": code, "end": end, "text": parts.texts(text), "where": parts.texts(where)}
        found["success"] = self._success(found)
        return found

    def _shape(self, name: str, n: int) -> tuple[int, ...]:
        return (n, len(self.runner.times)) if name.startswith("trajectory:") else (n,)

    def _success(self, found: Mapping[str, np.ndarray]) -> np.ndarray:
        if self.succeeds is None:
            return np.full(len(found["code"]), -1, np.int8)
        known = {
            name.partition(":")[2]: x for name, x in found.items() if name.startswith(("input:", "value:", "event:"))
        }
        known |= {f"{name[6:]}.count": x for name, x in found.items() if name.startswith("count:")}
        known |= {"end": found["end"], "code": found["code"].astype(np.float64)}
        return (self.succeeds(known) & (found["code"] <= GOOD)).astype(np.int8)


@dataclass
class _Judge:
    """Looks at parts in their order until it is enough."""

    plan: Plan
    next: int = 0
    enough: str = ""
    _seen: dict[str, list[np.ndarray]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        assert self.plan.stop is not None
        name = estimate.parse(self.plan.stop.of)[2]
        return ("code", "success", *([f"value:{name}", f"input:{name}", f"event:{name}"] if name else []))

    def look(self, columns: Columns) -> None:
        self.next += 1
        stop = self.plan.stop
        if stop is None:
            return
        value = next((columns[name] for name in self.names[2:] if name in columns), columns["success"])
        for name, array in (("good", columns["code"] <= GOOD), ("success", columns["success"] == 1), ("value", value)):
            self._seen.setdefault(name, []).append(array)
        good, success, value = (np.concatenate(self._seen[name]) for name in ("good", "success", "value"))
        found = estimate.interval(stop.of, stop.confidence, good, success, value)
        if found.samples >= stop.least and found.width < stop.interval:
            self.enough = f"{stop.of} is {found.value:.6g}, within an interval of {found.width:.3g}"


Made = Generator[tuple[int, dict[str, np.ndarray]], None, None]
Source = Callable[[list[int]], Made]
"""Computes parts, in any order, and gives each as it is ready."""

Say = Callable[[str], None]


def fill(plan: Plan, store: Store, source: Source, said: Say = lambda text: None) -> dict[str, Any]:
    """Compute what is missing in the store; returns how the sweep ended: parts, samples, SHA-256, why."""
    judge, there = _Judge(plan), _whole(plan, store, said)

    def look() -> None:
        while judge.next < plan.parts and not judge.enough and judge.next in there:
            columns = store.get(judge.next, judge.names) if plan.stop else {}
            judge.look(columns)

    look()
    missing = [k for k in range(plan.parts) if k not in there]
    if missing and not judge.enough:
        computed = source(missing)
        try:
            for k, columns in computed:
                store.put(k, columns)
                there.add(k)
                look()
                if judge.enough:
                    break
        finally:
            computed.close()
    for k in sorted(there):
        if k >= judge.next:  # computed ahead of the end
            store.drop(k)
    return _finish(plan, store, judge)


def _whole(plan: Plan, store: Store, said: Say) -> set[int]:
    """Parts that are there and what they should be; a damaged one is told and removed."""
    there = set()
    for k in range(plan.parts):
        if not store.has(k):
            continue
        try:
            columns = store.get(k)
            if len(columns["code"]) != len(plan.span(k)):
                raise Damaged(f"part {k} has {len(columns['code'])} samples")
            there.add(k)
        except (Damaged, KeyError) as error:
            said(f"part {k} is damaged and made anew ({getattr(error, 'where', None) or error})")
            store.drop(k)
    return there


def _finish(plan: Plan, store: Store, judge: _Judge) -> dict[str, Any]:
    digest, counts, samples = Digest(), {}, 0
    for k in range(judge.next):
        columns = store.get(k)
        digest.add(columns)
        samples += len(columns["code"])
        for text in parts.lines(columns["text"]):
            counts[text] = counts.get(text, 0) + 1
    told = {
        "parts": judge.next,
        "samples": samples,
        "sha256": digest.value(),
        "why": judge.enough or "all samples",
        "statuses": dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))),
    }
    store.finish(told)
    return told


def in_this_process(task: Task, threads: int | None, tell: Callable[[int], None] | None = None) -> Source:
    """Parts one after another, each on all threads; `tell` hears how many samples of the part are done."""

    progress = None if tell is None else lambda done, _: tell(done)

    def compute(missing: list[int]) -> Made:
        for k in missing:
            yield k, task.part(k, threads=threads, progress=progress)

    return compute


def check_gives(runner: Runner, gave: Mapping[str, Any], n: int) -> None:
    """What a runner gave is what it said."""
    for name in ("code", "end", "text", "where", *runner.columns):
        if name not in gave or len(gave[name]) != n:
            what = "does not give" if name not in gave else f"gives {len(gave[name])} of {n} values of"
            raise RunError(f"'{runner.name}' {what} '{name}'", fix="give one value for each sample")
