"""A cart with an inverted pole: linearised, given a feedback, and run under it."""

import numpy as np
from scipy.linalg import solve_continuous_are

import linkwork as lw

CART, POLE, HALF, G = 1.0, 0.2, 0.5, 9.81


def model(gain: np.ndarray | None = None) -> lw.Model:
    made = lw.Mechanism("cart-pole")
    made.body("cart", mass=CART)
    made.body("pole", mass=POLE, centre=(0, 0, HALF), inertia=(POLE * (2 * HALF) ** 2 / 12,) * 2 + (0,))
    made.joint("track", "prismatic", "world", "cart", axis="x")
    made.joint("hinge", "revolute", "cart", "pole", axis="y")
    if gain is not None:  # a law is traced once and runs inside the kernel
        names = ("track", "hinge")

        def feedback(state):
            x = [state.q(n) for n in names] + [state.v(n) for n in names]
            return {"track": -sum(float(k) * xk for k, xk in zip(gain, x, strict=True))}

        made.law(feedback)
    return made.build()


def check() -> None:
    upright = lw.linearize(model(), y=("pole.position",))
    print(upright)
    # (M + m) x'' + m l θ'' = 0,  m l x'' + 4/3 m l² θ'' = m g l θ
    unstable = np.sqrt(G * (CART + POLE) / (HALF * (4 / 3 * (CART + POLE) - POLE)))
    assert np.isclose(max(upright.eigenvalues.real), unstable, rtol=1e-12)
    B = upright.B[:, [upright.u.index("track.rate")]]
    P = solve_continuous_are(upright.A, B, np.diag([1.0, 1.0, 0.1, 0.1]), np.eye(1))
    closed = model((B.T @ P).ravel())
    assert max(lw.linearize(closed).eigenvalues.real) < 0
    run = lw.simulate(closed, {"hinge": "20 deg"}, until=20.0)
    assert abs(run["hinge"][-1]) < 1e-3 and abs(run["track"][-1]) < 1e-2


if __name__ == "__main__":
    check()
