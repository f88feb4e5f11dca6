"""Long mechanisms: sweeps in loops over tables give what the unrolled graph gives, and build at any length."""

from __future__ import annotations

import numpy as np
import pytest
from mechanisms import random_mechanism, random_state, relative

import linkwork as lw
from linkwork.model.build import build
from linkwork.model.describe import Body, Description, Inertial, Joint

ROUNDING = 1e-12  # two orders of summing up to eight bodies; a lost term or a wrong row shows at 1e-2 and above


def rods(n: int, damping: float = 0.0) -> lw.Model:
    J = 0.1**2 / 12
    bodies = tuple(Body(f"rod{i}", (Inertial(1.0, (0.05, 0.0, 0.0), (0.0, J, J, 0.0, 0.0, 0.0)),)) for i in range(n))
    joints = tuple(
        Joint(
            f"j{i}",
            "revolute",
            f"rod{i - 1}" if i else "world",
            f"rod{i}",
            position=(0.1 if i else 0.0, 0.0, 0.0),
            axis=(0.0, 0.0, 1.0) if i % 2 else (0.0, 1.0, 0.0),
            damping=(damping,),
        )
        for i in range(n)
    )
    return build(Description("rods", (0.0, 0.0, -9.81), bodies, joints))


@pytest.mark.parametrize("seed", range(6))
def test_loops_over_tables_give_what_the_unrolled_graph_gives(seed):
    model = random_mechanism(seed, n=8)
    q, v, tau = random_state(model, seed, samples=11)
    for formulation, third in ((lw.aba, {"tau": tau}), (lw.rnea, {"v_dot": tau})):
        unrolled = lw.compile(lw.equations(model, formulation))(q=q, v=v, **third)
        looped = lw.compile(lw.equations(model, formulation, unroll=False))
        assert relative(looped(q=q, v=v, **third), unrolled) < ROUNDING
        one = {k: x[3] for k, x in third.items()}
        assert np.array_equal(looped(q=q[3], v=v[3], **one), looped(q=q, v=v, **third)[3])


def test_a_long_model_takes_the_loops_by_itself_and_undoes_inverse_dynamics():
    model = rods(1000)
    motion = lw.equations(model, lw.aba)
    assert motion.rolled is not None
    rng = np.random.default_rng(1)
    q, v, tau = 0.3 * rng.normal(size=(3, 5, 1000))
    v_dot = lw.compile(motion)(q=q, v=v, tau=tau)
    back = lw.compile(lw.equations(model, lw.rnea))(q=q, v=v, v_dot=v_dot)
    # Accelerations of 2,500 rad/s² at the tips of 1000 rods: 1.4e-11 is reached, rounding grows with the length.
    assert relative(back, tau) < 1e-9
    with pytest.raises(lw.ModelError, match="runs in loops over 1000 bodies"):
        _ = motion.casadi


def test_the_run_of_a_long_model_keeps_its_energy_balance_with_damping():
    run = lw.simulate(rods(200, damping=0.01), {"j0": "40 deg"}, until=0.2, times=20, rtol=1e-9, atol=1e-9)
    assert run.ok.all()
    assert run["work"][-1] < 0
    assert run.trust.energy_error < 1e-7  # 1e-9 a step over some hundred steps


def test_what_loops_over_tables_cannot_do_is_refused_by_name():
    model = rods(200)
    with pytest.raises(lw.ModelError, match="no own forces, wrenches or parameters"):
        lw.equations(model, lw.aba, external=True)
    with pytest.raises(lw.ModelError, match="no own forces, wrenches or parameters"):
        lw.equations(model.replace(parameters=["rod3.mass"]), lw.aba)
    with pytest.raises(lw.RunError, match="without events and parameters"):
        lw.simulate(model.replace(parameters=["rod3.mass"]), until=0.1)
