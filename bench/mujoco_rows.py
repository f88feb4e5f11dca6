"""Next to MuJoCo: steps of the same integrator without contacts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import linkwork as lw
from bench.measure import Case, Row, Settings, Timed, best, difference, row
from bench.models import chain, chain_xml
from linkwork.simulation.run import build, run

STEP = 1e-3
STEPS = 100
SAMPLES = 512
"""Ours; MuJoCo's time a step does not depend on how many there are."""
SAMPLES_THERE = 8
METHODS = {"euler": "Euler", "rk4": "RK4"}


def cases() -> list[Case]:
    return [Case(f"step {method}", f"chain {n}", partial(steps, method, n)) for method in METHODS for n in (7, 10, 30)]


def rollout(n: int, method: str, starts: np.ndarray) -> tuple[Any, np.ndarray]:
    """A call that runs MuJoCo on the calling thread, and where the states go (samples, steps, 1 + 2n)."""
    import mujoco
    from mujoco.rollout import Rollout

    model = mujoco.MjModel.from_xml_string(chain_xml(n, METHODS[method], STEP))
    data = mujoco.MjData(model)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
    initial = np.zeros((len(starts), size))
    initial[:, 1 : 1 + 2 * n] = starts
    states = np.zeros((len(starts), STEPS, size))
    sensors = np.zeros((len(starts), STEPS, model.nsensordata))
    runner, models = Rollout(nthread=0), [model] * len(starts)

    def call() -> None:
        runner.rollout(models, [data], initial, nstep=STEPS, state=states, sensordata=sensors, skip_checks=True)

    return call, states


def steps(method: str, n: int, settings: Settings) -> list[Row]:
    """Time a step of a sample: the whole loop, its start and its end, without compiling."""
    samples = 64 if settings.quick else SAMPLES
    rng = np.random.default_rng(n)
    starts = np.concatenate([rng.uniform(-0.5, 0.5, (samples, n)), rng.uniform(-0.5, 0.5, (samples, n))], axis=1)
    system = lw.system(chain(n))
    integrator = build(system.motion, method)
    y0, times = system.start({"q": starts[:, :n], "v": starts[:, n:]}), np.array([0.0, STEP * STEPS])
    ours = partial(run, integrator, y0, None, times, step=STEP, threads=1)
    call, states = rollout(n, method, starts[:SAMPLES_THERE])
    call()
    found = ours()
    there = len(states)
    last = found.y[:there, -1, : 2 * n]
    gap = difference(last, states[:, -1, 1 : 1 + 2 * n], 1e-9, f"states of chain {n} by {method}")
    taken = set(map(int, found.steps))
    things: dict[str, Timed] = {"ours": (ours, samples * STEPS), "mujoco": (call, there * STEPS)}
    ns = best(things, settings)
    note = f"{samples} samples, {taken.pop()} steps of {STEP} s; states differ by {gap:.0e}"
    return [row(f"step {method}", f"chain {n}", ns["ours"], "mujoco.rollout", ns["mujoco"], target=15, note=note)]
