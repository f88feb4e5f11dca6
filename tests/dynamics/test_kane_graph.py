"""Kane's equations with graph matrices: the digits of kane-graph.md, its acceptance checks, and agreement with others.

Everything runs on graphs evaluated by CasADi alone, but for one law that compares the kernel with them.
"""

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY_KIND, evaluate, named, random_inertial, random_mechanism, random_state, relative
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.dynamics import kinematics
from linkwork.dynamics.kane_graph import Kane, kane_graph
from linkwork.dynamics.kane_loops import check_state, marker_rows, project_speeds
from linkwork.errors import ModelError
from linkwork.model.build import build
from linkwork.model.describe import Body, Coupling, Description, Inertial, Joint, Marker

ROUNDING = 1e-10
"""Two ways to one number, relative to its largest entry: random mass matrices have condition numbers up to 1e4, which
leaves 11 digits of 16; section 12 asks for this figure."""
EXACT = 1e-12
"""The same where nothing is divided by: sums of a few hundred products, each good to 1e-16."""
DIGITS = 1e-10
"""Section 12.1 asks for it; 13 decimals are printed."""
SEEDS = range(60)
FOR_COUPLING = ("revolute", "continuous", "prismatic", "helical")
SAME = (
    "v_dot",
    "v_dot_a",
    "z_dot",
    "z_dot_a",
    "wrenches",
    "base_wrench",
    "M",
    "energy_rate",
    "F_c",
    "T_c",
    "B",
    "N",
    "Mz",
)


def outputs(model, *numbers, names=SAME, **fixed):
    found = evaluate(kane_graph.giving(*names), model, *numbers, **fixed)
    return dict(zip(names, found if len(names) > 1 else (found,), strict=True))


def loads_of_a(model, kane):
    """Hinge wrenches of solution (a), [force; moment] at body origins in body axes: F^c + F^a, T^c + T^a."""
    u, rows = kane.G @ kane.v_dot_a, []
    for i in model.tree:
        h, at = kane.hinges[i], model.v_slices[i]
        drive = kane.tau[at] - kane.armature[at] * u[at]
        F, T = kane.F_c[i - 1, :].T, kane.T_c[i - 1, :].T
        if drive.numel():
            F, T = F + h.Fa @ drive, T + h.Ta @ drive
        rows.append(ca.vertcat(kane.R[i].T @ F, kane.R[i].T @ T).T)
    return ca.vertcat(*rows)


def energy_rate_of_graphs(model, q, v, v_dot, t=None):
    """Rate of kinetic and gravity energy by differentiating their graphs along the motion."""
    t = ca.SX.sym("t") if t is None else t
    x, x_dot = ca.vertcat(q, v, t), ca.vertcat(kinematics.q_dot(model, q, v), v_dot, 1)
    return ca.jtimes(lw.kinetic_energy(model, q, v, t) + lw.gravity_energy(model, q, t), x, x_dot)


def judge(figures, name, errors, tolerance):
    worst = float(max(errors))
    figures("kane-graph.md", name, worst=f"{worst:.1e}", asked=f"{tolerance:.0e}")
    assert worst < tolerance, name


# --- section 11 ---
Q = np.array([0.3, 0.2, np.sqrt(1 - 0.14), 0.1, 0.2, 0.3])
V, TAU = np.array([1, -0.5, 0.4, -0.3, 0.2]), np.array([0.5, -0.2, 0.1, 0, 0.05])
CENTRES = (-0.0295520206661, 0.0955336489126, 0, -0.7322992136820, 0.5061994287242, 0, -0.0238510535766,
           -0.3036138295866, 0.0072263815045)  # fmt: skip
OMEGA_DOT = (0, 0, 2.4817235723845, 0, 0, 2.4817235723845, 6.7377763692826, -11.0876734116563, 3.1269384274385)
DDQ = (0, 0, 0, 0.5962122987939, 0.1844300764800, 0, 0, 0, 0)
F_C = (3.5182479632268, 1.5636616500166, 42.2024449314453, -0.2030834070968, 0.6565134456535, 9.81, 4.2501458585713,
       0.5511800701032, 12.7724449314453)  # fmt: skip
