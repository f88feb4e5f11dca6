"""A docking mechanism from tables: closed form, base wrench, and the price of coupling it loosely to its spacecraft."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork.dynamics.docking_rows import Base
from linkwork.dynamics.docking_spacecraft import Spacecraft, docking_spacecraft
from linkwork.dynamics.docking_tree import docking_tree

FOLDER = Path(__file__).with_name("docking_tables")
BASE = Base(omega=(0.1, -0.2, 0.3), a=(0.05, 0.02, -0.01, 0.01, 0.02, -0.03))
STATE = {"q": [0.3, 0.1, -0.4], "v": [0.5, -0.2, 0.8], "tau": [1, -2, 0.5]}
PUSH = np.array([[0] * 6, [0, 1, 0, 0, 0, 0.1], [0] * 6], float)  # on the slider: [force; moment] at its origin
P_DDOT = (0.9907587488098, -0.5920337071742, 8.4549843442557)
G_0 = (4.3202677496444, 1.0305144044488, 0.8471050724812, 0.4533094988571, -0.4514323154772, -1)
A_0 = (0.0150298604255, 0.0037460024539, 0.0023531806101, 0.0163103274688, 0.0065674743872, -0.0042857142857)


def on_spacecraft(model: lw.Model, mass: float, coupling: str) -> np.ndarray:
    """Acceleration of the port of a free spacecraft of this mass."""
    craft = Spacecraft(mass, tuple(mass / 300 * x for x in (100, 120, 140, 0, 0, 0)), omega=BASE.omega)
    form = docking_spacecraft.giving("a_0")
    return lw.function(model, form, external=True, craft=craft, coupling=coupling)(**STATE, f_ext=PUSH)


def draw(ratios: np.ndarray, errors: np.ndarray) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
    axes.loglog(ratios, errors, "o-", label=["linear", "angular"])
    axes.loglog(ratios, 1 / ratios, "k:", label="1 / ratio")
    axes.set(xlabel="mass of the spacecraft / mass of the mechanism", ylabel="relative error of a_0, coupled in turn")
    axes.legend()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/docking_coupling.png", dpi=120)


def check() -> None:
    model = lw.read_tables(FOLDER)
    give = ["A", "p_ddot", "G_0", "residual"]
    found = lw.function(model, docking_tree, external=True, base=BASE, give=give)(**STATE, f_ext=PUSH)
    print(f"A\n{found['A']}\nwrench on the base {found['G_0']}")
    assert np.allclose(found["p_ddot"], P_DDOT, rtol=0, atol=1e-12)
    assert np.allclose(found["G_0"], G_0, rtol=0, atol=1e-12) and np.abs(found["residual"]).max() < 1e-12
    assert np.allclose(on_spacecraft(model, 300, "exact"), A_0, rtol=0, atol=1e-12)
    ratios, errors = np.array([10, 30, 100, 300, 1000]), []
    for ratio in ratios:  # of the spacecraft's mass to the 8 kg of the mechanism
        whole, loose = (on_spacecraft(model, 8.0 * ratio, c).reshape(2, 3) for c in ("exact", "alternating"))
        errors.append(np.abs(loose - whole).max(axis=1) / np.abs(whole).max(axis=1))
        print("mass ratio {:5}: a_0 off by {:.1e} (linear), {:.1e} (angular)".format(ratio, *errors[-1]))
    assert np.all(np.diff(errors[:3], axis=0) < 0) and np.all(errors < 1.5 / ratios[:, None]) and errors[0][0] > 1e-2
    if find_spec("matplotlib"):
        draw(ratios, np.array(errors))


if __name__ == "__main__":
    check()
