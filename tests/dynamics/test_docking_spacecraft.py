"""A mechanism on a spacecraft: base motion, free spacecraft (docking-tree.md, sections 5 and 13)."""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import evaluate, random_mechanism, random_rotation, random_state, relative, rows, traced
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.dynamics.docking_open import docking_open
from linkwork.dynamics.docking_rows import Base
from linkwork.dynamics.docking_spacecraft import Modes, Spacecraft, base_motion, docking_spacecraft
from linkwork.dynamics.docking_tree import docking_tree
from linkwork.model.build import build
from linkwork.model.describe import Body, Description, Inertial, Joint
from linkwork.spatial import quaternion_exp, quaternion_product, quaternion_rotation

TABLES = Path(__file__).parents[2] / "examples" / "docking_tables"
ROUNDING = 1e-10
"""Two ways to one number, relative to its largest entry (docking-tree.md, section 13)."""
STATE = [0.3, 0.1, -0.4], [0.5, -0.2, 0.8], [1, -2, 0.5]
LOAD = np.array([[0] * 6, [0, 1, 0, 0, 0, 0.1], [0] * 6], float)
CRAFT = Spacecraft(300, (100, 120, 140, 0, 0, 0), (0.1, -0.2, 0.3))


def heavier(craft, ratio):
    """The craft of the document with `ratio` times the 8 kg of the arm, its inertia in proportion."""
    k = ratio * 8 / craft.mass
    return replace(craft, mass=k * craft.mass, inertia=tuple(k * x for x in craft.inertia))


def test_a_free_spacecraft_has_the_digits_of_the_document(figures):
    a_0, v_dot = evaluate(docking_spacecraft.giving("a_0", "v_dot"), lw.read_tables(TABLES), *STATE, LOAD, craft=CRAFT)
    told = """0.0150298604255 0.0037460024539 0.0023531806101 0.0163103274688 0.0065674743872 -0.0042857142857
              0.9703748313575 -0.5535555536819 8.3402640677362"""
    off = np.abs(np.concatenate([a_0, v_dot]) - np.array(told.split(), float)).max()
    figures("docking-tree.md, section 12", "free spacecraft: a_0, p''", off=f"{off:.1e}")
    assert off < 2e-13  # 13 decimals, the last good to one or two units


# --- the same as a body on a free joint -------------------------------------------------------------------------------
def hung_on(model, inertial, r_0, alpha):
    """The mechanism with its world replaced by a body on a free joint: port at r_0, its axes by alpha."""
    joints = [Joint("float", "free", "world", "craft", armature=(0.0,) * 6)]
    for i in model.tree:
        joint = model.joint(i)
        if joint.parent == "world":
            place = tuple(map(float, r_0 + alpha.T @ np.array(joint.position)))
            turned = rows(alpha.T @ np.array(joint.rotation))
            joint = replace(joint, parent="craft", position=place, rotation=turned)
        joints.append(joint)
    bodies = (Body("craft", (inertial,)), *model.bodies[1:])
    return build(Description("hung", (0.0, 0.0, 0.0), bodies, tuple(joints)))


def random_craft(rng):
    J = rng.normal(size=(3, 3))
    J = 0.1 * J @ J.T + 3 * np.eye(3)  # round enough for a solid
    return Spacecraft(
        20.0, tuple(J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]), *(tuple(rng.normal(size=3)) for _ in range(2)),
        random_rotation(rng).tolist(), *(tuple(rng.normal(size=3)) for _ in range(2)),
    )  # fmt: skip


