"""The 10-rod chain of the demo and its reference: q and u (10 numbers each) from 113-bit arithmetic."""

from __future__ import annotations

import numpy as np

import linkwork as lw

RODS = 10


def chain() -> lw.Model:
    """A hanging chain of ten uniform rods, 10 kg and 1 m in all, turning about z; gravity along −y."""
    length, mass = 1 / RODS, 10 / RODS
    about = mass * length**2 / 12
    made = lw.Mechanism("chain of 10 rods", gravity=(0, -9.81, 0))
    for k in range(1, RODS + 1):
        parent, at = ("world", 0.0) if k == 1 else (f"rod{k - 1}", length)
        made.body(f"rod{k}", mass=mass, centre=(length / 2, 0, 0), inertia=(0, about, about))
        made.joint(f"hinge{k}", "revolute", parent, f"rod{k}", at=(at, 0, 0), axis="z")
    made.marker("tip", f"rod{RODS}", at=(length, 0, 0))
    made.start({"hinge1": -1.0})
    return made.build()


ENERGY = -41.2741518048273  # at all times, zero at y = 0
KNOWN_MISS = {1: 4.3e-11, 2: 4.6e-11, 5: 1.7e-10, 10: 1.4e-10}  # DOP853 in doubles at 1e-12, largest entry
DIGITS = """
-2.00569708643436 -0.0252592467831236 -0.0144116409493283 0.00387923336836753 -0.0140362137288429
-0.0444558965454486 -0.0467632240315262 0.0575046990325935 -0.0341474368503133 0.00665484821347589
0.473802470672725 -0.865566178482859 0.821748940058612 0.985858373339664 0.428929866794007
0.69565023251502 -0.0473876244150781 -2.38111188416092 2.97284553689886 -2.88445176620553
-1.40104663514407 0.0215159135587974 0.0176611256662542 0.0370933321620316 0.0459770073068988
0.0400138258631736 0.0189449509570514 0.0290247818032043 -0.0750683567322881 0.105913457747981
-0.652981908109177 0.323123476627777 -0.19453484413183 -0.782944312446159 -2.38519788496698
0.423688480004339 1.82714249279012 -2.91921482174676 -0.421136774931871 -0.246528842193761
-1.19038042919816 0.076636823731497 0.0799943193706437 0.0487303278493945 0.0543991853113649
0.00447415336469852 -0.00261448569686032 -0.0417764840877878 -0.21979574572332 -0.174916341604046
0.909123648375817 -0.48047496182293 0.108291538556511 0.154701958331102 0.965727345210723
-0.759755007502591 -0.807471095366292 1.83779664958738 -3.01572265705631 2.35847478416724
-1.1826715741549 0.0280667344250366 0.0177788064673504 0.00505360765510865 -0.00073169776587966
-0.00772669605292306 -0.0180533060728559 0.0400877878330238 -0.0252088818987765 0.122840158068258
2.6409579316313 -1.25958682221916 -0.28361880308796 0.147950974465294 0.10205871624799
-0.256358295300241 0.32541616800571 -2.47774404602257 5.10226911670666 -2.89500322264503
"""  # q, then u, ten numbers each, at every time of KNOWN_MISS
REFERENCE = dict(zip(KNOWN_MISS, np.array(DIGITS.split(), float).reshape(-1, 2, RODS), strict=True))


def misses(run: lw.Result) -> dict[int, float]:
    """Time → largest difference of any coordinate or speed from the reference."""
    found = {}
    for t, expected in REFERENCE.items():
        k = int(np.argmin(np.abs(run.time - t)))
        got = np.stack([run["q"][k], run["v"][k]])
        found[t] = float(np.max(np.abs(got - expected)))
    return found
