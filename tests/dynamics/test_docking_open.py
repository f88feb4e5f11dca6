"""Docking mechanisms: open chains, tables, batches, and what is refused by name."""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY_KIND, evaluate, random_mechanism, random_state, relative, traced

import linkwork as lw
from linkwork.dynamics.docking_open import docking_open
from linkwork.dynamics.docking_rows import Base
from linkwork.dynamics.docking_tree import check_state, docking_tree
from linkwork.errors import Place
from linkwork.model.build import build
from linkwork.model.describe import Body, Description, Joint

TABLES = Path(__file__).parents[2] / "examples" / "docking_tables"
ROUNDING = 1e-10
"""Two ways to one number, relative to its largest entry (docking-tree.md, section 13)."""


def moving_base(rng):
    return Base(*(tuple(map(float, rng.normal(size=n))) for n in (3, 6, 3)))


def both_forms(seed, controlled=False):
    """Closed and articulated form of one mechanism on one moving base."""
    model = random_mechanism(seed, n=2 + seed % 4, kinds=EVERY_KIND, passive=seed % 2 == 1)
    rng = np.random.default_rng(seed)
    q, v, tau = random_state(model, seed)
    f_ext, base = rng.normal(size=(len(model.bodies) - 1, 6)), moving_base(rng)
    names = ("v_dot", "wrenches", "base_wrench", "energy_rate")
    body = str(rng.choice([b.name for b in model.bodies[1:]])) if controlled else None

    def forms(model, q, v, tau, f_ext):
        open_form = docking_open.giving(*names, "G_R")(model, q, v, tau, f_ext, base=base, controlled=body)
        return (*docking_tree.giving(*names)(model, q, v, tau, f_ext, base=base), *open_form)

    given = q, v, tau, f_ext
    return model, body, traced(forms, model, *map(np.shape, given))(*given), f_ext


def test_the_articulated_form_agrees_with_the_closed_form_on_a_moving_base(figures):
    worst = 0.0
    for seed in range(20):
        model, _, x, _ = both_forms(seed)
        if model.nv:
            worst = max(worst, *(relative(a, b) for a, b in zip(x[:4], x[4:8], strict=True)), relative(x[2], x[8]))
    figures("docking_open on random mechanisms", "articulated = closed, moving base", worst=f"{worst:.1e}")
    assert worst < ROUNDING


def test_open_chains_folded_into_a_controlled_body_change_nothing(figures):
    """G_R must also be what the wrenches of the joints just beyond the controlled body say."""
    worst = 0.0
    for seed in range(20, 40):
        model, body, x, _ = both_forms(seed, controlled=True)
        worst = max(worst, *(relative(a, b) for a, b in zip(x[:4], x[4:8], strict=True)) if model.nv else [0.0])
        if not model.children(model.body_index[body]):
            assert np.all(x[8] == 0)
    figures("docking_open on random mechanisms", "folded into n_R = closed", worst=f"{worst:.1e}")
    assert worst < ROUNDING


def test_the_wrench_of_the_chains_on_the_controlled_body_is_the_sum_of_their_joint_wrenches():
    chain = lw.Mechanism("chain", gravity=(1, 2, -9))
    for k, above in enumerate(("world", "b0", "b1")):
        chain.body(f"b{k}", mass=1 + k, centre=(0.1, 0.2, 0), inertia=(0.1, 0.1, 0.1))
        chain.joint(f"j{k}", "revolute", above, f"b{k}", at=(0.3, 0.1 * k, 0), axis=(1, k, 1))
    model = chain.build()
    q, v, tau = random_state(model, 1)

    def wrench(model, q, v, tau):
        G_R, wrenches = docking_open.giving("G_R", "wrenches")(model, q, v, tau, controlled="b1")
        R = lw.rotation_of(model, q, "b1").T @ lw.rotation_of(model, q, "b2")
        force, at = R @ wrenches[2, :3].T, ca.vertcat(0.3, 0.2, 0)
        return G_R, -ca.vertcat(force, R @ wrenches[2, 3:].T + ca.cross(at, force))

    assert relative(*evaluate(wrench, model, q, v, tau)) < 1e-13  # a few sums and one rotation


