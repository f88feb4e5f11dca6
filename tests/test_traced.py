"""Equations traced before are recalled without tracing and are the same; whatever changes them is noticed."""

import numpy as np
import pytest
from mechanisms import random_mechanism, random_state

import linkwork as lw
from linkwork.traced import memory_of


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))


def arm(mass=1.0):
    arm = lw.Mechanism("arm", gravity=(0, 0, -9.81))
    arm.body("upper", mass=mass, centre=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    arm.joint("shoulder", "revolute", "world", "upper", axis="y", damping=0.3)
    arm.parameter("upper.mass")
    return arm.build()


def test_known_equations_are_not_traced_again(monkeypatch):
    model = random_mechanism(5, n=4)
    q, v, tau = random_state(model, 1, 11)
    fresh = lw.equations(model, lw.aba)
    slopes = lw.compile(fresh.jacobian("v_dot", ["q", "tau"]))(q=q, v=v, tau=tau)
    alone = lw.compile(fresh.jacobian("v_dot", "q").only("d_v_dot_d_q"))(q=q, v=v, tau=tau)
    first = lw.compile(fresh)(q=q, v=v, tau=tau)

    def traced(*_):
        raise AssertionError("traced again")

    monkeypatch.setattr("linkwork.dynamics.aba.run", traced)
    known = lw.equations(model, lw.aba)
    assert str(known) == str(fresh) and known.inputs == fresh.inputs and known.outputs == fresh.outputs
    np.testing.assert_array_equal(lw.compile(known)(q=q, v=v, tau=tau), first)
    again = lw.compile(known.jacobian("v_dot", ["q", "tau"]))(q=q, v=v, tau=tau)
    assert all((again[name] == slopes[name]).all() for name in ("v_dot", "d_v_dot_d_q", "d_v_dot_d_tau"))
    np.testing.assert_array_equal(
        lw.compile(known.jacobian("v_dot", "q").only("d_v_dot_d_q"))(q=q, v=v, tau=tau), alone
    )
    with pytest.raises(AssertionError, match="traced again"):
        known.casadi  # noqa: B018
    with pytest.raises(AssertionError, match="traced again"):
        lw.equations(model, lw.aba, external=True)


def test_a_recalled_graph_can_be_looked_at():
    model = random_mechanism(5, n=3)
    text = lw.compile(lw.equations(model, lw.rnea)).ir
    kernel = lw.compile(lw.equations(model, lw.rnea))
    assert kernel.ir == text and kernel.graph.n_in() == 3 and "rnea" in kernel.explain() and "rnea" in repr(kernel)


def test_parameters_keep_their_defaults_and_can_be_folded():
    for _ in range(2):
        kernel = lw.compile(lw.equations(arm(2.0), lw.rnea, forces=True))
        assert kernel(q=[0.1], v=[0.0], v_dot=[0.0]) == pytest.approx(2 * 9.81 * 0.5 * np.sin(0.1), rel=1e-14)
        folded = lw.compile(lw.equations(arm(3.0), lw.rnea), free=[])
        assert [p.name for p in folded.inputs] == ["q", "v", "v_dot"]
        assert folded(q=[0.1], v=[0.0], v_dot=[0.0]) == pytest.approx(3 * 9.81 * 0.5 * np.sin(0.1), rel=1e-14)


def test_whatever_changes_the_equations_changes_their_memory():
    model = random_mechanism(7, n=4, passive=True)
    joint = model.joint(1).name
    options = {"forces": False}
    found = [
        memory_of(model, lw.aba, options),
        memory_of(model, lw.rnea, options),
        memory_of(model, lw.aba, {"forces": True}),
        memory_of(model.replace({"gravity.x": 1.0}), lw.aba, options),
        memory_of(model.replace({f"{joint}.position.x": 0.123}), lw.aba, options),
        memory_of(model.replace({f"{joint}.position.x": np.nextafter(0.123, 1)}), lw.aba, options),
        memory_of(model.replace(parameters=[f"{joint}.position.x"]), lw.aba, options),
        memory_of(model.replace(name="other"), lw.aba, options),
    ]
    assert None not in found and len(set(found)) == len(found)
    assert memory_of(random_mechanism(7, n=4, passive=True), lw.aba, options) == found[0]


def test_functions_of_a_user_are_traced_each_time():
    @lw.returns("twice")
    def twice(model, q, v):
        return 2 * v

    model = random_mechanism(5, n=3)
    assert memory_of(model, twice, {}) is None
    pushed = lw.Mechanism("pushed")
    pushed.body("b", mass=1)
    pushed.joint("j", "prismatic", "world", "b", axis="x")
    pushed.law(lambda s: {"j": 1.0}, "push")
    assert memory_of(pushed.build(), lw.aba, {}) is None
