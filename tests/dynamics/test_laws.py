"""Laws of mechanics on 200 random mechanisms of all joint kinds, each at a random state.

Every law runs on graphs evaluated by CasADi alone: a fault found here is one of the formulas, not of the compiler.
Half of the mechanisms have springs, damping, friction and rotor inertias, a fifth have coupled joints, a fifth float.
"""

from collections import Counter
from functools import cache, cached_property

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY_KIND, random_mechanism, random_state, relative, traced

import linkwork as lw
from linkwork.dynamics import forces, kinematics
from linkwork.model.build import build
from linkwork.model.describe import Description
from linkwork.model.joints import KINDS
from linkwork.model.lump import lumped

COUNT = 200
ROUNDING = 1e-10
"""Two ways to one number, relative to its largest entry: random mass matrices have condition numbers up to 1e4,
which leaves 11 digits of 16; separate-bodies.md (section 12) asks for this figure."""
FOR_COUPLING = ("revolute", "continuous", "prismatic", "helical", "spherical", "fixed")
EXACT = 1e-12
"""The same where nothing is divided by: sums of a few hundred products, each good to 1e-16."""


class Study:
    """A random mechanism at a random state; every graph is traced once."""

    def __init__(self, seed):
        self.seed = seed
        coupled = seed % 5 == 4
        self.model = random_mechanism(
            seed,
            n=4 + seed % 3 if coupled else 2 + seed % 4,
            kinds=FOR_COUPLING if coupled else EVERY_KIND,
            root="free" if seed % 5 == 0 else None,
            passive=seed % 2 == 1,
            coupled=coupled,
        )
        self.q, self.v, self.tau = random_state(self.model, seed)
        rng = np.random.default_rng(seed + 10_000)
        self.a = rng.normal(size=self.model.nv)
        self.f_ext = rng.normal(size=(len(self.model.bodies) - 1, 6))
        self.still = np.zeros_like(self.f_ext)
        self.frames = list(self.model.markers)[1:]
        self.frame = str(rng.choice(self.frames))
        self._traced = {}

    def __call__(self, formulation, *numbers, **fixed):
        """The formulation on numbers."""
        shapes = tuple(np.atleast_1d(x).shape for x in numbers)
        key = formulation, shapes, tuple(fixed.items())
        if key not in self._traced:
            self._traced[key] = traced(formulation, self.model, *shapes, **fixed)
        return self._traced[key](*numbers)

    @cached_property
    def v_dot(self):
        """Accelerations under tau and the external wrenches."""
        return self(lw.aba, self.q, self.v, self.tau, self.f_ext)

    @cached_property
    def M(self):
        return self(lw.crba, self.q).reshape(self.model.nv, self.model.nv)

    def rate(self, formulation, **fixed):
        """Value and time derivative of a function of (q, v) along the motion, by differentiating its graph."""

        def both(model, q, v, v_dot):
            x, x_dot = ca.vertcat(q, v), ca.vertcat(kinematics.q_dot(model, q, v), v_dot)
            y = ca.vec(formulation(model, q, v, **fixed))
            return y, ca.jtimes(y, x, x_dot)

        return traced(both, self.model, (self.model.nq,), (self.model.nv,), (self.model.nv,))(
            self.q, self.v, self.v_dot
        )


@cache
def study(seed):
    return Study(seed)


@pytest.fixture
def law(figures):
    """law(name, tolerance, error): the worst error over all mechanisms (or `some`) is noted and judged."""

    def check(name, tolerance, error, some=lambda s: True, seeds=range(COUNT)):
        found = [(float(error(s)), s.seed) for s in map(study, seeds) if s.model.nv and some(s)]
        worst, seed = max(found, key=lambda x: (not np.isfinite(x[0]), x[0]))
        figures(
            "laws on random mechanisms", name, worst=f"{worst:.1e}", asked=f"{tolerance:.0e}", mechanisms=len(found)
        )
        assert worst < tolerance, f"{name}: {worst:.2e} at mechanism {seed}\n{study(seed).model}"

    return check


