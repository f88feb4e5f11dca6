"""Probe and cone: random first contacts from approach to levelling."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.docking import BOX, COLUMNS, Capture, Design, Docking, DockingStudy, Mode, apart, joined
from linkwork.docking.probe_cone import approach_of_head

FILES = Path(__file__).parents[2] / "examples" / "docking"


def drawn(n, seed=1, **more):
    """Uniform draws over the box of contact conditions."""
    rng = np.random.default_rng(seed)
    return {k: rng.uniform(a, b, n) for k, (a, b) in BOX.items()} | more


def told(study, inputs, **options):
    """What is kept of the samples, by names without their kind."""
    return {name.rpartition(":")[2]: x for name, x in study.run_samples(inputs, **options).items()}


NAMES = [name.rpartition(":")[2] for name in COLUMNS]


def digest(found):
    return hashlib.sha256(b"".join(np.ascontiguousarray(found[k]).tobytes() for k in [*NAMES, "code"])).hexdigest()


@pytest.fixture(scope="module")
def free():
    """256 samples without thrust and attitude control, with outputs every 0.04 s."""
    return DockingStudy(Docking(Design(control=None))).run(drawn(256, 7), times=300)


@pytest.fixture(scope="module")
def plain():
    return DockingStudy()


def test_momentum_of_both_vehicles_is_constant_in_every_sample(free, figures):
    """Linear and angular, relative to each sample's own, through first contact and capture, at every output."""
    p = free["momentum"].values
    for name, part in (("linear", p[:, :, :3]), ("angular", p[:, :, 3:])):
        off = np.linalg.norm(part - part[:, :1], axis=2) / np.linalg.norm(part[:, :1], axis=2)
        figures("docking", f"{name} momentum, 256 samples", worst=f"{np.nanmax(off):.1e}", asked="1e-09")
        assert np.nanmax(off) < 1e-9
    assert free.ok.all() and {"capture", "bounce-out"} <= set(free.outcome)


def test_energy_never_rises_but_for_what_the_levers_bring(free, figures):
    """Kinetic energy, springs, and what contact and stops store. 1e-5 J of a few 100 J: rtol 1e-6 and dense output."""
    stored = free.measure(lambda s: sum(law.function.stored(s) for law in s._model.laws if law.name != "thrust"))
    total = free["energy"].values + stored.values
    levers = free.entering("captured", "spring_energy") - free.leaving("contact", "spring_energy")
    after = free.time[None, :] >= np.nan_to_num(free.entered["captured"], nan=np.inf)[:, None]
    rise = np.diff(total - np.where(after, levers[:, None], 0.0), axis=1)
    figures("docking", "largest rise of energy [J]", worst=f"{np.nanmax(rise):.1e}", asked="1e-05")
    assert np.nanmax(rise) < 1e-5 and np.nanmin(total[:, 0]) > 10


def test_capture_is_what_the_capture_logic_says(free):
    caught = np.array(free.outcome) == "capture"
    near = np.linalg.norm(free.leaving("contact", lambda s: approach_of_head(s)[0])[caught], axis=1)
    speed = free.leaving("contact", lambda s: approach_of_head(s)[1])[caught]
    assert (near < 5e-3 + 1e-9).all() and (speed > 0.03 - 1e-9).all()
    assert (np.isclose(near, 5e-3, atol=1e-9) | np.isclose(speed, 0.03, atol=1e-9)).all()
    held = free.end(lambda s: approach_of_head(s)[0])[caught]
    assert np.allclose(held, free.leaving("contact", lambda s: approach_of_head(s)[0])[caught], rtol=0, atol=1e-11)
    assert (free.peaks["grip_force"][caught] > 0).all() and np.isnan(free.peaks["grip_force"][~caught]).all()


def test_levelling_brings_the_captured_vehicles_to_rest():
    found = told(DockingStudy(until=60.0), {"closing": 0.2, "pitch": 0.05, "yaw": -0.03, "offset": 0.1})
    assert found["text"] == ("capture",)
    assert found["end_speed"][0] < 2e-3 and found["end_rate"][0] < 3e-4 and found["end_angle"][0] < 3e-3


@pytest.mark.parametrize(
    ("inputs", "capture", "outcome"),
    [
        ({"closing": 0.2}, Capture(), "capture"),
        ({"closing": 0.1, "offset": 0.3, "clock": 1.0}, Capture(), "time-out"),
        ({"closing": 0.3, "offset": 0.3}, Capture(speed=0.5), "bounce-out"),
        ({"closing": 0.3, "offset": 0.5}, Capture(), "miss"),
        ({"closing": 0.3, "offset": 0.4, "lateral_y": 0.1}, Capture(), "miss"),  # the rim, from outside
        ({"closing": -0.1}, Capture(), "no contact"),
    ],
)
def test_each_end_has_its_name(inputs, capture, outcome):
    found = told(DockingStudy(Docking(capture=capture)), inputs)
    assert found["text"] == (outcome,) and found["code"][0] <= 1
    assert np.isfinite(found["capture"][0]) == (outcome == "capture")
    if "lateral_y" in inputs:
        assert np.isfinite(found["contact"][0])