def test_what_the_controlled_body_feels_is_told_in_its_own_axes():
    """G_R = ds_R − dM_R a_R, on a body whose own axes are not those of its rows; dM_R is symmetric."""
    model = random_mechanism(4, n=4, kinds=("revolute",))
    body = next(model.bodies[i].name for i in model.tree if model.children(i) and max(np.abs(model.joint(i).axis)) < 1)
    ask = docking_open.giving("dM_R", "ds_R", "a_R", "G_R")
    dM, ds, a, G = evaluate(ask, model, *random_state(model, 4), controlled=body)
    assert relative(dM, dM.T) < 1e-13 and relative(ds - dM @ a, G) < 1e-12  # sums of a few dozen products


def test_a_base_in_motion_changes_energies_as_the_same_motion_by_time_does():
    """Velocity, acceleration and turn of `Base` against those of a prescribed joint at t = 0."""
    omega, v, a = (0.3, -0.2, 0.5), (0.4, 0.1, -0.6), (0.7, 0.2, -0.1, 0.3, 0.4, -0.2)

    def motion(t):
        turn = [omega[k] * t / 2 + a[3 + k] * t * t / 4 for k in range(3)]
        return [v[k] * t + a[k] * t * t / 2 for k in range(3)], [1, *turn]

    held = lw.read_tables(TABLES)
    deck = Joint("deck", "prescribed", "world", "deck", motion=motion)
    joints = [replace(j, parent="deck") if j.parent == "world" else j for j in held.joints[1:]]
    carried = build(Description("carried", held.gravity, (Body("deck"), *held.bodies[1:]), (deck, *joints)))
    state = [0.3, 0.1, -0.4], [0.5, -0.2, 0.8], [1, -2, 0.5]
    for form in (docking_open, docking_tree):
        ask = form.giving("v_dot", "energy_rate")
        moved = evaluate(ask, held, *state, base=Base(omega, a, v))
        told = evaluate(ask, carried, *state, np.zeros((4, 6)), [0.0])
        assert relative(moved[0], told[0]) < 1e-13 and relative(moved[1], told[1]) < 1e-13  # as above


def test_articulated_inertias_are_the_pivots_of_the_mass_matrix():
    model = random_mechanism(5, n=6, kinds=("revolute", "prismatic", "helical"), passive=True)
    q, v, tau = random_state(model, 5)
    a_I, M = evaluate(docking_open.giving("a_I"), model, q, v, tau), evaluate(lw.crba, model, q)
    M = M.reshape(model.nv, model.nv)
    for k in reversed(range(model.nv)):
        assert abs(a_I[k] / M[k, k] - 1) < ROUNDING
        M[:k, :k] -= np.outer(M[:k, k], M[k, :k]) / M[k, k]


# --- tables and batches -----------------------------------------------------------------------------------------------
def test_tables_written_and_read_again_give_the_same_bits(tmp_path):
    model = lw.read_tables(TABLES)
    lw.write_tables(model, tmp_path / "once")
    lw.write_tables(lw.read_tables(tmp_path / "once"), tmp_path / "twice")
    for file in sorted((tmp_path / "once").iterdir()):
        assert file.read_bytes() == (tmp_path / "twice" / file.name).read_bytes()
    state = random_state(model, 0)
    names = docking_tree.giving("v_dot", "G_0", "A")
    for a, b in zip(
        evaluate(names, model, *state), evaluate(names, lw.read_tables(tmp_path / "twice"), *state), strict=True
    ):
        assert np.array_equal(a, b)


def test_a_thousand_states_at_once_are_those_states_one_by_one():
    kernel = lw.compile(lw.equations(lw.read_tables(TABLES), docking_tree, give=["v_dot", "G_0"]))
    q, v, tau = np.random.default_rng(0).normal(size=(3, 1000, 3))
    batch = kernel(q=q, v=v, tau=tau)
    for k in range(1000):
        one = kernel(q=q[k], v=v[k], tau=tau[k])
        assert all(np.array_equal(one[name], batch[name][k]) for name in ("v_dot", "G_0"))


def test_declared_parameters_stay_symbols():
    model = lw.read_tables(TABLES)
    names = ("arm.mass", "slider.centre.y", "paddle.inertia.xx", "swing.position.y", "gravity.z", "turn.armature")
    free = model.replace(parameters=names)
    state = random_state(model, 0)
    values = {n: 0.3 + 0.1 * k for k, n in enumerate(names)}
    kernel = lw.compile(lw.equations(free, docking_tree, give=["v_dot", "G_0"]))
    found = kernel(q=state[0], v=state[1], tau=state[2], **values)
    v_dot, G_0 = evaluate(docking_tree.giving("v_dot", "G_0"), model.replace(values), *state)
    assert max(relative(found["v_dot"], v_dot), relative(found["G_0"], G_0)) < 1e-12  # other order of the same sums


