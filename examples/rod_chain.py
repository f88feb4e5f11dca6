"""A falling chain of rods by separate bodies: ten against reference digits, a thousand against lw.aba."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

import linkwork as lw

# from 113-bit arithmetic: accelerations at the start, angles after one second
U_DOT = (-67.2059430825374, 85.2137212612376, -22.8329478109633, 6.11806998261555, -1.63933211949893,
         0.439258495380173, -0.117701862021759, 0.0315489527068632, -0.00849394880569, 0.00242684251591)  # fmt: skip
Q_1 = (-2.00569708643436, -0.0252592467831236, -0.0144116409493283, 3.87923336836753e-3, -0.0140362137288429,
       -0.0444558965454, -0.0467632240315, 0.0575046990326, -0.0341474368503, 0.00665484821348)  # fmt: skip


def chain(n: int) -> lw.Model:
    """n slender rods, 1 m and 10 kg together, hinged in a row; the first starts 1 rad below the horizontal."""
    rods, above, m, l = lw.Mechanism("rods", gravity=(0, -9.81, 0)), "world", 10 / n, 1 / n
    for k in range(1, n + 1):
        rods.body(f"rod{k}", mass=m, centre=(l / 2, 0, 0), inertia=(0, m * l**2 / 12, m * l**2 / 12))
        rods.joint(f"q{k}", "revolute", above, above := f"rod{k}", at=(0 if k == 1 else l, 0, 0), axis="z")
    return rods.start({"q1": -1}).build()


def draw(runs: dict[int, lw.Result]) -> None:
    """Both chains, one frame over the other, the later the darker."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharex=True, sharey=True)
    for place, (n, run) in zip(panels, runs.items(), strict=True):
        for t, angles in zip(run.time, np.cumsum(run["q"][:], axis=1), strict=True):
            x, y = (np.concatenate([[0], np.cumsum(f(angles))]) / n for f in (np.cos, np.sin))
            place.plot(x, y, ".-" if n < 100 else "-", color=plt.get_cmap("viridis_r")(t), label=f"{t:.1f} s")
        place.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", xlim=(-0.75, 0.75), title=f"{n:,} rods to {t:.1f} s")
        place.label_outer()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/rod_chain.png", dpi=120)


def check() -> None:
    state = {"q": np.array([-1.0] + [0.0] * 9), "v": np.zeros(10), "tau": np.zeros(10)}
    assert np.allclose(lw.function(chain(10), lw.separate_bodies)(**state), U_DOT, rtol=0, atol=1e-10)
    run = lw.simulate(chain(10), times=np.arange(11) / 10, rtol=1e-12, atol=1e-12, method=lw.separate_bodies)
    print(f"angles after 1 s off by {np.abs(run['q'][-1] - Q_1).max():.1e} rad")
    assert np.allclose(run["q"][-1], Q_1, rtol=0, atol=4.3e-10)  # ten times what such an integrator misses
    q, v = np.random.default_rng(0).normal(size=(2, 1000))
    one_graph = lw.equations(long := chain(1000), lw.separate_bodies_planar).casadi  # 3×3 matrices, one graph
    loops = lw.function(long, lw.aba)(q=q, v=v, tau=0 * q)  # 6×6 matrices, loops over tables
    off = np.abs(np.array(one_graph(q, v, 0 * q)).ravel() - loops).max() / np.abs(loops).max()
    many = lw.simulate(long, times=np.arange(7) / 10, rtol=1e-6, atol=1e-6)
    print(f"1,000 rods: accelerations off by {off:.1e}, energy by {many.trust.energy_error:.1e}")
    assert off < 1e-10 and many.trust.energy_error < 1e-6
    if find_spec("matplotlib"):
        draw({10: run, 1000: many})


if __name__ == "__main__":
    check()