T_C = (2.9367194410863, -2.5370712949127, 0, 0.4685925479161, 0.1449526613674, 0.0596344714477, 0, 0, 0)
M_ROW = (0.8559854942027, -0.05, -0.1091137699378, 0.1326491306210, 0.009)


@cache
def spatial_tree():
    tree = lw.Mechanism("tree", gravity=(0, 0, -9.81))
    tree.body("one", mass=2, centre=(0.1, 0, 0.2), inertia=(0.02, 0.03, 0.04))
    tree.body("two", mass=1, centre=(0, 0.05, 0), inertia=(0.01, 0.02, 0.02))
    tree.body("three", mass=1.5, centre=(0, 0, -0.25), inertia=(0.03, 0.03, 0.01))
    tree.joint("j1", "revolute", "world", "one", axis="z")
    tree.joint("j2", "prismatic", "one", "two", at=(0.5, 0, 0), axis="x")
    tree.joint("j3", "spherical", "one", "three", at=(-0.3, 0.1, 0.4))
    return tree.build()


def test_the_graph_of_the_worked_example():
    found = outputs(spatial_tree(), Q, V, TAU, names=("D", "S", "T", "B", "N", "A"))
    assert found["D"].tolist() == [[0, -1, -1], [0, 0, 0], [0, 0, 0]]
    assert found["S"].tolist() == [[1, -1, -1], [0, 1, 0], [0, 0, 1]]
    assert found["T"].tolist() == [[1, 1, 1], [0, 1, 0], [0, 0, 1]]
    assert found["B"].shape == (13, 18) and found["N"].shape == (18, 5)
    kane = Kane(spatial_tree(), *(ca.SX.sym(x, n) for x, n in (("q", 6), ("v", 5), ("tau", 5))))
    blocks = np.array([[kane.A[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].nnz() > 0 for j in range(3)] for i in range(3)])
    assert blocks.tolist() == [[True, False, False], [True, True, False], [True, False, True]]


def test_the_vectors_of_the_worked_example(figures):
    def vectors(model, q, v, tau):
        kane = Kane(model, q, v, tau)
        x = kane.z[:9], kane.z[9:]
        by_matrix = kane.A @ x[0] + ca.kron(kane.T, ca.DM.eye(3)).T @ x[1]
        return kane.rho[2], ca.vertcat(*kane.centres(kane.omega, kane.dq)[1:]), by_matrix

    rho, v, by_matrix = evaluate(vectors, spatial_tree(), Q, V, TAU)
    errors = [relative(rho, [0.6687355423879, 0.2068641446629, 0]), relative(v, CENTRES), relative(by_matrix, CENTRES)]
    judge(figures, "worked example, rho and v", errors, DIGITS)


def test_the_solutions_of_the_worked_example(figures):
    found = outputs(spatial_tree(), Q, V, TAU)
    M = np.diag([0, 1, 0.12375, 0.12375, 0.01])
    M[0], M[:, 0] = M_ROW, M_ROW
    expected = {
        "z_dot": OMEGA_DOT + DDQ, "z_dot_a": OMEGA_DOT + DDQ, "F_c": np.reshape(F_C, (3, 3)),
        "T_c": np.reshape(T_C, (3, 3)), "M": M,
    }  # fmt: skip
    for name, digits in expected.items():
        judge(figures, f"worked example, {name}", [relative(found[name], digits)], DIGITS)
    judge(figures, "worked example, Nᵀ Mz N", [relative(found["N"].T @ found["Mz"] @ found["N"], M)], DIGITS)


def test_constraint_forces_have_no_part_along_the_freedoms_of_the_worked_example():
    found = outputs(spatial_tree(), Q, V, TAU, names=("F_c", "T_c"))
    assert abs(found["F_c"][1] @ (np.cos(0.3), np.sin(0.3), 0)) < EXACT * 10  # of a force of 10 N
    assert abs(found["T_c"][0, 2]) < EXACT and np.abs(found["T_c"][2]).max() < EXACT


