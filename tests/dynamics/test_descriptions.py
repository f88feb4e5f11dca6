"""One mechanism described in two ways moves in one way: each joint kind against a chain of simpler joints."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from mechanisms import (
    named,
    random_inertial,
    random_joint,
    random_mechanism,
    random_rotation,
    random_state,
    relative,
    rows,
    traced,
)
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.dynamics import forces
from linkwork.model.build import build
from linkwork.model.describe import Body, Coupling, Description, Inertial, Joint

ROUNDING = 1e-10
"""Mass matrices of different size are factorised, one with massless bodies in it: as separate-bodies.md asks."""
SEEDS = range(8)
MIDDLE = {"position": (0.1, -0.2, 0.3), "kind": "x"}


def mechanism(seed, middle):
    """A body on a revolute, `middle` joints in a row (massless bodies between), a body, one on a universal joint."""
    rng = np.random.default_rng(seed)
    first = random_joint(rng, "first", "revolute", "world", "a")
    last = random_joint(rng, "last", "universal", "b", "c")
    parts = {n: random_inertial(rng) for n in "abc"}
    place = {"position": tuple(map(float, rng.normal(size=3) * 0.3)), "rotation": rows(random_rotation(rng))}
    names = ["a", *(f"m{k}" for k in range(1, len(middle))), "b"]
    joints = [
        Joint(parent=names[k], child=names[k + 1], **(place if k == 0 else {}), **what) for k, what in enumerate(middle)
    ]
    bodies = [Body(n, (parts[n],) if n in parts else ()) for n in (*names, "c")]
    return build(Description("twin", (1.0, -2.0, -9.0), tuple(bodies), (first, *joints, last)))


def common(rng):
    """States and forces of the joints both descriptions share."""
    q = {"first": rng.normal(), "last.angle1": rng.normal(), "last.angle2": rng.normal()}
    v = {"first.rate": rng.normal(), "last.angle1_rate": rng.normal(), "last.angle2_rate": rng.normal()}
    return q, v, {k: rng.normal() for k in v}


def observed(model, q, v, tau):
    """What both must agree on: kinetic energy, the last body's motion, the base wrench, shared v_dot."""
    q, v, tau = named(model, q), named(model, v, "v"), named(model, tau, "v")

    def look(m, q, v, tau):
        v_dot = lw.aba(m, q, v, tau)
        shared = [v_dot[m.v_names.index(n)] for n in ("first.rate", "last.angle1_rate", "last.angle2_rate")]
        seen = lw.velocity(m, q, v, "c"), lw.acceleration(m, q, v, v_dot, "c"), lw.wrenches(m, q, v, v_dot)[1]
        return ca.vertcat(lw.kinetic_energy(m, q, v), lw.position(m, q, "c"), *seen, *shared)

    return traced(look, model, q.shape, v.shape, tau.shape)(q, v, tau)


def judge(figures, name, errors):
    worst = max(errors)
    figures("one mechanism, two descriptions", name, worst=f"{worst:.1e}", asked=f"{ROUNDING:.0e}")
    assert worst < ROUNDING


def unit(rng):
    a = rng.normal(size=3)
    return a / np.linalg.norm(a)


def twins(seed, one, several, same):
    """Relative difference of two descriptions; `same` gives (q, v) of both and G with v_one = G v_several."""
    rng = np.random.default_rng(seed + 500)
    q, v, tau = common(rng)
    (q1, v1), (q2, v2), G = same(rng)
    force = rng.normal(size=len(v1))
    tau1 = dict(zip(v1, force, strict=True))
    tau2 = dict(zip(v2, G.T @ force, strict=True))
    a = observed(mechanism(seed, one), q | q1, v | v1, tau | tau1)
    b = observed(mechanism(seed, several), q | q2, v | v2, tau | tau2)
    return relative(a, b)


def joint(kind, name="x", **more):
    return {"name": name, "kind": kind, **{k: tuple(map(float, x)) if np.ndim(x) else x for k, x in more.items()}}