def test_the_exact_coupling_is_that_of_a_body_on_a_free_joint(figures):
    worst = 0.0
    for seed in range(8):
        model = random_mechanism(seed, n=3 + seed % 4, passive=seed % 2 == 1, gravity=False)
        rng = np.random.default_rng(seed)
        craft, (q, v, tau) = random_craft(rng), random_state(model, seed)
        alpha = np.array(craft.alpha)
        whole = hung_on(model, Inertial(craft.mass, inertia=craft.inertia), np.array(craft.port), alpha)
        own = [whole.v_slices[i] for i in whole.tree if whole.joint(i).name != "float"]
        assert whole.joint(1).name == "float" and len(own) == len(model.tree)
        order = [model.joint_index[whole.joint(i).name] for i in whole.tree[1:]]
        assert order == list(model.tree)  # so coordinates follow those of the float in the same order
        f_ext = rng.normal(size=(len(model.bodies) - 1, 6))
        still = [0, 0, 0, 1, 0, 0, 0]
        a = evaluate(
            lw.aba, whole, np.concatenate([still, q]), np.concatenate([[0, 0, 0], craft.omega, v]),
            np.concatenate([craft.force, craft.moment, tau]), np.vstack([np.zeros(6), f_ext]),
        )  # fmt: skip
        a_A, v_dot = evaluate(docking_spacecraft.giving("a_A", "v_dot"), model, q, v, tau, f_ext, craft=craft)
        worst = max(worst, relative(a, np.concatenate([a_A, v_dot])))
    figures("docking_spacecraft", "exact coupling = free joint", worst=f"{worst:.1e}")
    assert worst < ROUNDING


def test_without_modes_the_coupling_is_that_of_inertias_at_the_port():
    """(M_0 + dM_0) a_0 = s_0 + ds_0 with the pole at the port."""
    model, craft = lw.read_tables(TABLES), replace(random_craft(np.random.default_rng(2)), alpha=np.eye(3).tolist())
    d, J = -np.array(craft.port), np.zeros((3, 3))
    J[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]] = craft.inertia
    J, d_ = J + np.triu(J, 1).T, np.cross(np.eye(3), d)
    M_0 = np.block([
        [craft.mass * np.eye(3), -craft.mass * d_],
        [craft.mass * d_, J + craft.mass * ((d @ d) * np.eye(3) - np.outer(d, d))],
    ])  # fmt: skip
    om = np.array(craft.omega)
    s_0 = np.concatenate([
        craft.force - craft.mass * np.cross(om, np.cross(om, d)),
        craft.moment + np.cross(d, craft.force) - np.cross(om, M_0[3:, 3:] @ om),
    ])  # fmt: skip
    a_0 = evaluate(docking_spacecraft.giving("a_0"), model, *STATE, LOAD, craft=craft)
    dM_0, ds_0 = evaluate(
        docking_open.giving("dM_R", "ds_R"), model, *STATE, LOAD, base=Base(craft.omega)
    )  # fmt: skip
    assert relative(np.linalg.solve(M_0 + dM_0.reshape(6, 6), s_0 + ds_0), a_0) < 1e-12  # two 6 × 6 systems


def test_total_momentum_of_a_free_spacecraft_stays(figures):
    """Integrated at 1e-12 over 5 s with joint forces of the mechanism's own; drift is judged relative to its parts."""
    model = lw.read_tables(TABLES)
    whole = hung_on(
        model, Inertial(80.0, inertia=(20.0, 25.0, 30.0, 0.0, 0.0, 0.0)), np.array([0.5, 0, 0.2]), np.eye(3)
    )
    start = {"float.omega": (0.1, -0.2, 0.3), "float.velocity": (0.1, 0, 0), "turn": 0.3, "slide": 0.1, "swing": -0.4}
    rates = {"turn.rate": 0.5, "slide.rate": -0.2, "swing.rate": 0.8}
    for form in (docking_tree, docking_open):
        run = lw.simulate(whole, {**start, **rates}, until=5.0, formulation=form, rtol=1e-12, atol=1e-12)
        drift = np.abs(run["momentum"][:] - run["momentum"][0]).max() / np.abs(run["momentum"][0]).max()
        figures("docking_spacecraft", f"momentum drift in 5 s, {form.__name__}", worst=f"{drift:.1e}")
        assert drift < 1e-10  # a few hundred steps of 1e-12


