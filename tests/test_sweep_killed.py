"""Sweeps whose process, or whose Dask workers, are killed: nothing is lost, doubled or half-written."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from linkwork.sweeps import read_sweep, sweep

MODEL = """
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 1, centre: [0, 0, -0.5], inertia: [0.1, 0.1, 0.01]}
  lower: {mass: 1, centre: [0, 0, -0.5], inertia: [0.1, 0.1, 0.01]}
joints:
  shoulder: {kind: revolute, parent: world, child: upper, axis: y}
  elbow: {kind: revolute, parent: upper, child: lower, at: [0, 0, -1], axis: y}
"""
PLAN = """
model: model.yaml
samples: {samples}
part: 20
until: 60 s
vary: {{shoulder: {{uniform: [90 deg, 150 deg]}}, elbow: {{uniform: [-60 deg, 60 deg]}}}}
record: {{x: lower.position.x at end, fast: max of abs(elbow.rate), trajectory: {{of: [elbow], times: 50}}}}
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "plan.yaml").write_text(PLAN.format(samples=800))
    return tmp_path / "plan.yaml"


def started(plan, out, *more):
    words = [sys.executable, "-m", "linkwork.cli", "sweep", str(plan), "--out", str(out), *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def parts(out):
    return len(list(out.glob("part-*.npz")))


def whole(out, once):
    """All samples once, in order, with the bits of the sweep that was left alone."""
    found = read_sweep(out)
    assert found.complete and found.sha256 == once.sha256 == found.manifest["finished"]["sha256"]
    np.testing.assert_array_equal(found.samples, np.arange(once.plan.samples))
    assert not list(out.glob("*.half"))


def test_a_killed_sweep_goes_on_and_ends_with_the_same_bits(plan, tmp_path):
    """Killed twice without warning, once more by Ctrl-C."""
    once, out = sweep(plan), tmp_path / "out"
    for end in (signal.SIGKILL, signal.SIGKILL, signal.SIGINT):
        before, process = parts(out), started(plan, out, "--threads", "1")
        patience = time.monotonic() + 30
        while parts(out) < before + 3 and process.poll() is None and time.monotonic() < patience:
            time.sleep(0.002)
        process.send_signal(end)
        told = process.communicate(timeout=30)
        assert process.returncode == (130 if end == signal.SIGINT else -end), told
        assert end != signal.SIGINT or "the same command goes on" in told[1], told
        for file in out.glob("part-*.npz"):  # whatever is there is whole
            assert len(np.load(file)["code"]) == 20
    assert 9 <= parts(out) < 40
    last = started(plan, out)
    told = last.communicate(timeout=60)
    assert last.returncode == 0, told
    whole(out, once)


@pytest.mark.slow
def test_twenty_kills_at_random_moments_lose_nothing(plan, tmp_path):
    """From the first import to the last part: the moments are random, and the folder is looked at after each. However
    fast the machine, no more than 50 parts are left to one process, so that all kills come while there is work."""
    plan.write_text(PLAN.format(samples=24000))
    once, out, choose = sweep(plan), tmp_path / "out", random.Random(4)
    seen, amid = set(), 0
    for _ in range(20):
        most, process = parts(out) + choose.randrange(50), started(plan, out, "--threads", "1")
        patience = time.monotonic() + choose.uniform(0.3, 3.5)
        while parts(out) <= most and process.poll() is None and time.monotonic() < patience:
            time.sleep(0.002)
        amid += process.poll() is None and parts(out) < 1200
        process.kill()
        process.communicate()
        now = {file.name for file in out.glob("part-*.npz")}
        assert seen <= now
        for name in now - seen:
            assert len(np.load(out / name)["code"]) == 20
        seen = now
    assert amid >= 15  # so many came while there was work to do
    last = started(plan, out)
    assert last.wait(timeout=300) == 0
    whole(out, once)


@pytest.fixture
def cluster():
    """As many worker processes as asked for."""
    distributed = pytest.importorskip("distributed")
    made = []

    def start(workers):
        made.append(
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50, processes=True
            )
        )
        return made[-1]

    yield start
    for one in made:
        one.close()


def processes(distributed, address):
    with distributed.Client(address, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def test_a_dask_cluster_gives_the_same_bits_though_a_worker_is_killed(plan, tmp_path, cluster):
    distributed = pytest.importorskip("distributed")
    once, address = sweep(plan), cluster(2).scheduler_address
    victims = processes(distributed, address)[:1]

    def tell(done, total):
        if done >= 100 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    found = sweep(plan, out=tmp_path / "out", cluster=address, progress=tell)
    assert not victims and found.complete and found.sha256 == once.sha256
    whole(tmp_path / "out", once)


def test_laws_and_events_written_in_python_reach_the_workers(tmp_path, cluster):
    """They travel with the task; the worker checks that it makes the same equations of them."""
    import linkwork as lw

    def model():
        made = lw.Mechanism("swing", gravity=(0, 0, -9.81))
        made.body("rod", mass=1, centre=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
        made.joint("hinge", "revolute", "world", "rod", axis="y")
        made.law(lambda state: {"hinge": -0.1 * state.v("hinge")}, "air")
        return lw.system(made.build(), events=[lw.Event("low", lambda s: s.q("hinge"), action="stop")])

    plan = {"samples": 40, "part": 10, "until": 3, "record": {"t": "time of event low"}, "success": "t < 1"}
    vary = {"hinge": {"uniform": ["30 deg", "90 deg"]}}
    once = sweep(model(), vary, **plan)
    found = sweep(model(), vary, cluster=cluster(1).scheduler_address, **plan)
    assert found.sha256 == once.sha256 and 0 < np.mean(found["success"]) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_the_count_of_workers_leaves_every_bit(plan, tmp_path, workers):
    pytest.importorskip("distributed")
    once = sweep(plan)
    process = started(plan, tmp_path / "out", "--workers", str(workers))
    told = process.communicate(timeout=120)
    assert process.returncode == 0, told
    whole(tmp_path / "out", once)


def test_a_stop_is_the_same_on_a_cluster(plan, tmp_path, cluster):
    """Parts that were computed ahead of the end are no part of the result."""
    plan.write_text(PLAN.format(samples=800) + "success: x > 0\nstop: {of: success, interval: 0.25, least: 50}\n")
    once = sweep(plan)
    assert 50 < len(once) < 300
    found = sweep(plan, out=tmp_path / "out", cluster=cluster(2).scheduler_address)
    assert len(found) == len(once) and found.sha256 == once.sha256
    assert parts(tmp_path / "out") == len(once) // 20 and Path(tmp_path / "out" / "manifest.json").is_file()
