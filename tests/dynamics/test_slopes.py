"""Derivatives of accelerations by the theorem of implicit functions, next to differentiating the elimination itself."""

from dataclasses import replace

import numpy as np
import pytest
from mechanisms import EVERY_KIND, random_mechanism, random_state

import linkwork as lw

ROUNDING = 1e-10
"""Two ways to one number, relative to its largest entry: mass matrices have condition numbers up to 1e4 here, and both
ways divide by them; found are 2e-14."""
FOR_COUPLING = ("revolute", "continuous", "prismatic", "helical", "spherical", "fixed")


def mechanism(seed):
    """Every fifth floats, every fifth is coupled; half have springs, damping, friction and rotor inertias."""
    coupled = seed % 5 == 4
    model = random_mechanism(
        seed,
        n=4 + seed % 3 if coupled else 2 + seed % 5,
        kinds=FOR_COUPLING if coupled else EVERY_KIND,
        root="free" if seed % 5 == 0 else None,
        passive=seed % 2 == 1,
        coupled=coupled,
    )
    masses = [name for name in model.values if name.endswith(".mass")]
    return model.replace(parameters=masses[:1]) if seed % 3 == 0 else model


def both_ways(equations, names):
    """The derivatives by these inputs, in the short way and by differentiating the graph."""
    plain = replace(equations, slopes=None)
    return [some.jacobian("v_dot", names).casadi for some in (equations, plain)]


def numbers(model, equations, seed):
    q, v, tau = random_state(model, seed)
    rng = np.random.default_rng(seed)
    given = {"q": q, "v": v, "tau": tau}
    return [
        given.get(p.name, rng.normal(size=p.sample) if p.default is None else 1.1 * p.default) for p in equations.inputs
    ]


def gap(ways, values):
    return max(
        np.abs(np.array(a) - np.array(b)).max(initial=0) / max(np.abs(np.array(b)).max(initial=0), 1e-300)
        for a, b in zip(*(f(*values) for f in ways), strict=True)
    )


@pytest.mark.parametrize("seed", range(30))
def test_the_short_way_gives_the_derivatives_of_the_graph_by_every_input(seed):
    """q (quaternions by component), v, tau, external wrenches and parameters; with own forces and without."""
    model = mechanism(seed)
    if model.nv == 0:
        pytest.skip("nothing moves")
    equations = lw.equations(model, lw.aba, forces=seed % 2 == 1, external=seed % 4 == 1)
    assert equations.slopes is not None and equations.slopes("v_dot", ["q"]) is not None
    names = [p.name for p in equations.inputs]
    assert gap(both_ways(equations, names), numbers(model, equations, seed)) < ROUNDING


@pytest.mark.parametrize("seed", (0, 4, 9))
def test_the_factorised_mass_matrix_has_the_same_derivatives(seed):
    model = mechanism(seed)
    equations = lw.equations(model, lw.forward)
    assert gap(both_ways(equations, ["q", "v"]), numbers(model, equations, seed)) < ROUNDING


def test_a_prescribed_base_moves_the_derivatives_too():
    m = lw.Mechanism("carried")
    m.body("cart", mass=1, inertia=(0.1, 0.1, 0.1))
    m.body("arm", mass=1, centre=(0.1, 0, -0.4), inertia=(0.1, 0.1, 0.02))
    m.body("hand", mass=0.4, centre=(0, 0, -0.2), inertia=(0.01, 0.01, 0.002))
    m.joint("rail", "prescribed", "world", "cart", motion=lambda t: ((0.3 * t, t * t, 0), (1, 0.2 * t, 0.1 * t, 0)))
    m.joint("shoulder", "universal", "cart", "arm", axis="x", axis2="y")
    m.joint("wrist", "spherical", "arm", "hand", at=(0, 0, -0.5))
    model = m.build()
    equations = lw.equations(model, lw.aba)
    given = dict(zip([p.name for p in equations.inputs], numbers(model, equations, 1), strict=True))
    values = list((given | {"t": np.array(0.7)}).values())
    assert gap(both_ways(equations, ["q", "v", "tau", "t"]), values) < ROUNDING


def test_derivatives_hold_after_folding_parameters_and_choosing_outputs():
    model = mechanism(3)
    name = model.parameters[0]
    equations = lw.equations(model, lw.aba)
    asked = equations.jacobian("v_dot", ["q"]).only("d_v_dot_d_q")
    folded = equations.bound([]).jacobian("v_dot", ["q"]).only("d_v_dot_d_q")
    q, v, tau = random_state(model, 3)
    by_value = np.array(asked.casadi(q, v, tau, model.values[name]))
    assert np.abs(np.array(folded.casadi(q, v, tau)) - by_value).max() < ROUNDING * np.abs(by_value).max()


def test_wrenches_that_follow_the_state_are_differentiated_as_they_are_written():
    """The short way holds wrenches still; a law that pulls at a marker makes it step aside."""
    m = lw.Mechanism("pulled")
    m.body("arm", mass=1, centre=(0, 0, -0.3), inertia=(0.1, 0.1, 0.02))
    m.marker("tip", "arm", (0, 0, -0.5))
    m.joint("hinge", "revolute", "world", "arm", axis="y")
    m.law(lambda s: {"tip": -5.0 * s.position("tip")}, "spring")
    model = m.build()
    equations = lw.equations(model, lw.aba, forces=True)
    assert equations.slopes is None
    f, at, h = equations.jacobian("v_dot", ["q"]).casadi, 0.4, 1e-5
    up, down = (float(equations.casadi(at + d, 0.3, 0.0)) for d in (h, -h))
    assert abs(float(f(at, 0.3, 0.0)[1]) - (up - down) / (2 * h)) < 1e-8  # differences are good to h² and 1e-16 / h


def test_what_the_base_of_a_floating_mechanism_does_is_not_felt_by_its_joints():
    """By structure: attitude and linear velocity of a free base change its own accelerations alone."""
    model = random_mechanism(0, n=4, kinds=("revolute",), root="free")
    base = model.joint_index["j0"]
    own, at = model.v_slices[base], model.q_slices[base]
    _, by_q, by_v = lw.equations(model, lw.aba).jacobian("v_dot", ["q", "v"]).expressions
    others = [k for k in range(model.nv) if not own.start <= k < own.stop]
    assert others and model.joint(base).kind == "free"
    assert all(by_q[row, c].is_zero() for row in others for c in range(at.start, at.stop))
    assert all(by_v[row, c].is_zero() for row in others for c in range(own.start, own.start + 3))