def test_a_universal_joint_is_two_revolutes(figures):
    def error(seed):
        rng = np.random.default_rng(seed)
        a, b = unit(rng), unit(rng)

        def same(rng):
            x, w = rng.normal(size=2), rng.normal(size=2)
            one = {"x.angle1": x[0], "x.angle2": x[1]}, {"x.angle1_rate": w[0], "x.angle2_rate": w[1]}
            return one, ({"x": x[0], "y": x[1]}, {"x.rate": w[0], "y.rate": w[1]}), np.eye(2)

        return twins(
            seed,
            [joint("universal", axis=a, axis2=b)],
            [joint("revolute", axis=a), joint("revolute", "y", axis=b)],
            same,
        )

    judge(figures, "universal = 2 revolute", map(error, SEEDS))


def test_a_cylindrical_joint_is_a_prismatic_and_a_revolute(figures):
    def error(seed):
        a = unit(np.random.default_rng(seed))

        def same(rng):
            x, w = rng.normal(size=2), rng.normal(size=2)
            one = {"x.angle": x[0], "x.displacement": x[1]}, {"x.angle_rate": w[0], "x.displacement_rate": w[1]}
            return one, ({"y": x[0], "x": x[1]}, {"y.rate": w[0], "x.rate": w[1]}), np.eye(2)

        return twins(
            seed, [joint("cylindrical", axis=a)], [joint("prismatic", axis=a), joint("revolute", "y", axis=a)], same
        )

    judge(figures, "cylindrical = prismatic, revolute", map(error, SEEDS))


def test_a_helical_joint_is_a_prismatic_that_follows_a_revolute(figures):
    def error(seed):
        rng = np.random.default_rng(seed)
        a, pitch = unit(rng), float(rng.uniform(-0.3, 0.3))

        def same(rng):
            x, w = rng.normal(size=2)
            return ({"x": x}, {"x.rate": w}), ({"y": x}, {"y.rate": w}), np.eye(1)

        several = [joint("prismatic", axis=a) | {"coupling": Coupling("y", pitch)}, joint("revolute", "y", axis=a)]
        return twins(seed, [joint("helical", axis=a, pitch=pitch)], several, same)

    judge(figures, "helical = coupled prismatic, revolute", map(error, SEEDS))


def test_a_planar_joint_is_two_prismatics_and_a_revolute(figures):
    """The in-plane axes are x and y turned by the shortest rotation that takes z to the normal."""

    def error(seed):
        n = (0.0, 0.0, 1.0) if seed == 0 else unit(np.random.default_rng(seed))
        turn = np.cross([0, 0, 1], n)
        size = np.linalg.norm(turn)
        R = Rotation.from_rotvec(turn / size * np.arctan2(size, n[2]) if size else turn).as_matrix()

        def same(rng):
            x, w = rng.normal(size=3), rng.normal(size=3)
            one = (
                dict(zip(("x.x", "x.y", "x.angle"), x, strict=True)),
                dict(zip(("x.x_rate", "x.y_rate", "x.angle_rate"), w, strict=True)),
            )
            several = dict(zip("xyz", x, strict=True)), dict(zip(("x.rate", "y.rate", "z.rate"), w, strict=True))
            return one, several, np.eye(3)

        along = [
            joint("prismatic", axis=R[:, 0]),
            joint("prismatic", "y", axis=R[:, 1]),
            joint("revolute", "z", axis=n),
        ]
        return twins(seed, [joint("planar", axis=n)], along, same)

    judge(figures, "planar = 2 prismatic, revolute", map(error, SEEDS))


def attitude(rng):
    """Angles and rates about x, y, z in a row; the quaternion (w, x, y, z), child-axes omega = G rates."""
    angles = rng.uniform(-1, 1, 3)  # the middle one far from ±90°, where the three axes lie in a plane
    Rx, Ry, Rz = (Rotation.from_rotvec(a * e) for a, e in zip(angles, np.eye(3), strict=True))
    x, y, z, w = (Rx * Ry * Rz).as_quat()
    G = np.stack([(Ry * Rz).inv().apply([1, 0, 0]), Rz.inv().apply([0, 1, 0]), np.array([0, 0, 1.0])], axis=1)
    return angles, (w, x, y, z), G, (Rx * Ry * Rz).as_matrix()


