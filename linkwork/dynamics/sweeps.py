"""Recursions over the tree as data: a list of sweeps, each a step for one body and a direction.

A step takes the body's `Link` (its data and the results of earlier sweeps) and what comes from its neighbours: the
parent's results (outward) or the sum of what the children passed on (inward). It returns its results by name; the
names in `passes` go to the parent and are summed there, everything else stays with the body.

`run` unrolls the sweeps for one model. The compiler can instead lower each step once per joint kind and loop over the
bodies; see `rolled.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal

import casadi as ca

from linkwork.model.describe import Body, Joint
from linkwork.model.joints import KINDS
from linkwork.model.model import Model
from linkwork.spatial import SX, Transform, matrix, rigid_inertia, skew, symmetric, vector, zeros

Results = Mapping[str, SX]
SYMMETRIC = frozenset({"W", "M_up", "M_c"})  # results that are symmetric matrices; half of them need storing


@dataclass(frozen=True)
class Sweep:
    direction: Literal["outward", "inward"]
    step: Callable[[Any, Any], Results]
    passes: Mapping[str, tuple[int, int]] | tuple[()] = ()  # inward: name → shape of what is summed in the parent


class Link(SimpleNamespace):
    """One body and its joint, as the recursions see them, in the body's own axes about its own origin.

    X: transform from the parent; S: 6 × nv; v_rel = S v + given motion; c = dS/dt v; m, d, I, M: mass, centre, inertia
    about the origin (3×3) and as a 6×6; armature; q, v, tau, v_dot: this joint's slices (those that were given);
    f_ext: external wrench on the body.
    """


def link(joint: Joint, body: Body, q: SX, v: SX, t: SX, turn: SX | None = None, **given: SX) -> Link:
    """`turn`: the joint's rotation when it is known already, so that its sines need not be formed again."""
    motion = KINDS[joint.kind].motion(joint, q, v, t)
    place = matrix(joint.rotation)
    X = Transform(motion.R if turn is None else turn, place, vector(joint.position) + place @ motion.p)
    m, md, I = body_inertia(body)
    return Link(
        X=X,
        S=motion.S,
        v_rel=(motion.S @ v if v.numel() else zeros(6, 1)) + motion.given,
        c=motion.c,
        m=m,
        md=md,
        I=I,
        M=rigid_inertia(m, md, I),
        armature=ca.diag(vector(joint.armature)) if joint.armature else SX(0, 0),
        q=q,
        v=v,
        **given,
    )


def body_inertia(body: Body) -> tuple[SX, SX, SX]:
    """Mass, first moment and inertia about the body's origin, all parts together."""
    m, md, I = SX(0), zeros(3, 1), zeros(3, 3)
    for part in body.inertials:
        mass, centre = SX(part.mass), vector(part.centre)
        across = skew(centre)
        m, md = m + mass, md + mass * centre
        I = I + symmetric(part.inertia) - mass * (across @ across)
    return m, md, I


def links(model: Model, q: SX, v: SX, t: SX, **given: SX) -> list[Link]:
    """A Link for every body of the tree (index 0, the world, is left empty)."""
    out: list[Link] = [Link()]
    for i in model.tree:
        at = {k: x[model.v_slices[i]] for k, x in given.items() if k != "f_ext"}
        if "f_ext" in given:
            at["f_ext"] = given["f_ext"][i - 1, :].T
        out.append(link(model.joint(i), model.bodies[i], q[model.q_slices[i]], v[model.v_slices[i]], t, **at))
    return out


def run(model: Model, sweeps: Sequence[Sweep], links: list[Link], root: Results) -> list[Link]:
    """All sweeps, unrolled. `root`: what the world's body offers to its children. Returns the links with results."""
    links[0].__dict__.update(root)
    for sweep in sweeps:
        if sweep.direction == "outward":
            for i in model.tree:
                links[i].__dict__.update(sweep.step(links[i], links[model.parent[i]]))
            continue
        passed = dict(sweep.passes)
        sums = [SimpleNamespace(**{n: zeros(*shape) for n, shape in passed.items()}) for _ in links]
        for i in reversed(model.tree):
            results = sweep.step(links[i], sums[i])
            above = sums[model.parent[i]]
            for name, value in results.items():
                if name in passed:
                    setattr(above, name, getattr(above, name) + value)
                else:
                    setattr(links[i], name, value)
        links[0].__dict__.update(sums[0].__dict__)
    return links