def test_thrust_captures_at_speeds_at_which_nothing_else_does():
    slow = {"closing": np.linspace(0.03, 0.12, 12), "offset": 0.2, "clock": 0.7}
    without = told(DockingStudy(), slow)["text"]
    with_it = told(DockingStudy(Docking(parameters=("thrust.x",))), {**slow, "thrust.x": 1500.0})["text"]
    assert with_it.count("capture") == 12 and without.count("capture") < 6


def test_parameters_vary_from_sample_to_sample_in_laws_joints_and_events(plain):
    """Each sample of a mixed batch is that of a design with its numbers built in, but for rounding."""
    names = ("contact.friction", "target.mass", "slide.damping")
    rows = [(0.05, 2e4, 3000.0), (0.2, 4.2e5, 2500.0)]
    inputs = {"closing": 0.25, "offset": 0.1, "lateral_y": 0.04}
    columns = dict(zip(names, np.array(rows).T, strict=True))
    mixed = told(DockingStudy(Docking(parameters=names)), inputs | columns)
    for k, (friction, mass, damping) in enumerate(rows):
        base = Design()
        d = replace(
            base, cone=replace(base.cone, friction=friction), probe=replace(base.probe, axial_damping=damping),
            target=replace(base.target, mass=mass),
        )  # fmt: skip
        alone = told(DockingStudy(Docking(d)), inputs)
        assert alone["text"][0] == mixed["text"][k]
        for name in ("contact", "contact_force", "stroke", "absorber_force"):
            assert alone[name][0] == pytest.approx(mixed[name][k], rel=1e-6)


def test_bits_do_not_depend_on_threads_lanes_or_parts(plain):
    """Whole, in parts of any size, one by one: what a part contains depends on its samples alone."""
    n = 61
    inputs = drawn(n, 3)
    whole = told(plain, inputs, threads=1)
    assert digest(told(plain, inputs, threads=2)) == digest(whole)
    for size in (1, 8, 25):
        parts = [
            told(plain, {k: x[a : a + size] for k, x in inputs.items()}) for a in range(0, n, size)
        ]  # fmt: skip
        for name in (*NAMES, "code", "end"):
            assert np.concatenate([p[name] for p in parts]).tobytes() == whole[name].tobytes(), name


def test_one_bad_sample_leaves_the_others_as_they_are(plain):
    inputs = drawn(24, 5)
    whole = told(plain, inputs)
    inputs["closing"][7] = np.nan
    found = told(plain, inputs)
    others = np.arange(24) != 7
    assert found["code"][7] > 1 and "diverged" in found["text"][7]
    assert found["contact_force"][others].tobytes() == whole["contact_force"][others].tobytes()


# --- against an independent run ---
def independent(study, inputs, method="DOP853", rtol=1e-9):
    """(outcome, peak force, least value of the capture function) of one sample by SciPy on the same right-hand side."""
    phase = study.study.phase("contact")
    motion, rhs = phase.motion, phase.system.rhs
    start = study.starts(inputs)
    y0 = np.concatenate([start["q"][0], start["v"][0], np.zeros(motion.n - len(start["q"][0]) - len(start["v"][0]))])

    def event(k, sign):
        def g(t, y):
            return float(motion.events(t, y, [])[k])

        g.terminal, g.direction = True, sign
        return g

    ends = [event(k, e.direction) for k, e in enumerate(motion.event_list)]
    run = solve_ivp(
        rhs, (0, study.until), y0, method=method, rtol=rtol, atol=rtol, events=ends, dense_output=True, max_step=0.02
    )
    t = np.arange(0, run.t[-1], 2e-4)
    forces = np.array(motion.peaks.map(len(t))(t, run.sol(t), np.zeros((0, len(t)))))[0]
    fine = np.clip(t[forces.argmax()] + np.linspace(-2e-4, 2e-4, 401), 0, run.t[-1])
    greatest = np.array(motion.peaks.map(len(fine))(fine, run.sol(fine), np.zeros((0, len(fine)))))[0].max()
    outcome = next((e.name for e, found in zip(motion.event_list, run.t_events, strict=True) if len(found)), "time-out")
    touched = t[np.argmax(forces > 0)] if forces.any() else np.inf
    if run.t[-1] > touched + study.docking.capture.limit:
        outcome = "time-out"
    nearest = np.array(motion.events.map(len(t))(t, run.sol(t), np.zeros((0, len(t)))))[0].min()
    return outcome, greatest, nearest


