"""The bridge: equations, compile, parameters, linearize, simulate; the names at the door of the issue."""

import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import evaluate, random_mechanism, random_state, relative
from scipy.integrate import solve_ivp

import linkwork as lw

EXACT = 1e-13
"""The same graph with sums in another order, on a machine that fuses products: some hundred roundings."""


def arm(**more):
    """Shoulder and elbow about y with a payload; joints have springs and damping."""
    m = lw.Mechanism("arm", gravity=(0, 0, -9.81))
    m.body("upper", mass=2, centre=(0, 0, -0.25), inertia=(0.05, 0.05, 0.001))
    m.body("lower", mass=1, centre=(0, 0, -0.2), inertia=(0.02, 0.02, 0.001))
    m.body("payload", mass=0.5, centre=(0, 0, -0.05), inertia=(0.001, 0.001, 0.001))
    m.marker("tool", "payload", (0, 0.02, -0.1))
    m.joint("shoulder", "revolute", "world", "upper", axis="y", damping=0.1, stiffness=3.0, rest=0.2)
    m.joint("elbow", "revolute", "upper", "lower", at=(0, 0, -0.5), axis="y", damping=0.05, friction=0.1)
    m.joint("grip", "fixed", "lower", "payload", at=(0, 0, -0.4))
    for name, value in more.items():
        getattr(m, name)(*value)
    return m.build()


STATE = {"q": np.array([0.3, -0.7]), "v": np.array([0.5, 1.1]), "tau": np.array([1.0, -0.4])}


# --- names at the door ---
def test_the_names_at_the_door(tmp_path):
    """As the issue writes them, with a real robot."""
    cmeel = pytest.importorskip("cmeel")
    robots = Path(next(iter(cmeel.__path__))).parent / "cmeel.prefix/share/example-robot-data/robots"
    model = lw.read(next(robots.rglob("z1.urdf")))
    kernel = lw.compile(lw.equations(model, lw.aba))
    assert [p.name for p in kernel.inputs] == ["q", "v", "tau"] and [p.name for p in kernel.outputs] == ["v_dot"]
    Q, V, T = random_state(model, 1, 5)
    v_dot = kernel(q=Q, v=V, tau=T)
    assert v_dot.shape == (5, model.nv) and kernel(q=Q[0], v=V[0], tau=T[0]).shape == (model.nv,)
    np.testing.assert_array_equal(kernel(q=Q[0], v=V[0], tau=T[0]), v_dot[0])
    assert relative(v_dot[0], evaluate(lw.aba, model, Q[0], V[0], T[0])) < EXACT
    run = lw.simulate(model, start={"joint1": "30 deg"}, until=0.1, method="dop853")
    assert run["joint1"][0] == pytest.approx(np.pi / 6) and run["joint1.rate"].shape == (201,)
    frame = model.bodies[-1].name
    assert run[f"{frame}.position"].shape == (201, 3)
    assert run.to_xarray().sizes["time"] == 201
    figure = lw.plot(run)
    assert figure is not None