def world_axes(model, q, v, v_dot, f_ext):
    """Every body's R, r, mass, centre (world axes) and momentum [linear; angular about the world's origin]."""
    rows = []
    for i, b in enumerate(kinematics.moving(model, q, v)):
        if i:
            own = b.M @ b.vel
            p = b.R @ own[:3]
            rows.append(ca.vertcat(ca.vec(b.R), b.r, b.m, b.m * b.r + b.R @ b.md, p, b.R @ own[3:] + ca.cross(b.r, p)))
    return ca.horzcat(*rows)


def at_origin(R, r, wrench):
    """A wrench at a body's origin in its axes, told at the world's origin in world axes."""
    force = R @ wrench[:3]
    return np.concatenate([force, R @ wrench[3:] + np.cross(r, force)])


# --- the mechanisms ---
def test_the_mechanisms_hold_every_kind_of_joint():
    count = Counter(study(k).model.joint(i).kind for k in range(COUNT) for i in study(k).model.tree)
    assert set(EVERY_KIND) == set(KINDS) - {"prescribed"}
    assert min(count[kind] for kind in EVERY_KIND) > 30
    assert sum(bool(study(k).model.coupled) for k in range(COUNT)) > 25
    assert sum(len(b.inertials) > 1 for k in range(COUNT) for b in study(k).model.bodies) > 50
    assert sum(any(study(k).model.joint(i).armature) for k in range(COUNT) for i in study(k).model.tree) > 100


# --- forces and accelerations ---
def test_articulated_bodies_undo_inverse_dynamics(law):
    law(
        "ABA undoes RNEA (f_ext too)",
        ROUNDING,
        lambda s: relative(s.a, s(lw.aba, s.q, s.v, s(lw.rnea, s.q, s.v, s.a, s.f_ext), s.f_ext)),
    )


def test_inverse_dynamics_undoes_articulated_bodies(law):
    law("RNEA undoes ABA", ROUNDING, lambda s: relative(s.tau, s(lw.rnea, s.q, s.v, s.v_dot, s.f_ext)))


def test_articulated_bodies_equal_the_factorised_mass_matrix(law):
    law("ABA = factorised mass matrix", ROUNDING, lambda s: relative(s.v_dot, s(lw.forward, s.q, s.v, s.tau, s.f_ext)))


def test_the_factorised_mass_matrix_equals_a_dense_solution(law):
    def error(s):
        h = s(lw.rnea, s.q, s.v, 0 * s.a, s.f_ext)
        return relative(np.linalg.solve(s.M, s.tau - h), s(lw.forward, s.q, s.v, s.tau, s.f_ext))

    law("factorised along the tree = dense", ROUNDING, error)


def test_the_mass_matrix_is_symmetric_and_positive(law):
    def error(s):
        assert np.linalg.eigvalsh(s.M).min() > 0
        return relative(s.M, s.M.T)

    law("M symmetric, positive definite", EXACT, error)


def test_the_columns_of_the_mass_matrix_are_inverse_dynamics_of_unit_accelerations(law):
    def error(s):
        h = s(lw.rnea, s.q, s.v, 0 * s.a, s.f_ext)
        return relative(s.M, np.stack([s(lw.rnea, s.q, s.v, e, s.f_ext) - h for e in np.eye(s.model.nv)], axis=1))

    law("M = RNEA columns", EXACT, error)


def test_kinetic_energy_is_half_v_M_v(law):
    law("T = ½ v·M v", EXACT, lambda s: relative(s.v @ s.M @ s.v / 2, s(lw.kinetic_energy, s.q, s.v)[0]))


def test_bias_is_inverse_dynamics_without_acceleration_and_gravity_forces_are_the_gradient_of_the_energy(law):
    def slope(model, q, v):
        return ca.jtimes(lw.gravity_energy(model, q), q, kinematics.q_dot(model, q, v))

    def error(s):
        bias = relative(s(lw.bias, s.q, s.v), s(lw.rnea, s.q, s.v, 0 * s.a, s.still))
        hold = s(lw.gravity_forces, s.q)
        climb = s(slope, s.q, s.v)[0]
        return max(bias, abs(hold @ s.v - climb) / (np.abs(hold) @ np.abs(s.v)))

    law("bias, gravity forces", EXACT, error)


