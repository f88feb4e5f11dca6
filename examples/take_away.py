"""`equations.casadi` taken away: the least effort that swings a pendulum up, by CasADi's own optimiser."""

import casadi as ca
import numpy as np

import linkwork as lw

STEPS, TIME = 40, 2.0


def model() -> lw.Model:
    made = lw.Mechanism("pendulum")
    made.body("rod", mass=1, centre=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0))
    made.joint("hinge", "revolute", "world", "rod", axis="y", damping=0.05)
    return made.build()


def swing_up() -> tuple[np.ndarray, np.ndarray]:
    """(angles and rates, torques): direct transcription with the trapezoidal rule."""
    accelerations = lw.equations(model(), lw.aba, forces=True).casadi  # (q, v, tau) → v_dot
    h, opti = TIME / STEPS, ca.Opti()
    x, tau = opti.variable(2, STEPS + 1), opti.variable(1, STEPS + 1)
    rate = ca.vertcat(x[1, :], accelerations.map(STEPS + 1)(x[0, :], x[1, :], tau))
    opti.subject_to(ca.vec(x[:, 1:] - x[:, :-1] - h / 2 * (rate[:, 1:] + rate[:, :-1])) == 0)
    opti.subject_to(ca.vec(x[:, 0]) == 0)
    opti.subject_to(x[:, -1] == ca.vertcat(np.pi, 0))
    opti.minimize(h * ca.sumsqr(tau))
    opti.set_initial(x[0, :], np.linspace(0, np.pi, STEPS + 1))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    found = opti.solve()
    return found.value(x), found.value(tau)


def check() -> None:
    x, tau = swing_up()
    print(f"largest torque {np.abs(tau).max():.2f} N·m; held out level the rod needs {1 * 9.81 * 0.5:.2f} N·m")
    assert np.allclose(x[:, -1], (np.pi, 0), atol=1e-6)
    kernel = lw.compile(lw.equations(model(), lw.aba, forces=True))  # the same graph, as machine code
    slopes = kernel(q=x[:1].T, v=x[1:].T, tau=np.reshape(tau, (-1, 1)))[:, 0]
    assert np.allclose(np.diff(x[1]), TIME / STEPS / 2 * (slopes[1:] + slopes[:-1]), atol=1e-6)


if __name__ == "__main__":
    check()