def test_outputs_by_name_agree_with_the_formulas():
    model = arm()
    run = lw.simulate(model, start={"shoulder": "30 deg", "elbow.rate": 2.0}, until=0.5, times=5)
    k = 3
    q, v = run["q"][k], run["v"][k]
    assert relative(run["tool.position"][k], evaluate(lw.position, model, q, frame="tool")) < EXACT
    velocity = evaluate(lw.velocity, model, q, v, frame="tool")
    assert relative(run["tool.velocity"][k], velocity[:3]) < EXACT
    assert relative(run["tool.omega"][k], velocity[3:]) < EXACT
    R = evaluate(lw.rotation_of, model, q, frame="tool")
    assert relative(run["tool.rotation"][k], R.ravel()) < EXACT  # row by row, as its components are called
    v_dot = run["v_dot"][k]
    assert (
        relative(run["tool.acceleration"][k], evaluate(lw.acceleration, model, q, v, v_dot, frame="tool")[:3]) < EXACT
    )
    wrenches, base = evaluate(lw.wrenches, model, q, v, v_dot)
    for i, wrench in enumerate(wrenches.reshape(-1, 6), 1):
        assert relative(run[f"{model.joint(i).name}.wrench"][k], wrench) < 1e-12
    assert relative(run["base_wrench"][k], base) < 1e-12
    for name in ("kinetic_energy", "gravity_energy", "spring_energy", "energy", "momentum", "centre_of_mass"):
        given = {"kinetic_energy": (q, v), "energy": (q, v), "momentum": (q, v)}.get(name, (q,))
        assert relative(run[name][k], evaluate(getattr(lw, name), model, *given)) < 1e-12
    assert relative(run["damping.power"][k], -(0.1 * v[0] ** 2 + 0.05 * v[1] ** 2)) < EXACT
    assert set(run.known) >= {"tool.position", "shoulder.wrench", "base_wrench", "friction.power"}
    for name in run.known:
        assert np.isfinite(np.asarray(run[name])).all(), name


# --- equations ---
def test_forces_are_the_models_own_added_to_tau():
    model = arm()
    q, v, tau = STATE.values()
    own = -np.array([0.1, 0.05]) * v - np.array([3 * (q[0] - 0.2), 0.1 * np.tanh(v[1] / 0.01)])
    with_forces = lw.function(model, lw.aba, forces=True)
    assert relative(with_forces(**STATE), evaluate(lw.aba, model, q, v, tau + own)) < 1e-12
    inverse = lw.function(model, lw.rnea, forces=True)
    v_dot = with_forces(**STATE)
    assert relative(inverse(q=q, v=v, v_dot=v_dot), tau) < 1e-12  # what is left for the motors


def test_external_wrenches_are_an_input():
    model = arm()
    q, v, tau = STATE.values()
    rng = np.random.default_rng(0)
    f = rng.normal(size=(4, 3, 6))
    kernel = lw.function(model, lw.aba, external=True)
    assert kernel.inputs[-1].name == "f_ext" and kernel.inputs[-1].components == ("upper", "lower", "payload")
    found = kernel(q=q, v=v, tau=tau, f_ext=f)
    for k in range(4):
        assert relative(found[k], evaluate(lw.aba, model, q, v, tau, f[k])) < 1e-12


def test_a_law_acts_as_a_wrench_in_the_equations():
    pushed = arm(law=(lambda s: {"tool": ca.vertcat(1.0, 2.0, 3.0)}, "push"))
    q, v, tau = STATE.values()
    J = evaluate(lw.jacobian, pushed, q, frame="tool").reshape(6, 2)
    own = -np.array([0.1, 0.05]) * v - np.array([3 * (q[0] - 0.2), 0.1 * np.tanh(v[1] / 0.01)])
    expected = evaluate(lw.aba, pushed, q, v, tau + own + J[:3].T @ [1, 2, 3])
    assert relative(lw.function(pushed, lw.aba, forces=True)(**STATE), expected) < 1e-12


def test_derivatives_are_outputs_beside_the_value():
    eq = lw.equations(arm(), lw.aba, external=True).jacobian("v_dot", ("q", "f_ext"))
    assert [p.name for p in eq.outputs] == ["v_dot", "d_v_dot_d_q", "d_v_dot_d_f_ext"]
    kernel, f = lw.compile(eq), np.zeros((3, 6))
    found = kernel(**STATE, f_ext=f)
    assert found["d_v_dot_d_q"].shape == (2, 2) and found["d_v_dot_d_f_ext"].shape == (2, 18)
    for k in range(18):
        step = np.zeros(18)
        step[k] = 1e-2  # the accelerations are linear in the wrenches
        moved = kernel(**STATE, f_ext=step.reshape(3, 6))["v_dot"] - found["v_dot"]
        np.testing.assert_allclose(found["d_v_dot_d_f_ext"][:, k], moved / 1e-2, rtol=1e-9, atol=1e-10)
    alone = lw.compile(eq.only("d_v_dot_d_q"))(**STATE, f_ext=f)
    np.testing.assert_array_equal(alone, found["d_v_dot_d_q"])


