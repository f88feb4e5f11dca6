"""A result made by hand: two damped oscillators whose motion is known in closed form."""

from __future__ import annotations

import numpy as np

from linkwork.result import Code, Result, Series, Statuses, assess, provenance

RATE, DAMPING = np.array([3.0, 5.0]), np.array([0.25, 0.4])


def oscillator(samples: int = 1, times: int = 201, *, diverged: tuple[int, ...] = (), model: str = "arm") -> Result:
    single = samples == 1
    t = np.linspace(0, 10, times)
    rng = np.random.default_rng(4)
    start = rng.normal([0.8, 0.5], [0.2, 0.1], (samples, 2))[:, None, :]
    decay = np.exp(-DAMPING * t[:, None])
    sway = np.sqrt(RATE**2 - DAMPING**2)
    c, s = np.cos(sway * t[:, None]), np.sin(sway * t[:, None])
    q = start * decay * (c + DAMPING / sway * s)
    v = -start * decay * RATE**2 / sway * s
    code, text, end, where = (
        np.zeros(samples, int),
        ["reached the end"] * samples,
        np.full(samples, 10.0),
        [""] * samples,
    )
    for i in diverged:
        code[i], text[i], end[i], where[i] = Code.DIVERGED, "diverged", 0.132, "elbow.rate"
        q[i, t > 0.132] = v[i, t > 0.132] = np.nan

    def outputs(name: str) -> Series:
        kinetic, potential = 0.5 * (v**2).sum(-1), 0.5 * (RATE**2 * q**2).sum(-1)
        total = kinetic + potential
        work = total - total[:, :1]
        made = {
            "kinetic_energy": Series(name, kinetic, (), ("J",)),
            "potential_energy": Series(name, potential, (), ("J",)),
            "work": Series(name, work + 1e-10 * np.sin(7 * t) * (t > 0), (), ("J",)),
            "tool.position": Series(
                name, np.stack([q.sum(-1), v[..., 0], q[..., 1]], -1), tuple("xyz"), ("m",), "world"
            ),
            "elbow.wrench": Series(
                name,
                np.concatenate([30 * q[..., :1], 12 * q, 3 * v[..., :1], v], -1),
                ("fx", "fy", "fz", "mx", "my", "mz"),
                ("N", "N", "N", "N m", "N m", "N m"),
                "elbow",
            ),
        }
        return made[name]

    return Result(
        t,
        {
            "q": Series("q", q, ("shoulder", "elbow"), ("rad",)),
            "v": Series("v", v, ("shoulder.rate", "elbow.rate"), ("rad/s",)),
        },
        Statuses(code, tuple(text), end, tuple(where)),
        provenance(model, "dopri5", rtol=1e-9, atol=1e-12, seed=4),
        outputs,
        ("kinetic_energy", "potential_energy", "work", "tool.position", "elbow.wrench"),
        checks=lambda run: assess(run, step_error=0.83, steps=412 * samples, refusals=3 * samples),
        single=single,
    )
