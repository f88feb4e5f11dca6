"""A model as a readable tree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from linkwork.model.describe import Joint

if TYPE_CHECKING:
    from linkwork.model.model import Model


LONGEST = 1000  # bodies shown
DEEPEST = 90  # columns of indentation


def tree_text(model: Model) -> str:
    masses = [sum(float(p.mass) for p in b.inertials) for b in model.bodies]
    g = ", ".join(f"{float(e):g}" for e in model.gravity)
    head = (
        f"{model.name}: {len(model.bodies) - 1} bodies, {model.nv} degrees of freedom "
        f"(nq {model.nq}, nv {model.nv}), "
        f"mass {sum(masses[1:]):.6g} kg, gravity ({g}) m/s^2"
    )
    lines = [head, model.bodies[0].name]
    stack = [(i, "", last) for i, last in _turned(model.children(0))]
    while stack:  # a loop, not recursion: chains may be very long
        i, indent, last = stack.pop()
        if len(lines) > LONGEST:
            lines.append(f"… and {len(model.bodies) - LONGEST} more bodies")
            break
        joint = model.joint(i)
        lines.append(
            f"{indent}{'└─' if last else '├─'} {joint.name} [{_joint(joint)}] → "
            f"{model.bodies[i].name} ({masses[i]:.4g} kg)"
        )
        deeper = indent + ("   " if last else "│  ")
        if len(indent) >= DEEPEST:
            deeper = indent
        stack.extend((kid, deeper, final) for kid, final in _turned(model.children(i)))
    if model.parameters:
        lines.append("parameters: " + ", ".join(f"{p} = {float(model.values[p]):g}" for p in model.parameters))
    if model.laws:
        lines.append("laws: " + ", ".join(law.name for law in model.laws))
    return "\n".join(lines)


def _turned(children: list[int]) -> list[tuple[int, bool]]:
    """(child, is it the last?), last one first."""
    return [(child, k == 0) for k, child in enumerate(reversed(children))]


def _joint(joint: Joint) -> str:
    words = [joint.kind]
    if joint.kind not in ("fixed", "free", "spherical", "prescribed"):
        words.append(f"axis ({', '.join(f'{float(a):.4g}' for a in joint.axis)})")
    for word in ("damping", "stiffness", "friction", "armature"):
        if any(float(x) for x in getattr(joint, word)):
            words.append(f"{word} {', '.join(f'{float(x):g}' for x in getattr(joint, word))}")
    if any(math.isfinite(x) for x in (*joint.lower, *joint.upper)):
        words.append(", ".join(f"{a:g} … {b:g}" for a, b in zip(joint.lower, joint.upper, strict=True)))
    if joint.coupling is not None:
        words.append(f"= {float(joint.coupling.ratio):g} · {joint.coupling.leader} + {float(joint.coupling.offset):g}")
    return ", ".join(words)
