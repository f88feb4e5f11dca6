"""Parts computed on a Dask cluster. Workers compute, this process keeps; a part whose worker dies goes to another."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from linkwork.errors import RunError
from linkwork.simulation.parted import Made, Source, Task

PATIENCE = 60.0  # seconds without any worker
CONNECT = 10.0
AHEAD = 3  # parts given to a thread of a worker at a time, so that none waits

_tasks: dict[str, Task] = {}  # of this worker's process: a task is traced and compiled once


@contextmanager
def dask_source(task: Task, address: str | None, workers: int | None) -> Iterator[Source]:
    """A source of parts: the cluster at that address, or one of `workers` processes on this machine."""
    try:
        import distributed
    except ImportError:
        raise RunError("Dask is not installed", fix="pip install 'linkwork[cluster]'") from None
    with _cluster(distributed, workers) as cluster:
        where = address or cluster
        try:
            client = distributed.Client(where, timeout=CONNECT, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            fix = "start one (dask scheduler; dask worker tcp://…), or use --workers 2"
            raise RunError(f"no Dask scheduler answers at {address}: {error or 'no answer'}", fix=fix) from None
        try:
            yield lambda missing: _compute(client, task, missing, str(address or "this machine"))
        finally:
            client.close()


@contextmanager
def _cluster(distributed: Any, workers: int | None) -> Iterator[Any]:
    if workers is None:
        yield None
        return
    if workers < 1:
        raise RunError(f"{workers} workers", fix="give one or more")
    options = {"dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **options) as cluster:
        yield cluster


def _compute(client: Any, task: Task, missing: list[int], where: str) -> Made:
    import cloudpickle
    from distributed import wait

    key, payload = task.runner.fingerprint(), cloudpickle.dumps(task)
    payload_key = f"{key} {task.plan.sha256()}"
    waiting = iter(missing)
    going: dict[Any, int] = {}
    seen = time.monotonic()
    try:
        while True:
            threads = _threads(client, where)
            seen = time.monotonic() if threads else seen
            if time.monotonic() - seen > PATIENCE:
                raise RunError(
                    f"there is no worker at {where} for {PATIENCE:.0f} s", fix="start some: dask worker tcp://…"
                )
            for k in _some(waiting, AHEAD * max(threads, 1) - len(going)):
                going[client.submit(_part, payload_key, key, payload, k, pure=False)] = k
            if not going:
                return
            try:
                with client.as_current():
                    finished: Any = wait(list(going), timeout=1.0, return_when="FIRST_COMPLETED")
            except TimeoutError:
                continue
            for future in finished.done:
                k = going.pop(future)
                yield k, _result(future, k)
    finally:
        client.cancel(list(going))


def _threads(client: Any, where: str) -> int:
    """Threads of all workers that are there now."""
    try:
        return sum(client.nthreads().values())
    except (OSError, RuntimeError) as error:
        fix = "start it again and run the same command; what is written is kept"
        raise RunError(f"the Dask scheduler at {where} does not answer any more: {error}", fix=fix) from None


def _some(numbers: Iterator[int], count: int) -> Generator[int]:
    for _ in range(max(count, 0)):
        try:
            yield next(numbers)
        except StopIteration:
            return


def _result(future: Any, k: int) -> dict[str, np.ndarray]:
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        fix = "look at the workers' memory and logs; what is written is kept"
        raise RunError(f"part {k} has ended every worker that tried it: {error}", fix=fix) from None


def _part(name: str, fingerprint: str, payload: bytes, k: int) -> dict[str, np.ndarray]:
    """On a worker: one part."""
    import cloudpickle

    if name not in _tasks:
        task: Task = cloudpickle.loads(payload)
        if task.runner.fingerprint() != fingerprint:
            fix = "install the same versions of linkwork and casadi everywhere"
            raise RunError("a worker makes other equations of the model than this process", fix=fix)
        _tasks[name] = task
    return _tasks[name].part(k, threads=1)