def test_hinge_wrenches_of_the_worked_example_are_the_joint_wrenches_of_separate_bodies(figures):
    """Ideal and active part at o_i, moved to the centre; digits of separate-bodies.md, section 11, 13 decimals."""
    R_1 = [3.5182479632268, 1.5636616500166, 42.2024449314453, 2.0022842463141, 0.7910326697743, 0.4545890334271]
    R_2 = [-0.3941507049219, 0.5974094043213, 9.81, 0, 0, 0.0496344714477]

    def at_centres(model, q, v, tau):
        kane = Kane(model, q, v, tau)
        axis = ca.vertcat(ca.cos(q[0]), ca.sin(q[0]), 0)
        found = []
        for i, F_a, T_a in ((1, ca.SX(3, 1), ca.vertcat(0, 0, tau[0])), (2, tau[1] * axis, ca.SX(3, 1))):
            F = kane.F_c[i - 1, :].T + F_a
            found.append(ca.vertcat(F, kane.T_c[i - 1, :].T + T_a - ca.cross(kane.y[i], F)))
        return tuple(found)

    errors = [relative(x, y) for x, y in zip(evaluate(at_centres, spatial_tree(), Q, V, TAU), (R_1, R_2), strict=True)]
    judge(figures, "worked example, R_1 and R_2", errors, DIGITS)


# --- random trees ---
OTHERS = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate", "loads of (a)")


