"""Samples by number: `draw(plan, index)` gives the inputs of any samples, in any order, on any machine.

random     one number of the input's own stream for each sample
sobol      a Sobol sequence, one dimension for each input, with a seeded digital shift (exclusive or)
latin      one sample in each of n slices of equal probability, slices in random order, at random within a slice
grid       all combinations; the last input changes fastest
table      rows as given
saltelli   blocks of d + 2 samples for Sobol indices: A, then A with one column of B for each input, then B
           (Saltelli et al., Comput. Phys. Commun. 181, 259, 2010); A and B are Sobol points
"""

from __future__ import annotations

import numpy as np

from . import sobol, stream
from .distributions import Discrete, Distribution, Normal
from .normal import normal, normal_probability
from .plan import Plan

SHIFT = 2  # the use of a stream's bits that shifts Sobol points
BELOW_ONE = 1 - 2.0**-53


def draw(plan: Plan, index: np.ndarray) -> dict[str, np.ndarray]:
    """The inputs of samples `index`, by name, in SI."""
    index = np.asarray(index, np.int64)
    if plan.design == "grid":
        return _grid(plan, index)
    found: dict[str, np.ndarray] = {}
    uniform = {name: _uniform(plan, k, name, index) for k, name in enumerate(plan.varying)}
    scores = _scores(plan, uniform)
    for x in plan.inputs:
        if x.distribution is None:
            found[x.name] = np.array(plan.table[x.name])[index]
        elif x.name in scores:
            found[x.name] = _of_score(x.distribution, scores[x.name])
        else:
            found[x.name] = x.distribution.quantile(uniform.get(x.name, np.zeros(len(index))))
    return found


def _uniform(plan: Plan, k: int, name: str, index: np.ndarray) -> np.ndarray:
    """The number within (0, 1) that stands for the k-th input that varies."""
    if plan.design == "sobol":
        return _sobol(plan.seed, name, index, k)
    if plan.design == "latin":
        slices = stream.permutation(plan.seed, name, plan.samples)[index]
        return np.minimum((slices + stream.uniform(plan.seed, name, index)) / plan.samples, BELOW_ONE)
    if plan.design == "saltelli":
        d = len(plan.varying)
        block, member = index // (d + 2), index % (d + 2)
        from_b = (member == k + 1) | (member == d + 1)
        return np.where(from_b, _sobol(plan.seed, f"{name} B", block, d + k), _sobol(plan.seed, f"{name} A", block, k))
    return stream.uniform(plan.seed, name, index)


def _sobol(seed: int, name: str, index: np.ndarray, dimension: int) -> np.ndarray:
    shift = stream.bits(seed, name, np.zeros(1), SHIFT)
    return stream.unit(sobol.points(index, dimension) ^ shift)


def _scores(plan: Plan, uniform: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Correlated standard normal numbers of the inputs in groups: z = L z₀."""
    found = {}
    for group in plan.correlated:
        z = [normal(uniform[name]) for name in group.names]
        for i, name in enumerate(group.names):
            total = np.zeros_like(z[i])
            for j in range(i + 1):
                total = total + group.factor[i][j] * z[j]
            found[name] = total
    return found


def _of_score(distribution: Distribution, z: np.ndarray) -> np.ndarray:
    if isinstance(distribution, Normal):
        return distribution.mean + distribution.deviation * z
    return distribution.quantile(np.clip(normal_probability(z), 2.0**-1022, BELOW_ONE))


def _grid(plan: Plan, index: np.ndarray) -> dict[str, np.ndarray]:
    found, rest = {}, index.copy()
    for x in reversed(plan.inputs):
        if isinstance(x.distribution, Discrete):
            levels = np.array(x.distribution.values)
            found[x.name] = levels[rest % len(levels)]
            rest //= len(levels)
        elif x.distribution is not None:
            found[x.name] = x.distribution.quantile(np.zeros(len(index)))
    return {x.name: found[x.name] for x in plan.inputs}