def test_the_graph_can_be_taken_away(tmp_path):
    model = arm()
    eq = lw.equations(model, lw.aba)
    f = eq.casadi
    assert isinstance(f, ca.Function) and f.name_in() == ["q", "v", "tau"] and f.name_out() == ["v_dot"]
    kernel = lw.compile(eq)
    assert relative(np.array(f(*STATE.values()))[:, 0], kernel(**STATE)) < EXACT
    assert "v_dot" in str(eq)
    source = kernel.to_c(tmp_path / "arm.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", tmp_path / "arm.so", source, "-lm"], check=True)
    outside = ca.external(f.name(), str(tmp_path / "arm.so"))
    assert relative(np.array(outside(*STATE.values()))[:, 0], kernel(**STATE)) < EXACT


# --- parameters ---
NAMES = ("payload.mass", "elbow.damping", "gravity.z", "elbow.position.z")


def test_a_batch_of_parameters_equals_models_built_anew():
    model = arm().replace(parameters=NAMES)
    kernel = lw.function(model, lw.aba, forces=True)
    assert [p.name for p in kernel.inputs] == ["q", "v", "tau", *NAMES]
    rng = np.random.default_rng(2)
    values = {"payload.mass": rng.uniform(0, 3, 9), "elbow.damping": rng.uniform(0, 1, 9)}
    values |= {"gravity.z": -rng.uniform(1, 10, 9), "elbow.position.z": -rng.uniform(0.3, 0.6, 9)}
    found = kernel(**STATE, **values)
    for k in range(9):
        rebuilt = arm().replace({n: float(x[k]) for n, x in values.items()}).check()
        assert relative(found[k], lw.function(rebuilt, lw.aba, forces=True)(**STATE)) < 1e-12
    plain = lw.function(arm(), lw.aba, forces=True)(**STATE)
    assert relative(kernel(**STATE), plain) < 1e-12  # left out: as declared


def test_free_keeps_some_parameters_and_folds_the_others():
    model = arm().replace(parameters=NAMES)
    eq = lw.equations(model, lw.aba, forces=True)
    some = lw.compile(eq, free=["payload.mass"])
    assert [p.name for p in some.inputs] == ["q", "v", "tau", "payload.mass"]
    whole = lw.compile(eq)
    masses = np.array([0.1, 0.5, 2.0])
    assert relative(some(**STATE, **{"payload.mass": masses}), whole(**STATE, **{"payload.mass": masses})) < 1e-12
    none = lw.compile(eq, free=[])
    assert [p.name for p in none.inputs] == ["q", "v", "tau"]


def test_parameters_run_in_batches():
    model = arm().replace(parameters=("payload.mass",))
    masses = [0.2, 0.5, 1.7]
    run = lw.simulate(model, start={"shoulder": 0.4}, until=0.5, times=5, parameters={"payload.mass": masses})
    assert run["q"].shape == (3, 6, 2)
    for k, mass in enumerate(masses):
        one = lw.simulate(arm().replace({"payload.mass": mass}), start={"shoulder": 0.4}, until=0.5, times=5)
        np.testing.assert_allclose(run["q"].values[k], one["q"].values[0], atol=1e-8)  # tolerance 1e-9 of each run
        np.testing.assert_allclose(run["energy"].values[k], one["energy"].values[0], atol=1e-7)
    assert run.trust.energy_error < 1e-6
    assert np.ptp(run["tool.position"].values[:, -1, 0]) > 1e-3