def test_an_external_wrench_is_joint_forces_by_the_transposed_jacobian(law):
    def error(s):
        told = sum(
            s(lw.jacobian, s.q, frame=b.name, told="body").reshape(6, -1).T @ f
            for b, f in zip(s.model.bodies[1:], s.f_ext, strict=True)
        )
        return relative(s.v_dot, s(lw.aba, s.q, s.v, s.tau + told, s.still))

    law("f_ext acts as Jᵀ f", ROUNDING, error)


# --- energy ---
def test_the_power_of_all_forces_is_the_rate_of_the_energy(law):
    """1e-9 of the sum of the powers' sizes, as the issue asks; springs are the potential part of the energy."""

    def powers(model, q, v, tau, f_ext):
        found = [f for f in forces.applied(model, q, v, ca.SX(0)) if f.name != "springs"]
        given = forces.Applied("given", tau, f_ext)
        return ca.vertcat(*[forces.power(model, q, v, f, ca.SX(0)) for f in (*found, given)])

    def own(model, q, v):
        tau, wrenches = forces.totals(model, forces.applied(model, q, v, ca.SX(0)))
        assert wrenches is None
        return tau

    def error(s):
        powers_now = s(powers, s.q, s.v, s.tau, s.f_ext)
        v_dot = s(lw.aba, s.q, s.v, s(own, s.q, s.v) + s.tau, s.f_ext)

        def rate(model, q, v, v_dot):
            x, x_dot = ca.vertcat(q, v), ca.vertcat(kinematics.q_dot(model, q, v), v_dot)
            return ca.jtimes(lw.energy(model, q, v), x, x_dot)

        found = s(rate, s.q, s.v, v_dot)[0]
        return abs(found - powers_now.sum()) / np.abs(powers_now).sum()

    law("power = rate of energy", 1e-9, error)


def test_springs_keep_damping_and_friction_take(law):
    """Each passive force does what forces.py says: −∂V/∂q, −d v, −f tanh(v / v0), told in the speeds of all joints."""

    def passive(model, q, v):
        return tuple(f.tau for f in forces.applied(model, q, v, ca.SX(0)))

    def falls(model, q, v):
        return ca.jtimes(lw.spring_energy(model, q), q, kinematics.q_dot(model, q, v))

    def error(s):
        m = s.model
        damping, friction, springs = s(passive, s.q, s.v)
        speeds = s(lambda model, v: kinematics.spread(model, v), s.v)
        each = [(m.joint(i), speeds[m.v_slices[i]]) for i in m.tree]
        lost = -sum(np.dot(j.damping, v * v) for j, v in each)
        rubbed = -sum(np.dot(j.friction, v * np.tanh(v / j.friction_speed)) for j, v in each)
        assert lost < 0 and rubbed < 0
        fall = s(falls, s.q, s.v)[0]
        scale = np.abs(springs) @ np.abs(s.v)
        return max(relative(damping @ s.v, lost), relative(friction @ s.v, rubbed), abs(springs @ s.v + fall) / scale)

    law("springs keep, damping and friction take", EXACT, error, lambda s: s.seed % 2 == 1)


# --- momentum and wrenches ---
def test_the_momentum_of_a_body_changes_by_the_wrenches_at_its_joints(law):
    """Newton and Euler for each body, and for all together with the wrench on the base; no recursion is used here."""

    def error(s):
        m = s.model
        value, rate = (x.reshape(-1, 22).T for x in s.rate(lambda *a: world_axes(*a, None, None)))
        wrench, base = s(lw.wrenches, s.q, s.v, s.v_dot, s.f_ext)
        wrench = wrench.reshape(-1, 6)
        outer, inner, worst = np.zeros(6), np.zeros(6), 0.0
        sums = rate[16:].T.copy()
        for k in range(len(m.bodies) - 1):
            R, r = value[:9, k].reshape(3, 3).T, value[9:12, k]
            weight = np.array(m.gravity)
            gravity = np.concatenate([value[12, k] * weight, np.cross(value[13:16, k], weight)])
            given, joint = at_origin(R, r, s.f_ext[k]), at_origin(R, r, wrench[k])
            sums[k] -= gravity + given + joint
            outer += gravity + given
            if p := m.parent[k + 1]:
                sums[p - 1] += joint
            else:
                inner += joint
            worst = max(worst, np.abs(joint).max())
        everything = rate[16:].sum(axis=1) - outer + base
        return max(np.abs(sums).max(), np.abs(everything).max(), np.abs(inner + base).max()) / worst

    law("wrenches = rate of momentum, each body", ROUNDING, error)