TURNS = [joint("revolute", f"r{k}", axis=e) for k, e in enumerate(np.eye(3))]
QUAT = ("x.qw", "x.qx", "x.qy", "x.qz")
OMEGA = ("x.omega_x", "x.omega_y", "x.omega_z")
RATES = ("r0.rate", "r1.rate", "r2.rate")


def test_a_spherical_joint_is_three_revolutes(figures):
    def same(rng):
        angles, quat, G, _ = attitude(rng)
        rates = rng.normal(size=3)
        one = dict(zip(QUAT, quat, strict=True)), dict(zip(OMEGA, G @ rates, strict=True))
        return one, (dict(zip(("r0", "r1", "r2"), angles, strict=True)), dict(zip(RATES, rates, strict=True))), G

    judge(figures, "spherical = 3 revolute", (twins(seed, [joint("spherical")], TURNS, same) for seed in SEEDS))


def test_a_free_joint_is_three_prismatics_and_three_revolutes(figures):
    """Its velocity is told in child axes: v = Rᵀ p'."""
    slides = [joint("prismatic", f"p{k}", axis=e) for k, e in enumerate(np.eye(3))]

    def same(rng):
        angles, quat, G, R = attitude(rng)
        rates, p, p_dot = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)
        q1 = dict(zip(("x.x", "x.y", "x.z", *QUAT), (*p, *quat), strict=True))
        v1 = dict(zip(("x.v_x", "x.v_y", "x.v_z", *OMEGA), (*(R.T @ p_dot), *(G @ rates)), strict=True))
        q2 = dict(zip(("p0", "p1", "p2", "r0", "r1", "r2"), (*p, *angles), strict=True))
        v2 = dict(zip(("p0.rate", "p1.rate", "p2.rate", *RATES), (*p_dot, *rates), strict=True))
        whole = np.block([[R.T, np.zeros((3, 3))], [np.zeros((3, 3)), G]])
        return (q1, v1), (q2, v2), whole

    judge(
        figures,
        "free = 3 prismatic, 3 revolute",
        (twins(seed, [joint("free")], slides + TURNS, same) for seed in SEEDS),
    )


def test_a_revolute_with_a_quarter_turned_frame_is_a_revolute_about_another_axis(figures):
    def error(seed):
        rng = np.random.default_rng(seed)
        R, a = random_rotation(rng), unit(rng)
        q, v, tau = common(rng)
        plain = mechanism(seed, [joint("revolute", axis=a)])
        turned = mechanism(
            seed,
            [
                joint("fixed"),
                joint("revolute", "y", axis=R.T @ a) | {"rotation": rows(R)},
                joint("fixed", "z") | {"rotation": rows(R.T)},
            ],
        )
        x, w, f = rng.normal(size=3)
        return relative(
            observed(plain, q | {"x": x}, v | {"x.rate": w}, tau | {"x.rate": f}),
            observed(turned, q | {"y": x}, v | {"y.rate": w}, tau | {"y.rate": f}),
        )

    judge(figures, "revolute in a turned frame", map(error, SEEDS))


def test_several_inertial_parts_are_one_by_steiner(figures):
    def error(seed):
        rng = np.random.default_rng(seed)
        parts = [random_inertial(rng, f"p{k}") for k in range(3)]
        m = sum(p.mass for p in parts)
        c = sum(p.mass * np.array(p.centre) for p in parts) / m
        I = np.zeros((3, 3))
        for p in parts:
            xx, yy, zz, xy, xz, yz = p.inertia
            d = np.array(p.centre) - c
            I += np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + p.mass * (d @ d * np.eye(3) - np.outer(d, d))
        whole = Inertial(m, tuple(c), (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))
        hang = Joint("x", "spherical", "world", "b", position=(0.1, 0.2, 0.3))
        q = rng.normal(size=4)
        state = q / np.linalg.norm(q), rng.normal(size=3), rng.normal(size=3)
        made = [build(Description("one", (0, 1.0, -9), (Body("b", tuple(x)),), (hang,))) for x in (parts, [whole])]
        return relative(*(traced(lw.aba, model, (4,), (3,), (3,))(*state) for model in made))

    judge(figures, "several parts = one by Steiner", map(error, SEEDS))


