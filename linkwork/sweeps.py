"""Many samples of a plan → a SweepResult: `sweep` draws them, runs them part by part, and goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from os import PathLike
from typing import Any

from linkwork.driven import System
from linkwork.errors import ModelError, RunError
from linkwork.export import plain, provenance
from linkwork.model.model import Model
from linkwork.model.native_write import text_of
from linkwork.model.read import read
from linkwork.simulation.parted import Made, Runner, Source, Task, fill, in_this_process
from linkwork.simulation.store import Folder, Memory
from linkwork.sweeping.cluster import dask_source
from linkwork.sweeping.progress import Progress
from linkwork.sweeping.reading import read_plan, task_of
from linkwork.sweeping.report import report
from linkwork.sweeping.result import MODEL, SweepResult, read_sweep
from linkwork.sweeping.samples import ModelSamples

STRICT = ("linkwork", "casadi", "llvmlite")  # versions on which bits may depend


def sweep(
    what: Model | System | Runner | str | PathLike[str],
    vary: Mapping[str, Any] | None = None,
    *,
    samples: int | None = None,
    seed: int | None = None,
    out: str | PathLike[str] | None = None,
    threads: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool | Callable[..., None] | None = None,
    **plan: Any,
) -> SweepResult:
    """Run many samples of a model.

    what        a model (or its file), a system with events, a study; or, without `vary`, a plan file
    vary        name → {"uniform": ["0.5 kg", "3 kg"]}, {"normal": [mean, deviation]}, one value a sample, or a number
    out         a folder to keep the parts in; the same call goes on where it was interrupted. Without: in memory
    workers     so many Dask workers on this machine; `cluster`: those of a scheduler, "tcp://…"
    plan        what else a plan may say: until, method, rtol, record, events, success, stop, design … (docs/sweep.md)
    Samples that fail do not disturb the others: see `.failures()`.
    """
    is_file = isinstance(what, (str, os.PathLike))
    if is_file and vary is None and "table" not in plan:
        if plan:
            text = f"the plan file says what to do, and so does {next(iter(plan))}="
            raise RunError(text, fix="write it into the plan; only samples= and seed= may be changed here")
        task = read_plan(what, samples=samples, seed=seed)  # type: ignore[arg-type]
    else:
        who = read(what) if is_file else what  # type: ignore[arg-type]
        task = task_of(who, {"vary": vary, "samples": samples, "seed": seed, **plan})  # type: ignore[arg-type]
    return execute(task, out, threads=threads, workers=workers, cluster=cluster, progress=progress)


def execute(
    task: Task,
    out: str | PathLike[str] | None = None,
    *,
    threads: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool | Callable[..., None] | None = None,
    said: Callable[[str], None] = lambda text: None,
) -> SweepResult:
    """Compute what is missing of a task. Ctrl-C ends it; what is done is kept and returned."""
    manifest = manifest_of(task)
    store: Folder | Memory = Memory() if out is None else Folder(out)
    counter = Progress(progress, task.plan.samples)
    with store.writing() if isinstance(store, Folder) else nullcontext():
        if isinstance(store, Folder):
            store.begin(manifest)
            _keep_model(task.runner, store)
        else:
            store.manifest = {**manifest, "finished": None}
        with suppress(KeyboardInterrupt), _source(task, threads, workers, cluster, counter) as source:
            fill(task.plan, store, _counted(task, store, source, counter), said)
        counter.end()
    return SweepResult(task.plan, store, store.manifest, task.runner)


def manifest_of(task: Task) -> dict[str, Any]:
    """What a folder is told of a task."""
    versions: dict[str, str] = provenance("", "")["versions"]
    return plain(
        {
            "plan": task.plan.told(),
            "plan_sha256": task.plan.sha256(),
            "model": task.runner.name,
            "model_sha256": task.runner.fingerprint(),
            "columns": dict(task.runner.columns),
            "times": [float(t) for t in task.runner.times],
            "words": dict(getattr(task.runner, "words", {})),
            "versions": {k: versions[k] for k in STRICT if k in versions},
            "also": {k: v for k, v in versions.items() if k not in STRICT},
        }
    )


def _keep_model(runner: Runner, store: Folder) -> None:
    """Beside the parts, so that a sample can be replayed later; laws written in Python cannot be kept."""
    if isinstance(runner, ModelSamples) and not (store.path / MODEL).exists():
        with suppress(ModelError):
            store.keep(MODEL, text_of(runner.model, store.path).encode())


@contextmanager
def _source(
    task: Task, threads: int | None, workers: int | None, cluster: str | None, counter: Progress
) -> Iterator[Source]:
    if workers is not None and cluster is not None:
        raise RunError("both workers and a cluster are named", fix="give one of them")
    if workers is not None or cluster is not None:
        with dask_source(task, cluster, workers) as source:
            yield source
    else:
        yield in_this_process(task, threads, lambda done: counter.at(counter.whole + done))


def _counted(task: Task, store: Folder | Memory, source: Source, counter: Progress) -> Source:
    """The same parts, told to the counter as they come."""

    def compute(missing: list[int]) -> Made:
        there = set(range(task.plan.parts)) - set(missing)
        counter.whole = sum(len(task.plan.span(k)) for k in there)
        counter.at(counter.whole)
        made = source(missing)
        try:
            for k, columns in made:
                yield k, columns
                counter.whole += len(task.plan.span(k))
                counter.at(counter.whole)
        finally:
            made.close()

    return compute


__all__ = ["SweepResult", "execute", "read_plan", "read_sweep", "report", "sweep"]
