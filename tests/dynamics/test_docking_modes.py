"""Elastic modes at the port of a spacecraft: acceptance 10 of docking-tree.md."""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
from mechanisms import evaluate, relative
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.dynamics.docking_spacecraft import Modes, Spacecraft, docking_spacecraft, port

TABLES = Path(__file__).parents[2] / "examples" / "docking_tables"
STATE = [0.3, 0.1, -0.4], [0.5, -0.2, 0.8], [1, -2, 0.5]
LOAD = np.array([[0] * 6, [0, 1, 0, 0, 0, 0.1], [0] * 6], float)
CRAFT = Spacecraft(300, (100, 120, 140, 0, 0, 0), (0.1, -0.2, 0.3), (0.5, 0.1, 0))


def elastic(shape_r, shape_f, eta=(0.0, 0.0), eta_dot=(0.0, 0.0)):
    return replace(CRAFT, modes=Modes(shape_r, shape_f, [3.0, 5.0], [0.02, 0.01], eta, eta_dot))


def test_modes_of_zero_amplitude_leave_a_rigid_spacecraft():
    """Shapes of zero: whatever eta does, the craft is rigid. Amplitudes of zero: the port moves as on a rigid craft."""
    model, none = lw.read_tables(TABLES), np.zeros((3, 2))
    ask = docking_spacecraft.giving("a_0", "a_A", "v_dot", "G_0")
    rigid = evaluate(ask, model, *STATE, LOAD, craft=CRAFT)
    found = evaluate(ask, model, *STATE, LOAD, craft=elastic(none, none, (0.3, 0.2), (1.0, 2.0)))
    assert max(relative(a, b) for a, b in zip(found, rigid, strict=True)) < 1e-13  # an 8 × 8 system for a 6 × 6 one
    rng = np.random.default_rng(0)
    for name in ("alpha", "omega_0", "X", "velocity_terms"):
        a, b = (
            np.array(ca.evalf(getattr(port(c), name)))
            for c in (elastic(rng.normal(size=(3, 2)), rng.normal(size=(3, 2))), CRAFT)
        )
        assert np.abs(a - b).max() < 1e-15


def oscillation(phi, frequency, mass, load):
    """x_A and eta over two seconds: a craft with one mode along x, and a body locked to its port."""
    made = lw.Mechanism("locked", gravity=(0, 0, 0))
    made.body("load", mass=load, inertia=(1, 1, 1))
    made.joint("lock", "fixed", "world", "load")
    model, eta = made.build(), ca.SX.sym("eta", 2)
    modes = Modes(np.array([[phi], [0], [0]]), np.zeros((3, 1)), [frequency], [0.0], eta[0], eta[1])
    craft, none = Spacecraft(mass, (1, 1, 1, 0, 0, 0), modes=modes), ca.SX(0, 1)
    a_A, eta_ddot = docking_spacecraft.giving("a_A", "eta_ddot")(model, none, none, none, craft=craft)
    f = ca.Function("f", [eta], [a_A[0], eta_ddot])

    def rate(t, y):
        a, b = f(y[2:])
        return [y[1], float(a), y[3], float(b)]

    times = np.linspace(0, 2, 21)
    y = solve_ivp(rate, (0, 2), [0, 0, 1 / phi, 0], "DOP853", times, rtol=1e-11, atol=1e-13 / phi).y
    return times, y[0], y[2] * phi


def test_one_mode_and_a_locked_joint_are_a_two_mass_oscillator(figures):
    """A mode of unit modal mass: w² = Om² / (1 + phi² mu), mu = M m / (M + m). Its shape large against its modal mass
    (Om² = k phi²) leaves two masses on a spring k: w² = k / mu."""
    M, m = 30.0, 10.0
    mu = M * m / (M + m)
    for name, phi, Om2, w2 in (
        ("modal mass 1", 0.7, 9.0, 9.0 / (1 + 0.49 * mu)),
        ("two masses", 1e5, 50.0 * 1e10, 50.0 / mu),
    ):
        t, x_A, stretch = oscillation(phi, np.sqrt(Om2), M, m)
        off = np.abs(stretch - np.cos(np.sqrt(w2) * t)).max()
        centre = np.abs(M * x_A + m * (x_A + stretch) - m).max() / m  # the common centre of mass stays
        figures("docking_spacecraft", f"oscillator, {name}", worst=f"{max(off, centre):.1e}")
        assert off < 1e-8 and centre < 1e-8  # integrated at 1e-11; 1/(phi² mu) = 1e-11 is left out in the second
