"""A model as a readable tree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from linkwork.model.describe import Joint

if TYPE_CHECKING:
    from linkwork.model.model import Model


def tree_text(model: Model) -> str:
    masses = [sum(float(p.mass) for p in b.inertials) for b in model.bodies]
    g = ", ".join(f"{float(e):g}" for e in model.gravity)
    head = (
        f"{model.name}: {len(model.bodies) - 1} bodies, {model.nv} degrees of freedom (nq {model.nq}, nv {model.nv}), "
        f"mass {sum(masses[1:]):.6g} kg, gravity ({g}) m/s^2"
    )
    lines = [head, model.bodies[0].name]
    below: dict[int, list[int]] = {i: [] for i in range(len(model.bodies))}
    for i in model.tree:
        below[model.parent[i]].append(i)
    stack = [(child, "", k == len(below[0]) - 1) for k, child in reversed(list(enumerate(below[0])))]
    while stack:  # a loop, not recursion: chains may be very long
        i, indent, last = stack.pop()
        joint = model.joint(i)
        lines.append(f"{indent}{'└─' if last else '├─'} {joint.name} [{_joint(joint)}] → {model.bodies[i].name} ({masses[i]:.4g} kg)")
        deeper = indent + ("   " if last else "│  ") if len(indent) < 240 else indent
        kids = below[i]
        stack.extend((kid, deeper, k == len(kids) - 1) for k, kid in reversed(list(enumerate(kids))))
    if model.parameters:
        lines.append("parameters: " + ", ".join(f"{p} = {float(model.values[p]):g}" for p in model.parameters))
    if model.laws:
        lines.append("laws: " + ", ".join(law.name for law in model.laws))
    return "\n".join(lines)


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