# --- prescribed motion ---
def carried(seed, kind, motion=None):
    """Two random joints on a body that moves by `kind`."""
    rng = np.random.default_rng(seed)
    base = Joint(
        "base", kind, "world", "a", position=(0.2, 0.1, -0.3), rotation=rows(random_rotation(rng)), motion=motion
    )
    joints = base, random_joint(rng, "x", "universal", "a", "b"), random_joint(rng, "y", "spherical", "b", "c")
    return build(
        Description("carried", (0.5, 1.0, -9.0), tuple(Body(n, (random_inertial(rng),)) for n in "abc"), joints)
    )


def sway(t):
    """Position and an attitude that turns about z by f, then about its own x by g; the quaternion is not a unit one."""
    sine, cosine = (ca.sin, ca.cos) if isinstance(t, ca.SX) else (np.sin, np.cos)
    f, g = 0.4 * sine(2 * t) + t, 0.7 * cosine(t)
    c, s, k, j = cosine(f / 2), sine(f / 2), cosine(g / 2), sine(g / 2)
    return (sine(t), 0.3 * t * t, cosine(3 * t)), (1.1 * c * k, 1.1 * c * j, 1.1 * s * j, 1.1 * s * k)


def swaying(t):
    """q, v, v_dot of a free joint that moves as `sway`, derived by hand."""
    p, quat = sway(t)
    quat = np.array(quat) / np.linalg.norm(quat)
    f1, f2 = 0.8 * np.cos(2 * t) + 1, -1.6 * np.sin(2 * t)
    g, g1, g2 = 0.7 * np.cos(t), -0.7 * np.sin(t), -0.7 * np.cos(t)
    x = np.array([1.0, 0, 0])
    z = Rotation.from_rotvec(g * x).inv().apply([0, 0, 1])  # the outer axis in child axes; its rate is −g' x × z
    w = f1 * z + g1 * x
    w_dot = f2 * z - f1 * g1 * np.cross(x, z) + g2 * x
    R = Rotation.from_quat(quat, scalar_first=True).as_matrix()
    p1, p2 = np.array([np.cos(t), 0.6 * t, -3 * np.sin(3 * t)]), np.array([-np.sin(t), 0.6, -9 * np.cos(3 * t)])
    v = R.T @ p1
    return np.array([*p, *quat]), np.array([*v, *w]), np.array([*(R.T @ p2 - np.cross(w, v)), *w_dot])