def test_the_joint_wrench_along_the_freedoms_is_the_joint_force(law):
    def along(model, q, v, v_dot, f_ext):
        from linkwork.dynamics.rnea import motion

        rows = [b.S.T @ b.f + b.armature @ b.v_dot for b in motion(model, q, v, v_dot, f_ext)[1:] if b.v.numel()]
        return kinematics.expansion(model).T @ ca.vertcat(*rows)

    law("wrench along S = tau", ROUNDING, lambda s: relative(s.tau, s(along, s.q, s.v, s.v_dot, s.f_ext)))


def test_a_floating_mechanism_keeps_its_momentum(law):
    def error(s):
        free = study_free(s.seed)
        value, rate = free.rate(lambda m, q, v: lw.momentum(m, q, v))
        return np.abs(rate).max() / np.abs(value).max()

    law("momentum of a floating mechanism", ROUNDING, error, seeds=range(0, COUNT, 3))


@cache
def study_free(seed):
    """A mechanism hung on a free joint without forces, weightless, driven at its other joints."""
    s = Study(seed)
    s.model = random_mechanism(seed, n=2 + seed % 5, root="free", gravity=False)
    while s.model.parent.count(0) > 1:
        seed += 1000
        s.model = random_mechanism(seed, n=3 + seed % 4, root="free", gravity=False)
    s.q, s.v, s.tau = random_state(s.model, seed)
    root = next(i for i in s.model.tree if s.model.parent[i] == 0)
    s.tau[s.model.v_slices[root]] = 0.0
    s.f_ext = np.zeros((len(s.model.bodies) - 1, 6))
    return s


@pytest.mark.parametrize("seed", [0, 7, 11])
def test_momentum_and_energy_stay_over_a_simulated_run(seed, figures):
    """Two seconds at rtol 1e-12: the drift is the integrator's, some hundred steps of 1e-12 each."""
    s = study_free(seed)
    run = lw.simulate(s.model, start={"q": s.q, "v": s.v}, until=2.0, rtol=1e-12, atol=1e-12, times=40)
    momentum, energy = run["momentum"].values[0], run["energy"].values[0]
    drift = np.abs(momentum - momentum[0]).max() / np.abs(momentum).max()
    lost = np.abs(energy - energy[0]).max() / np.abs(energy).max()
    figures(
        "laws on random mechanisms",
        f"momentum, energy over 2 s, mechanism {seed}",
        worst=f"{max(drift, lost):.1e}",
        asked="1e-10",
    )
    assert run.ok.all() and max(drift, lost) < 1e-10
    assert run.trust.momentum_drift == pytest.approx(drift, rel=1.0, abs=1e-15)
    assert np.abs(np.diff(run["q"].values[0], axis=0)).max() > 0.01  # it did move


# --- motion ---
def test_velocity_is_the_rate_of_the_pose(law):
    def pose(model, q, v, frame):
        return ca.vertcat(lw.position(model, q, frame), ca.vec(lw.rotation_of(model, q, frame)))

    def error(s):
        value, rate = s.rate(pose, frame=s.frame)
        R, R_dot = value[3:].reshape(3, 3).T, rate[3:].reshape(3, 3).T
        W = R_dot @ R.T
        turning = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
        return relative(np.concatenate([rate[:3], turning]), s(lw.velocity, s.q, s.v, frame=s.frame))

    law("velocity = rate of the pose", EXACT, error)


@pytest.mark.parametrize("told", ["mixed", "body", "world"])
def test_the_jacobian_times_the_speeds_is_the_velocity(law, told):
    law(
        f"J v = velocity, {told}",
        EXACT,
        lambda s: relative(
            s(lw.jacobian, s.q, frame=s.frame, told=told).reshape(6, -1) @ s.v,
            s(lw.velocity, s.q, s.v, frame=s.frame, told=told),
        ),
    )