def test_an_axis_close_to_a_coordinate_axis_turns_about_itself():
    for axis in ((1e-5, 0, -1), (0, 1e-9, 1), (1e-8, -1, 1e-8), (-1e-6, 1e-6, -1)):
        made = lw.Mechanism("near", gravity=(1, 2, -9))
        for k, above in enumerate(("world", "b0")):
            made.body(f"b{k}", mass=2, centre=(0.1, 0.2, 0.3), inertia=(1, 1.2, 0.9, 0.1, 0.2, 0.05))
            made.joint(f"j{k}", "revolute", above, f"b{k}", at=(0.2, 0, 0.5), axis=axis)
        model = made.build()
        state = random_state(model, 0)
        assert relative(evaluate(docking_tree, model, *state), evaluate(lw.aba, model, *state)) < 1e-13


# --- degenerate cases -------------------------------------------------------------------------------------------------
def test_a_mechanism_without_freedoms_has_a_base_wrench():
    made = lw.Mechanism("still", gravity=(0, 0, -10))
    made.body("box", mass=2, centre=(0.5, 0, 0), inertia=(1, 1, 1))
    made.joint("weld", "fixed", "world", "box")
    model = made.build()
    none = np.zeros((0, 1))
    v_dot, wrench, M = evaluate(docking_tree.giving("v_dot", "base_wrench", "M"), model, none, none, none)
    assert v_dot.size == M.size == 0 and np.allclose(wrench, [0, 0, -20, 0, 10, 0], rtol=0, atol=0)
    v_dot, wrench = evaluate(docking_open.giving("v_dot", "base_wrench"), model, none, none, none)
    assert v_dot.size == 0 and np.allclose(wrench, [0, 0, -20, 0, 10, 0], rtol=0, atol=0)


def test_a_mechanism_without_mass_and_forces_leaves_the_base_alone():
    made = lw.Mechanism("ghost", gravity=(0, 0, -10))
    made.body("frame")
    made.joint("weld", "fixed", "world", "frame", at=(1, 0, 0))
    none = np.zeros((0, 1))
    assert not evaluate(docking_tree.giving("base_wrench"), made.build(), none, none, none).any()


def rows_on_one_axis(second):
    made = lw.Mechanism("gimbal", gravity=(0, 0, -10))
    made.body("ring")
    made.body("wheel", mass=2, inertia=(1, 1, 1))
    made.joint("outer", "revolute", "world", "ring", axis="z")
    made.joint("inner", "revolute", "ring", "wheel", axis=second)
    return made.build()


def test_joints_on_one_axis_are_named_at_a_state():
    check_state(rows_on_one_axis("x"), [0.3, 0.2])
    with pytest.raises(lw.ModelError, match="joint 'outer' moves nothing at these coordinates") as error:
        check_state(rows_on_one_axis("z"), [0.3, 0.2])
    assert error.value.fix and "same axis" in error.value.fix and isinstance(error.value.where, Place)


def test_a_joint_that_moves_no_mass_is_named():
    made = lw.Mechanism("tip", gravity=(0, 0, -10))
    made.body("tip")
    made.joint("elbow", "revolute", "world", "tip")
    for form in (docking_tree, docking_open):
        with pytest.raises(lw.ModelError, match="joint 'elbow' moves no mass"):
            lw.equations(made.build(), form)


def test_the_base_is_named_when_it_is_unknown_or_has_no_effect():
    model = lw.read_tables(TABLES)
    with pytest.raises(lw.ModelError, match="there is no base 'velocity terms'") as error:
        lw.equations(model, docking_tree, base="velocity terms")
    assert "'velocity terms only'" in str(error.value)
    with pytest.raises(lw.ModelError, match="no joint of 'docking arm' prescribes the motion of a base"):
        lw.equations(model, docking_tree, base="velocity terms only")


def test_open_chains_refuse_coupled_joints_and_unknown_bodies():
    models = (random_mechanism(k, n=6, kinds=("revolute",), coupled=True) for k in range(20))
    model = next(m for m in models if m.coupled)
    name = model.joint(model.coupled[0]).name
    with pytest.raises(
        lw.ModelError, match=f"joint '{name}': 'docking_open' takes no coupled joint: a joint that follows"
    ):
        lw.equations(model, docking_open)
    with pytest.raises(lw.ModelError, match="there is no body 'padle'") as error:
        lw.equations(lw.read_tables(TABLES), docking_open, controlled="padle")
    assert "'paddle'" in str(error.value)