def test_a_constant_of_a_law_can_be_a_parameter():
    m = lw.Mechanism("held", gravity=(0, 0, 0))
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.joint("x", "prismatic", "world", "b", axis="x")
    m.constant("k", 4.0).law(lambda s: {"x": -s.constant("k") * s.q("x")}, "hold").parameter("k")
    run = lw.simulate(m.build(), start={"x": 1.0}, until=2.0, times=20, parameters={"k": [1.0, 4.0, 9.0]})
    for k, w in enumerate((1, 2, 3)):
        np.testing.assert_allclose(run["x"].values[k], np.cos(w * run.time), atol=1e-7)  # rtol 1e-9 over 20 steps
    assert run.trust.energy_error < 1e-6


# --- errors ---
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: lw.equations(m, lw.jacobian, frame="tol"), ("no body or marker 'tol'", "tool")),
        (lambda m: lw.equations(m, lw.jacobian), ("'jacobian' needs 'frame'", "frame=")),
        (lambda m: lw.equations(m, lw.aba, fram="tool"), ("'aba' takes no 'fram'",)),
        (lambda m: lw.equations(m, lw.crba, external=True), ("takes no external wrenches",)),
        (lambda m: lw.equations(m, lw.crba, forces=True), ("no joint forces",)),
        (lambda m: lw.equations(m, lw.aba).jacobian("vdot", "q"), ("no output 'vdot'", "v_dot")),
        (lambda m: lw.equations(m, lw.aba).jacobian("v_dot", "qq"), ("no input 'qq'",)),
        (lambda m: lw.compile(m), ("takes Equations, not Model",)),
        (
            lambda m: lw.compile(lw.equations(m, lw.aba), free=["payload.mass"]),
            ("'payload.mass' is not a declared parameter",),
        ),
        (lambda m: m.replace(parameters=("payload.mas",)), ("no number 'payload.mas'", "payload.mass")),
        (lambda m: m.replace({"paylod.mass": 1.0}), ("no number 'paylod.mass'", "payload.mass")),
        (lambda m: lw.simulate(m, start={"elbo": 1.0}), ("'elbo'", "elbow")),
        (lambda m: lw.simulate(m, start={"elbow": "3 kg"}), ("elbow", "kg")),
        (lambda m: lw.simulate(m, method="rk5", until=0.1), ("no integrator 'rk5'", "rk4")),
        (lambda m: lw.simulate(m, method="rk4", until=0.1), ("needs a step",)),
        (
            lambda m: lw.simulate(m, parameters={"payload.mass": 1.0}),
            ("not a declared parameter", "replace(parameters="),
        ),
        (lambda m: lw.simulate(m, until=-1), ("until is -1 s",)),
        (lambda m: lw.simulate(m, until=0.1, times=[0.1, 0.05]), ("times must be",)),
        (lambda m: lw.simulate(m, until=0.1, times=1)["tol.position"], ("'tol.position'", "tool.position")),
        (lambda m: lw.simulate(m, until=0.1, start={"q": [1.0, 2.0, 3.0]}), ("start 'q' has shape (3,)",)),
        (
            lambda m: lw.simulate(m, until=0.1, events=[lw.Event("e", lambda s: s.position("tool"))]),
            ("event 'e' gives 3 numbers",),
        ),
        (lambda m: lw.simulate(m, until=0.1, events=[lw.Event("e", lambda s: s.q("elbo"))]), ("'elbo'", "elbow")),
        (
            lambda m: lw.simulate(
                m, until=0.1, events=[lw.Event("e", lambda s: s.q("elbow"), "reset", 0, lambda s: {"elbo": 0})]
            ),
            ("unknown 'elbo'", "elbow"),
        ),
        (lambda m: lw.function(m, lw.aba)(q=STATE["q"], v=STATE["v"]), ("tau",)),
        (lambda m: lw.function(m, lw.aba)(**STATE, torque=1.0), ("torque", "tau")),
        (lambda m: lw.function(m, lw.aba)(**(STATE | {"q": np.zeros(3)})), ("'q'", "(2,)")),
        (lambda m: lw.linearize(m, y=("tol.position",)), ("tol.position", "tool.position")),
    ],
)
def test_a_wrong_name_or_number_is_told_with_the_nearest_right_one(call, says):
    with pytest.raises(lw.LinkworkError) as error:
        call(arm())
    for words in says:
        assert words in str(error.value), str(error.value)


