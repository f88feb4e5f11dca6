"""An arm from a YAML file, held by PD drives: how far does it sag under payloads of 0 to 5 kg?"""

from pathlib import Path

import numpy as np

import linkwork as lw

FILE = Path(__file__).with_name("arm.yaml")


def sweep(masses: np.ndarray) -> lw.Result:
    """One sample for each mass; the equations are built and compiled once."""
    return lw.simulate(lw.read(FILE), until=6.0, parameters={"payload.mass": masses})


def sag(model: lw.Model, mass: float) -> np.ndarray:
    """Where the arm comes to rest: gravity and drives in balance, found by Newton's method."""
    residual = lw.function(model, lw.rnea, forces=True)
    slope = lw.compile(lw.equations(model, lw.rnea, forces=True).jacobian("tau", "q"))
    rest, still = np.radians([45.0, 60.0]), np.zeros(2)
    given = {"v": still, "v_dot": still, "payload.mass": mass}
    for _ in range(20):
        rest = rest - np.linalg.solve(slope(q=rest, **given)["d_tau_d_q"], residual(q=rest, **given))
    return rest


def check() -> None:
    masses = np.linspace(0.0, 5.0, 101)
    run = sweep(masses)
    assert run.ok.all()
    height = run["tool.position.z"][:, -1]
    print(f"tool height with 0 kg: {height[0]:.4f} m, with 5 kg: {height[-1]:.4f} m")
    assert np.all(np.diff(height) < 0)
    ends = run["q"][:, -1]
    for k in (0, 50, 100):
        assert np.allclose(ends[k], sag(lw.read(FILE), masses[k]), atol=1e-4)


if __name__ == "__main__":
    check()
