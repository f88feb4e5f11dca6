"""Runners of sweeps that need no mechanism: a closed formula for each sample."""

from dataclasses import dataclass, field

import numpy as np

from linkwork.simulation.distributions import Uniform
from linkwork.simulation.parted import Task
from linkwork.simulation.plan import Input, Plan

TIMES = np.linspace(0, 1, 5)


@dataclass
class Toy:
    """x² + y, a line over time, and a failure where x > 0.9."""

    name: str = "toy"
    version: str = "1"
    ran: list = field(default_factory=list)
    inputs = {"x": "m", "y": ""}  # noqa: RUF012
    columns = {"value:z": "m^2", "event:hit": "s", "count:hit": "1", "trajectory:line": "m"}  # noqa: RUF012
    times = TIMES

    def fingerprint(self):
        return self.version

    def run_samples(self, inputs, *, threads=None, progress=None):
        x, y = inputs["x"], inputs["y"]
        assert np.isfinite(x).all() and np.isfinite(y).all()
        n, bad = len(x), x > 0.9
        self.ran.append(n)
        return {
            "value:z": np.where(bad, np.nan, x * x + y),
            "event:hit": np.where(y > 0, y, np.nan),
            "count:hit": np.where(y > 0, 1.0, 0.0),
            "trajectory:line": x[:, None] * TIMES,
            "code": np.where(bad, 2, 0),
            "end": np.ones(n),
            "text": ["diverged" if b else "reached the end" for b in bad],
            "where": ["x" if b else "" for b in bad],
        }


def plan(**more):
    given = {
        "name": "toy",
        "inputs": (Input("x", Uniform(0, 1)), Input("y", Uniform(-1, 1))),
        "samples": 1000,
        "part": 64,
    }
    return Plan(**{**given, **more})


def succeeds(known):
    return known["z"] < 0.5


def task(runner=None, **more):
    made = plan(**more)
    return Task(made, runner or Toy(), succeeds if made.success else None)
