"""A pendulum described in Python; its period against the exact one."""

import numpy as np
from scipy.special import ellipk

import linkwork as lw


def model() -> lw.Model:
    pendulum = lw.Mechanism("pendulum")  # gravity is (0, 0, −9.81 m/s²) unless told otherwise
    pendulum.body("rod", mass="2 kg", centre=(0, 0, "-50 cm"), inertia=(1 / 6, 1 / 6, 0))
    pendulum.joint("hinge", "revolute", "world", "rod", axis="y")
    pendulum.marker("tip", "rod", at=(0, 0, -1))
    pendulum.start({"hinge": "60 deg"})
    return pendulum.build()


def period() -> tuple[float, float]:
    """(simulated, exact): a uniform rod of 1 m swings like a point pendulum of 2/3 m."""
    crossing = lw.Event("lowest", lambda state: state.q("hinge"), action="stop", direction=-1)
    run = lw.simulate(model(), until="3 s", events=[crossing], rtol=1e-12, atol=1e-12)
    quarter = run.statuses[0].time
    return 4 * quarter, 4 * np.sqrt(2 / 3 / 9.81) * ellipk(np.sin(np.radians(60) / 2) ** 2)


def check() -> None:
    simulated, exact = period()
    print(f"period {simulated:.12f} s, exact {exact:.12f} s")
    assert abs(simulated - exact) < 1e-10
    run = lw.simulate(model(), until=10)
    assert run.trust.energy_error is not None and run.trust.energy_error < 1e-8
    assert np.allclose(np.hypot(run["tip.position.x"], run["tip.position.z"]), 1.0)  # computed when asked for


if __name__ == "__main__":
    print(model())
    check()
