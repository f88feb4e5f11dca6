"""Joints whose apparent inertia U vanishes in some direction, told by name (section 7 of separate bodies).

U = L d Lᵀ; a pivot d that is not above 1e-12 times the largest diagonal of Sᵀ M^c S (M^c: the inertia of all that the
joint carries, held stiff) is rounding: nothing resists when the joint is shaken along x, with Lᵀ x = e of that pivot.
Measured: random trees stay above 5e-3, a straight chain of 200 rods above 2e-7; impossible models give 0 or 3e-16.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.errors import ModelError
from linkwork.model.model import Model

SMALLEST = 1e-12


def factor(U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pivots d of U = L d Lᵀ, and L, up to the first pivot that is not positive; those after it are not numbers."""
    n = len(U)
    L, d = np.eye(n), np.full(n, np.nan)
    for j in range(n):
        d[j] = U[j, j] - L[j, :j] ** 2 @ d[:j]
        if not d[j] > 0:
            break
        L[j + 1 :, j] = (U[j + 1 :, j] - L[j + 1 :, :j] * d[:j] @ L[j, :j]) / d[j]
    return d, L


def ratios(U: np.ndarray, stiff: np.ndarray) -> np.ndarray:
    """Each pivot over the largest diagonal of Sᵀ M^c S."""
    scale = np.max(np.diag(stiff))
    return factor(U)[0] / scale if scale > 0 else np.zeros(len(U))


def check_pivots(model: Model, U: Mapping[int, np.ndarray], stiff: Mapping[int, np.ndarray]) -> None:
    """Raise ModelError for the joint nearest to the tips that nothing resists. U, stiff: joint's number → matrix."""
    for k in sorted(U, reverse=True):
        found = ratios(U[k], stiff[k])
        for j, ratio in enumerate(found):
            if not ratio > SMALLEST:
                joint = model.joint(k)
                raise ModelError(
                    f"joint '{joint.name}': nothing resists its motion along {_direction(model, k, U[k], j)} "
                    f"(apparent inertia {max(ratio, 0.0):.0e} of what it carries), "
                    "so its acceleration is not defined",
                    where=joint.source,
                    fix=f"give body '{joint.child}' (or what it carries) inertia in this direction, "
                    "give the joint an armature, or take the freedom away",
                )


def _direction(model: Model, k: int, U: np.ndarray, j: int) -> str:
    """x with Lᵀ x = e_j in the names of the speeds."""
    joint, speeds = model.joint(k), model.kind(k).speeds
    _, L = factor(U)
    x = np.linalg.solve(L[: j + 1, : j + 1].T, np.eye(j + 1)[j])
    x /= np.linalg.norm(x)
    names = [f"{joint.name}.{component}" for component, _ in speeds]
    shown = [(a, name) for a, name in zip(x, names[: j + 1], strict=True) if abs(a) > 1e-6]
    return shown[0][1] if len(shown) == 1 else " ".join(f"{a:+.2g} {name}" for a, name in shown)
