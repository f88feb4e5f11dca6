"""The closed form on docking tables: reference digits of docking-tree.md (section 12) and laws on random mechanisms."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY_KIND, evaluate, random_mechanism, random_state, relative, traced

import linkwork as lw
from linkwork.dynamics import kinematics, rnea
from linkwork.dynamics.docking_open import inward
from linkwork.dynamics.docking_rows import ROWS, Base
from linkwork.dynamics.docking_tree import docking_tree, loads, moving_rows, right_side
from linkwork.model.describe import Body
from linkwork.model.joints import KINDS

TABLES = Path(__file__).parents[2] / "examples" / "docking_tables"
DIGITS = 2e-13
"""The document prints 13 decimals, the last good to one or two units."""
ROUNDING = 1e-10
"""Two ways to one number, relative to its largest entry: section 13 asks for this figure; condition numbers of random
mass matrices reach 1e4 and more."""
EXACT = 1e-12
"""The same where no matrix is solved: sums of a few hundred products, each good to 1e-16."""
COUNT = 62

BASE = Base((0.1, -0.2, 0.3), (0.05, 0.02, -0.01, 0.01, 0.02, -0.03))
STATE = [0.3, 0.1, -0.4], [0.5, -0.2, 0.8], [1, -2, 0.5]
LOAD = np.array([[0] * 6, [0, 1, 0, 0, 0, 0.1], [0] * 6], float)


def digits(text):
    return np.array(text.split(), float)


# --- section 12 -------------------------------------------------------------------------------------------------------
def test_the_tree_of_the_tables_has_the_digits_of_the_document(figures):
    expected = {
        "A": digits("1.3185884054376 -0.1 0.0792349365704 -0.1 2 0 0.0792349365704 0 0.05"),
        "b": digits("2.0355365177046 -1.2831432892294 0.5012519238313"),
        "p_ddot": digits("0.9907587488098 -0.5920337071742 8.4549843442557"),
        "G_0": digits("4.3202677496444 1.0305144044488 0.8471050724812 0.4533094988571 -0.4514323154772 -1"),
    }
    found = evaluate(docking_tree.giving(*expected), lw.read_tables(TABLES), *STATE, LOAD, base=BASE)
    off = [np.abs(x.ravel() - e).max() for x, e in zip(found, expected.values(), strict=True)]
    figures("docking-tree.md, section 12", "tree: A, b, p'', G_0", off=f"{max(off):.1e}")
    assert max(off) < DIGITS


def test_rows_of_the_tables_have_the_digits_of_the_document():
    def parts(model, q, v, tau, f_ext):
        rows, _ = moving_rows(model, q, v, tau, f_ext, base=BASE)
        return rows[3].h, rows[1].s, inward(rows).ds[0]

    h_3, s_1, ds_0 = evaluate(parts, lw.read_tables(TABLES), *STATE, LOAD)
    told = """0.0156043583672 -0.1942301766645 0.0430993781344 -0.5839043285401 0 0.2785122195180
              0.6886728836915 0.0080370751973 -0.0291436860642 0 0.0087431058193 0.0024111225592
              4.5846291119111 1.1501311633521 0.7256749524880 0.4372799797394 -0.4150007610822 -1"""
    assert np.abs(np.concatenate([h_3, s_1, ds_0]) - digits(told)).max() < DIGITS


def platform():
    """Gough-Stewart platform of the document without its six cuts; base and ring points of the legs."""
    m, z = lw.Mechanism("platform", gravity=(0, 0, 0)), "world"
    for k, (kind, axis) in enumerate([("prismatic", a) for a in "xyz"] + [("revolute", a) for a in "xyz"]):
        body = "ring" if k == 5 else f"ring{k}"
        m.body(body, **({"mass": 40, "centre": (0.01, 0.02, 0.05), "inertia": (5, 5.5, 8)} if k == 5 else {}))
        m.joint(f"r{k}", kind, z, body, axis=axis)
        z = body
    ends = []
    for i in range(6):
        at, sign = np.pi / 3 * 2 * (i // 2), -1 if i % 2 == 0 else 1
        points = [r * np.array([np.cos(a), np.sin(a), 0]) for r, a in
                  ((0.8, at + sign * 0.2), (0.55, at + sign * (np.pi / 3 - 0.15)))]  # fmt: skip
        m.body(f"u{i}")
        m.body(f"tube{i}", mass=1.5, centre=(0, 0, 0.25), inertia=(0.04, 0.04, 0.002))
        m.body(f"rod{i}", mass=0.9, centre=(0, 0, -0.2), inertia=(0.03, 0.03, 0.001))
        m.joint(f"a{i}", "revolute", "world", f"u{i}", at=points[0], axis="x")
        m.joint(f"b{i}", "revolute", f"u{i}", f"tube{i}", axis="y")
        m.joint(f"c{i}", "prismatic", f"tube{i}", f"rod{i}", axis="z")
        ends.append(points)
    return m.build(), ends


def test_a_gough_stewart_platform_closed_by_hand_has_the_digits_of_the_document(figures):
    """Cuts at the ring by multipliers in the test; their forces go back in as external wrenches and cancel in G_0."""
    model, ends = platform()
    q, v = ca.SX.sym("q", 24), ca.SX.sym("v", 24)
    poses = kinematics.poses(model, q)
    at = {b.name: poses[i] for i, b in enumerate(model.bodies)}
    Phi = ca.vertcat(*[at["ring"].r + at["ring"].R @ c - at[f"rod{i}"].r for i, (_, c) in enumerate(ends)])
    J = ca.jacobian(Phi, q)
    cut = ca.Function(
        "cut", [q, v], [Phi, J, -ca.jtimes(J @ v, q, v), at["ring"].R] + [at[f"rod{i}"].R for i in range(6)]
    )
    ring, rates = [0.02, -0.03, 1.05, 0.05, -0.04, 0.1], [0.1, 0.2, -0.1, 0.3, -0.2, 0.1]
    q0, v0 = np.array(ring + [0, 0, 1] * 6), np.zeros(24)
    for _ in range(20):  # Newton for the legs
        q0[6:] -= np.linalg.solve(np.array(cut(q0, v0)[1])[:, 6:], np.array(cut(q0, v0)[0])).ravel()
    J = np.array(cut(q0, v0)[1])
    v0 = np.concatenate([rates, -np.linalg.solve(J[:, 6:], J[:, :6] @ rates)])
    tau = np.array([0.0] * 6 + [0, 0, 80] * 6)
    base = Base((0.01, 0.02, -0.03))
    A, b = evaluate(docking_tree.giving("A", "b"), model, q0, v0, tau, base=base)
    _, _, gamma, R, *legs = [np.array(x) for x in cut(q0, v0)]
    lam = np.linalg.solve(np.block([[A, J.T], [J, np.zeros((18, 18))]]), np.concatenate([b, gamma.ravel()]))[24:]
    f = np.zeros((24, 6))
    for i, (_, c) in enumerate(ends):
        force = R.T @ lam[3 * i : 3 * i + 3]
        f[model.body_index["ring"] - 1] -= np.concatenate([force, np.cross(c, force)])
        f[model.body_index[f"rod{i}"] - 1, :3] = legs[i].T @ lam[3 * i : 3 * i + 3]
    p_ddot, G_0 = evaluate(docking_tree.giving("p_ddot", "G_0"), model, q0, v0, tau, f, base=base)
    told = """1.1436912400375 1.2116739288614 1.1907815337709 1.1920258507677 1.1106644397205 1.1854188537954
        0.1777804442643 -0.2939238624321 9.5374026059240 -1.0680104387353 0.2442092058583 1.2612021908558
        8.8690115098105 8.2320993827927 7.9877040412349 8.7592555523395 8.6959473376848 9.2423014490838
        -7.8809285644897 11.1583926747410 -433.6383681969375 0.8672030708856 1.5817064367325 -11.7597932910890"""
    found = np.concatenate([q0[8::3], p_ddot[:6], p_ddot[8::3], G_0])
    error = np.abs(found - digits(told)) / np.maximum(1, np.abs(digits(told)))
    figures("docking-tree.md, section 12", "Gough-Stewart: lengths, p'', G_0", off=f"{error.max():.1e}")
    assert error.max() < ROUNDING  # a 42 × 42 system lies between; section 6 of the README asks 1e-10


# --- agreement on random mechanisms -----------------------------------------------------------------------------------
def with_motions(model, seed):
    """A third of the mechanisms gets a joint of prescribed motion: the first on the world, or any."""
    rng = np.random.default_rng(seed)
    k = 1 if seed % 2 else int(rng.integers(1, len(model.bodies)))
    leaders = {model.joint(i).coupling.leader for i in model.coupled}
    if seed % 3 or model.joint(k).coupling or model.joint(k).name in leaders:
        return model
    a, b, u, w = (rng.normal(size=n) for n in (3, 3, 4, 4))

    def motion(t):
        place = [a[i] + b[i] * ca.sin(2 * t + i) for i in range(3)]
        return place, [u[i] + w[i] * ca.cos(t) for i in range(4)]

    nothing = dict.fromkeys(("armature", "damping", "stiffness", "friction", "rest", "lower", "upper"), ())
    moved = replace(model.joint(k), kind="prescribed", motion=motion, effort=(), velocity=(), **nothing)
    return model.replace(joints=(*model.joints[:k], moved, *model.joints[k + 1 :]))


def mechanism(seed):
    coupled = seed % 5 == 4
    kinds = ("revolute", "continuous", "prismatic", "helical", "spherical", "fixed") if coupled else EVERY_KIND
    model = random_mechanism(
        seed,
        n=5 if coupled or seed % 10 == 3 else 2 + seed % 4,
        kinds=kinds,
        passive=seed % 2 == 1,
        coupled=coupled,
        root="free" if seed % 7 == 0 else None,
    )
    if seed % 4 == 1:  # a massless body within
        inner = {model.parent[i] for i in model.tree} - {0}
        bodies = [Body(b.name, (), b.markers) if i in inner and i % 2 else b for i, b in enumerate(model.bodies)]
        model = model.replace(bodies=tuple(bodies))
    return with_motions(model, seed)


def power(model, q, v, v_dot, t):
    """Rate of kinetic and gravity energy, by differentiating them along the motion."""
    E = lw.kinetic_energy(model, q, v, t) + lw.gravity_energy(model, q, t)
    return ca.jtimes(E, ca.vertcat(q, v, t), ca.vertcat(kinematics.q_dot(model, q, v), v_dot, 1))


def momentum_balance(model, q, v, v_dot, f_ext, t):
    """−rate of momentum about the world's origin + weight + external wrenches: what the base must feel."""
    gather = ca.SX.zeros(6)
    h = ca.SX.zeros(6)
    for i, b in enumerate(kinematics.moving(model, q, v, t)):
        if i:
            own = b.M @ b.vel
            p, F, W = b.R @ own[:3], b.R @ f_ext[i - 1, :3].T, b.m * ca.vertcat(*model.gravity)
            h += ca.vertcat(p, b.R @ own[3:] + ca.cross(b.r, p))
            arm = ca.cross(b.r, F + W) + b.R @ (f_ext[i - 1, 3:].T + ca.cross(b.md, b.R.T @ ca.vertcat(*model.gravity)))
            gather += ca.vertcat(F + W, arm)
    return gather - ca.jtimes(h, ca.vertcat(q, v, t), ca.vertcat(kinematics.q_dot(model, q, v), v_dot, 1))


