"""A sample's bits are its own: whatever the batch, the lane, the lane count, the threads, the neighbours."""

import threading
import time
from dataclasses import fields

import casadi as ca
import numpy as np
import pytest
from systems import ball, explosive, kepler, kepler_start, motion, tumbling

from linkwork.errors import RunError
from linkwork.simulation.control import Status
from linkwork.simulation.run import METHODS, build, integrate, rhs_callable, run

RNG = np.random.default_rng(11)
START = kepler_start(RNG.uniform(0.05, 0.8, 37))
TIMES = np.linspace(0, 9, 14)


def options(method):
    return {"step": 0.05} if method in ("euler", "rk4") else {"rtol": 1e-7, "atol": 1e-9}


def same(a, b, rows_a=slice(None), rows_b=slice(None)):
    for field in fields(a):
        x, y = getattr(a, field.name), getattr(b, field.name)
        if isinstance(x, np.ndarray) and field.name != "t":
            np.testing.assert_array_equal(x[rows_a], y[rows_b], err_msg=field.name)
    np.testing.assert_array_equal(a.events.times[rows_a], b.events.times[rows_b])


@pytest.mark.parametrize("method", METHODS)
def test_lanes_threads_batch_and_order_leave_every_bit(method):
    whole = integrate(kepler(), START, None, TIMES, method, lanes=8, **options(method))
    assert (whole.status == Status.OK).all()
    for lanes, threads in ((1, 1), (2, 1), (4, 2), (8, 3)):
        same(
            whole,
            integrate(kepler(), START, None, TIMES, method, lanes=lanes, threads=threads, **options(method)),
        )
    order = RNG.permutation(37)
    same(whole, integrate(kepler(), START[order], None, TIMES, method, **options(method)), order)
    same(whole, integrate(kepler(), START[20:23], None, TIMES, method, **options(method)), slice(20, 23))


@pytest.mark.parametrize("method", ["dop853", "rodas5p", "rk4"])
def test_events_and_quaternions_leave_every_bit(method):
    drop = np.stack([RNG.uniform(0.2, 3, 21), RNG.normal(size=21)], axis=1)
    bounce = RNG.uniform(0.5, 0.9, (21, 1))
    turn = RNG.normal(size=(21, 7))
    for system, y0, p in ((ball(), drop, bounce), (tumbling(), turn, None)):
        eight = integrate(system, y0, p, TIMES[:8] / 4, method, lanes=8, max_steps=3000, **options(method))
        for lanes, threads in ((1, 1), (4, 2)):
            same(
                eight,
                integrate(system, y0, p, TIMES[:8] / 4, method, lanes=lanes, threads=threads, max_steps=3000,
                          **options(method)),
            )  # fmt: skip


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rodas5p", "rk4"])
def test_a_diverging_sample_is_named_and_its_neighbours_do_not_notice(method):
    y0 = np.ones((9, 2))
    p = np.full((9, 1), -0.3)
    good = integrate(explosive(), y0, p, np.linspace(0, 2, 9), method, **options(method))
    p[4] = 1.0
    mixed = integrate(explosive(), y0, p, np.linspace(0, 2, 9), method, **options(method))
    others = [0, 1, 2, 3, 5, 6, 7, 8]
    same(good, mixed, others, others)
    assert mixed.status[4] in (Status.DIVERGED, Status.UNDERFLOW)
    assert mixed.t_end[4] == pytest.approx(1.0, abs=0.4 if method == "rk4" else 1e-3)
    assert np.isfinite(mixed.y[4, :4]).all()
    assert np.isnan(mixed.y[4, -1]).all()
    if method == "rk4":
        assert mixed.bad[4] == 0
        assert "'y0' is not finite" in mixed.reason(4)
    assert not mixed.ok[4] and mixed.ok[others].all()


@pytest.mark.parametrize("method", ["dop853", "rodas5p", "rk4", "euler"])
def test_a_right_hand_side_that_is_no_number_names_the_component(method):
    """The square root of a negative number, from the beginning or later."""
    system = motion(4, lambda t, y, p: ca.vertcat(y[2], y[3], -y[0], -ca.sqrt(p[0] - t)), ("end",))
    found = integrate(system, np.ones((3, 4)), [[9.0], [-1.0], [0.5]], (0, 1, 2), method, **options(method))
    assert found.status.tolist() == [Status.OK, Status.DIVERGED, Status.DIVERGED]
    assert np.isfinite(found.y[1, 0]).all() and np.isnan(found.y[1, 1:]).all()
    assert found.t_end[2] == pytest.approx(0.5, abs=0.06)
    assert "'y1'" in found.reason(2) or "'y3'" in found.reason(2)


def test_too_many_steps_and_a_start_that_is_no_number_are_told():
    y0 = np.array([[0.5, 0, 0, 1.7], [np.nan, 0, 0, 1], [1, 0, 0, 1]])
    found = integrate(kepler(), y0, None, (0, 500.0), "dop853", max_steps=100)
    assert found.status.tolist() == [Status.TOO_MANY_STEPS, Status.DIVERGED, Status.TOO_MANY_STEPS]
    assert found.steps[0] + found.refusals[0] == 100
    assert found.bad[1] == 0 and "'y0' is not finite at t = 0" in found.reason(1)


def test_one_time_gives_the_start_and_repeated_times_repeat():
    found = integrate(kepler(), START[:2], None, [1.0], "dop853")
    np.testing.assert_array_equal(found.y[:, 0], START[:2])
    assert found.status.tolist() == [0, 0]
    twice = integrate(kepler(), START[:2], None, [0.0, 0.0, 1.0, 1.0], "dop853")
    np.testing.assert_array_equal(twice.y[:, 0], twice.y[:, 1])
    np.testing.assert_array_equal(twice.y[:, 2], twice.y[:, 3])
    assert np.isfinite(twice.y).all()


def test_progress_is_told_and_ctrl_c_returns_what_is_done():
    integrator = build(kepler(), "rk4", lanes=8)
    told = []
    run(integrator, START, None, (0, 1), step=1e-3, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (37, 37)

    for threads in (1, 2):

        def interrupt(done, of):
            if done >= 8:
                raise KeyboardInterrupt

        start = time.perf_counter()
        found = run(integrator, np.repeat(START, 40, 0), None, (0, 30), step=1e-4, threads=threads, progress=interrupt)
        assert time.perf_counter() - start < 20
        assert (found.status == Status.OK).sum() >= 8
        assert (found.status == Status.NOT_RUN).any()
        assert found.reason(int(np.argmax(found.status == Status.NOT_RUN))) == "not run"
    assert threading.active_count() < 10


def test_the_right_hand_side_is_callable_with_parameters():
    f = rhs_callable(explosive(), [2.0])
    np.testing.assert_array_equal(f(0.0, np.array([3.0, 1.0])), [18.0, -1.0])


def test_what_does_not_fit_is_refused_with_advice():
    with pytest.raises(RunError, match="no integrator 'dop85'"):
        integrate(kepler(), START, None, TIMES, "dop85")
    with pytest.raises(RunError, match="needs a step"):
        integrate(kepler(), START, None, TIMES, "rk4")
    with pytest.raises(RunError, match="chooses its own steps"):
        integrate(kepler(), START, None, TIMES, "dop853", step=0.1)
    with pytest.raises(RunError, match="y0 has shape"):
        integrate(kepler(), START[:, :3], None, TIMES)
    with pytest.raises(RunError, match="parameters are missing: p"):
        integrate(explosive(), np.ones((1, 2)), None, TIMES)
    with pytest.raises(RunError, match="must not decrease"):
        integrate(kepler(), START, None, TIMES[::-1])
