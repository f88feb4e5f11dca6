"""What every formulation promises about its results, and how one refuses."""

from functools import cache, partial

import casadi as ca
import numpy as np
import pytest
from mechanisms import random_mechanism, random_state, relative

import linkwork as lw
from linkwork.dynamics.formulation import gives
from linkwork.verify import WAYS


@gives("v_dot", "M", refuses={"coupled joint": "there is no tree of such bodies"})
def through_the_mass_matrix(model, q, v, tau, f_ext=None, t=None):
    return {"v_dot": lw.forward(model, q, v, tau, f_ext, t), "M": lw.crba(model, q)}


def test_a_formulation_gives_accelerations_and_on_request_more():
    model = random_mechanism(3)
    alone = lw.equations(model, through_the_mass_matrix)
    assert [p.name for p in alone.outputs] == ["v_dot"]
    more = lw.equations(model, through_the_mass_matrix, give=["M", "v_dot"])
    assert [p.name for p in more.outputs] == ["M", "v_dot"] and [p.name for p in more.inputs] == ["q", "v", "tau"]
    with pytest.raises(lw.ModelError, match="'through_the_mass_matrix' gives no 'N'"):
        lw.equations(model, through_the_mass_matrix, give="N")
    with pytest.raises(lw.ModelError, match="'crba' gives only M"):
        lw.equations(model, lw.crba, give="M")


def test_a_quantity_of_another_shape_than_promised_is_refused_by_name():
    @gives("v_dot", "wrenches")
    def flat(model, q, v, tau, f_ext=None, t=None):
        return {"v_dot": tau, "wrenches": ca.vertcat(*[tau[0]] * 6 * len(model.tree))}

    lw.equations(swinging(), flat)
    with pytest.raises(lw.ModelError, match="'flat' gives 'wrenches' as 18 × 1, not 3 × 6"):
        lw.equations(swinging(), flat, give="wrenches")


def test_what_a_formulation_does_not_take_is_refused_by_name():
    model = next(
        m for m in (random_mechanism(k, n=6, kinds=("revolute",), coupled=True) for k in range(20)) if m.coupled
    )
    name = model.joint(model.coupled[0]).name
    with pytest.raises(lw.ModelError, match=f"joint '{name}': 'through_the_mass_matrix' takes no coupled joint: there"):
        lw.equations(model, through_the_mass_matrix)


# --- compiled, batched, integrated ---
FORMULATIONS = {**WAYS, "aba": lw.aba}
TIGHT = 1e-11
"""Of the integrator; four samples over a second miss each other by 1e-9 at most, a hundred times as much."""


def swinging():
    """Planar, so that every formulation takes it, with springs, damping and a rotor."""
    m = lw.Mechanism("swinging", gravity=(0, -9.81, 0))
    m.body("arm", mass=2, centre=(0.3, 0, 0), inertia=(0.01, 0.05, 0.05))
    m.body("slider", mass=0.7, centre=(0, 0.1, 0), inertia=(0.01, 0.01, 0.02))
    m.body("tip", mass=0.4, centre=(0.1, 0, 0), inertia=(0.001, 0.002, 0.002))
    m.joint("hinge", "revolute", "world", "arm", axis="z", damping=0.2, armature=0.01)
    m.joint("slide", "prismatic", "arm", "slider", at=(0.5, 0, 0), axis="x", stiffness=40, damping=0.1)
    m.joint("flap", "revolute", "slider", "tip", at=(0, 0.2, 0), axis="z", stiffness=0.3)
    return m.build()


