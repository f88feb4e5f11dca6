"""A tree of three bodies by Kane's equations: its graph matrices, and the ideal force and torque in every hinge."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork.dynamics.kane_graph import kane_graph

Q, V, TAU = (0.3, 0.2, 0.86**0.5, 0.1, 0.2, 0.3), (1, -0.5, 0.4, -0.3, 0.2), (0.5, -0.2, 0.1, 0, 0.05)
F_C = ((3.5182479632268, 1.5636616500166, 42.2024449314453), (-0.2030834070968, 0.6565134456535, 9.81),
       (4.2501458585713, 0.5511800701032, 12.7724449314453))  # fmt: skip
T_C = ((2.9367194410863, -2.5370712949127, 0), (0.4685925479161, 0.1449526613674, 0.0596344714477), (0, 0, 0))


def model() -> lw.Model:
    tree = lw.Mechanism("tree", gravity=(0, 0, -9.81))
    tree.body("one", mass=2, centre=(0.1, 0, 0.2), inertia=(0.02, 0.03, 0.04))
    tree.body("two", mass=1, centre=(0, 0.05, 0), inertia=(0.01, 0.02, 0.02))
    tree.body("three", mass=1.5, centre=(0, 0, -0.25), inertia=(0.03, 0.03, 0.01))
    tree.joint("j1", "revolute", "world", "one", axis="z")
    tree.joint("j2", "prismatic", "one", "two", at=(0.5, 0, 0), axis="x")
    tree.joint("j3", "spherical", "one", "three", at=(-0.3, 0.1, 0.4))
    return tree.build()


def draw(found: dict[str, np.ndarray]) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 5, figsize=(15, 3.4), layout="constrained", width_ratios=(1, 1, 1, 1, 0.4))
    for body, (x, y) in {"0": (0, 0), "1": (0, 1), "2": (-0.7, 2), "3": (0.7, 2)}.items():
        axes[0].plot((x, 0), (y, max(y - 1, 0)), "k-")
        axes[0].text(x, y, body, ha="center", va="center", bbox={"boxstyle": "circle", "fc": "white"})
    axes[0].set(xlim=(-1.2, 1.2), ylim=(-0.5, 2.5), title="bodies and hinges", xticks=[], yticks=[])
    for place, name in zip(axes[1:], ("A", "Mz", "B", "N"), strict=True):
        shades = place.imshow(np.abs(found[name]).round(12), cmap="viridis_r", norm="log", clim=(1e-3, 10))
        place.set(title=f"{name}  {' × '.join(map(str, found[name].shape))}", xticks=[], yticks=[])
    figure.colorbar(shades, ax=axes[1:], label="size of an entry; zero is white", extend="both")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/kane_tree.png")


def check() -> None:
    names = "D S T A Mz B N M v_dot v_dot_a F_c T_c".split()
    found = lw.function(model(), kane_graph, give=names)(q=Q, v=V, tau=TAU)
    with np.printoptions(precision=4, suppress=True, linewidth=150):
        print(*(f"{name} =\n{found[name].round(4) + 0.0}" for name in "D S T A M F_c T_c".split()), sep="\n")
    if find_spec("matplotlib"):
        draw(found)
    assert np.array_equal(found["S"] @ found["T"], np.eye(3))
    assert found["B"].shape == (13, 18) and np.abs(found["B"] @ found["N"]).max() < 1e-15
    assert np.allclose(found["N"].T @ found["Mz"] @ found["N"], found["M"], rtol=0, atol=1e-14)
    assert np.allclose(found["F_c"], F_C, rtol=0, atol=1e-12) and np.allclose(found["T_c"], T_C, rtol=0, atol=1e-12)
    others = found["v_dot_a"], lw.function(model(), lw.aba)(q=Q, v=V, tau=TAU)  # all at once; articulated bodies
    assert np.allclose(found["v_dot"], others, rtol=1e-12)


if __name__ == "__main__":
    check()