# --- simulate ---
def test_the_right_hand_side_fits_scipy():
    system = lw.system(arm())
    y0 = system.start({"shoulder": 0.5, "elbow.rate": 1.0})[0]
    assert len(y0) == 5  # two coordinates, two speeds, the work of damping and friction
    found = solve_ivp(system.rhs, (0, 1), y0, "DOP853", rtol=1e-10, atol=1e-10)
    run = lw.simulate(system, start={"shoulder": 0.5, "elbow.rate": 1.0}, until=1.0, times=1, rtol=1e-10, atol=1e-10)
    ours = np.concatenate([run["q"][-1], run["v"][-1], [run["work"][-1]]])
    np.testing.assert_allclose(found.y[:, -1], ours, atol=1e-8)  # two integrators at 1e-10 over 1 s


def test_energy_is_balanced_by_the_work_of_the_forces():
    run = lw.simulate(arm(), start={"shoulder": 1.0}, until=3.0, rtol=1e-11, atol=1e-11)
    energy, work = np.asarray(run["energy"]), np.asarray(run["work"])
    assert work[-1] < -0.5 and (np.diff(work) < 1e-12).all()  # damping and friction only take
    assert np.abs(energy - energy[0] - work).max() < 1e-9 * np.abs(energy).max()


def test_integrators_agree():
    exact = lw.simulate(arm(), start={"shoulder": 1.0}, until=1.0, times=1, rtol=1e-12, atol=1e-12)["q"][-1]
    for method, options, asked in (
        ("dop853", {}, 1e-7),
        ("dopri5", {}, 1e-7),
        ("rodas5p", {}, 1e-6),
        ("rk4", {"step": "0.2 ms"}, 1e-7),
        ("euler", {"step": 1e-4}, 1e-3),
    ):
        found = lw.simulate(arm(), start={"shoulder": 1.0}, until=1.0, times=1, method=method, **options)["q"][-1]
        assert np.abs(found - exact).max() < asked, method


def pendulum(**more):
    m = lw.Mechanism("pendulum", gravity=(0, 0, -9.81))
    m.body("rod", mass=1, centre=(0, 0, -0.5), inertia=(0.1, 0.1, 0))
    m.marker("tip", "rod", (0, 0, -1))
    m.joint("pin", "revolute", "world", "rod", axis="y", **more)
    return m.build()


def test_events_stop_a_sample_where_they_happen():
    down = lw.Event("down", lambda s: s.q("pin"), "stop", -1)
    run = lw.simulate(pendulum(), start={"pin": [0.5, 1.0, -0.5]}, until=2.0, times=20, events=[down])
    assert [e[-1][1] for e in run.events] == ["down"] * 3 and run.ok.all()
    for k, factor in enumerate((1, 1, 3)):  # from the left it passes upwards first
        t = run.events[k][0][0]
        assert run.end(k)["pin"] == pytest.approx(0, abs=1e-10) and run.end(k)["pin.rate"] < 0
        values = run["pin"].values[k]
        assert np.isnan(values[run.time > t]).all() and np.isfinite(values[run.time <= t]).all()
        assert run.statuses[k].code == 1 and "down" in run.statuses[k].text and run.statuses[k].time == t
        assert factor == 1 or t == pytest.approx(3 * run.events[0][0][0], rel=1e-8)


def test_events_record_and_reset():
    top = lw.Event("turn", lambda s: s.v("pin"), "record")
    run = lw.simulate(pendulum(), start={"pin": 0.7}, until=5.0, times=5, events=[top], rtol=1e-11, atol=1e-11)
    times = [t for t, _ in run.events[0]]
    assert len(times) > 4 and np.ptp(np.diff(times)) < 1e-9 and run.statuses[0].code == 0
    kick = lw.Event(
        "kick", lambda s: s.q("pin"), "reset", 1, lambda s: {"pin.rate": 2 * s.v("pin"), "pin": s.q("pin") + 0.1}
    )
    run = lw.simulate(pendulum(), start={"pin": -0.3}, until=1.0, times=100, events=[kick])
    (t, _), = run.events[0]  # fmt: skip
    after = np.searchsorted(run.time, t)
    assert run["pin"][after] > 0.1 and run["pin"][after - 1] < 0
    assert run["pin.rate"][after] > 1.9 * run["pin.rate"][after - 1]


