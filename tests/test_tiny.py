"""Ten seconds that tell whether the river runs: read, equations, compile, simulate, result."""

from pathlib import Path

import numpy as np

import linkwork as lw

ARM = Path(__file__).parent.parent / "examples" / "arm.yaml"


def pendulum():
    made = lw.Mechanism("pendulum")
    made.body("bob", mass=1, centre=(0, 0, -1), inertia=(0, 0, 0))
    made.joint("hinge", "revolute", "world", "bob", axis="y")
    return made.build()


def test_a_model_is_read():
    model = lw.read(ARM)
    assert model.q_names == ("shoulder", "elbow") and model.parameters == ("payload.mass",)


def test_kernel_gives_the_acceleration_of_a_pendulum():
    kernel = lw.compile(lw.equations(pendulum(), lw.aba))
    q = np.linspace(-3, 3, 7)[:, None]
    v_dot = kernel(q=q, v=0 * q, tau=0 * q)
    assert np.allclose(v_dot, -9.81 * np.sin(q), rtol=0, atol=1e-13)


def test_a_run_keeps_its_energy():
    run = lw.simulate(pendulum(), {"hinge": "90 deg"}, until=5)
    assert run.ok.all() and np.ptp(run["energy"][:]) < 1e-7


def test_a_sample_has_the_same_bits_alone_and_in_a_batch():
    starts = np.linspace(0.1, 3.0, 9)
    many = lw.simulate(pendulum(), {"hinge": starts}, until=1, times=10)
    alone = lw.simulate(pendulum(), {"hinge": starts[4]}, until=1, times=10)
    assert (many["q"].values[4] == alone["q"].values[0]).all()