def test_the_three_tellings_are_one_motion(law):
    def error(s):
        mixed, body, world = (s(lw.velocity, s.q, s.v, frame=s.frame, told=t) for t in ("mixed", "body", "world"))
        R = s(lw.rotation_of, s.q, frame=s.frame).reshape(3, 3)
        r = s(lw.position, s.q, frame=s.frame)
        same = np.concatenate([R @ body[:3], R @ body[3:]])
        moved = np.concatenate([world[:3] + np.cross(world[3:], r), world[3:]])
        return max(relative(mixed, same), relative(mixed, moved))

    law("mixed, body, world agree", EXACT, error)


def test_acceleration_is_the_rate_of_velocity(law):
    def error(s):
        _, rate = s.rate(lambda m, q, v, frame: lw.velocity(m, q, v, frame), frame=s.frame)
        return relative(rate, s(lw.acceleration, s.q, s.v, s.v_dot, frame=s.frame))

    law("acceleration = rate of velocity", EXACT, error)


def test_the_centre_of_mass_moves_with_the_linear_momentum(law):
    def error(s):
        _, rate = s.rate(lambda m, q, v: lw.centre_of_mass(m, q))
        mass = sum(p.mass for b in s.model.bodies for p in b.inertials)
        return relative(mass * rate, s(lw.momentum, s.q, s.v)[:3])

    law("m c' = linear momentum", EXACT, error)


def test_integrate_and_difference_undo_each_other(law):
    """Turns below half a revolution; a logarithm near there loses two digits."""

    def error(s):
        dv = s.a / max(1.0, np.abs(s.a).max() / 1.5)
        there = s(lw.integrate, s.q, dv, 1.0)
        other, _, _ = random_state(s.model, s.seed + 1)
        way = s(lw.difference, s.q, other)
        arrived = s(lw.integrate, s.q, way, 1.0)
        back = s(lw.difference, arrived, other)
        return max(relative(dv, s(lw.difference, s.q, there)), np.abs(back).max())

    law("integrate and difference undo", ROUNDING, error)


def test_integrating_for_no_time_moves_at_q_dot(law):
    def slope(model, q, v, h):
        x = ca.SX.sym("h")
        return ca.substitute(ca.jacobian(lw.integrate(model, q, v, x), x), x, h)

    law(
        "d integrate / dt = q_dot",
        EXACT,
        lambda s: relative(s(slope, s.q, s.v, 0.0), s(kinematics.q_dot, s.q, s.v)),
    )


def test_quaternions_stay_unit_when_integrated(law):
    """To a few roundings, after a large turn."""

    def error(s):
        there, at, worst = s(lw.integrate, s.q, 10 * s.v, 1.0), 0, 0.0
        for i in s.model.independent:
            kind = s.model.kind(i)
            if kind.quaternion is not None:
                worst = max(worst, abs(np.linalg.norm(there[at + kind.quaternion : at + kind.quaternion + 4]) - 1))
            at += kind.nq
        return worst

    law("unit quaternions after integrate", 1e-15 * 4, error)


# --- descriptions ---
def shuffled(model, seed):
    """The same mechanism told in another order."""
    rng = np.random.default_rng(seed)
    n = len(model.bodies) - 1
    bodies, joints = rng.permutation(n), rng.permutation(n)
    return build(
        Description(
            model.name,
            model.gravity,
            tuple(model.bodies[k + 1] for k in bodies),
            tuple(model.joint(int(k) + 1) for k in joints),
        )
    )


def test_numbering_does_not_matter(law):
    """Accelerations, forces and mass matrix, compared by name."""

    def error(s):
        other = shuffled(s.model, s.seed)
        iq = [s.model.q_names.index(n) for n in other.q_names]
        iv = [s.model.v_names.index(n) for n in other.v_names]
        ib = [s.model.body_index[b.name] - 1 for b in other.bodies[1:]]
        q, v = s.q[iq], s.v[iv]
        shapes = q.shape, v.shape, v.shape, s.f_ext.shape
        v_dot = s.v_dot[iv]
        if s.seed % 4 == 0:  # the slowest to trace
            v_dot = traced(lw.aba, other, *shapes)(q, v, s.tau[iv], s.f_ext[ib])
        tau = traced(lw.rnea, other, *shapes)(q, v, s.v_dot[iv], s.f_ext[ib])
        M = traced(lw.crba, other, q.shape)(q).reshape(len(v), len(v))
        return max(relative(v_dot, s.v_dot[iv]), relative(tau, s.tau[iv]), relative(M, s.M[np.ix_(iv, iv)]))

    law("numbering does not matter", ROUNDING, error)
    assert any(shuffled(s.model, s.seed).q_names != s.model.q_names for s in map(study, range(20)))