def test_a_sample_that_diverges_leaves_the_others_alone():
    """A force that grows with the square of the speed leaves to infinity within a second; the others never notice."""
    m = lw.Mechanism("burst", gravity=(0, 0, 0))
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.body("c", mass=1, inertia=(1, 1, 1))
    m.joint("x", "prismatic", "world", "b", axis="x")
    m.joint("y", "prismatic", "world", "c", axis="y")
    m.law(lambda s: {"x": s.v("x") ** 3, "y": -s.q("y")}, "boost")
    speeds = [0.1, 3.0, 0.2]
    run = lw.simulate(m.build(), start={"x.rate": speeds, "y": 1.0}, until=1.0, times=10)
    assert run.ok.tolist() == [True, False, True]
    status = run.statuses[1]
    assert 0.04 < status.time < 0.06  # v' = v³ from 3 ends at 1 / (2 · 9) = 0.0556
    (line,) = run.failures()
    assert line.startswith("sample 1: ") and "t = 0.05" in line
    assert status.where in ("x", "x.rate", "work"), status
    for k in (0, 2):
        alone = lw.simulate(m.build(), start={"x.rate": speeds[k], "y": 1.0}, until=1.0, times=10)
        np.testing.assert_array_equal(run["q"].values[k], alone["q"].values[0])
    assert np.isnan(run["x"].values[1, -1])


def test_quaternions_stay_unit_to_1e_14():
    """Ten seconds of fast tumbling, at every recorded time, for every method and also between the steps."""
    model = random_mechanism(21, n=4, root="free", gravity=False)
    assert sum(model.kind(i).quaternion is not None for i in model.tree) >= 1
    q, v, _ = random_state(model, 3, 4)
    for method, options in (
        ("dop853", {}),
        ("dopri5", {}),
        ("rodas5p", {"rtol": 1e-6, "atol": 1e-6}),
        ("rk4", {"step": 1e-2}),
        ("euler", {"step": 1e-2}),
    ):
        until = 2.0 if method != "dop853" else 10.0
        run = lw.simulate(model, start={"q": q, "v": v}, until=until, times=97, method=method, **options)
        at, seen = 0, 0
        for i in model.independent:
            kind = model.kind(i)
            if kind.quaternion is not None:
                quat = run["q"].values[:, :, at + kind.quaternion : at + kind.quaternion + 4]
                norms = np.linalg.norm(quat[np.isfinite(quat).all(axis=2)], axis=1)
                assert np.abs(norms - 1).max() < 1e-14, method
                seen += len(norms)
            at += kind.nq
        assert seen > 300


def test_starts_by_name_in_pieces_and_in_batches():
    m = lw.Mechanism("free", gravity=(0, 0, 0))
    m.body("b", mass=1, inertia=(1, 2, 2.5))
    m.joint("base", "free", "world", "b")
    m.start({"base.position": (0, 0, 2)})
    model = m.build()
    start = {"base.rotation": ("90 deg", 0, 0), "base.v_x": [0.0, 1.0, 2.0], "base.omega": (0, 0, "30 deg/s")}
    run = lw.simulate(model, start=start, until=1.0, times=4)
    assert run["q"].shape == (3, 5, 7)
    np.testing.assert_allclose(run["q"].values[1, 0], [0, 0, 2, np.sqrt(0.5), np.sqrt(0.5), 0, 0], atol=1e-15)
    np.testing.assert_allclose(run["base.v_x"].values[:, 0], [0, 1, 2])
    np.testing.assert_allclose(
        run["b.omega"].values[0, 0], [0, -np.pi / 6, 0], atol=1e-15
    )  # child z after a quarter turn about x


