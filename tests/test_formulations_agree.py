"""Formulations that are independent down to their kinematics give one answer, on random mechanisms of every kind."""

from collections import Counter

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY_KIND, random_inertial, random_joint, random_rotation, rows

import linkwork as lw
from linkwork.model.build import build
from linkwork.model.describe import Body, Coupling, Description, Joint
from linkwork.model.joints import KINDS
from linkwork.peers.by_pinocchio import contiguous
from linkwork.verify import WAYS

ASKED = 1e-10
"""Relative to the largest entry, in every mechanism: none needs the condition of its mass matrix as an excuse."""
BASES = ("fixed", "moving", "free")
SINGLE = ("revolute", "continuous", "prismatic", "helical")
PLANAR = ("revolute", "continuous", "prismatic", "planar", "fixed")


def floating(rng, name):
    """A base that is carried about: sines of time, and an attitude that turns."""
    a, w, p, u = rng.uniform(0.1, 0.5, 3), rng.uniform(0.3, 1.5, 3), rng.normal(size=3), rng.normal(size=4)

    def motion(t):
        position = [float(a[k]) * ca.sin(float(w[k]) * t + float(p[k])) for k in range(3)]
        return position, [float(u[k]) + 0.3 * ca.cos(float(w[k % 3]) * t + k) for k in range(4)]

    position, turn = tuple(map(float, rng.normal(size=3) * 0.3)), rows(random_rotation(rng))
    return Joint(name, "prescribed", "world", "b0", position=position, rotation=turn, motion=motion)


