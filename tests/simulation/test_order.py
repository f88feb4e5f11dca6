"""The order of every integrator, and of its dense output, is what its tableau says."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate._ivp import dop853_coefficients as scipy_numbers
from systems import driven_pendulum, lotka_volterra, tumbling

from linkwork.simulation.dop853 import DOP853
from linkwork.simulation.rosenbrock import RODAS5P
from linkwork.simulation.run import METHODS, integrate
from linkwork.simulation.tableaux import DOPRI5, RK4

SIX = (0.0, 6.0)
RNG = np.random.default_rng(3)
PENDULUM = driven_pendulum(), RNG.uniform(-1.5, 1.5, (64, 2)), np.array([[1.7]])
PREY = lotka_volterra(), RNG.uniform(0.3, 2, (64, 2)), None
NOMINAL = {"euler": 1, "rk4": 4, "dopri5": 5, "dop853": 8, "rodas5p": 5}
DENSE = {"euler": 1, "rk4": 3, "dopri5": 4, "dop853": 7, "rodas5p": 4}


def with_step(method, h):
    """Options that make every step h."""
    if method in ("euler", "rk4"):
        return {"step": h}
    return {"rtol": 1e6, "atol": 1e6, "h0": h, "h_max": h}


def truth(case, times):
    motion, y0, p = case
    return integrate(motion, y0, p, times, "dop853", rtol=1e-13, atol=1e-15, h_max=0.03).y


def slope(steps, errors):
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("method", "case", "counts"),
    [
        ("euler", PENDULUM, (200, 400, 800)),
        ("rk4", PENDULUM, (120, 240, 480)),
        ("dopri5", PENDULUM, (120, 240, 480)),
        ("dop853", PREY, (16, 24, 32, 48)),
        ("rodas5p", PENDULUM, (60, 120, 240)),
    ],
)
def test_the_error_falls_with_the_nominal_power_of_the_step(method, case, counts):
    motion, y0, p = case
    exact = truth(case, SIX)[:, -1]
    errors = []
    for count in counts:
        found = integrate(motion, y0, p, SIX, method, **with_step(method, 6 / count))
        np.testing.assert_array_equal(found.steps, count)
        errors.append(np.sqrt(np.mean((found.y[:, -1] - exact) ** 2)))
    assert slope(counts, errors) == pytest.approx(NOMINAL[method], abs=0.2)


@pytest.mark.parametrize("method", METHODS)
def test_dense_output_is_as_accurate_as_its_polynomial(method):
    """Largest error between the steps: one order more than the polynomial's degree, or the method's."""
    motion, y0, p = PENDULUM
    times = np.sort(np.concatenate([SIX, RNG.uniform(0, 6, 200)]))
    exact = truth(PENDULUM, times)
    counts = (16, 24, 36) if method == "dop853" else (60, 120, 240)
    errors = []
    for count in counts:
        found = integrate(motion, y0, p, times, method, **with_step(method, 6 / count))
        errors.append(abs(found.y - exact).max())
    assert slope(counts, errors) > min(DENSE[method] + 1, NOMINAL[method]) - 0.25


@pytest.mark.parametrize("method", METHODS)
def test_quaternions_keep_their_norm_and_the_method_its_order(method):
    motion = tumbling()
    y0 = np.concatenate([RNG.normal(size=(8, 4)), RNG.normal(size=(8, 3))], axis=1)
    y0[:, :4] /= np.linalg.norm(y0[:, :4], axis=1, keepdims=True)
    times = np.linspace(0, 6, 41)
    counts = {"dop853": (24, 36, 48), "euler": (200, 400, 800)}.get(method, (90, 180, 360))
    exact = truth((motion, y0, None), times)
    errors = []
    for count in counts:
        found = integrate(motion, y0, None, times, method, **with_step(method, 6 / count))
        assert abs(np.linalg.norm(found.y[:, :, :4], axis=2) - 1).max() <= 1e-14
        errors.append(np.sqrt(np.mean((found.y[:, -1] - exact[:, -1]) ** 2)))
    assert slope(counts, errors) > NOMINAL[method] - 0.2


@pytest.mark.parametrize("tableau", [RK4, DOPRI5, DOP853])
def test_rows_of_a_tableau_sum_to_its_nodes(tableau):
    for c, row in zip((*tableau.c, *tableau.extra_c), (*tableau.a, *tableau.extra_a), strict=True):
        assert sum(row.values()) == pytest.approx(c, abs=1e-14)
    assert sum(tableau.b.values()) == pytest.approx(1, abs=1e-14)
    for row in tableau.errors:
        assert sum(row.values()) == pytest.approx(0, abs=1e-14)


def test_the_numbers_of_dop853_are_those_scipy_carries():
    stages = DOP853.stages
    for i, row in enumerate((*DOP853.a, DOP853.b, *DOP853.extra_a)):
        np.testing.assert_array_equal(scipy_numbers.A[i], [row.get(j, 0.0) for j in range(16)])
    for mine, theirs in zip(DOP853.errors, (scipy_numbers.E5, scipy_numbers.E3), strict=True):
        np.testing.assert_allclose([mine.get(j, 0.0) for j in range(stages + 1)], theirs, atol=1e-17)
    np.testing.assert_array_equal(scipy_numbers.D, [[row.get(j, 0.0) for j in range(16)] for row in DOP853.dense])


def test_the_rosenbrock_method_is_stable_at_infinity_and_its_nodes_fit():
    """|R(z)| → 0: one step of y' = −λ y with λ h = 1e9 leaves nothing."""
    from systems import motion

    stiff = motion(2, lambda t, y, p: ca.vertcat(-1e9 * y[0], -y[1]))
    found = integrate(stiff, [[1.0, 1.0]], None, (0, 1), "rodas5p", **with_step("rodas5p", 1.0))
    assert found.steps[0] == 1
    assert abs(found.y[0, -1, 0]) < 1e-6
    assert len(RODAS5P.c) == len(RODAS5P.d) == len(RODAS5P.a) == len(RODAS5P.C) == 8