@cache
def reference():
    starts = {"hinge": [0.3, -0.5, 1.0, 2.0], "flap.rate": [1.0, 0.0, -1.0, 2.0]}
    return starts, lw.simulate(swinging(), starts, until=1.0, times=4, rtol=TIGHT, atol=TIGHT)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_every_formulation_can_be_compiled_batched_and_integrated(name):
    model, form = swinging(), FORMULATIONS[name]
    q, v, tau = random_state(model, 3, 20)
    v_dot = lw.compile(lw.equations(model, form))(q=q, v=v, tau=tau)
    assert v_dot.shape == (20, model.nv) and relative(v_dot, lw.function(model, lw.aba)(q=q, v=v, tau=tau)) < 1e-12
    starts, expected = reference()
    run = lw.simulate(model, starts, until=1.0, times=4, method=form, rtol=TIGHT, atol=TIGHT)
    assert run.ok.all() and run.provenance["formulation"] == form.__name__
    assert np.abs(run["q"].values - expected["q"].values).max() < 100 * TIGHT
    assert run.trust.energy_error < 1e-8


def test_a_formulation_may_be_named_as_method_or_as_formulation():
    model = swinging()
    runs = [
        lw.simulate(model, until=0.2, times=2, method=lw.kane_graph),
        lw.simulate(model, until=0.2, times=2, formulation=lw.kane_graph),
        lw.simulate(model, until=0.2, times=2, method="dop853", formulation=lw.kane_graph),
        lw.simulate(model, until=0.2, times=2, method=lw.kane_graph, formulation=lw.kane_graph),
        lw.simulate(lw.system(model, lw.kane_graph), until=0.2, times=2),
        lw.simulate(lw.system(model, lw.kane_graph), until=0.2, times=2, method=lw.kane_graph),
    ]
    assert {r.provenance["formulation"] for r in runs} == {"kane_graph"}
    assert all(np.array_equal(r["q"], runs[0]["q"]) for r in runs)
    with pytest.raises(
        lw.RunError, match="method=kane_graph and formulation=block_matrix are two formulations"
    ) as told:
        lw.simulate(model, method=lw.kane_graph, formulation=lw.block_matrix)
    assert 'method="dop853", formulation=kane_graph' in told.value.fix
    with pytest.raises(lw.RunError, match="system of 'swinging' was made with kane_graph, and aba comes too late"):
        lw.simulate(lw.system(model, lw.kane_graph), formulation=lw.aba)
    with pytest.raises(lw.RunError, match="there is no integrator 'kane_graph'"):
        lw.simulate(model, method="kane_graph")


@pytest.mark.parametrize(
    ("formulation", "text"),
    [
        (lw.rnea, "'rnea' gives tau, not accelerations alone"),
        (lw.crba, "'crba' gives M, not accelerations alone"),
        (lw.kane_graph.giving("v_dot", "M"), "'kane_graph' gives v_dot, M, not accelerations alone"),
        ("kane_graph", "formulation 'kane_graph' is no function"),
        (partial(lw.kane_graph, extra=None), "formulation partial(…) has no name"),
    ],
)
def test_only_accelerations_are_integrated(formulation, text):
    """Forces of inverse dynamics have as many entries, and would be integrated without a word."""
    with pytest.raises(lw.RunError) as told:
        lw.simulate(swinging(), until=0.1, formulation=formulation)
    assert told.value.what == text
    assert "give a formulation of v_dot: lw.aba" in told.value.fix or "write a function: def" in told.value.fix


@pytest.mark.parametrize("name", ["crba", "forward", "docking_tree", "kane_graph", "block_matrix"])
def test_a_term_for_each_pair_of_joints_is_not_unrolled_by_the_hundred_thousand(name):
    made, parent = lw.Mechanism("long"), "world"
    for k in range(320):
        made.body(f"b{k}", mass=1, inertia=(1, 1, 1)).joint(
            f"j{k}", "revolute", parent, f"b{k}", at=(0, 0, 1), axis="x"
        )
        parent = f"b{k}"
    model = made.build()
    with pytest.raises(lw.ModelError, match=f"'{name}' has a term for each pair of joints.*320 bodies"):
        lw.equations(model, getattr(lw, name))
    assert lw.equations(model, lw.aba).outputs