def compared(count, seed, figures, method="DOP853", rtol=1e-9):
    """Peak force within 1 %, outcome equal where the capture function stays 1e-4 (m, m/s) away from its zero."""
    study = DockingStudy()
    inputs = drawn(count, seed)
    found = told(study, inputs)
    worst = 0.0
    for k in range(count):
        outcome, force, nearest = independent(study, {n: x[k] for n, x in inputs.items()}, method, rtol)
        worst = max(worst, abs(found["contact_force"][k] / force - 1))
        if abs(nearest) > 1e-4 or outcome == "capture":
            assert found["text"][k] == outcome, k
    figures("docking", f"peak force against SciPy {method}, {count} samples", worst=f"{worst:.1e}", asked="1e-02")
    assert worst < 0.01


def test_peak_force_and_outcome_are_those_of_an_independent_run(figures):
    compared(3, 11, figures)


@pytest.mark.slow
def test_peak_force_and_outcome_of_fifty_samples_are_those_of_an_independent_run(figures):
    compared(50, 12, figures)


@pytest.mark.slow
def test_an_implicit_run_agrees_too(figures):
    compared(3, 13, figures, "Radau", 1e-7)


def test_peak_force_has_converged_at_the_default_tolerance(plain, figures):
    """Against a run a thousand times sharper: 0.1 % of each sample's peak force; outcomes equal but at the boundary."""
    inputs = drawn(64, 21)
    a, b = told(plain, inputs), told(DockingStudy(rtol=1e-9, atol=1e-9), inputs)
    off = np.abs(a["contact_force"] / b["contact_force"] - 1).max()
    figures("docking", "peak force, tolerance 1e-6 against 1e-9", worst=f"{off:.1e}", asked="1e-03")
    assert off < 1e-3
    assert sum(x != y for x, y in zip(a["text"], b["text"], strict=True)) <= 1


# --- the same from files ---
@pytest.mark.parametrize("kind", ["yaml", "tables"])
def test_tables_and_yaml_give_the_bits_of_the_python_model(kind, plain):
    suffix = ".yaml" if kind == "yaml" else ""
    models = {name: lw.read(FILES / f"{name}{suffix}") for name in ("contact", "captured")}
    assert {k: v for k, v in models["contact"].values.items()} == apart(Design()).values
    assert models["captured"].values == joined(Design()).values
    inputs = drawn(40, 9)
    assert digest(told(DockingStudy(Docking(models=models)), inputs)) == digest(told(plain, inputs))


def test_laws_go_through_tables_and_back(tmp_path):
    model = apart(replace(Design(), thrust=1500.0))
    lw.write_tables(model, tmp_path / "m")
    again = lw.read(tmp_path / "m")
    assert [law.function for law in again.laws] == [law.function for law in model.laws]
    (tmp_path / "m" / "laws.csv").write_text("law,key,value\npush,kind,thrst\n")
    with pytest.raises(lw.ModelError, match=r"laws\.csv:2: law 'push' is of unknown kind 'thrst'"):
        lw.read(tmp_path / "m")


# --- elastic port ---
MODES = (Mode("slide", "x", 2.0), Mode("turn", "y", 0.8), Mode("turn", "z", 0.9))


def test_momentum_passes_through_an_elastic_port():
    d = Design(control=None, modes=MODES)
    run = DockingStudy(Docking(d)).run(drawn(16, 2), times=100)
    p = run["momentum"].values
    off = np.linalg.norm(p - p[:, :1], axis=2) / np.linalg.norm(p[:, :1], axis=2)
    assert np.nanmax(off) < 1e-8 and "capture" in run.outcome
    bent = np.abs(run.entering("captured", "flex_2") - run.leaving("contact", "flex_2"))
    sign = np.abs(run.entering("captured", "flex_2") + run.leaving("contact", "flex_2"))
    caught = np.array(run.outcome) == "capture"
    assert np.minimum(bent, sign)[caught].max() < 1e-12  # the same mode, seen from its other end


def test_a_stiff_port_is_a_rigid_one():
    rigid = told(DockingStudy(), {"closing": 0.15, "offset": 0.05})
    base = Design()
    heavy = replace(base.target, mass=base.target.mass - 200.0)  # the port's mass is its own
    stiff = Design(target=heavy, modes=(Mode("slide", "x", 60.0, 0.05),))
    found = told(DockingStudy(Docking(stiff)), {"closing": 0.15, "offset": 0.05})
    assert found["text"] == rigid["text"]
    for name in ("contact", "stroke"):
        assert found[name][0] == pytest.approx(rigid[name][0], rel=1e-2)


# --- mistakes ---
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: told(DockingStudy(), {"closng": 0.1}), "no input 'closng'"),
        (lambda: Docking(parameters=("contact.frction",)).study(), "no model of the docking has a number"),
    ],
)
def test_mistakes_are_told_by_name(make, text):
    with pytest.raises(lw.LinkworkError, match=text):
        make()
