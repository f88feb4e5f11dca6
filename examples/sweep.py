"""Sweeps: quantiles where they are known; starts of the arm until it is known how often they go well; the worst one."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import linkwork as lw
from linkwork.sweeps import read_sweep, sweep

HERE = Path(__file__).parent


def oscillator() -> lw.Model:
    """x'' = −(k/m) x from x = 1: at 1 s it is at cos √(k/m)."""
    made = lw.Mechanism("oscillator", gravity=(0, 0, 0))
    made.body("block", mass="2 kg", inertia=(1, 1, 1))
    made.joint("slide", "prismatic", "world", "block", axis="x", stiffness="8 N/m")
    return made.start({"slide": 1.0}).build()


def known() -> None:
    vary = {"slide.stiffness": {"uniform": ["6 N/m", "10 N/m"]}}
    found = sweep(oscillator(), vary, samples=1024, design="sobol", until=1, record={"x": "slide at end"})
    shares = np.array([0.05, 0.5, 0.95])
    exact = np.cos(np.sqrt((10 - 4 * shares) / 2))  # x falls as k grows
    off = np.abs(found.quantiles("x", q=shares).to_numpy()[0] - exact).max()
    print(f"oscillator: quantiles off by {off:.1e} m of a range of {np.ptp(found['x']):.2f} m")
    assert off < 2e-3  # a Sobol sequence of n points misses by some 1/n of the range


def arm() -> None:
    with TemporaryDirectory() as folder:
        found = sweep(HERE / "arm_sweep.yaml", out=Path(folder) / "arm")
        print(found)
        p = found.estimate("success")
        assert found.ok.all() and p.width < 0.05  # it stopped when it knew enough
        worst = int(found.samples[np.argmax(found["load"])])
        run = read_sweep(Path(folder) / "arm").replay(worst)
        peak = np.abs(run["shoulder.wrench.m_y"]).max()
        print(f"worst start: sample {worst}, {peak:.1f} N*m, {found.inputs(worst)}")
        assert peak == found["load"].max()  # the same bits


def check() -> None:
    known()
    arm()


if __name__ == "__main__":
    check()