class Case:
    """A mechanism at a random state under external wrenches: outputs of `kane_graph`, and the same by other ways."""

    def __init__(self, model, seed=0, t=0.0):
        self.model, self.n = model, len(model.tree)
        f_ext = np.random.default_rng(seed + 10_000).normal(size=(self.n, 6))
        self.given = *random_state(model, seed), f_ext, np.array([t])
        found = evaluate(self._both, model, *self.given)
        self.found = dict(zip(SAME, found, strict=False))
        self.others = dict(zip(OTHERS, found[len(SAME) :], strict=True))
        self.N = self.found["N"].reshape(6 * self.n, model.nv)
        self.u = self.others["v_dot"]

    @staticmethod
    def _both(model, q, v, tau, f_ext, t):
        v_dot, a = lw.aba(model, q, v, tau, f_ext, t), ca.SX.sym("a", model.nv)
        M = ca.jacobian(lw.rnea(model, q, v, a, t=t), a)
        loads, base = lw.wrenches(model, q, v, v_dot, f_ext, t)
        kane = Kane(model, q, v, tau, f_ext, t)
        others = v_dot, loads, base, M, energy_rate_of_graphs(model, q, v, v_dot, t), loads_of_a(model, kane)
        return *(getattr(kane, name) for name in SAME), *others

    def off(self, name, other=None):
        return relative(self.found[name].ravel(), self.others[other or name].ravel())

    def errors(self):
        """Name of a law → (how far it is missed, asked)."""
        z_dot = self.found["z_dot"]
        return {
            **{name: (self.off(name), ROUNDING) for name in ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")},
            "v_dot of (a)": (self.off("v_dot_a", "v_dot"), ROUNDING),
            "z' of (a) = N u' + n": (relative(self.found["z_dot_a"], z_dot), ROUNDING),
            "F^c + F^a, T^c + T^a of (a)": (self.off("wrenches", "loads of (a)"), ROUNDING),
            "B N = 0": (np.abs(self.found["B"] @ self.N).max(initial=0.0), EXACT),
            "Nᵀ G^N = 0": (self.power(), ROUNDING),
            "Nᵀ Mz N + rotors = M": (
                relative(self.mass_matrix(), self.others["M"].reshape(2 * self.N.shape[1:])),
                EXACT,
            ),
        }

    def power(self):
        """G^N = [S T^c; F^c] on N, relative to its largest entry."""
        S = np.eye(self.n)
        for j in self.model.tree:
            if self.model.parent[j]:
                S[self.model.parent[j] - 1, j - 1] = -1
        S = np.kron(S, np.eye(3))
        G_N = np.concatenate([S @ self.found["T_c"].ravel(), self.found["F_c"].ravel()])
        return np.abs(self.N.T @ G_N).max() / max(np.abs(G_N).max(initial=0.0), 1.0)

    def mass_matrix(self):
        model, parts = self.model, [self.model.joint(i).armature for i in self.model.tree if self.model.kind(i).nv]
        G = evaluate(lambda m: lw.dynamics.coupling.expansion(m), model).reshape(-1, model.nv) if model.coupled else 1.0
        rotors = np.diag(np.concatenate([*parts, []]))
        return self.N.T @ self.found["Mz"] @ self.N + (G.T @ rotors @ G if model.coupled else rotors)


def judge_worst(figures, title, cases):
    """All laws in one line: each error as a part of what is asked for it."""
    parts = [error / asked for c in cases for error, asked in c.errors().values()]
    judge(figures, title, [max(parts) * ROUNDING], ROUNDING)


@cache
def case(seed):
    """Half of the mechanisms have rotors, a fifth couplings, a fifth float."""
    coupled = seed % 5 == 4
    model = random_mechanism(
        seed,
        n=4 if coupled else 2 + seed % 4,
        kinds=FOR_COUPLING if coupled else EVERY_KIND,
        root="free" if seed % 5 == 0 else None,
        passive=seed % 2 == 1,
        coupled=coupled,
    )
    return Case(model, seed) if model.nv else None


def test_both_solutions_and_their_matrices_agree_with_the_other_formulations_on_random_trees(figures):
    cases = [c for c in map(case, SEEDS) if c]
    kinds = {c.model.joint(i).kind for c in cases for i in c.model.tree}
    assert kinds == set(EVERY_KIND) and len(cases) > 55
    assert sum(bool(c.model.coupled) for c in cases) >= 8
    for name in cases[0].errors():
        errors, asked = zip(*(c.errors()[name] for c in cases), strict=True)
        judge(figures, f"60 random trees, {name}", errors, asked[0])


@pytest.mark.parametrize("axis", ["x", "y", "z"])
def test_hinges_may_turn_and_slide_exactly_along_a_coordinate_axis(axis, figures):
    """The printed constraint rows divide by zero or lose rank there. Unturned, so that the axis stays exact."""
    h, cases = tuple(float(axis == k) for k in "xyz"), []
    back = tuple(-e for e in h)
    for kind in ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar"):
        rng = np.random.default_rng(ord(axis))
        joints = (
            Joint("a", kind, "world", "b0", (0.1, 0.2, 0.3), axis=h, axis2=(h[2], h[0], h[1]), pitch=0.1),
            Joint("b", kind, "b0", "b1", (-0.2, 0.1, 0.3), axis=back, axis2=(h[1], h[2], h[0]), pitch=-0.2),
        )
        bodies = tuple(Body(f"b{k}", (random_inertial(rng),)) for k in range(2))
        cases.append(Case(build(Description(f"{kind} {axis}", (0.3, -9.0, 1.0), bodies, joints)), ord(axis)))
    judge_worst(figures, f"axes along {axis}", cases)


def test_the_path_matrix_counts_paths():
    for seed in range(10):
        model = random_mechanism(seed)
        tree = Kane(model, ca.SX(model.nq, 1), ca.SX(model.nv, 1))
        S, T = np.array(tree.S), np.array(tree.T)
        assert (S @ T == np.eye(len(T))).all() and (T == np.triu(T)).all()
        for j in model.tree:
            depth, i = 0, j
            while i:
                depth, i = depth + 1, model.parent[i]
            assert T[:, j - 1].sum() == depth


def sway(t):
    """A way in space, and an attitude by a quaternion that is not a unit one."""
    return (ca.sin(t), 0.3 * t * t, ca.cos(3 * t)), (1.2 * ca.cos(t), 0.3 * ca.sin(2 * t), 0.4 * t, 1.1 * ca.sin(t))


def test_prescribed_hinges_move_what_hangs_on_them(figures):
    """At the base and between bodies, with bodies before and behind."""
    cases = []
    for seed in range(6):
        model = random_mechanism(seed, n=5, kinds=("revolute", "universal", "spherical", "free"), passive=seed % 2 == 1)
        at = 1 + seed % 3
        gone = {"armature": (), "damping": (), "stiffness": (), "rest": (), "friction": ()}
        joint = replace(model.joint(at), kind="prescribed", motion=sway, **gone)
        model = model.replace(joints=(*model.joints[:at], joint, *model.joints[at + 1 :]))
        cases.append(Case(model, seed, 0.3 * seed - 0.7))
    judge_worst(figures, "prescribed hinges", cases)


# --- single bodies ---
def test_a_free_rigid_body_obeys_the_equations_of_euler(figures):
    """Speeds in body axes, the origin off the centre: J w' + w × J w = moment about the centre, m a = force."""
    rng = np.random.default_rng(5)
    part, errors = random_inertial(rng), []
    c, (xx, yy, zz, xy, xz, yz) = np.array(part.centre), part.inertia
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    model = build(Description("one", (0.0, 0.0, 0.0), (Body("b", (part,)),), (Joint("f", "free", "world", "b"),)))
    for seed in range(5):
        q, v, tau = random_state(model, seed)
        w, force, moment = v[3:], tau[:3], tau[3:] - np.cross(c, tau[:3])
        w_dot = np.linalg.solve(J, moment - np.cross(w, J @ w))
        a = force / part.mass  # of the centre: a_o + w' × c + w × (w × c), where a_o = v' + w × v
        v_dot = a - np.cross(w_dot, c) - np.cross(w, np.cross(w, c)) - np.cross(w, v[:3])
        for name in ("v_dot", "v_dot_a"):
            errors.append(relative(outputs(model, q, v, tau, names=(name,))[name], [*v_dot, *w_dot]))
    judge(figures, "a free body obeys Euler", errors, EXACT)


def test_a_weld_carries_what_the_rigid_union_carries_inside(figures):
    """Two parts of one body on a joint, against two bodies welded: the weld's load is what moves the second part."""
    errors = []
    for seed, kind in enumerate(("free", "spherical", "revolute")):
        rng = np.random.default_rng(seed)
        first, second = random_inertial(rng), replace(random_inertial(rng), centre=(0.0, 0.0, 0.0))
        place = tuple(rng.normal(size=3))
        root, weld = Joint("j", kind, "world", "a"), Joint("w", "fixed", "a", "b", position=place)
        g = (1.0, 2.0, -9.0)
        union = Body("a", (first, replace(second, centre=place)))
        whole = build(Description("whole", g, (union,), (root,)))
        welded = build(Description("two", g, (Body("a", (first,)), Body("b", (second,))), (root, weld)))
        q, v, tau = random_state(whole, seed)
        found = outputs(welded, q, v, tau, names=("v_dot", "F_c", "T_c"))
        v_dot = evaluate(lw.aba, whole, q, v, tau)
        errors.append(relative(found["v_dot"], v_dot))
        motion = evaluate(lw.acceleration, welded, q, v, v_dot, frame="b")
        w = evaluate(lw.velocity, welded, q, v, frame="b")[3:]
        R = evaluate(lw.rotation_of, welded, q, frame="b").reshape(3, 3)
        xx, yy, zz, xy, xz, yz = second.inertia
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        errors.append(relative(found["F_c"][1], second.mass * (motion[:3] - g)))
        errors.append(relative(found["T_c"][1], J @ motion[3:] + np.cross(w, J @ w)))
    judge(figures, "a weld carries the union's internal load", errors, ROUNDING)


# --- section 8: bodies that make Mz singular, and errors by name ---
def row(*bodies, gravity=(0.4, 1.0, -9.0)):
    """Bodies b0, b1 … on joints j0, j1 …, each on the one before: (kind, inertial or None, fields of the joint)."""
    joints, made = [], []
    for k, (kind, part, *more) in enumerate(bodies):
        fields = dict({"position": (0.3, 0.1 * k, -0.2)}, **(more[0] if more else {}))
        joints.append(Joint(f"j{k}", kind, f"b{k - 1}" if k else "world", f"b{k}", **fields))
        made.append(Body(f"b{k}", (part,) if part else ()))
    return build(Description("row", gravity, tuple(made), tuple(joints)))


X, Y, Z = ({"axis": tuple(float(k == i) for k in range(3))} for i in range(3))
HEAVY = random_inertial(np.random.default_rng(1))
ROD = Inertial(1.3, (0.2, 0.0, 0.0), (0.0, 0.02, 0.02, 0.0, 0.0, 0.0))
POINT = Inertial(0.7, (0.3, -0.1, 0.2))
SINGULAR = {
    "a massless cross piece": (("revolute", None, X), ("revolute", HEAVY, Y)),
    "massless rings": (("revolute", None, X), ("revolute", None, Y), ("revolute", HEAVY, Z), ("free", HEAVY)),
    "massless slides": (("prismatic", None, X), ("prismatic", None, Y), ("cylindrical", ROD, Z), ("universal", HEAVY)),
    "rods": (("revolute", ROD, Z), ("revolute", ROD, Y), ("prismatic", ROD, X)),
    "points": (("spherical", HEAVY), ("revolute", POINT, X), ("planar", ROD, Y)),
    "a massless plate on a weld": (("free", HEAVY), ("fixed", None), ("helical", HEAVY, {"pitch": 0.1, **X})),
    "a massless tip with a rotor": (("revolute", HEAVY, Y), ("revolute", None, {"armature": (0.1,), **X})),
    "rotors alone": (("prismatic", None, {"armature": (0.2,)}), ("revolute", None, {"armature": (0.1,)})),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_both_solutions_stand_where_bodies_make_the_big_matrix_singular(name, figures):
    """Nᵀ Mz N with the rotors is regular in all of these."""
    state = Case(row(*SINGULAR[name]), 3)
    assert np.linalg.matrix_rank(state.found["Mz"].reshape(6 * state.n, -1)) < 6 * state.n
    check_state(state.model, state.given[0])
    judge_worst(figures, f"Mz singular: {name}", [state])


def test_a_massless_follower_of_a_coupling_is_moved_by_its_leader(figures):
    model = row(("revolute", HEAVY, X), ("revolute", None, {"coupling": Coupling("j0", 2.0, 0.1), **Z}))
    state = Case(model, 1)
    errors = [state.off("v_dot"), state.off("v_dot_a", "v_dot"), state.off("wrenches", "loads of (a)")]
    judge(figures, "Mz singular (massless follower)", [*errors, state.off("wrenches")], ROUNDING)


def test_two_parallel_axes_of_a_hinge_are_gimbal_lock_by_name():
    joint = Joint("wrist", "universal", "world", "b", axis=(0.0, 0.6, 0.8), axis2=(0.0, 0.6, 0.8 + 1e-9))
    model = spatial_tree().replace(joints=(None, joint, *spatial_tree().joints[2:]))
    with pytest.raises(ModelError, match="gimbal lock in hinge 'wrist': its two axes are parallel"):
        evaluate(kane_graph, model, np.zeros(7), np.zeros(6), np.zeros(6))


def test_labels_that_do_not_rise_are_refused_by_name():
    model = spatial_tree().replace(parent=(-1, 0, 3, 1))
    with pytest.raises(ModelError, match="body 'two', number 2, hangs on number 3, which is not lower"):
        evaluate(kane_graph, model, Q, V, TAU)


def test_a_joint_that_moves_no_mass_is_refused_by_name():
    with pytest.raises(ModelError, match="joint 'j1' moves no mass"):
        evaluate(kane_graph, row(("revolute", HEAVY), ("prismatic", None)), *[np.zeros(2)] * 3)


def test_a_state_in_which_a_joint_meets_no_inertia_is_told_by_name():
    on_axis = {"position": (0.0, 0.0, 0.5)}
    with pytest.raises(ModelError, match="joint 'j0' meets no inertia in this state"):
        check_state(row(("revolute", None), ("revolute", HEAVY, on_axis)), [0.3, 0.4])
    with pytest.raises(ModelError, match="joint 'j1' meets no inertia in this state"):
        check_state(row(("revolute", HEAVY), ("revolute", ROD, X)), [0.3, 0.4])
    check_state(row(("revolute", HEAVY), ("revolute", ROD, Y)), [0.3, 0.4])
    arm = row(("revolute", HEAVY, X), ("universal", None, X), ("prismatic", HEAVY, Z))  # the slide meets the axes
    check_state(arm, [0.1, 0.2, 0.3, 0.4])


# --- further rows of B ---
def together(model, q, t):
    """The marker 'pin' stays on the marker 'eye'."""
    return (marker_rows(model, q, t, "pin") - marker_rows(model, q, t, "eye"))[:3, :], 0


def in_plane(model, q, t):
    rows, right = together(model, q, t)
    return rows[[0, 2], :], right


@cache
def four_bar():
    bar = lw.Mechanism("four-bar", gravity=(0, 0, -9.81))
    for name, length in (("crank", 0.4), ("coupler", 0.9), ("rocker", 0.7)):
        bar.body(name, mass=length, centre=(length / 2, 0, 0), inertia=(0.001, length**3 / 12, length**3 / 12))
    bar.joint("a", "revolute", "world", "crank", axis="y")
    bar.joint("b", "revolute", "crank", "coupler", at=(0.4, 0, 0), axis="y")
    bar.joint("c", "revolute", "world", "rocker", at=(1, 0, 0), axis="y")
    bar.marker("pin", "coupler", (0.9, 0, 0))
    bar.marker("eye", "rocker", (0.7, 0, 0))
    return bar.build()


BENT = np.array([-1.0, 0.7, -1.4])


def test_marker_rows_tell_the_velocity_of_a_marker(figures):
    errors = []
    for seed in range(8):
        model = random_mechanism(seed, n=4)
        q, v, _ = random_state(model, seed)
        for frame in ("m3", "world"):

            def found(model, q, v, frame=frame):
                return marker_rows(model, q, ca.SX(0), frame) @ Kane(model, q, v).z

            errors.append(np.abs(evaluate(found, model, q, v) - evaluate(lw.velocity, model, q, v, frame=frame)).max())
    judge(figures, "marker rows · z = velocity", errors, EXACT * 10)  # speeds of some metres per second


def test_a_hinge_cut_and_closed_by_rows_moves_and_loads_as_it_did(figures):
    """A spherical joint without drive in a tree, and the same body floating with its origin held by three rows."""
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        whole = row(*((kind, random_inertial(rng)) for kind in ("universal", "spherical", "revolute")))
        hung, (first, second, third) = whole.joint(2), whole.bodies[1:]
        bodies = (
            replace(first, markers=(Marker("eye", hung.position),)),
            replace(second, markers=(Marker("pin"),)),
            third,
        )
        joints = whole.joint(1), Joint("j1", "free", "world", "b1"), whole.joint(3)
        cut = build(Description("cut", whole.gravity, bodies, joints))
        q, v, tau = random_state(whole, seed)
        tau[2:5] = 0.0
        R, r = evaluate(lw.rotation_of, whole, q, frame="b1").reshape(3, 3), evaluate(lw.position, whole, q, frame="b1")
        moving = evaluate(lw.velocity, whole, q, v, frame="b1").reshape(2, 3) @ R
        quat = Rotation.from_matrix(R).as_quat(scalar_first=True)

        def over(names, old, new, whole=whole):
            known = dict(zip(whole.q_names if len(old) == 7 else whole.v_names, old, strict=True))
            return known | {f"j1.{name}": x for name, x in zip(names, new, strict=True)}

        place = over(("x", "y", "z", "qw", "qx", "qy", "qz"), q, [*r, *quat])
        speed = over(("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z"), v, moving.ravel())
        drive = dict(zip(whole.v_names, tau, strict=True))
        state = named(cut, place), named(cut, speed, "v"), named(cut, drive, "v")
        check_state(cut, *state[:2], extra=together)
        names = "v_dot", "v_dot_a", "z_dot", "z_dot_a", "wrenches"
        found, expected = outputs(cut, *state, names=names, extra=together), outputs(whole, q, v, tau, names=names)
        common = [k for k, name in enumerate(cut.v_names) if not name.startswith("j1.")]
        others = [whole.v_names.index(cut.v_names[k]) for k in common]
        errors += [relative(found[name][common], expected["v_dot"][others]) for name in ("v_dot", "v_dot_a")]
        errors.append(relative(found["z_dot"], found["z_dot_a"]))
        at = [[b.name for b in m.bodies[1:]] for m in (cut, whole)]
        load, load_there = (x["wrenches"].reshape(3, 6) for x in (found, expected))
        errors += [relative(load[at[0].index(b)], load_there[at[1].index(b)]) for b in ("b0", "b2")]
        errors.append(np.abs(load[at[0].index("b1")]).max() / np.abs(load).max())  # a floating hinge carries nothing
    judge(figures, "a hinge cut and closed by rows", errors, ROUNDING)


def test_speeds_that_break_a_row_are_told_and_projected():
    model, v = four_bar(), np.array([1.0, -0.3, 0.2])
    eye = 1 + 0.7 * np.cos(BENT[2]), -0.7 * np.sin(BENT[2])
    assert np.hypot(*eye) > 0.4  # an open loop: rows are speeds, places need not close
    with pytest.raises(ModelError, match=r"the speeds break extra row \d by"):
        check_state(model, BENT, v, extra=in_plane)
    mended, residual = project_speeds(model, BENT, v, in_plane)
    check_state(model, BENT, mended, extra=in_plane)
    assert np.abs(residual).max() > 0.1
    again, none = project_speeds(model, BENT, mended, together)  # with a row that says nothing: impulses of least norm
    assert np.abs(again - mended).max() < EXACT and np.abs(none).max() < EXACT


def test_rows_that_say_nothing_new_are_told_by_number():
    """The pin of a plane mechanism has no speed along y; twice the same row is one row."""
    with pytest.raises(ModelError, match="extra row 1 says nothing that the hinges and the rows before it do not say"):
        check_state(four_bar(), BENT, extra=together)

    def twice(model, q, t):
        rows, right = in_plane(model, q, t)
        return ca.vertcat(rows, rows[0, :] + 2 * rows[1, :]), right

    with pytest.raises(ModelError, match="extra row 2 says nothing"):
        check_state(four_bar(), BENT, extra=twice)
    check_state(four_bar(), BENT, extra=in_plane)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ModelError, match=r"extra gives rows 2 × 4 and 1 right sides, but z has 18 speeds"):
        evaluate(kane_graph, four_bar(), BENT, BENT, BENT, extra=lambda model, q, t: (ca.SX(2, 4), 0))
    with pytest.raises(ModelError, match="no marker 'pim'"):
        evaluate(marker_rows, four_bar(), BENT, np.zeros(1), marker="pim")


def test_a_row_may_have_a_right_side_that_moves_with_time(figures):
    """The crank's rate is told as sin 3t, by a row on omega alone: then its acceleration is 3 cos 3t."""

    def driven(model, q, t):
        rows = ca.SX(1, 18)
        rows[0, 1] = 1
        return rows, ca.sin(3 * t)

    t, v = 0.4, np.array([np.sin(1.2), 0.3, -0.2])
    check_state(four_bar(), BENT, v, t, extra=driven)
    errors = []
    for name in ("v_dot", "v_dot_a"):
        formulation = kane_graph.giving(name)
        v_dot = evaluate(
            lambda m, q, v, tau, t, f=formulation: f(m, q, v, tau, t=t, extra=driven), four_bar(), BENT, v, v, [t]
        )
        errors.append(abs(v_dot[0] - 3 * np.cos(1.2)))
    judge(figures, "a row with a moving right side", errors, EXACT)


# --- as others use it ---
def test_the_kernel_and_its_parameters_give_what_the_graph_gives():
    model = spatial_tree().replace(parameters=("three.mass", "j3.position.x"))
    kernel = lw.compile(lw.equations(model, kane_graph, give=["v_dot", "F_c", "v_dot_a"], external=True))
    found = kernel(q=Q, v=V, tau=TAU, f_ext=np.zeros((3, 6)))
    assert relative(found["F_c"], np.reshape(F_C, (3, 3))) < DIGITS
    changed = {"three.mass": 2.5, "j3.position.x": 0.2}
    there = kernel(q=Q, v=V, tau=TAU, f_ext=np.zeros((3, 6)), **changed)
    expected = outputs(spatial_tree().replace(changed), Q, V, TAU, names=("v_dot", "F_c", "v_dot_a"))
    assert all(relative(there[name], expected[name]) < ROUNDING for name in expected)


def test_mechanisms_without_freedoms_have_loads_too():
    model = row(("fixed", HEAVY), ("fixed", ROD))
    found = outputs(model, *[np.zeros(0)] * 3, names=("wrenches", "F_c", "base_wrench"))
    assert relative(found["F_c"][1], -1.3 * np.array(model.gravity)) < EXACT
    assert relative(found["base_wrench"][:3], (1.3 + HEAVY.mass) * np.array(model.gravity)) < EXACT


def test_all_at_once_grows_with_the_number_of_bodies():
    """Operations of the graph; 2.3 leaves room for the ends of the chain. Nᵀ Mz N alone takes n²."""

    def operations(n):
        kinds = "revolute", "spherical", "prismatic"
        model = row(*((kinds[k % 3], HEAVY) for k in range(n)))
        q, v, tau = (ca.SX.sym(x, k) for x, k in (("q", model.nq), ("v", model.nv), ("tau", model.nv)))
        return ca.Function("f", [q, v, tau], [kane_graph.giving("F_c")(model, q, v, tau)], {"cse": True}).n_nodes()

    assert operations(16) / operations(8) < 2.3