def flattened(joint):
    """The same joint in the plane across z: what turns, turns about z; what slides, slides across it."""
    along = (1.0, 0.0, 0.0) if joint.kind == "prismatic" else (0.0, 0.0, 1.0)
    angle = float(np.arctan2(joint.rotation[1][0], joint.rotation[0][0]))
    c, s = np.cos(angle), np.sin(angle)
    turn = rows(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
    return Joint(**{**joint.__dict__, "axis": along, "rotation": turn})


def numbered(parents, depth_first):
    """Body numbers with parents first: down every branch at once, or generation by generation."""
    order, waiting = [], [-1]
    while waiting:
        k = waiting.pop(-1 if depth_first else 0)
        order += [k] if k >= 0 else []
        waiting += [c for c, p in enumerate(parents) if p == k]
    return order


def massless(rng, joints, parents):
    """Bodies that may be without mass: between two single joints of different axes, or where a mass is welded on.

    A massless body on a ball joint, say, would turn freely about the next joint's axis: no answer exists.
    """
    chosen = []
    for k, joint in enumerate(joints):
        children = [c for c, p in enumerate(parents) if p == k]
        if len(children) != 1 or k == 0 or {k - 1, *children} & set(chosen) or parents[k] in chosen:
            continue
        child = joints[children[0]]
        own, next_ = np.array(joint.axis), np.array(child.rotation) @ np.array(child.axis)
        crossed = joint.kind in SINGLE and child.kind in SINGLE and abs(own @ next_) < 0.7
        if (child.kind == "fixed" or crossed) and joint.coupling is None and child.coupling is None:
            chosen += [k] if rng.random() < 0.6 else []
    return chosen


def mechanism(seed):
    """Seeds walk through bases, numberings, couplings and planar mechanisms; the rest is drawn."""
    rng = np.random.default_rng((7, seed))
    base, depth_first = BASES[seed % 3], seed // 3 % 2 == 0
    planar, coupled = (seed % 5 == 3 and base == "fixed") or seed % 10 == 4, seed % 7 == 5
    base = "fixed" if planar else base
    kinds = PLANAR if planar else EVERY_KIND
    n = int(rng.integers(2, 9))
    parents = [-1, *(k - 1 if rng.random() < 0.5 else int(rng.integers(-1, k)) for k in range(1, n))]
    joints = []
    for k, p in enumerate(parents):
        kind = base if k == 0 and base == "free" else str(rng.choice(kinds))
        joint = random_joint(rng, f"j{k}", kind, "world" if p < 0 else f"b{p}", f"b{k}", passive=rng.random() < 0.5)
        if k == 0 and base == "moving":
            joint = floating(rng, "j0")
        elif planar:
            joint = flattened(joint)
        leaders = [j for j in joints if KINDS[j.kind].nv == 1 and j.coupling is None]
        if coupled and leaders and KINDS[joint.kind].nv == 1 and rng.random() < 0.6:
            leader = leaders[int(rng.integers(len(leaders)))]
            of = Coupling(leader.name, float(rng.uniform(-2, 2)), float(rng.normal()))
            joint = Joint(**{**joint.__dict__, "coupling": of})
        joints.append(joint)
    empty = [] if planar else massless(rng, joints, parents)
    bodies = [
        Body(f"b{k}", () if k in empty else tuple(random_inertial(rng, f"p{i}") for i in range(rng.integers(1, 3))))
        for k in range(n)
    ]
    order = numbered(parents, depth_first)
    g = (*rng.normal(size=2) * 5, 0.0) if planar else tuple(rng.normal(size=3) * 5)
    joints = tuple(joints[k] for k in order)
    return build(Description(f"random{seed}", tuple(map(float, g)), tuple(bodies), joints))


class Study:
    """What `verify` found on many mechanisms."""

    def __init__(self, seeds, ways):
        self.took, self.worst, self.seen, self.mechanisms, self.free = Counter(), {}, Counter(), len(seeds), 0
        for seed in seeds:
            model = mechanism(seed)
            self.free += model.nv > 0
            found = lw.verify(model, 2, seed, ways=ways, tolerance=ASKED)
            assert found.ok, f"seed {seed}: {found.verdict}\n{model}"
            self.took.update(found.ways)
            self.seen.update(traits(model))
            for name, worst in found.worst.items():
                self.worst[name] = max(self.worst.get(name, 0.0), worst.difference)

    def told(self, figures, title):
        figures(title, "largest relative difference", **{k: f"{x:.1e}" for k, x in self.worst.items()})
        for way, count in self.took.items():
            figures(f"{title}: taken", way, mechanisms=f"{count} of {self.mechanisms}")

    def part(self, way):
        return self.took[way] / self.mechanisms


def traits(model):
    """What is in a mechanism, so that a study can tell that it has seen everything."""
    yield from {model.joint(i).kind for i in model.tree}
    axes = [np.abs(model.joint(i).axis) for i in model.tree if model.kind(i).nv]
    yield from {"axis along x, y or z" if a.max() == 1 else "axis between" for a in axes}
    yield from {"massless"} if any(not b.inertials for b in model.bodies[1:]) else ()
    yield from {"coupled"} if model.coupled else ()
    yield "subtrees without gaps" if contiguous(model.parent) else "subtrees with gaps"


def judged(study, figures, title):
    study.told(figures, title)
    assert all(study.part(way) == 1 for way in ("docking_tree", "kane_graph", "block_matrix"))
    assert study.took["forward"] == study.free > 0.99 * study.mechanisms  # it tells accelerations alone
    assert all(study.part(way) > 0.8 for way in ("separate_bodies", "docking_open"))  # all but coupled joints
    assert study.part("separate_bodies_planar") > 0.1  # planar ones
    everything = {*KINDS, "axis along x, y or z", "axis between", "massless", "coupled"}
    assert everything | {"subtrees without gaps", "subtrees with gaps"} <= set(study.seen), study.seen


def test_formulations_agree_on_random_mechanisms_of_every_kind(figures):
    """Evaluated by CasADi; machine code takes part in the long study."""
    ways = {"recursions" if name == "aba" else name: way for name, way in WAYS.items()}
    judged(Study(range(40), ways), figures, "40 random mechanisms")


@pytest.mark.slow
def test_formulations_and_machine_code_agree_on_500_random_mechanisms(figures):
    study = Study(range(500), None)
    judged(study, figures, "500 random mechanisms")
    assert study.took["machine code"] == study.free  # of the others welds and motions by time are all there is


@pytest.mark.parametrize("peer", ["pinocchio", "mujoco"])
def test_another_package_agrees_on_random_mechanisms(peer, figures):
    pytest.importorskip(peer)
    took, worst = 0, 0.0
    for seed in range(60, 90):
        found = lw.verify(mechanism(seed), 2, seed, ways={"recursions": WAYS["aba"]}, peers=[peer], tolerance=ASKED)
        if peer not in found.refused:
            assert found.ok, f"seed {seed}: {found.verdict}"
            took += 1
            worst = max(worst, *(x.difference for x in found.worst.values()))
    figures("random mechanisms in another package", peer, mechanisms=f"{took} of 30", worst=f"{worst:.1e}")
    assert took > 10  # prescribed joints are refused, and by MuJoCo massless bodies and uneven armatures