def test_the_alternating_coupling_errs_in_proportion_to_the_mass_ratio(figures):
    """docking-tree.md quotes 4e-2, 5e-3, 8e-4 of a_0 at 10, 100, 1000 without its mechanism. Of the port's linear
    acceleration this arm loses as much within a factor of 2; its turn is less disturbed."""
    model = lw.read_tables(TABLES)
    for ratio, told in ((10, 4e-2), (100, 5e-3), (1000, 8e-4)):
        craft = heavier(CRAFT, ratio)
        ask = docking_spacecraft.giving("a_0")
        whole = evaluate(ask, model, *STATE, LOAD, craft=craft)
        loose = [evaluate(ask, model, *STATE, LOAD, craft=craft, coupling="alternating", sweeps=n) for n in (1, 2, 20)]
        linear, angular = (relative(loose[0][k : k + 3], whole[k : k + 3]) for k in (0, 3))
        found = {"linear": f"{linear:.1e}", "angular": f"{angular:.1e}", "told": f"{told:.0e}"}
        figures("docking_spacecraft, coupled in turn: error of a_0", f"mass ratio {ratio}", **found)
        assert told / 2 < linear < told * 2 and told / 6 < angular < told
        once, twice, often = (relative(x, whole) for x in loose)
        assert twice < once / 5 and often < ROUNDING


# --- motion of the base -----------------------------------------------------------------------------------------------
def moving_port(seed):
    """A craft on a given path with one elastic mode: pose of its port by time, and the same as a Spacecraft at t = 0.

    The turn stays about one axis, so that omega_e = Phi_f eta' is exact however large eta is.
    """
    rng = np.random.default_rng(seed)
    n, r_0, Phi_r, Phi_f, x_2 = (rng.normal(size=3) for _ in range(5))
    n, alpha = n / np.linalg.norm(n), random_rotation(rng)
    c = rng.normal(size=6)  # angle and amplitude are quadratic in time

    def angle(t):
        return c[1] * t + c[2] * t * t / 2

    def eta(t):
        return c[3] + c[4] * t + c[5] * t * t / 2

    quat = _quaternion(alpha.T)

    def motion(t):
        turn = quaternion_exp(ca.SX(n) * angle(t))
        R = quaternion_rotation(turn)
        attitude = quaternion_product(quaternion_product(turn, quaternion_exp(ca.SX(Phi_f) * eta(t))), quat)
        place = ca.SX(x_2) * t * t / 2 + R @ (ca.SX(r_0) + ca.SX(Phi_r) * eta(t))
        return ca.vertsplit(place), ca.vertsplit(attitude)

    modes = Modes(Phi_r[:, None], Phi_f[:, None], [3.0], [0.1], [c[3]], [c[4]])
    craft = Spacecraft(50.0, (9.0, 8.0, 7.0, 0, 0, 0), tuple(n * c[1]), tuple(r_0), alpha.tolist(), modes=modes)
    return motion, craft, np.concatenate([x_2, n * c[2]]), np.array([c[5]])


def _quaternion(R):
    return ca.SX(np.roll(Rotation.from_matrix(R).as_quat(), 1))


def on_a_moving_port(model, motion, alpha):
    joints = [Joint("path", "prescribed", "world", "port", motion=motion)]
    for i in model.tree:
        joint = model.joint(i)
        joints.append(replace(joint, parent="port") if joint.parent == "world" else joint)
    bodies = (Body("port"), *model.bodies[1:])
    return build(Description("moved", (0.0, 0.0, 0.0), bodies, tuple(joints)))


@pytest.mark.parametrize("keep", ["full", "velocity terms only"])
def test_elastic_base_motion_is_the_motion_of_a_prescribed_port(keep, figures):
    """With one mode the base of section 5 against derivatives of the port's path; G_0 in port axes both times."""
    worst = 0.0
    for seed in range(6):
        model = random_mechanism(seed, n=4, kinds=("revolute", "prismatic", "universal", "spherical"), gravity=False)
        motion, craft, a_A, eta_ddot = moving_port(seed)
        q, v, tau = random_state(model, seed)
        base = base_motion(craft, a_A, eta_ddot, keep)
        names = docking_tree.giving("v_dot", "G_0")
        found = evaluate(names, model, q, v, tau, base=base)
        if keep == "full":
            moved = on_a_moving_port(model, motion, craft.alpha)

            def at_start(m, q, v, tau, t, names=names):
                return names(m, q, v, tau, None, t)

            expected = evaluate(at_start, moved, q, v, tau, [0.0])
        else:  # the source's left column: as if the accelerations were zero
            expected = evaluate(names, model, q, v, tau, base=base_motion(craft, np.zeros(6), np.zeros(1)))
        worst = max(worst, *(relative(a, b) for a, b in zip(found, expected, strict=True)))
    figures("docking_spacecraft", f"elastic base motion, {keep}", worst=f"{worst:.1e}")
    assert worst < ROUNDING