def mass_matrix(model, q, v, t):
    """∂tau/∂v_dot of inverse dynamics, which, unlike `crba`, knows the time."""
    v_dot = ca.SX.sym("v_dot", model.nv)
    return ca.jacobian(lw.rnea(model, q, v, v_dot, t=t), v_dot)


def reference(model, q, v, tau, f_ext, t):
    if not model.coupled:
        return lw.aba(model, q, v, tau, f_ext, t)
    return ca.solve(mass_matrix(model, q, v, t), tau - lw.rnea(model, q, v, ca.SX(model.nv, 1), f_ext, t))


@cache
def study(seed):
    """Everything of one mechanism at a random state: from this formulation, and from the reference."""
    model = mechanism(seed)
    q, v, tau = random_state(model, seed)
    f_ext = np.random.default_rng(seed + 1000).normal(size=(len(model.bodies) - 1, 6))
    own = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate", "A", "A_composite", "G_0", "residual", "RB")

    def both(model, q, v, tau, f_ext, t):
        v_dot = reference(model, q, v, tau, f_ext, t)
        found = docking_tree.giving(*own)(model, q, v, tau, f_ext, t)
        tests = lw.rnea(model, q, v, found[0], f_ext, t), momentum_balance(model, q, v, v_dot, f_ext, t)
        wrenches = rnea.wrenches(model, q, v, v_dot, f_ext, t)
        return (v_dot, *wrenches, mass_matrix(model, q, v, t), power(model, q, v, v_dot, t), *found, *tests)

    given = q, v, tau, f_ext, [0.3]
    out = traced(both, model, *(np.shape(x) for x in given))(*given)
    names = [f"ref {n}" for n in ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")] + [*own, "tau", "balance"]
    return model, given, dict(zip(names, out, strict=True))


def every(law, tolerance, error, figures, seeds=range(COUNT)):
    found = [(error(*study(s)), s) for s in seeds if study(s)[0].nv]
    worst, seed = max(found, key=lambda x: (not np.isfinite(x[0]), x[0]))
    figures("docking_tree on random mechanisms", law, worst=f"{worst:.1e}", mechanisms=len(found))
    assert worst < tolerance, f"{law}: {worst:.2e} at mechanism {seed}\n{study(seed)[0]}"


def test_the_mechanisms_hold_every_kind_of_joint_and_this_formulation_knows_them_all():
    kinds = {study(s)[0].kind(i).name for s in range(COUNT) for i in study(s)[0].tree}
    assert kinds == set(KINDS) == set(ROWS)
    assert sum(bool(study(s)[0].coupled) for s in range(COUNT)) > 5
    assert sum(not b.inertials for s in range(COUNT) for b in study(s)[0].bodies[1:]) > 10
    assert any(study(s)[0].kind(1).name == "prescribed" for s in range(COUNT))
    assert sum(scattered(study(s)[0]) for s in range(COUNT)) > 5


def scattered(model):
    """Is some subtree not numbered without gaps, as in breadth-first order?"""
    below = [{i} for i in range(len(model.bodies))]
    for i in reversed(model.tree):
        below[model.parent[i]] |= below[i]
    return any(max(b) - min(b) + 1 != len(b) for b in below[1:])


@pytest.mark.parametrize("name", ["v_dot", "wrenches", "base_wrench", "M", "energy_rate"])
def test_closed_form_agrees_with_the_other_formulations(name, figures):
    every(f"{name} = reference", ROUNDING, lambda m, g, x: relative(x[name], x[f"ref {name}"]), figures)


def test_closed_form_undoes_inverse_dynamics(figures):
    every("RNEA of v_dot = tau", ROUNDING, lambda m, g, x: relative(x["tau"], g[2]), figures)


def test_the_base_feels_external_wrenches_less_the_rate_of_momentum(figures):
    every("base wrench = −L' + external", ROUNDING, lambda m, g, x: relative(x["base_wrench"], x["balance"]), figures)


def test_composite_inertias_and_unit_accelerations_give_one_matrix(figures):
    every("A composite = A columns", EXACT, lambda m, g, x: relative(x["A"], x["A_composite"]), figures)


def test_the_mass_matrix_vanishes_where_no_path_leads(figures):
    def off_path(m, g, x):
        n = int(np.sqrt(np.size(x["RB"])))
        RB, A = np.reshape(x["RB"], (n, n)), np.reshape(x["A"], (n, n))
        assert (np.diag(RB) == 1).all() and (np.triu(RB, 1) == 0).all()
        return float(np.abs(A[(RB + RB.T) == 0]).max(initial=0.0))

    every("A outside RB", 1e-300, off_path, figures)  # zeros by structure


def test_with_exact_accelerations_the_reaction_projector_changes_nothing(figures):
    every(
        "G_0 projected = not",
        ROUNDING,
        lambda m, g, x: np.abs(x["residual"]).max() / max(1, np.abs(x["G_0"]).max()),
        figures,
    )


def test_an_error_in_the_accelerations_shows_in_the_residual():
    def residual(model, q, v, tau, f_ext, error):
        rows, a_0 = moving_rows(model, q, v, tau, f_ext, base=BASE)
        p_ddot = docking_tree.giving("p_ddot")(model, q, v, tau, f_ext, base=BASE) + error
        f0 = right_side(rows, a_0)[2]
        return loads(rows, f0, p_ddot)[1][0] - loads(rows, f0, p_ddot, project=False)[1][0]

    model = lw.read_tables(TABLES)
    assert np.abs(evaluate(residual, model, *STATE, LOAD, np.zeros(3))).max() < DIGITS
    assert 1e-3 < np.abs(evaluate(residual, model, *STATE, LOAD, np.full(3, 1e-3))).max() < 1e-2
