"""A free joint as six fictitious joints of one freedom, and the states in which the mass matrix is singular."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import evaluate, random_mechanism, random_state, relative

import linkwork as lw
from linkwork.dynamics.block_drives import check_state
from linkwork.dynamics.block_matrix import block_matrix
from linkwork.dynamics.fictitious_chain import ORDERS, chain_state, fictitious_chain

EXAMPLES = Path(__file__).parents[2] / "examples"
TABLE = "block-matrix.md"
ROUNDING = 1e-10
"""Two ways to one number, relative to the largest entry; section 12 asks for this figure."""


def floating(seed, n=4):
    return random_mechanism(seed, n=n, kinds=("revolute", "prismatic", "spherical"), root="free")


def motions(m, q, v, tau, f_ext):
    """Accelerations of the origins of all bodies with mass, and the joint wrench of each, by the block matrices."""
    v_dot, wrenches = block_matrix.giving("v_dot", "wrenches")(m, q, v, tau, f_ext)
    names = [b.name for b in m.bodies[1:] if b.inertials]
    borne = [wrenches[m.body_index[name] - 1, :] for name in names]
    return ca.vertcat(*[lw.acceleration(m, q, v, v_dot, frame=name) for name in names]), ca.vertcat(*borne)


@pytest.mark.parametrize("order", ORDERS)
def test_a_fictitious_chain_moves_its_bodies_as_a_free_joint_does(order, figures):
    """Section 12, check 5, with external wrenches. The chain's A has a condition number that grows towards gimbal lock;
    at the states met here it leaves 11 digits."""
    worst = np.zeros(2)
    for seed in range(2):
        free = floating(seed)
        made = fictitious_chain(free, order)
        q, v, tau = random_state(free, seed)
        at = next(free.v_slices[i].start for i in free.tree if free.joint(i).kind == "free")
        tau[at : at + 6] = 0
        f_ext = np.random.default_rng(seed).normal(size=(len(free.tree), 6))
        more = np.zeros((len(made.tree), 6))
        for i in free.tree:
            more[made.body_index[free.bodies[i].name] - 1] = f_ext[i - 1]
        expected = evaluate(motions, free, q, v, tau, f_ext)
        found = evaluate(motions, made, *chain_state(free, q, v, order), tau, more)
        assert (made.nq, made.nv) == (sum(free.kind(i).nq for i in free.tree) - 1, free.nv)
        worst = np.maximum(worst, [relative(x, y) for x, y in zip(found, expected, strict=True)])
    for name, error in zip(("accelerations", "wrenches"), worst, strict=True):
        figures(TABLE, f"fictitious chain {order} = free joint, {name}", worst=f"{error:.1e}", asked="1e-10")
    assert (worst < ROUNDING).all()


def test_a_fictitious_chain_starts_where_the_model_starts():
    """Poses and velocities of the bodies at the start, by names."""
    m = lw.Mechanism("craft")
    m.body("bus", mass=3, inertia=(0.3, 0.2, 0.1)).body("arm", mass=1, centre=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02))
    m.joint("base", "free", "world", "bus", at=(0, 0, 1), rotation=(0.1, 0.2, 0.3))
    m.joint("elbow", "revolute", "bus", "arm", at=(0.3, 0, 0), axis="y")
    m.start(
        {"base.rotation": (0.4, -0.3, 0.9), "base.position": (1, 2, 3), "base.omega": (0.3, -0.5, 0.7), "elbow": 0.4}
    )
    m.start({"base.velocity": (0.2, 0.1, -0.3), "elbow.rate": -1.1})
    free = m.build()
    made = fictitious_chain(free, "zyx")
    assert made.q_names == ("base_x", "base_y", "base_z", "base_rz", "base_ry", "base_rx", "elbow")
    assert made.start["base_rz"] == pytest.approx(0.9) and made.start["base_rx"] == pytest.approx(0.4)
    states = []
    for model in (free, made):
        q = np.array([model.start.get(n, e) for n, e in zip(model.q_names, model.neutral, strict=True)])
        v = np.array([model.start.get(n, 0.0) for n in model.v_names])
        one = [evaluate(lw.velocity, model, q, v, frame="arm"), evaluate(lw.position, model, q, frame="arm")]
        states.append(np.concatenate([*one, evaluate(lw.rotation_of, model, q, frame="arm").ravel()]))
    assert np.abs(states[0] - states[1]).max() < 1e-14  # sums of a few products of order 1


# --- singular states, and what is refused ---
def test_gimbal_lock_is_told_by_the_joint_in_the_middle():
    free = floating(2)
    for order in ("xyz", "zyx"):
        made = fictitious_chain(free, order)
        name = next(free.joint(i).name for i in free.tree if free.joint(i).kind == "free")
        q, _, _ = random_state(made, 0)
        check_state(made, q)
        middle = made.q_names.index(f"{name}_ry")
        q[middle] = np.pi / 2
        with pytest.raises(
            lw.ModelError, match=f"joint '{name}_ry' stands where .*gimbal lock.*A is singular"
        ) as error:
            check_state(made, q)
        assert f"'{name}_r{order[0]}' and '{name}_r{order[2]}'" in str(error.value) and "order" in error.value.fix
        q[middle] -= 1e-4  # near, and still solvable
        check_state(made, q)


def test_an_attitude_in_gimbal_lock_is_refused_with_an_order_that_serves():
    free = floating(2)
    q, v, _ = random_state(free, 0)
    i = next(i for i in free.tree if free.joint(i).kind == "free")
    at = sum(free.kind(k).nq for k in free.tree if k < i) + 3
    q[at : at + 4] = np.sqrt(0.5), 0, np.sqrt(0.5), 0  # a right angle about y
    name = free.joint(i).name
    with pytest.raises(lw.ModelError, match=f"joint '{name}_ry' would stand at ±90 deg") as error:
        chain_state(free, q, v, "xyz")
    better = error.value.fix[-4:-1]
    assert better in ORDERS and np.isfinite(chain_state(free, q, v, better)[1]).all()


def test_joints_that_move_no_mass_are_refused_by_name():
    m = lw.Mechanism("tip")
    m.body("arm", mass=1, centre=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)).body("tip")
    m.joint("shoulder", "revolute", "world", "arm", axis="z").joint("wrist", "revolute", "arm", "tip", axis="y")
    with pytest.raises(lw.ModelError, match="joint 'wrist' moves no mass"):
        lw.equations(m.build(), block_matrix)


@pytest.mark.parametrize("axis", "xz")
def test_a_massless_body_between_parallel_axes_is_told_and_between_crossed_axes_taken(axis):
    m = lw.Mechanism("cross")
    m.body("piece").body("end", mass=1, centre=(0.2, 0.1, 0), inertia=(0.01, 0.01, 0.01))
    m.joint("a", "revolute", "world", "piece", axis="z").joint("b", "revolute", "piece", "end", axis=axis)
    if axis == "x":
        return check_state(m.build(), [0.3, 0.4])
    with pytest.raises(lw.ModelError, match=r"joint 'a': 'a.rate' and 'b.rate' can change without moving any mass"):
        check_state(m.build(), [0.3, 0.4])


def test_a_massless_body_that_carries_a_free_one_is_told():
    m = lw.Mechanism("launcher")
    m.body("rail").body("craft", mass=1, centre=(0.1, 0.2, 0), inertia=(0.1, 0.1, 0.1))
    m.joint("swing", "revolute", "world", "rail", axis="z").joint("loose", "free", "rail", "craft", at=(1, 0, 0))
    with pytest.raises(lw.ModelError, match=r"joint 'swing': 'swing.rate' and .* can change without moving any mass"):
        check_state(m.build(), [0.3, 0.1, 0.2, 0.3, 1, 0, 0, 0])


def test_a_point_mass_on_a_spherical_joint_is_told_with_its_idle_freedom():
    m = lw.Mechanism("bob")
    m.body("bob", mass=1, centre=(0, 0, -0.5))
    m.joint("ball", "spherical", "world", "bob")
    with pytest.raises(lw.ModelError, match=r"joint 'ball': 'ball.omega_z' can change without moving any mass"):
        check_state(m.build(), [1, 0, 0, 0])


def test_what_no_fictitious_chain_can_be_made_of_is_told():
    with pytest.raises(lw.ModelError, match="has no free joint"):
        fictitious_chain(random_mechanism(0, n=2, kinds=("revolute",)))
    with pytest.raises(lw.ModelError, match="'xyx' is no order of three different axes"):
        fictitious_chain(floating(0), "xyx")
    passive = random_mechanism(0, n=2, kinds=("revolute",), root="free", passive=True)
    name = next(passive.joint(i).name for i in passive.tree if passive.joint(i).kind == "free")
    with pytest.raises(lw.ModelError, match=f"joint '{name}' has damping along its child's axes"):
        fictitious_chain(passive)


def test_the_reachability_of_a_walking_robot_is_the_one_printed():
    """Section 6: D = [[U, 0, 0], [1, U, 0], [1, 0, U]], blocks of six, for a trunk on its chain and two legs."""
    made = fictitious_chain(lw.read(EXAMPLES / "biped.yaml"))
    (D,) = evaluate(lambda m, *x: (block_matrix.giving("D")(m, *x),), made, *np.zeros((3, 18)))
    U, full, none = np.tril(np.ones((6, 6))), np.ones((6, 6)), np.zeros((6, 6))
    assert (np.block([[U, none, none], [full, U, none], [full, none, U]]) == D).all()