def test_the_trust_block():
    run = lw.simulate(arm(), start={"shoulder": [0.5, 1.0]}, until=1.0)
    trust = run.trust
    assert 0 < trust.energy_error < 1e-6 and trust.energy_worst in (0, 1)
    assert trust.steps > 10 and trust.refusals >= 0 and 0 < trust.step_error <= 1
    assert trust.counts == {"reached the end": 2} and trust.momentum_drift is None
    assert "energy" in str(trust)
    rough = lw.simulate(arm(), start={"shoulder": 1.0}, until=1.0, method="euler", step=1e-2)
    assert rough.trust.energy_error > 1e-4  # a bad run is seen to be one


def test_a_prescribed_base_shakes_its_pendulum():
    """Small shaking of the pivot: exact equations by hand, in SciPy. The energy balance counts the shaker's work."""
    m = lw.Mechanism("shaken", gravity=(0, 0, -9.81))
    m.body("car", mass=3, inertia=(1, 1, 1))
    m.body("rod", mass=1, centre=(0, 0, -0.5), inertia=(0.1, 0.1, 0.0))
    m.joint("drive", "prescribed", "world", "car", motion={"position": ["0.1*sin(5*t)", 0, 0], "rotation": [0, 0, 0]})
    m.joint("pin", "revolute", "car", "rod", axis="y")
    run = lw.simulate(m.build(), start={"pin": 0.2}, until=3.0, times=30, rtol=1e-11, atol=1e-11)

    def by_hand(t, y):
        a = -2.5 * np.sin(5 * t)
        return [y[1], (0.5 * a * np.cos(y[0]) - 0.5 * 9.81 * np.sin(y[0])) / 0.35]

    found = solve_ivp(by_hand, (0, 3), [0.2, 0.0], "DOP853", run.time, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(run["pin"], found.y[0], atol=1e-8)
    assert run.trust.energy_error < 1e-8 and np.ptp(run["work"]) > 0.1


# --- linearize ---
def deviation_rate(model, q, v, dx, tau):
    """Rate of x at a deviation dx from (q, v), by differences in time of states moved by hand."""
    nv, h = model.nv, 1e-4

    def forces(model, q, v, tau):
        from linkwork.dynamics import forces as own

        total, _ = own.totals(model, own.applied(model, q, v, ca.SX(0)))
        return lw.aba(model, q, v, total + tau)

    def moved(q, dv, h=1.0):
        return evaluate(lw.integrate, model, q, dv, h)

    there = moved(q, dx[:nv])
    rate = sum(
        w * (evaluate(lw.difference, model, moved(q, v, k * h), moved(there, v + dx[nv:], k * h)))
        for k, w in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))
    )
    return np.concatenate([rate / h, evaluate(forces, model, there, v + dx[nv:], tau)])


@pytest.mark.parametrize("seed", [8, 21, 40])
def test_linearize_agrees_with_differences(seed):
    """A floating mechanism with springs in motion: A, B, C by fourth-order differences. 1e-6 of the
    largest entry is what differences of differences leave; a wrong sign or frame shows at 1e-1."""
    model = random_mechanism(seed, n=3, root="free", passive=True)
    q, v, _ = random_state(model, seed)
    y = ("m2.position", "kinetic_energy")
    found = lw.linearize(model, dict(zip((*model.q_names, *model.v_names), [*q, *v], strict=True)), y=y)
    nv, h = model.nv, 1e-3
    assert found.A.shape == (2 * nv, 2 * nv) and found.B.shape == (2 * nv, nv) and found.C.shape == (4, 2 * nv)
    zero = np.zeros(nv)

    def slope(f, n, k):
        e = np.eye(n)[k]
        return sum(w * f(j * h * e) for j, w in ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))) / h

    def outputs(dx):
        there = evaluate(lw.integrate, model, q, dx[:nv], 1.0)
        moved = lw.position, lw.kinetic_energy
        return np.r_[evaluate(moved[0], model, there, frame="m2"), evaluate(moved[1], model, there, v + dx[nv:])]

    rng = np.random.default_rng(0)
    for k in rng.choice(2 * nv, 6, replace=False):
        column = slope(lambda dx: deviation_rate(model, q, v, dx, zero), 2 * nv, k)
        assert np.abs(found.A[:, k] - column).max() < 1e-6 * np.abs(found.A).max(), found.x[k]
        assert np.abs(found.C[:, k] - slope(outputs, 2 * nv, k)).max() < 1e-6 * np.abs(found.C).max(), found.x[k]
    M = evaluate(lw.crba, model, q).reshape(nv, nv)
    np.testing.assert_allclose(
        found.B, np.vstack([np.zeros((nv, nv)), np.linalg.inv(M)]), atol=1e-9 * np.abs(found.B).max()
    )
    assert not found.D.any()


