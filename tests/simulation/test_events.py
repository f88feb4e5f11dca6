"""Events are seen, found in order, located to the last digits, and acted upon."""

import casadi as ca
import numpy as np
import pytest
from systems import ball, function, kepler, kepler_start, motion

from linkwork.simulation.control import Status
from linkwork.simulation.motion import Event
from linkwork.simulation.run import METHODS, integrate

IMPACTS = (0.4515236409857, 1.083656738366, 1.526149906532, 1.835895124248)
"""Of a ball that falls 1 m with restitution 0.7 and g = 9.81 m/s²."""


def options(method):
    return {"step": 0.01} if method in ("euler", "rk4") else {"rtol": 1e-10, "atol": 1e-12}


@pytest.mark.parametrize("method", ["rk4", "dopri5", "dop853", "rodas5p"])
def test_a_bouncing_ball_hits_the_floor_on_time(method):
    found = integrate(ball(), np.array([[1.0, 0.0]]), [[0.7]], np.linspace(0, 2, 41), method, **options(method))
    times = [t for t, name in found.events.of(0)]
    np.testing.assert_allclose(times, IMPACTS, rtol=0, atol=2e-12)
    assert found.y[0, :, 0].min() > -1e-9
    assert np.isfinite(found.y).all()
    # between impacts the motion is a parabola; speed after the first is 0.7 √(2 g)
    t = found.t[(found.t > times[0]) & (found.t < times[1])] - times[0]
    height = 0.7 * np.sqrt(2 * 9.81) * t - 9.81 / 2 * t**2
    np.testing.assert_allclose(found.y[0, (found.t > times[0]) & (found.t < times[1]), 0], height, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_ends_the_sample_at_the_event(method):
    y0 = np.array([[1.0, 0.0], [2.0, 0.0]])
    found = integrate(ball("stop"), y0, [[0.7]], np.linspace(0, 2, 41), method, **options(method))
    exact = np.sqrt(2 * np.array([1.0, 2.0]) / 9.81)
    assert (found.status == Status.STOPPED).all() and found.ok.all()
    np.testing.assert_allclose(found.t_end, exact, atol=1e-2 if method == "euler" else 1e-11)
    assert abs(found.y_end[:, 0]).max() < 1e-9
    for k in range(2):
        after = found.t > found.t_end[k]
        assert np.isnan(found.y[k, after]).all() and np.isfinite(found.y[k, ~after]).all()
    assert found.reason(0).startswith("stopped by event 'impact' at t = 0.4")


@pytest.mark.parametrize(("direction", "first"), [(0, np.pi / 2), (1, 3 * np.pi / 2), (-1, np.pi / 2)])
def test_direction_chooses_which_crossings_count(direction, first):
    oscillator = motion(
        2, lambda t, y, p: ca.vertcat(y[1], -y[0]), events=function(2, 0, lambda t, y, p: y[0]),
        event_list=(Event("through zero", "record", direction),),
    )  # fmt: skip
    found = integrate(oscillator, np.array([[1.0, 0.0]]), None, (0, 20), "dop853", rtol=1e-12, atol=1e-13)
    times = [t for t, name in found.events.of(0)]
    apart = np.pi if direction == 0 else 2 * np.pi
    np.testing.assert_allclose(times, np.arange(first, 20, apart), atol=1e-10)
    assert found.status[0] == Status.OK


def test_recording_does_not_disturb_the_motion():
    plain = integrate(kepler(), kepler_start(0.4), None, np.linspace(0, 20, 30), "dop853")
    watched = motion(
        4, kepler().rhs, events=function(4, 0, lambda t, y, p: ca.vertcat(y[0], y[1])),
        event_list=(Event("x", "record"), Event("y", "record")),
    )  # fmt: skip
    found = integrate(watched, kepler_start(0.4), None, np.linspace(0, 20, 30), "dop853")
    np.testing.assert_array_equal(plain.y, found.y)
    assert found.events.counts[0] == 13
    assert {name for _, name in found.events.of(0)} == {"x", "y"}
    assert (np.diff(found.events.times[0, :13]) > 0).all()


def test_two_crossings_in_one_step_are_both_seen_in_order():
    """A long step (the motion is a parabola) in which the height passes 0.5 twice and 0.95 twice."""
    levels = motion(
        2, lambda t, y, p: ca.vertcat(y[1], -2),
        events=function(2, 0, lambda t, y, p: y[0] - ca.vertcat(0.5, 0.95)),
        event_list=(Event("low", "record"), Event("high", "record")),
    )  # fmt: skip
    found = integrate(levels, np.array([[0.0, 2.0]]), None, (0, 3), "dop853", h0=1.0)
    expected = [(1 - np.sqrt(0.5), "low"), (1 - np.sqrt(0.05), "high"), (1 + np.sqrt(0.05), "high"),
                (1 + np.sqrt(0.5), "low")]  # fmt: skip
    assert [name for _, name in found.events.of(0)] == [name for _, name in expected]
    np.testing.assert_allclose([t for t, _ in found.events.of(0)], [t for t, _ in expected], atol=1e-11)
    assert found.steps[0] < 10


def test_events_at_the_same_time_all_happen():
    """A corner: both walls turn the motion back, whichever is first."""
    signs = ((-1, 1), (1, -1))
    flip = [function(4, 0, lambda t, y, p, a=a, b=b: ca.vertcat(y[:2], a * y[2], b * y[3])) for a, b in signs]
    box = motion(
        4, lambda t, y, p: ca.vertcat(y[2:], 0, 0), events=function(4, 0, lambda t, y, p: 1 - y[:2]),
        event_list=(Event("right", "reset", -1, flip[0]), Event("top", "reset", -1, flip[1])),
    )  # fmt: skip
    found = integrate(box, np.array([[0.0, 0.0, 1.0, 1.0]]), None, (0, 1.5), "dopri5")
    assert sorted(name for _, name in found.events.of(0)) == ["right", "top"]
    np.testing.assert_allclose(found.events.times[0, :2], 1.0, atol=1e-11)
    np.testing.assert_allclose(found.y[0, -1], [0.5, 0.5, -1, -1], atol=1e-11)


def test_a_reset_that_lets_the_motion_pass_happens_once():
    """A layer of water halves the speed; the body goes on through it."""
    slow = function(2, 0, lambda t, y, p: ca.vertcat(y[0], 0.5 * y[1]))
    water = motion(
        2, lambda t, y, p: ca.vertcat(y[1], 0), events=function(2, 0, lambda t, y, p: y[0]),
        event_list=(Event("surface", "reset", 0, slow),),
    )  # fmt: skip
    found = integrate(water, np.array([[1.0, -1.0]]), None, (0, 2), "dopri5")
    assert found.events.counts[0] == 1
    assert found.y[0, -1, 0] == pytest.approx(-0.5, abs=1e-11)


@pytest.mark.parametrize("restitution", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("method", ["dop853", "rk4"])
def test_a_ball_that_comes_to_rest_ends_with_a_reason(method, restitution):
    """Bounces without end in finite time stop the sample; the ball does not fall through the floor."""
    found = integrate(ball(), np.array([[1.0, 0.0]]), [[restitution]], (0, 20), method, **options(method))
    assert found.status[0] == Status.UNDERFLOW
    last = 0.4515236409857 * (1 + 2 * restitution / (1 - restitution))
    assert found.t_end[0] == pytest.approx(last, abs=1e-6)
    assert abs(found.y_end[0, 0]) < 1e-9


def test_a_sample_that_starts_on_its_event_does_not_fire_at_once():
    found = integrate(ball(), np.array([[0.0, 3.0]]), [[0.7]], (0, 0.9), "dop853")
    assert found.events.counts[0] == 1
    assert found.events.times[0, 0] == pytest.approx(6 / 9.81, abs=1e-11)


def test_more_events_than_there_is_room_for_are_counted():
    found = integrate(ball(), np.array([[1.0, 0.0]]), [[0.7]], (0, 2), "dop853", max_events=2)
    assert found.events.counts[0] == 4
    np.testing.assert_allclose([t for t, _ in found.events.of(0)], IMPACTS[:2], atol=1e-10)