def test_velocity_terms_of_a_prescribed_base_are_those_of_its_spacecraft():
    """The source's base as a body on a prescribed joint: its centre of mass is A, the arm hangs at its port."""
    craft = moving_port(3)[1]
    model = lw.read_tables(TABLES)
    d = np.array([0.3, -0.2, 0.1])

    def rigid(t):
        return [ca.sin(t), t * t, 2 * t], ca.vertsplit(quaternion_exp(ca.SX(craft.omega) * t + ca.SX([1, 2, 3]) * t**2))

    whole = hung_on(
        model, Inertial(9.0, tuple(d), (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)), d + craft.port, np.array(craft.alpha)
    )
    path = Joint("path", "prescribed", "world", "craft", motion=rigid)
    whole = whole.replace(joints=(None, path, *whole.joints[2:]))

    def both(m, q, v, tau, t, base):
        return docking_tree.giving("v_dot", "b")(m, q, v, tau, None, t, base=base)

    source = base_motion(replace(craft, modes=Spacecraft(1.0, (1, 1, 1, 0, 0, 0)).modes), keep="velocity terms only")
    expected = evaluate(docking_tree.giving("v_dot", "b"), model, *STATE, base=source)
    found = evaluate(both, whole, *STATE, [0.0], base="velocity terms only")
    full = evaluate(both, whole, *STATE, [0.0], base="full")
    assert max(relative(a, b) for a, b in zip(found, expected, strict=True)) < 1e-12  # the same sums in other axes
    assert relative(full[0], expected[0]) > 0.1


# --- refusals ---------------------------------------------------------------------------------------------------------
def test_what_is_wrong_with_a_spacecraft_is_named():
    model = lw.read_tables(TABLES)
    q = [ca.SX.sym(n, 3) for n in ("q", "v", "tau")]
    with pytest.raises(lw.ModelError, match="no spacecraft is told that carries 'docking arm'"):
        docking_spacecraft(model, *q)
    with pytest.raises(lw.ModelError, match="there is no coupling 'exakt'"):
        docking_spacecraft(model, *q, craft=CRAFT, coupling="exakt")
    with pytest.raises(lw.ModelError, match="sweeps=3 of the exact coupling"):
        docking_spacecraft(model, *q, craft=CRAFT, sweeps=3)
    with pytest.raises(lw.ModelError, match="mass of the spacecraft is 0 kg"):
        Spacecraft(0, (1, 1, 1, 0, 0, 0))
    with pytest.raises(lw.ModelError, match="inertia of the spacecraft has a principal moment that is not above zero"):
        Spacecraft(1, (1, 1, 0, 0, 0, 0))
    with pytest.raises(lw.ModelError, match="Phi_f of the modes is 3 × 1, with 2 frequencies"):
        Modes(np.zeros((3, 2)), np.zeros((3, 1)), [1, 2], [0, 0], [0, 0], [0, 0])
    with pytest.raises(lw.ModelError, match="there is no base motion 'fully'"):
        base_motion(CRAFT, keep="fully")


def test_a_spacecraft_of_symbols_gives_one_graph_for_all_its_states():
    model, om = lw.read_tables(TABLES), ca.SX.sym("om", 3)

    def graph(m, q, v, tau, om):
        return docking_spacecraft.giving("a_0")(m, q, v, tau, craft=replace(CRAFT, omega=tuple(ca.vertsplit(om))))

    call = traced(graph, model, (3,), (3,), (3,), om.shape)
    for omega in ((0.1, -0.2, 0.3), (1.0, 0.0, 0.5)):
        expected = evaluate(docking_spacecraft.giving("a_0"), model, *STATE, craft=replace(CRAFT, omega=omega))
        assert relative(call(*STATE, omega), expected) < 1e-13  # constants folded or not
