"""Events of a model: none is lost, and what a reset takes is in the balance."""

import numpy as np
import pytest

import linkwork as lw


def swinging(action="record", reset=None):
    m = lw.Mechanism("swing", gravity=(0, 0, 0)).body("b", 1)
    model = m.joint("x", "prismatic", "world", "b", axis="x", stiffness=(2 * np.pi) ** 2).build()
    return model, lw.Event("zero", lambda s: s.q("x"), action, reset=reset)


def test_no_event_is_lost_however_many_there_are():
    model, zero = swinging()
    late = lw.Event("late", lambda s: s.t - 90.1, "stop")
    run = lw.simulate(model, {"x": 1.0}, 100, events=[zero, late])
    assert [name for _, name in run.events[0]] == ["zero"] * 180 + ["late"]
    assert run.statuses[0].text == "stopped by event 'late'"


def test_a_sample_with_more_events_than_room_is_run_again_with_room_enough(monkeypatch):
    model, zero = swinging()
    whole = lw.simulate(model, {"x": [1.0, 1.0, 1.0]}, 10, events=[zero])
    monkeypatch.setattr("linkwork.simulation.run.LONGEST", 7)
    run = lw.simulate(model, {"x": [1.0, 0.0, 1.0]}, 10, events=[zero])
    assert run.events[0] == run.events[2] == whole.events[0] and len(run.events[0]) == 20
    assert run.events[1] == ()


def test_what_a_reset_takes_counts_as_work():
    m = lw.Mechanism("ball").body("b", 1, inertia=(1, 1, 1)).joint("base", "free", "world", "b")
    hit = lw.Event("hit", lambda s: s.q("base.z"), "reset", -1, lambda s: {"base.v_z": -0.7 * s.v("base.v_z")})
    run = lw.simulate(m.build(), {"base.position": (0, 0, 1), "base.omega": (0, 0, 2)}, 1.0, events=[hit])
    assert run.trust.energy_error < 1e-12
    assert run["work"][-1] == pytest.approx(-9.81 * (1 - 0.7**2), rel=1e-9)  # one impact, located to 1e-12 s
