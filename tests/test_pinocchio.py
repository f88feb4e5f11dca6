"""Against Pinocchio on every robot of example-robot-data, fixed and free base, at seeded random states.

A file that Pinocchio reads and we refuse is a failure. Pinocchio lumps what hangs on fixed joints, has quaternions as
(x, y, z, w), continuous joints as (cos, sin), and leaves mimic joints free unless told otherwise.
"""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import relative

import linkwork as lw
from linkwork.model.check import unmoved

pin = pytest.importorskip("pinocchio")
cmeel = pytest.importorskip("cmeel")

ASKED = 1e-10
"""Relative to the largest entry, as the issue asks."""
COUNT = 3
ROBOTS = next(Path(p) for p in cmeel.__path__).parent / "cmeel.prefix/share/example-robot-data/robots"
SINGULAR = 1e16
FILES = sorted(ROBOTS.rglob("*.urdf"))
SEEN: dict[tuple, str] = {}
"""Mechanisms compared so far; several files describe one and the same and differ in their shapes."""


def test_the_robots_are_there():
    assert len(FILES) > 60


class Pair:
    """One robot in both packages."""

    def __init__(self, path, base, ours=None, theirs=None):
        self.model = ours or lw.read_urdf(path, base=base, mimic="free")
        self.pin = theirs or read_by_pinocchio(path, base)
        self.data = self.pin.createData()

    def theirs(self, q):
        """Our coordinates as Pinocchio has them."""
        out, at = np.zeros(self.pin.nq), 0
        for i in self.model.independent:
            kind, name = self.model.kind(i), self.model.joint(i).name
            own = q[at : at + kind.nq]
            at += kind.nq
            if not kind.nq:
                continue
            joint = self.pin.joints[self.pin.getJointId(name)]
            if kind.name == "free":
                own = own[[0, 1, 2, 4, 5, 6, 3]]
            elif joint.nq == 2:
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            out[joint.idx_q : joint.idx_q + joint.nq] = own
        return out

    @property
    def order(self):
        """Of each of our speeds: its place in Pinocchio's."""
        places = []
        for i in self.model.independent:
            if self.model.kind(i).nv:
                joint = self.pin.joints[self.pin.getJointId(self.model.joint(i).name)]
                places += range(joint.idx_v, joint.idx_v + joint.nv)
        return np.array(places)

    def speeds(self, v):
        out = np.zeros(self.pin.nv)
        out[self.order] = v
        return out


def read_by_pinocchio(path, base, mimic=False):
    root = (pin.JointModelFreeFlyer(),) if base == "free" else ()
    return pin.buildModelFromUrdf(str(path), *root, mimic=mimic)


def states(model, seed):
    rng = np.random.default_rng(seed)
    for _ in range(COUNT):
        q, at = rng.uniform(-1.5, 1.5, model.nq), 0
        for i in model.independent:
            kind = model.kind(i)
            if kind.quaternion is not None:
                quat = q[at + kind.quaternion : at + kind.quaternion + 4]
                quat /= np.linalg.norm(quat)
            at += kind.nq
        yield q, rng.normal(size=model.nv), rng.normal(size=model.nv)


def ours(model, frames):
    """One CasADi function of everything that is compared."""
    q, v, x = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("x", model.nv)
    if unmoved(model):
        with pytest.raises(lw.ModelError, match="moves no mass"):
            lw.aba(model, q, v, x)
    v_dot = ca.SX.nan(model.nv, 1) if unmoved(model) else lw.aba(model, q, v, x)
    out = [v_dot, lw.rnea(model, q, v, x), lw.crba(model, q)]
    out += [lw.kinetic_energy(model, q, v), lw.gravity_energy(model, q)]
    out += [lw.jacobian(model, q, f) for f in frames]
    return ca.Function("all", [q, v, x], [ca.densify(y) for y in out])


