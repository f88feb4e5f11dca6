"""Adaptive integration next to SciPy, and stiff problems with published answers."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from systems import driven_pendulum, kepler, kepler_start, motion, van_der_pol

from linkwork.simulation.run import build, integrate, rhs_callable, run

VAN_DER_POL = (0.1706167732170483e1, -0.8928097010247975e0)
ROBERTSON = (0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050e0)
HIRES = (
    *(0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2),
    *(0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2),
)
"""Reference solutions of the Test Set for IVP Solvers (Mazzia, Magherini, release 2.4, 2008)."""


def robertson(t, y, p):
    fast, slow = 3e7 * y[1] ** 2, 0.04 * y[0]
    back = 1e4 * y[1] * y[2]
    return ca.vertcat(-slow + back, slow - back - fast, fast)


def hires(t, y, p):
    return ca.vertcat(
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -280 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        280 * y[5] * y[7] - 1.81 * y[6],
        -280 * y[5] * y[7] + 1.81 * y[6],
    )


@pytest.mark.parametrize(("ours", "theirs"), [("dop853", "DOP853"), ("dopri5", "RK45")])
def test_kepler_agrees_with_scipy_at_the_same_tolerance_in_about_as_many_steps(ours, theirs):
    system, y0 = kepler(), kepler_start(0.5)
    times = np.linspace(0, 2 * np.pi, 17)
    found = integrate(system, y0, None, times, ours, rtol=1e-10, atol=1e-10)
    f = rhs_callable(system)
    peer = solve_ivp(f, (0, times[-1]), y0[0], theirs, t_eval=times, rtol=1e-10, atol=1e-10, dense_output=True)
    exact = solve_ivp(f, (0, times[-1]), y0[0], "DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    assert abs(found.y[0].T - exact.y).max() < 2 * abs(peer.y - exact.y).max() + 1e-11
    assert found.steps[0] < 1.25 * len(peer.sol.ts)
    assert 0 < found.error_max[0] <= 1


@pytest.mark.parametrize("method", ["dop853", "dopri5", "rodas5p"])
def test_a_tighter_tolerance_gives_a_smaller_error(method):
    system, y0 = driven_pendulum(), np.array([[1.0, 0.0]])
    integrator = build(system, method, lanes=1)
    exact = integrate(system, y0, [[1.7]], (0, 10), "dop853", rtol=1e-13, atol=1e-14).y[0, -1]
    errors = [
        abs(run(integrator, y0, [[1.7]], (0, 10), rtol=tol, atol=tol).y[0, -1] - exact).max()
        for tol in (1e-6, 1e-8, 1e-10)
    ]
    assert all(b < a for a, b in pairwise(errors))
    assert errors[-1] < 1e-8


@pytest.mark.parametrize(
    ("name", "system", "y0", "p", "end", "exact"),
    [
        ("van der Pol", motion(2, lambda t, y, p: ca.vertcat(y[1], ((1 - y[0] ** 2) * y[1] - y[0]) * 1e6)),
         (2.0, 0.0), None, 2.0, VAN_DER_POL),
        ("Robertson", motion(3, robertson, nq=1), (1.0, 0.0, 0.0), None, 1e11, ROBERTSON),
        ("HIRES", motion(8, hires), (1, 0, 0, 0, 0, 0, 0, 0.0057), None, 321.8122, HIRES),
    ],
)  # fmt: skip
def test_stiff_problems_have_their_published_answers(name, system, y0, p, end, exact):
    found = integrate(system, np.array([y0], float), p, (0, end), "rodas5p", rtol=1e-9, atol=1e-17)
    assert found.reason(0).startswith("reached the end")
    np.testing.assert_allclose(found.y[0, -1], exact, rtol=1e-6)
    assert found.steps[0] < 5000


def test_stiff_van_der_pol_agrees_with_radau_at_all_outputs():
    system, y0, times = van_der_pol(), np.array([[2.0, 0.0]]), np.linspace(0, 2000, 101)
    found = integrate(system, y0, [[1000.0]], times, "rodas5p", rtol=1e-8, atol=1e-8)
    peer = solve_ivp(rhs_callable(system, [1000.0]), (0, 2000), y0[0], "Radau", t_eval=times, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.y[0, :, 0], peer.y[0], atol=2e-5)


def test_rows_left_out_of_the_error_do_not_steer_the_step():
    """A fast second row that is not controlled costs no steps."""
    system = motion(2, lambda t, y, p: ca.vertcat(-y[0], 50 * ca.cos(50 * t)))
    all_rows = integrate(system, [[1.0, 0.0]], None, (0, 3), "dopri5", rtol=1e-8, atol=1e-8)
    some = integrate(system, [[1.0, 0.0]], None, (0, 3), "dopri5", rtol=1e-8, atol=1e-8, error_rows=[0])
    assert some.steps[0] < all_rows.steps[0] / 2
    assert some.y[0, -1, 0] == pytest.approx(np.exp(-3), abs=1e-7)
