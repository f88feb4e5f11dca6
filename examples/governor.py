"""A stiff flyball governor: modes that die in 0.1 ms beside a swing of 1 s call for an implicit method."""

import time
from pathlib import Path

import numpy as np

import linkwork as lw

FILE = Path(__file__).with_name("governor.yaml")
HEIGHT = {0.1: 0.5238364755696, 0.5: 0.7432494247863, 1: 0.5014209223796, 2: 0.5059092942967,
          5: 0.5355631037216, 10: 0.6196229170614}  # fmt: skip


def check() -> None:
    model, steps = lw.read(FILE), {}
    for method in ("rodas5p", "dop853"):
        began = time.perf_counter()
        run = lw.simulate(model, times=list(HEIGHT), method=method, rtol=1e-6, atol=1e-6)
        spent, off = time.perf_counter() - began, np.abs(run["height"][1:] - list(HEIGHT.values())).max()
        steps[method] = run.trust.steps
        print(f"{method:8} {steps[method]:6,} steps, {spent:.2f} s with building, height off by {off:.1e} m")
        assert off < 5e-6
        assert np.allclose(run["momentum"].sel(component="l_z"), 53.868998658418432, rtol=1e-5)
    assert steps["rodas5p"] < steps["dop853"] / 10


if __name__ == "__main__":
    check()