@pytest.mark.parametrize("t", [0.0, 0.7, -2.1])
def test_a_prescribed_base_moves_its_mechanism_as_a_free_joint_driven_along_the_same_way(t, figures):
    """The free base is driven by inverse dynamics: at the other joints it needs the forces the prescribed one had."""
    errors = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        moved, free = carried(seed, "prescribed", sway), carried(seed, "free")
        q = np.array([*rng.normal(size=2), *Rotation.random(rng=rng).as_quat(scalar_first=True)])
        v, tau = rng.normal(size=5), rng.normal(size=5)
        q0, v0, a0 = swaying(t)
        shapes = (6,), (5,), (5,)

        def at(formulation, *given, model=moved, **fixed):
            return traced(
                lambda m, *x: formulation(m, *x[:-1], t=x[-1], **fixed), model, *(np.shape(g) for g in given), (1,)
            )(*given, t)

        v_dot = at(lw.aba, q, v, tau)
        whole = np.r_[q0, q], np.r_[v0, v], np.r_[a0, v_dot]
        driven = traced(lw.rnea, free, (13,), (11,), (11,))(*whole)
        errors.append(relative(tau, driven[6:]))
        errors.append(relative(at(lw.forward, q, v, tau), v_dot))
        wrench, base = at(lambda m, *x, t: lw.wrenches(m, *x, t=t), q, v, v_dot)
        other, other_base = traced(lw.wrenches, free, (13,), (11,), (11,))(*whole)
        errors += [relative(wrench, other), relative(base, other_base), relative(wrench.reshape(3, 6)[0], driven[:6])]
        for f in ("a", "c"):
            errors.append(relative(at(lw.position, q, frame=f), traced(lw.position, free, (13,), frame=f)(whole[0])))
            there = traced(lw.velocity, free, (13,), (11,), frame=f)(*whole[:2])
            errors.append(relative(at(lw.velocity, q, v, frame=f), there))
            there = traced(lw.acceleration, free, (13,), (11,), (11,), frame=f)(*whole)
            errors.append(relative(at(lw.acceleration, q, v, v_dot, frame=f), there))

        def balance(m, q, v, tau, t):
            """Rate of the energy, and the power of the joint forces and of what moves the base."""
            v_dot = lw.aba(m, q, v, tau, t=t)
            x, x_dot = ca.vertcat(q, v, t), ca.vertcat(lw.dynamics.kinematics.q_dot(m, q, v), v_dot, 1)
            rate = ca.jtimes(lw.energy(m, q, v, t), x, x_dot)
            return ca.vertcat(rate, ca.dot(tau, v) + forces.prescribed_power(m, q, v, v_dot, None, t))

        errors.append(relative(*traced(balance, moved, *shapes, (1,))(q, v, tau, t)))
    judge(figures, f"prescribed base = driven free joint, t = {t}", errors)


# --- couplings ---
def test_a_coupled_mechanism_is_the_uncoupled_one_on_the_line_of_its_couplings(figures):
    """q_all = G q + c told by hand: poses, velocities, energy, M = Gᵀ M_all G, tau = Gᵀ tau_all."""
    errors = []
    for seed in range(20):
        kinds = ("revolute", "continuous", "prismatic", "helical", "spherical", "fixed")
        model = random_mechanism(seed, n=5, kinds=kinds, passive=True, coupled=True)
        if not model.coupled:
            continue
        loose = replace(model, joints=(None, *(replace(j, coupling=None) for j in model.joints[1:])))
        q, v, a = random_state(model, seed)
        whole, G = np.zeros(loose.nq), np.zeros((loose.nv, model.nv))
        for k, name in enumerate(loose.q_names):
            if name in model.q_names:
                whole[k] = q[model.q_names.index(name)]
        for row, name in enumerate(loose.v_names):
            if name in model.v_names:
                G[row, model.v_names.index(name)] = 1
        for j in (model.joint(i) for i in model.coupled):
            c = j.coupling
            whole[loose.q_names.index(j.name)] = c.ratio * q[model.q_names.index(c.leader)] + c.offset
            G[loose.v_names.index(f"{j.name}.rate"), model.v_names.index(f"{c.leader}.rate")] = c.ratio
        rates = G @ v

        def both(formulation, one, other, model=model, loose=loose, **fixed):
            pairs = ((model, one), (loose, other))
            return [traced(formulation, m, *(np.shape(x) for x in given), **fixed)(*given) for m, given in pairs]

        for k in range(5):
            errors.append(relative(*both(lw.position, (q,), (whole,), frame=f"b{k}")))
            errors.append(relative(*both(lw.velocity, (q, v), (whole, rates), frame=f"b{k}")))
        errors.append(relative(*both(lw.energy, (q, v), (whole, rates))))
        M, M_all = both(lw.crba, (q,), (whole,))
        errors.append(relative(M.reshape(len(v), -1), G.T @ M_all.reshape(len(G), -1) @ G))
        tau, tau_all = both(lw.rnea, (q, v, a), (whole, rates, G @ a))
        errors.append(relative(tau, G.T @ tau_all))
    assert len(errors) > 13 * 6
    judge(figures, "coupled = uncoupled on the line", errors)
