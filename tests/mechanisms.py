"""Seeded random mechanisms of every joint kind, random states, and evaluation without the compiler."""

from __future__ import annotations

import casadi as ca
import numpy as np

from linkwork.model.build import build
from linkwork.model.describe import Body, Coupling, Description, Inertial, Joint, Marker
from linkwork.model.joints import KINDS

EVERY_KIND = (
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
)


def random_rotation(rng):
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return R * np.sign(np.linalg.det(R))


def rows(R):
    return tuple(tuple(float(e) for e in row) for row in R)


def random_inertial(rng, name=""):
    """A cloud of points has an inertia that a solid can have."""
    mass = float(rng.uniform(0.3, 3.0))
    x = rng.normal(size=(6, 3)) * 0.2
    x -= x.mean(axis=0)
    I = sum((p @ p) * np.eye(3) - np.outer(p, p) for p in x) * mass / 6
    tensor = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return Inertial(mass, tuple(map(float, rng.normal(size=3) * 0.2)), tuple(map(float, tensor)), name)


def random_axis(rng):
    if rng.random() < 0.6:
        axis = np.zeros(3)
        axis[rng.integers(3)] = rng.choice([-1.0, 1.0])
    else:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
    return tuple(map(float, axis))


def random_joint(rng, name, kind, parent, child, passive=False):
    axis = np.array(random_axis(rng))
    axis2 = np.array(random_axis(rng))
    while abs(axis @ axis2) > 0.8:
        axis2 = np.array(random_axis(rng))
    nv = KINDS[kind].nv

    def some(scale):
        return tuple(map(float, rng.uniform(0, scale, nv))) if passive else ()

    return Joint(
        name, kind, parent, child,
        position=tuple(map(float, rng.normal(size=3) * 0.3)),
        rotation=rows(random_rotation(rng)) if rng.random() < 0.6 else rows(np.eye(3)),
        axis=tuple(axis), axis2=tuple(axis2), pitch=float(rng.uniform(0.05, 0.2)) if kind == "helical" else 0.0,
        damping=some(0.3), stiffness=some(2.0), friction=some(0.2), rest=some(0.3),
        friction_speed=0.5, armature=some(0.2),
    )  # fmt: skip


def random_mechanism(
    seed, n=None, kinds=EVERY_KIND, root=None, passive=False, coupled=False, depth_first=None, gravity=True
):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 9))
    joints, bodies = [], []
    for k in range(n):
        near = rng.random() < 0.5
        p = k - 1 if near else int(rng.integers(-1, k))
        kind = root if (k == 0 and root) else str(rng.choice(kinds))
        parent = "world" if p < 0 else f"b{p}"
        joint = random_joint(rng, f"j{k}", kind, parent, f"b{k}", passive)
        single = [j for j in joints if KINDS[j.kind].nv == 1 and j.coupling is None]
        if coupled and single and KINDS[kind].nv == 1 and rng.random() < 0.5:
            leader = single[int(rng.integers(len(single)))]
            ratio, offset = float(rng.uniform(-2, 2)), float(rng.normal())
            joint = Joint(**{**joint.__dict__, "coupling": Coupling(leader.name, ratio, offset)})
        joints.append(joint)
        parts = tuple(random_inertial(rng, f"p{i}") for i in range(1 if rng.random() < 0.8 else 2))
        bodies.append(
            Body(
                f"b{k}",
                parts,
                (Marker(f"m{k}", tuple(map(float, rng.normal(size=3) * 0.2)), rows(random_rotation(rng))),),
            )
        )
    order = rng.permutation(n)
    g = tuple(map(float, rng.normal(size=3) * 5)) if gravity else (0.0, 0.0, 0.0)
    return build(Description(f"random{seed}", g, tuple(bodies[i] for i in order), tuple(joints[i] for i in order)))


def random_state(model, seed=0, samples=None):
    """q with unit quaternions, v, tau."""
    rng = np.random.default_rng(seed)
    shape = () if samples is None else (samples,)
    q = rng.normal(size=(*shape, model.nq))
    at = 0
    for i in model.independent:
        kind = model.kind(i)
        if kind.quaternion is not None:
            quat = q[..., at + kind.quaternion : at + kind.quaternion + 4]
            quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
        at += kind.nq
    return q, rng.normal(size=(*shape, model.nv)), rng.normal(size=(*shape, model.nv))


def traced(formulation, model, *shapes, **fixed):
    """The formulation as a function of numbers of these shapes, through CasADi alone."""
    symbols = [ca.SX.sym(f"x{k}", *shape) for k, shape in enumerate(shapes)]
    out = formulation(model, *symbols, **fixed)
    many = isinstance(out, tuple)
    f = ca.Function("f", symbols, [ca.densify(x) for x in (out if many else (out,))])

    def call(*numbers):
        values = [np.array(x) for x in f.call([ca.DM(np.asarray(x, float)) for x in numbers])]
        values = [v[:, 0] if v.shape[1] == 1 else v for v in values]
        return values if many else values[0]

    return call


def evaluate(formulation, model, *numbers, **fixed):
    """The formulation on numbers, through CasADi alone."""
    return traced(formulation, model, *(np.atleast_1d(x).shape for x in numbers), **fixed)(*numbers)


def named(model, values, which="q"):
    """An array of coordinates ("q") or speeds ("v") from names → numbers; those not named are neutral, or zero."""
    names = model.q_names if which == "q" else model.v_names
    assert set(values) <= set(names), f"{set(values) - set(names)} is not among {names}"
    return np.array(
        [values.get(n, e) for n, e in zip(names, model.neutral if which == "q" else [0.0] * len(names), strict=True)],
        float,
    )


def relative(a, b):
    """Largest difference relative to the largest entry."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float(
        np.max(np.abs(a - b), initial=0.0) / max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0), 1e-300)
    )
