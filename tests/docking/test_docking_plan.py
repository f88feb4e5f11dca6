"""Options of a docking's plan: other vehicles, cones, laws; what cannot be is refused by name, or is one sample's."""

import numpy as np
import pytest

from linkwork.docking import BOX, STATION, Design, Docking, DockingStudy
from linkwork.docking.plan import docking
from linkwork.errors import LinkworkError
from linkwork.model import contacts
from linkwork.sweeps import sweep

PLAN = """
study: docking
samples: 48
seed: 4
options: {options}
vary:
  closing: {{uniform: [0.05, 0.35 m/s]}}
  offset: {{uniform: [0, 0.30 m]}}
  clock: {{uniform: [0 deg, 360 deg]}}
  rate_y: {{uniform: [-1 deg/s, 1 deg/s]}}
{more}
success: capture > 0 s
"""


def run(tmp_path, options="{}", more="", **changes):
    (tmp_path / "p.yaml").write_text(PLAN.format(options=options, more=more))
    return sweep(tmp_path / "p.yaml", **changes)


@pytest.mark.parametrize(
    "options",
    [
        "{target: station, control: none}",
        "{cone: {half_angle: 45 deg, friction: 0, restitution: 0.6}}",
        "{cone: {half_angle: 60 deg, restitution: 0.05}, thrust: 1.5 kN}",
        "{modes: [{motion: slide, axis: x, frequency: 2 Hz}, {motion: turn, axis: y, frequency: 0.8 Hz}]}",
        "{rigid: true, control: none}",
        "{probe: {head: 30 mm}}",
        "{probe: {head: 50 mm, swing: 18 deg}, method: rodas5p}",
        "{chaser: {mass: 14 t, inertia: [3e4, 9e4, 9e4 kg*m^2], port: 4 m}, rtol: 1e-9, atol: 1e-9}",
    ],
)
def test_other_designs_run_to_named_ends_and_keep_momentum_and_energy(options, tmp_path):
    """Drifts of 1e-9 are asked of the default method at the plan's tolerance; the stiff one of order 5 leaves 1e-8.
    Energy: 1e-5, what steps at rtol 1e-6 that go over the kinks of contact leave of it."""
    found = run(tmp_path, options)
    assert found.ok.all() and set(found["status"]) <= {"capture", "time-out", "bounce-out", "miss"}
    most = 1e-8 if "rodas5p" in options else 1e-9
    for name in ("momentum_drift", "angular_drift"):
        told = found[name][np.isfinite(found[name])]
        assert not len(told) or told.max() < most, name
    assert found["energy_error"].max() < 1e-5
    assert (found["energy_lost"] > 0).all() or "thrust" in options


@pytest.mark.parametrize("design", [{}, {"target": STATION}, {"rigid": True}], ids=["module", "station", "rigid"])
def test_momentum_is_constant_in_each_of_two_thousand_samples(design):
    """Where phases begin and end, most starts at the edges of the box; 1e-9 of each sample's own momentum."""
    rng = np.random.default_rng(31)
    edges = {k: (a + b) / 2 + (b - a) / 2 * np.cos(np.pi * rng.uniform(0, 1, 2000)) for k, (a, b) in BOX.items()}
    found = DockingStudy(Docking(Design(control=None, **design)), until=10.0).run_samples(edges)
    assert (found["code"] <= 1).all() and (found["value:energy_lost"] > 0).all()
    for name in ("momentum_drift", "angular_drift"):
        assert np.max(found[f"trust:{name}"]) < 1e-9, name


def test_the_momentum_of_a_station_passes_through_capture():
    """At every output, of each sample's own: moments of 1e8 kg m² turn a rate of 1e-12 rad/s into 1e-4 N m s."""
    rng = np.random.default_rng(7)
    study = DockingStudy(Docking(Design(target=STATION, control=None)), until=10.0)
    run = study.run({k: rng.uniform(a, b, 128) for k, (a, b) in BOX.items()}, times=100)
    p = run["momentum"].values
    for part in (p[:, :, :3], p[:, :, 3:]):
        off = np.linalg.norm(part - part[:, :1], axis=2) / np.linalg.norm(part[:, :1], axis=2)
        assert np.nanmax(off) < 1e-9


def test_the_seat_fits_the_head_that_is_told():
    assert docking(probe={"head": "30 mm"}).docking.design.cone.seat == pytest.approx(0.032)
    told = docking(probe={"head": "30 mm"}, cone={"seat": "50 mm"})
    assert told.docking.design.cone.seat == pytest.approx(0.05)


