"""The formulations next to our own default: the same accelerations of many samples, by `lw.aba` and by each other."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import linkwork as lw
from bench.measure import Case, Row, Settings, Timed, best, difference, row
from bench.models import Pair
from bench.pinocchio_rows import size
from linkwork.compiler.kernel import Kernel
from linkwork.dynamics.formulation import Formulation
from linkwork.errors import ModelError

FORMULATIONS: dict[str, Formulation] = {
    "forward": lw.forward,
    "separate_bodies": lw.separate_bodies,
    "separate_bodies_planar": lw.separate_bodies_planar,
    "docking_open": lw.docking_open,
    "docking_tree": lw.docking_tree,
    "kane_graph": lw.kane_graph,
    "block_matrix": lw.block_matrix,
}
BIPED = Path(__file__).absolute().parent.parent / "examples" / "biped.yaml"


def rods(n: int) -> lw.Model:
    """n slender rods in a plane, 1 m and 10 kg together."""
    made, mass, length = lw.Mechanism(f"rods{n}", gravity=(0, -9.81, 0)), 10 / n, 1 / n
    for k in range(1, n + 1):
        across = mass * length**2 / 12
        made.body(f"rod{k}", mass=mass, centre=(length / 2, 0, 0), inertia=(0, across, across))
        at = (0 if k == 1 else length, 0, 0)
        made.joint(f"q{k}", "revolute", f"rod{k - 1}" if k > 1 else "world", f"rod{k}", at=at, axis="z")
    return made.build()


MODELS = {"rods 10": partial(rods, 10), "biped": partial(lw.read, BIPED)}


def cases() -> list[Case]:
    return [Case("formulations", name, partial(compare, name)) for name in MODELS]


def compare(name: str, settings: Settings) -> list[Row]:
    """A batch on one core; the formulations take turns."""
    model = MODELS[name]()
    samples = size(settings, 3 * model.nv + model.nq)
    given = {k: x for k, x in Pair(name, model, None).states(samples).items() if k != "v_dot"}
    kernels = {"aba": compiled(model, lw.aba)}
    for word, form in FORMULATIONS.items():
        try:
            kernels[word] = compiled(model, form)
        except ModelError:  # the biped leaves the plane
            continue
    expected, gaps = kernels["aba"](**given), {}
    for word, kernel in kernels.items():
        gaps[word] = difference(kernel(**given), expected, 1e-9, f"{word} of {name}")
    things: dict[str, Timed] = {word: (kernel.bind(**given, threads=1), samples) for word, kernel in kernels.items()}
    ns = best(things, settings)
    return [
        row(word, name, ns[word], "our aba", ns["aba"], note=f"batch of {samples}; answers differ by {gaps[word]:.0e}")
        for word in kernels
        if word != "aba"
    ]


def compiled(model: lw.Model, form: Formulation) -> Kernel:
    return lw.compile(lw.equations(model, form, unroll=True))
