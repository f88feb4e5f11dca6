"""The model in MuJoCo, body by body; contacts, limits and every other constraint off.

Same as ours: quaternions (w, x, y, z), speeds of balls in child axes. Converted: a free joint is three slides and a
ball, as a free joint may stand anywhere here, with v = Rᵀ · rates; universal, cylindrical and planar joints are hinges
and slides of one body; helical and coupled joints move freely there and are eliminated here:

    speeds there = J v,     M = Jᵀ M_mj J,     M v_dot = tau + Jᵀ (qfrc_smooth − M_mj J' v)

f_ext acts at bodies' centres in world axes (`xfrc_applied`), joint wrenches are `cfrc_int` about the centre of mass of
the whole tree, [torque; force].
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from linkwork.errors import ModelError
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.peers.numbers import Joints, inertia, placement, refuse_prescribed

LEAST = 1e-15
"""mjMINVAL: mass and moments of inertia are above it."""


class Mujoco:
    gives: tuple[str, ...] = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")

    def __init__(self, model: Model) -> None:
        mujoco: Any = import_module("mujoco")
        refuse_prescribed(model, "mujoco")
        self.told: Mapping[str, np.ndarray] = {}
        self.mujoco, self.version, self.model, self.joints = mujoco, mujoco.__version__, model, Joints(model)
        self.free = [i for i in model.tree if model.kind(i).name == "free"]
        self._check_armatures()
        self._check_masses()
        spec = self._described()
        try:
            self.theirs = spec.compile()
        except ValueError as error:
            text = str(error).splitlines()[0].removeprefix("Error: ")
            raise ModelError(f"'mujoco' does not take '{model.name}': {text}", fix="leave this peer out") from None
        self.data = mujoco.MjData(self.theirs)
        self._find()

    def _check_armatures(self) -> None:
        for i in self.free:
            joint = self.model.joint(i)
            if len(set(map(float, joint.armature[:3]))) > 1:
                raise ModelError(
                    f"joint '{joint.name}': 'mujoco' takes no free joint with different armatures along its axes",
                    where=joint.source,
                    fix="leave this peer out",
                )

    def _check_masses(self) -> None:
        """A body that moves needs mass and moments of inertia there, of its own or welded to it."""
        model = self.model
        heavy = [m > LEAST and np.linalg.eigvalsh(I)[0] > LEAST for m, _, I in map(inertia, model.bodies)]
        for i in reversed(model.tree):
            if model.kind(i).nv == 0:
                heavy[model.parent[i]] |= heavy[i]
            elif not heavy[i]:
                raise ModelError(
                    f"body '{model.bodies[i].name}': 'mujoco' takes no moving body without mass or moments of inertia",
                    where=model.bodies[i].source,
                    fix="leave this peer out",
                )

    def _find(self) -> None:
        """Where bodies, coordinates and speeds stand: MuJoCo numbers depth first. Armatures of each freedom."""
        theirs, data, model = self.theirs, self.data, self.model
        self.bodies = np.array([theirs.body(f"{i}").id for i in model.tree], int)
        self.places, self.rows = [np.zeros(0, int)], [np.zeros(0, int)]
        for i in model.tree:
            names = [f"{i}/{k}" for k in range(len(self._parts(i)))]
            at = [
                np.arange(theirs.joint(n).qposadr[0], theirs.joint(n).qposadr[0] + data.joint(n).qpos.size)
                for n in names
            ]
            rows = [
                np.arange(theirs.joint(n).dofadr[0], theirs.joint(n).dofadr[0] + data.joint(n).qvel.size) for n in names
            ]
            self.places.append(np.concatenate([np.zeros(0, int), *at]))
            self.rows.append(np.concatenate([np.zeros(0, int), *rows]))
            own = np.array(model.joint(i).armature, float)
            theirs.dof_armature[self.rows[i][: own.size]] = own

    def _described(self) -> Any:
        mujoco, model = self.mujoco, self.model
        spec = mujoco.MjSpec()
        spec.option.gravity = np.array(list(map(float, model.gravity)))
        spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        spec.compiler.fusestatic = False
        bodies = [spec.worldbody]
        for i in model.tree:
            R, r = placement(model.joint(i))
            body = bodies[model.parent[i]].add_body(name=f"{i}", pos=r, quat=_quaternion(R))
            bodies.append(body)
            for k, (kind, axis) in enumerate(self._parts(i)):
                body.add_joint(name=f"{i}/{k}", type=kind, axis=axis)
            m, centre, I = inertia(model.bodies[i])
            moments, axes = np.linalg.eigh(I)
            body.explicitinertial = True
            body.mass, body.ipos, body.inertia = m, centre, np.maximum(moments, 0)
            body.iquat = _quaternion(axes * np.sign(np.linalg.det(axes)))
        return spec

    def _parts(self, i: int) -> list[tuple[Any, Any]]:
        """Joints of MuJoCo that make joint i, the outermost first; none for a fixed one."""
        joint, mj = self.model.joint(i), self.mujoco.mjtJoint
        a, b = np.array(joint.axis, float), np.array(joint.axis2, float)
        turn, slide, ball = mj.mjJNT_HINGE, mj.mjJNT_SLIDE, (mj.mjJNT_BALL, a)
        match joint.kind:
            case "fixed":
                return []
            case "revolute" | "continuous":
                return [(turn, a)]
            case "prismatic":
                return [(slide, a)]
            case "helical" | "cylindrical":
                return [(turn, a), (slide, a)]
            case "universal":
                return [(turn, a), (turn, b)]
            case "planar":
                return [*((slide, np.array(e)) for e in across(joint.axis)), (turn, a)]
            case "spherical":
                return [ball]
            case "free":
                return [*((slide, e) for e in np.eye(3)), ball]
        raise NotImplementedError(f"joints of kind '{joint.kind}' have no row in this table")

    def _maps(self, q: list[np.ndarray], v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates there; J and J' v."""
        G, model = self.joints.G, self.model
        every = G @ v
        J, drift, out = np.zeros((self.theirs.nv, every.size)), np.zeros(self.theirs.nv), np.zeros(self.theirs.nq)
        for i in model.tree:
            rows, own, kind = self.rows[i], model.v_slices[i], model.kind(i)
            block = np.eye(len(rows), kind.nv)
            out[self.places[i][: kind.nq]] = q[i]
            if kind.name == "helical":
                block[1] = pitch = float(model.joint(i).pitch)
                out[self.places[i][1]] = pitch * q[i][0]
            elif kind.name == "free":
                R = self._rotation(q[i][3:])
                block[:3, :3] = R
                drift[rows[:3]] = R @ np.cross(every[own][3:], every[own][:3])
            J[rows, own] = block
        return out, J @ G, drift

    def _rotation(self, quat: np.ndarray) -> np.ndarray:
        out = np.zeros(9)
        self.mujoco.mju_quat2Mat(out, quat)
        return out.reshape(3, 3)

    def __call__(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, f_ext: np.ndarray, t: np.ndarray
    ) -> dict[str, np.ndarray]:
        mj, theirs, data = self.mujoco, self.theirs, self.data
        data.qpos[:], J, drift = self._maps(self.joints.coordinates(q), v)
        data.qvel[:], data.qfrc_applied[:], data.xfrc_applied[:] = J @ v, 0, 0
        mj.mj_kinematics(theirs, data)
        R, at = data.xmat[self.bodies].reshape(-1, 3, 3), self.bodies
        force, moment = (np.einsum("kij,kj->ki", R, x) for x in (f_ext[:, :3], f_ext[:, 3:]))
        data.xfrc_applied[at, :3] = force
        data.xfrc_applied[at, 3:] = moment + np.cross(data.xpos[at] - data.xipos[at], force)
        square = J.shape[0] == J.shape[1] and not self.joints.coupled
        if square:
            data.qfrc_applied[:] = np.linalg.solve(J.T, tau)
        mj.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        mj.mj_fullM(theirs, data, M)
        if square:
            v_dot = np.linalg.solve(J, data.qacc - drift)
        else:
            v_dot = np.linalg.solve(J.T @ M @ J, tau + J.T @ (data.qfrc_smooth - M @ drift))
            data.qacc[:] = J @ v_dot + drift
        mj.mj_rnePostConstraint(theirs, data)
        wrenches, base = self._wrenches(R)
        power = tau @ v + sum(self._power(i, f) for i, f in zip(at, f_ext, strict=True))
        return {"v_dot": v_dot, "wrenches": wrenches, "base_wrench": base, "M": J.T @ M @ J, "energy_rate": power}

    def _wrenches(self, R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        data, theirs, at = self.data, self.theirs, self.bodies
        centre = data.subtree_com[theirs.body_rootid[at]]
        force, moment = data.cfrc_int[at, 3:], data.cfrc_int[at, :3]
        own = moment + np.cross(centre - data.xpos[at], force)
        wrenches = np.hstack([np.einsum("kji,kj->ki", R, x) for x in (force, own)])
        roots = theirs.body_parentid[at] == 0
        at_world = moment + np.cross(centre, force)
        return wrenches, -np.concatenate([force[roots].sum(axis=0), at_world[roots].sum(axis=0)])

    def _power(self, i: int, f: np.ndarray) -> float:
        twist = np.zeros(6)
        body = self.mujoco.mjtObj.mjOBJ_XBODY
        self.mujoco.mj_objectVelocity(self.theirs, self.data, body, i, twist, 1)
        return float(f[:3] @ twist[3:] + f[3:] @ twist[:3])

    @property
    def notes(self) -> list[str]:
        title = f"mujoco {self.version}"
        if self.joints.coupled or any(self.model.kind(i).name == "helical" for i in self.model.tree):
            return [f"{title}: has no exact coupled or helical joints; they are eliminated from its M and bias forces"]
        return []


def _quaternion(R: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(R).as_quat(), 1)
