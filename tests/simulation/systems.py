"""Motions with known answers."""

from __future__ import annotations

import casadi as ca
import numpy as np

from linkwork.simulation.motion import Event, Motion


def motion(n, formula, parameters=(), nq=None, **more):
    """A motion from y' = formula(t, y, p)."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n), ca.SX.sym("p", len(parameters))
    rhs = ca.Function("rhs", [t, y, p], [ca.SX(formula(t, y, p))])
    nq = n // 2 if nq is None else nq
    return Motion(rhs, nq, n - nq, tuple(f"y{k}" for k in range(n)), tuple(parameters), **more)


def function(n, m, formula):
    """(t, y, p) → formula."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", n), ca.SX.sym("p", m)
    return ca.Function("f", [t, y, p], [ca.SX(formula(t, y, p))])


def driven_pendulum():
    """Nonlinear, non-autonomous, with a parameter."""
    return motion(2, lambda t, y, p: ca.vertcat(y[1], -p[0] * ca.sin(y[0]) + 0.5 * ca.cos(1.3 * t)), ("stiffness",))


def kepler():
    def formula(t, y, p):
        r3 = ca.sqrt(y[0] ** 2 + y[1] ** 2) ** 3
        return ca.vertcat(y[2], y[3], -y[0] / r3, -y[1] / r3)

    return motion(4, formula)


def kepler_start(eccentricity):
    e = np.atleast_1d(eccentricity)
    return np.stack([1 - e, 0 * e, 0 * e, np.sqrt((1 + e) / (1 - e))], axis=1)


def ball(action="reset"):
    """A ball on a floor; the parameter is the coefficient of restitution."""
    reset = function(2, 1, lambda t, y, p: ca.vertcat(y[0], -p[0] * y[1])) if action == "reset" else None
    height = function(2, 1, lambda t, y, p: y[0])
    fall = lambda t, y, p: ca.vertcat(y[1], -9.81)  # noqa: E731
    return motion(2, fall, ("restitution",), events=height, event_list=(Event("impact", action, -1, reset),))


def tumbling():
    """A free rigid body: quaternion (w, x, y, z) and body rates; inertias 1, 2, 3."""

    def rate(q, w):
        return 0.5 * ca.vertcat(
            -q[1] * w[0] - q[2] * w[1] - q[3] * w[2],
            q[0] * w[0] + q[2] * w[2] - q[3] * w[1],
            q[0] * w[1] + q[3] * w[0] - q[1] * w[2],
            q[0] * w[2] + q[1] * w[1] - q[2] * w[0],
        )

    def formula(t, y, p):
        w = y[4:]
        return ca.vertcat(rate(y[:4], w), -w[1] * w[2], w[0] * w[2], -w[0] * w[1] / 3)

    q, w, h, y = ca.SX.sym("q", 4), ca.SX.sym("w", 3), ca.SX.sym("h"), ca.SX.sym("y", 7)
    angle = ca.sqrt(ca.sumsqr(w) + 1e-300) * h / 2
    turned = ca.cos(angle) * q + ca.sin(angle) / angle * h * rate(q, w)
    advance = ca.Function("advance", [q, w, h], [turned])
    project = ca.Function("project", [y], [ca.vertcat(y[:4] / ca.sqrt(ca.sumsqr(y[:4])), y[4:])])
    return motion(7, formula, nq=4, advance=advance, project=project)


def lotka_volterra():
    return motion(2, lambda t, y, p: ca.vertcat(y[0] * (1 - y[1]), -y[1] * (1 - y[0])))


def van_der_pol():
    return motion(2, lambda t, y, p: ca.vertcat(y[1], p[0] * ((1 - y[0] ** 2) * y[1]) - y[0]), ("mu",))


def explosive():
    """y' = p y²: leaves to infinity at t = 1 / (p y0) for p > 0."""
    return motion(2, lambda t, y, p: ca.vertcat(p[0] * y[0] ** 2, -y[1]), ("p",))