def test_linearize_finds_the_swing_of_a_pendulum():
    found = lw.linearize(pendulum(damping=0.2), {"pin": 0.0}, y=("tip.position",))
    np.testing.assert_allclose(found.A, [[0, 1], [-0.5 * 9.81 / 0.35, -0.2 / 0.35]], rtol=1e-13)
    assert found.x == ("pin", "pin.rate") and found.u == ("pin.rate",)
    assert found.y == ("tip.position.x", "tip.position.y", "tip.position.z")
    np.testing.assert_allclose(found.C, [[-1, 0], [0, 0], [0, 0]], atol=1e-15)
    assert "at rest" in str(found)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: lw.equations("arm.yaml", lw.aba), "a Model and a formulation, not str and aba"),
        (lambda m: lw.equations(m, "aba"), "not Model and str"),
        (lambda m: lw.simulate("arm.yaml"), "a model is wanted, not str"),
        (lambda m: lw.equations(m, lambda model, q: "q"), "returned str"),
        (lambda m: lw.function(m, lw.crba)(q=STATE["q"], threads=1.5), "threads=1.5 is not possible"),
        (lambda m: lw.function(m, lw.crba).to_c("no/such/folder/f.c"), "no/such/folder/f.c: cannot be written"),
    ],
)
def test_what_is_of_another_kind_is_told(call, says):
    with pytest.raises(lw.LinkworkError) as error:
        call(arm())
    assert says in str(error.value) and "fix:" in str(error.value)


def test_a_formulation_may_return_a_plain_number():
    assert lw.function(arm(), lambda model, q: 3.0)(q=np.zeros((4, 2))).tolist() == [3.0] * 4


def test_more_samples_than_the_blocks_hold_are_refused():
    kernel = lw.function(arm(), lw.crba)
    blocks = kernel.blocks(**kernel.pack(q=np.zeros((3, 2))))
    for samples in (-1, 1000):
        with pytest.raises(lw.RunError, match=f"{samples} samples of"):
            kernel.unpack(blocks, samples)


@pytest.mark.parametrize(
    ("formulation", "options", "shape"),
    [
        (lw.crba, {}, (1, 1)),
        (lw.jacobian, {"frame": "b"}, (6, 1)),
        (lw.bias, {}, (1,)),
        (lw.gravity_forces, {}, (1,)),
        (lw.aba, {}, (1,)),
        (lw.rnea, {}, (1,)),
        (lw.difference, {}, (1,)),
        (lw.integrate, {}, (1,)),
    ],
)
def test_a_mechanism_of_one_freedom_has_vectors_and_matrices_too(formulation, options, shape):
    m = lw.Mechanism("rod").body("b", 1, (0, 0, 0.5), (1, 1, 0))
    kernel = lw.function(m.joint("pin", "revolute", "world", "b", axis="x").build(), formulation, **options)
    given = {p.name: np.ones((5, *p.sample)) for p in kernel.inputs}
    assert kernel(**given).shape == (5, *shape)
    assert kernel(**{name: x[0] for name, x in given.items()}).shape == shape