def test_lumping_fixed_joints_changes_nothing(law):
    def error(s):
        small = lumped(s.model)
        assert len(small.bodies) < len(s.model.bodies) and small.q_names == s.model.q_names
        kept = s(lw.aba, s.q, s.v, s.tau, s.still), s(lw.rnea, s.q, s.v, s.a, s.still)
        fewer = s(lw.aba, s.q, s.v, s.tau), s(lw.rnea, s.q, s.v, s.a)
        worst = max(relative(a, b) for a, b in zip(kept, fewer, strict=True))
        lost = [b.name for b in s.model.bodies if b.name not in small.body_index]
        for frame in (*lost, s.frame):
            at = traced(lw.position, small, s.q.shape, frame=frame)(s.q)
            turned = traced(lw.rotation_of, small, s.q.shape, frame=frame)(s.q)
            worst = max(
                worst,
                relative(at, s(lw.position, s.q, frame=frame)),
                relative(turned, s(lw.rotation_of, s.q, frame=frame)),
            )
        moving = traced(lw.kinetic_energy, small, s.q.shape, s.v.shape)(s.q, s.v)
        return max(worst, relative(moving, s(lw.kinetic_energy, s.q, s.v)))

    law(
        "lumping changes nothing",
        ROUNDING,
        error,
        lambda s: any(s.model.joint(i).kind == "fixed" for i in s.model.tree),
    )


# --- derivatives ---
def differences(f, x, direction, h=2e-3):
    """Directional derivative by central differences of sixth order."""
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    return sum(w * (f(x + k * h * direction) - f(x - k * h * direction)) for k, w in weights.items()) / h


def test_traced_derivatives_equal_finite_differences(law):
    """Along a random direction of each input. Sixth-order differences with h = 2e-3 leave h⁶ · ∂⁷ and rounding / h:
    1e-9 of the largest number seen, hence 1e-7; a wrong sign or entry shows at 1e-1."""

    def error(s):
        eq = lw.equations(s.model, lw.aba, external=True)
        f = eq.jacobian("v_dot", ("q", "v", "tau", "f_ext")).casadi
        value, *tables = (np.array(x) for x in f(s.q, s.v, s.tau, s.f_ext))
        given, worst = [s.q, s.v, s.tau, s.f_ext], 0.0
        rng = np.random.default_rng(s.seed)
        for k, J in enumerate(tables):
            direction = rng.normal(size=given[k].shape)
            direction /= np.linalg.norm(direction)

            def moved(x, k=k):
                return s(lw.aba, *given[:k], x, *given[k + 1 :])

            expected = differences(moved, given[k], direction)
            error = np.abs(J.reshape(s.model.nv, -1) @ direction.ravel() - expected).max()
            worst = max(worst, error / max(np.abs(expected).max(), np.abs(value).max()))
        return worst

    law("∂ABA/∂(q, v, tau, f_ext) = differences", 1e-7, error, seeds=range(0, COUNT, 4))


def test_the_derivative_by_joint_forces_is_the_inverse_mass_matrix(law):
    def error(s):
        f = lw.equations(s.model, lw.aba).jacobian("v_dot", "tau").casadi
        return relative(np.array(f(s.q, s.v, s.tau)[1]), np.linalg.inv(s.M))

    law("∂ABA/∂tau = M⁻¹", ROUNDING, error, seeds=range(0, COUNT, 4))


# --- sweeps as loops ---
def test_sweeps_in_a_loop_over_tables_equal_sweeps_unrolled(law):
    def error(s):
        looped = lw.equations(s.model, lw.aba, unroll=False).rolled
        (found,) = looped.evaluate([s.q, s.v, s.tau])
        return relative(found, s(lw.aba, s.q, s.v, s.tau, s.still))

    law("sweeps in a loop = unrolled", ROUNDING, error, lambda s: not s.model.coupled, seeds=range(0, COUNT, 4))
