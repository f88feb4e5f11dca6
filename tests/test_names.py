"""Names that mean two things are told; those that only look so work."""

import numpy as np
import pytest

import linkwork as lw


def mechanism(joint="j", *, law=None, constant=None):
    m = lw.Mechanism("m", gravity=(0, 0, 0)).body("b", 1, inertia=(1, 1, 1))
    m.joint(joint, "revolute", "world", "b", damping=0.1)
    if law:
        m.law(lambda state: {joint: -1.0}, law)
    return m.constant(constant, 2.0).parameter(constant) if constant else m


@pytest.mark.parametrize("name", ["q", "v", "tau", "energy", "left.hip", "left hip", "Gelenk–β", "x.rate"])
def test_a_joint_may_have_any_name(name):
    run = lw.simulate(mechanism(name).build(), {name: "30 deg"}, 1.0, times=1)
    assert run["q"][0, 0] == pytest.approx(np.pi / 6) and run.ok.all()


def test_joints_whose_coordinates_would_share_a_name_are_refused():
    m = mechanism("a").body("c", 1, inertia=(1, 1, 1)).joint("a.rate", "revolute", "b", "c")
    with pytest.raises(lw.ModelError, match=r"'a\.rate' stands for 2 coordinates or speeds"):
        m.build()


def test_the_power_of_a_law_named_as_a_force_of_the_joints_is_not_told():
    run = lw.simulate(mechanism(law="damping").build(), until=0.1, times=1)
    with pytest.raises(lw.ModelError, match="rename the law 'damping'"):
        run["damping.power"]
    free = mechanism(law="friction").build()
    assert lw.simulate(free, until=0.1, times=1)["friction.power"][-1] > 0


@pytest.mark.parametrize("name", ["q", "v", "tau", "out", "threads"])
def test_a_parameter_named_as_an_input_is_refused_by_kernels(name):
    with pytest.raises(lw.ModelError, match="give the constant another name"):
        lw.equations(mechanism(constant=name).build(), lw.aba)
