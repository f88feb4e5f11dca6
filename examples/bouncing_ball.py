"""A bouncing ball: an event finds each impact, a reset turns the speed around."""

import numpy as np

import linkwork as lw

BOUNCE = 0.8  # speed after an impact, as a part of the speed before


def model() -> lw.Model:
    ball = lw.Mechanism("bouncing ball")
    ball.body("ball", shape="sphere", size="5 cm", mass="0.2 kg")
    ball.joint("height", "prismatic", "world", "ball", axis="z")
    ball.start({"height": "2 m"})
    return ball.build()


def impact() -> lw.Event:
    return lw.Event(
        "impact",
        lambda state: state.q("height"),
        action="reset",
        direction=-1,  # only on the way down
        reset=lambda state: {"height.rate": -BOUNCE * state.v("height")},
    )


def exact(t: float) -> float:
    """Height at t: parabolas between impacts."""
    g, landed = 9.81, np.sqrt(2 * 2 / 9.81)
    if t < landed:
        return 2 - g * t * t / 2
    speed = BOUNCE * g * landed
    while t > landed + 2 * speed / g:
        landed, speed = landed + 2 * speed / g, BOUNCE * speed
    return speed * (t - landed) - g * (t - landed) ** 2 / 2


def check() -> None:
    run = lw.simulate(model(), until=4.0, events=[impact()], times=400, rtol=1e-12, atol=1e-12)
    off = np.abs(run["height"][:] - [exact(t) for t in run.time])
    print(f"height off by {off.max():.1e} m over {run.time[-1]:g} s and many impacts")
    assert off.max() < 1e-9


if __name__ == "__main__":
    check()