# --- restitution ---
def test_restitution_may_vary_and_is_the_dissipation_it_asks_for(tmp_path):
    found = run(tmp_path, more="  restitution: {uniform: [0.05, 0.6]}")
    study, inputs = docking(), {x.name: found[x.name] for x in found.plan.inputs}
    inputs["contact.dissipation"] = np.array([contacts.dissipation(e, 0.2) for e in inputs.pop("restitution")])
    again = study.run_samples(inputs)
    assert again["value:contact_force"].tobytes() == found["contact_force"].tobytes()
    some = found.replay(3)
    assert np.nanmax(some["contact_force"][:]) <= found["contact_force"][3] * (1 + 1e-9)


# --- what cannot be ---
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("{cone: {half_angle: 0 deg}}", "the cone's half angle is zero or less"),
        ("{cone: {half_angle: 95 deg}}", "half angle is 90 deg or more"),
        ("{cone: {mouth: 2 cm}}", "the mouth of the cone is no wider than its seat"),
        ("{probe: {head: 50 mm}, cone: {seat: 42 mm}}", "the head does not fit into the seat"),
        ("{target: {mass: -5 kg}}", "mass of body 'target' is -5 kg, below zero"),
        ("{cone: {friction: -0.1}}", "friction of law 'contact' is below zero"),
        ("{probe: {stroke: [0.3, -0.1 m]}}", "lower of law 'stops' is above its upper"),
        ("{capture: {near: 0 mm}}", "near of capture is 0"),
        ("{cone: {restitution: 1.5}}", "restitution 1.5"),
        ("{method: euler}", "method of the docking is 'euler'"),
        ("{method: dorpi5}", "did you mean 'dopri5'"),
        ("{times: 0}", "times of the docking is 0"),
        ("{thrst: 3 N}", "did you mean 'thrust'"),
        ("{target: statoin}", "did you mean 'station'"),
        ("{cone: {half_angel: 50 deg}}", "did you mean 'half_angle'"),
        ("{thrust: 3 kg}", "thrust of the docking"),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_its_line(options, text, tmp_path):
    with pytest.raises(LinkworkError, match=r"p\.yaml:5") as caught:
        run(tmp_path, options)
    assert text in str(caught.value) and ".py:" not in str(caught.value)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ("  target.mass: {values: [-5 kg, 20000 kg]}", "bad start: mass of body 'target' is -5 kg, below zero"),
        ("  contact.half_angle: {values: [-5 deg, 50 deg]}", "bad start: the cone's half angle is zero or less"),
        ("  contact.half_angle: {values: [95 deg, 50 deg]}", "bad start: the cone's half angle is 90 deg or more"),
        ("  contact.radius: {values: [0.05, 0.04 m]}", "bad start: the head does not fit into the seat of the cone"),
        ("  contact.stiffness: {values: [-1e6, 1e6 N/m]}", "bad start: stiffness of law 'contact' is below zero"),
        ("  contact.onset: {values: [0, 0.5 mm]}", "bad start: onset of law 'contact' is zero"),
        ("  restitution: {values: [0, 0.3]}", "bad start: restitution is 0, not above 0 and up to 1"),
    ],
)
def test_numbers_that_cannot_be_are_named_in_their_samples_and_leave_the_others(more, text, tmp_path):
    found = run(tmp_path, more=more)
    bad = found["code"] == 5
    assert 5 < bad.sum() < 43 and set(found["status"][bad]) == {text}
    assert found.ok[~bad].all() and np.isfinite(found["contact_force"][~bad]).all()
    assert np.isnan(found["contact_force"][bad]).all() and not found["success"][bad].any()
    with pytest.raises(LinkworkError, match=text.split(" is ")[0]):
        found.replay(int(np.flatnonzero(bad)[0]))


def test_restitution_and_dissipation_are_one_thing(tmp_path):
    with pytest.raises(LinkworkError, match=r"restitution and contact\.dissipation are two names"):
        run(tmp_path, more="  restitution: 0.3\n  contact.dissipation: 3")


def test_numbers_of_laws_that_cannot_be_are_named_for_any_model(tmp_path):
    (tmp_path / "m.yaml").write_text("""
gravity: [0, 0, 0]
bodies: {block: {mass: 2, inertia: [1, 1, 1]}}
joints: {slide: {kind: prismatic, parent: world, child: block, axis: x}}
laws: {stops: {kind: stop, joint: slide, lower: -1, upper: 1, stiffness: 1e4, onset: 1 mm}}
""")
    vary = {"stops.stiffness": {"values": [-1e4, 1e4]}, "slide.rate": 1.0}
    found = sweep(tmp_path / "m.yaml", vary, samples=20, until=2, record={"x": "max of slide"})
    bad = found["stops.stiffness"] < 0
    assert set(found["status"][bad]) == {"bad start: stiffness of law 'stops' is below zero"}
    assert found.ok[~bad].all() and (found["x"][~bad] < 1.1).all()