def compare(pair, seed=0):
    """Worst relative differences by word."""
    model, theirs, data = pair.model, pair.pin, pair.data
    frames = [b.name for b in model.bodies[1:] if theirs.existFrame(b.name)]
    frames = [frames[k] for k in sorted({len(frames) - 1, len(frames) // 3})]
    f, at = ours(model, frames), pair.order
    worst = dict.fromkeys(("ABA", "RNEA", "M", "J", "energy"), 0.0)
    heights = []

    def note(word, error):
        if not error <= worst[word]:  # NaN counts
            worst[word] = float(error)

    for q, v, x in states(model, seed):
        v_dot, tau, M, kinetic, potential, *J = (np.array(y) for y in f(q, v, x))
        p, w, y = pair.theirs(q), pair.speeds(v), pair.speeds(x)
        M_pin = pin.crba(theirs, data, p)
        M_pin = np.triu(M_pin) + np.triu(M_pin, 1).T
        columns = np.stack([pin.rnea(theirs, data, p, w, e) for e in np.eye(theirs.nv)], axis=1)
        columns -= pin.rnea(theirs, data, p, w, 0 * y)[:, None]
        note("M", relative(M, M_pin[np.ix_(at, at)]))
        assert relative(M, columns[np.ix_(at, at)]) < 1e-8  # M is a difference there
        note("RNEA", relative(tau[:, 0], pin.rnea(theirs, data, p, w, y)[at]))
        expected = pin.aba(theirs, data, p, w, y)[at]
        assert unmoved(model) or np.linalg.cond(M) < SINGULAR
        if not unmoved(model):
            note("ABA", relative(v_dot[:, 0], expected))
            residual = pin.rnea(theirs, data, p, w, pair.speeds(v_dot[:, 0]))[at] - x
            note("ABA", np.abs(residual).max() / (np.abs(M) @ np.abs(v_dot[:, 0])).max())
        else:
            worst["ABA"] = None  # joints that move no mass: there is no answer, and theirs is none either
            assert not np.isfinite(expected).all() or np.abs(expected).max() > 1e8
        note("energy", relative(kinetic, pin.computeKineticEnergy(theirs, data, p, w)))
        heights.append((float(potential[0, 0]), pin.computePotentialEnergy(theirs, data, p)))
        pin.computeJointJacobians(theirs, data, p)
        pin.updateFramePlacements(theirs, data)
        for frame, mine in zip(frames, J, strict=True):
            number = theirs.getFrameId(frame)
            found = pin.getFrameJacobian(theirs, data, number, pin.LOCAL_WORLD_ALIGNED)[:, at]
            note("J", relative(mine, found) if np.abs(found).max() > 0 else np.abs(mine).max())
    # Bodies welded to the world are not in Pinocchio's sum: a constant, so differences between states are compared.
    mine, other = np.array(heights).T
    note("energy", np.abs(np.diff(mine) - np.diff(other)).max() / max(np.abs(mine).max(), np.abs(other).max()))
    return worst


def fingerprint(model):
    """Everything the equations depend on."""
    joints = [(j.name, j.kind, j.parent, j.position, j.rotation, j.axis) for j in model.joints[1:]]
    return repr((joints, [[(p.mass, p.centre, p.inertia) for p in b.inertials] for b in model.bodies], model.parent))


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_robot_moves_as_in_pinocchio(path, base, figures):
    name = f"{path.relative_to(ROBOTS).parts[0].removesuffix('_description')}/{path.stem} {base}"
    try:
        theirs = read_by_pinocchio(path, base)
    except Exception as error:
        figures("Pinocchio", name, note=f"not read by Pinocchio: {str(error).splitlines()[0][-40:]}")
        return
    pair = Pair(path, base, theirs=theirs)  # an error here is a failure: Pinocchio reads it
    joints = [pair.model.joint(i).name for i in pair.model.independent if pair.model.kind(i).nv]
    assert sorted(joints) == sorted(list(theirs.names)[1:])
    assert pair.model.nv == theirs.nv
    first = SEEN.setdefault(fingerprint(pair.model), name)
    if not pair.model.nv or first != name:
        figures(
            "Pinocchio",
            name,
            nv=pair.model.nv,
            note=f"the same mechanism as {first}" if pair.model.nv else "nothing moves",
        )
        return
    found = compare(pair)
    told = {k: "none" if x is None else f"{x:.1e}" for k, x in found.items()}
    figures("Pinocchio", name, nv=pair.model.nv, **told)
    assert all(x is None or x < ASKED for x in found.values()), found


@pytest.mark.parametrize("name", ["panda", "baxter", "pr2", "tiago_pro"])
def test_coupled_joints_move_as_pinocchios_mimic_joints(name, figures):
    """Mass matrix and inverse dynamics with mimic joints eliminated; Pinocchio's ABA knows no mimic joints."""
    path = next(p for p in FILES if p.stem == name)
    theirs = read_by_pinocchio(path, "fixed", mimic=True)
    pair = Pair(path, "fixed", ours=lw.read_urdf(path), theirs=theirs)
    model, data, at = pair.model, theirs.createData(), pair.order
    assert model.coupled and model.nv == theirs.nv
    q, v, x = ca.SX.sym("q", model.nq), ca.SX.sym("v", model.nv), ca.SX.sym("x", model.nv)
    f = ca.Function("f", [q, v, x], [ca.densify(y) for y in (lw.rnea(model, q, v, x), lw.crba(model, q))])
    worst = 0.0
    for a, b, c in states(model, 5):
        tau, M = (np.array(y) for y in f(a, b, c))
        p, w, y = pair.theirs(a), pair.speeds(b), pair.speeds(c)
        rest = pin.rnea(theirs, data, p, w, 0 * y)
        columns = np.stack([pin.rnea(theirs, data, p, w, e) - rest for e in np.eye(theirs.nv)], axis=1)
        worst = max(
            worst, relative(tau[:, 0], pin.rnea(theirs, data, p, w, y)[at]), relative(M, columns[np.ix_(at, at)])
        )
    figures("Pinocchio", f"{name} with mimic joints", nv=model.nv, RNEA=f"{worst:.1e}")
    assert worst < ASKED
