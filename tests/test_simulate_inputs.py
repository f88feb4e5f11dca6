"""What `simulate` is given: units everywhere, one value a sample, and nothing that cannot be meant."""

import numpy as np
import pytest

import linkwork as lw


@pytest.fixture(scope="module")
def model():
    return lw.read("examples/arm.yaml")


def loose():
    m = lw.Mechanism("loose", gravity=(0, 0, 0)).body("hull", 2, inertia=(1, 1, 1))
    m.joint("base", "free", "world", "hull")
    return m.start({"base.rotation": (0, 0, 1.0), "base.x": 3.0}).build()


def test_lists_of_starts_and_parameters_may_carry_units(model):
    start, loads = {"elbow": ["10 deg", "20 deg"]}, {"payload.mass": ["300 g", "1 kg"]}
    run = lw.simulate(model, start, 0.1, times=1, parameters=loads)
    same = lw.simulate(model, {"elbow": np.deg2rad([10, 20])}, 0.1, times=1, parameters={"payload.mass": [0.3, 1.0]})
    assert np.array_equal(run["q"].values, same["q"].values)


def test_a_start_that_names_no_attitude_keeps_the_one_of_the_model():
    turned = [0, 0, 0.47942553860420301, 0.87758256189037276]  # half the angle: 0.5
    for start in ({"base.x": 2.0}, {"base.x": [1.0, 2.0]}, {"base.position": (0, 1, 2)}, {"base.velocity": (1, 0, 0)}):
        q = lw.simulate(loose(), start, 0.1, times=1)["q"].values[:, 0]
        np.testing.assert_allclose(q[:, [4, 5, 6, 3]], np.tile(turned, (len(q), 1)), atol=1e-15)
    assert lw.simulate(loose(), {"base.rotation": (0, 0, 0)}, 0.1, times=1)["q"][0, 3] == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start": [1, 2]}, "start is"),
        ({"start": {"elbow": ["10 m"]}}, "not one of an angle"),
        ({"start": {"elbow": []}}, "shape (0,)"),
        ({"start": {"elbow": np.zeros((2, 2))}}, "shape (2, 2)"),
        ({"start": {"elbow": [[1], [1, 2]]}}, "one for each sample"),
        ({"start": {"q": ["1 deg", "2 deg"]}}, "not an array of numbers"),
        ({"start": {"q": np.zeros((3, 3, 2))}}, "shape (3, 3, 2)"),
        ({"start": {"q": np.zeros((0, 2))}}, "shape (0, 2)"),
        ({"start": {"q": [0, 0], "elbow": 1}}, "tells 'elbow' twice"),
        ({"parameters": [1]}, "parameters is"),
        ({"parameters": {"payload.mass": "300 m"}}, "not one of a mass"),
        ({"parameters": {"payload.mass": [1, -2]}}, "of sample 1 is -2, below zero"),
        ({"parameters": {"payload.mass": True}}, "is true"),
        ({"parameters": {"payload.mass": np.ones((2, 1))}}, "shape (2, 1)"),
        ({"rtol": -1}, "rtol is -1"),
        ({"rtol": float("nan")}, "rtol is nan"),
        ({"atol": [1e-6, 1e-6]}, "atol is"),
        ({"rtol": 0, "atol": 0}, "both zero"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"max_steps": 2.5}, "max_steps is 2.5"),
        ({"threads": 0}, "threads is 0"),
        ({"times": 0.1}, "rising list"),
        ({"times": ["soon"]}, "not a number"),
        ({"times": [0.1, 0.5]}, "after until = 0.2 s"),
        ({"events": lw.Event("e", lambda s: s.t)}, "not a list"),
        ({"events": [lambda s: s.t]}, "no event: function"),
        ({"events": [lw.Event("e", lambda s: "soon")]}, "gives str, not a number"),
        ({"events": [lw.Event("e", lambda s: s.t, "reset", reset=lambda s: [1])]}, "returned list"),
        ({"events": [lw.Event("e", lambda s: s.t, "reset", reset=lambda s: {"elbow": [1, 2]})]}, "2 numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(model, given, said):
    with pytest.raises(lw.LinkworkError) as caught:
        lw.simulate(model, **{"until": 0.2, **given})
    assert said in str(caught.value) and "fix:" in str(caught.value)


def test_a_run_goes_on_to_its_end_after_the_last_time_recorded(model):
    late = lw.Event("late", lambda s: s.t - 0.15, "record")
    run = lw.simulate(model, until=0.2, times=["0 s", "50 ms", 0.1], events=[late])
    whole = lw.simulate(model, until=0.2, times=[0.05, 0.1, 0.2], events=[late])
    assert run.statuses[0].time == 0.2 and list(run.time) == [0.0, 0.05, 0.1] and len(run.events[0]) == 1
    assert np.array_equal(run["q"].values, whole["q"].values[:, :3])
    assert lw.simulate(model, times=[0.05, 0.1]).statuses[0].time == 0.1


def test_a_reset_may_carry_units(model):
    at = lw.Event("at", lambda s: s.t - 0.1, "reset", reset=lambda s: {"elbow": "10 deg", "elbow.rate": 0})
    run = lw.simulate(model, until=0.1 + 1e-9, times=1, events=[at])
    assert abs(run["elbow"][-1] - np.deg2rad(10)) < 1e-6  # what it moves in a nanosecond


def test_the_coordinate_that_was_given_no_number_is_named(model):
    run = lw.simulate(model, {"elbow": [0.1, np.nan]}, 0.1)
    assert run.ok.tolist() == [True, False] and run.statuses[1].where == "elbow"
    q = np.tile(loose().neutral, (2, 1))
    q[1, 5] = np.nan
    assert lw.simulate(loose(), {"q": q}, 0.1).ok.tolist() == [True, False]


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rodas5p"])
def test_a_sample_that_diverges_names_the_coordinate_that_runs_away(method):
    """The work of the law overflows before the coordinate does."""
    m = lw.Mechanism("boom", gravity=(0, 0, 0)).body("b", 1).body("c", 1)
    m.joint("x", "prismatic", "world", "b", axis="x").joint("y", "prismatic", "world", "c", axis="x")
    run = lw.simulate(m.law(lambda s: {"y": s.q("y") ** 3}, "boom").build(), {"y": [1.0, 0.0]}, method=method)
    assert run.statuses[0].text == "diverged" and run.statuses[0].where in ("y", "y.rate") and run.ok[1]
