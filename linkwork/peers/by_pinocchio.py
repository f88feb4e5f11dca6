"""The model in Pinocchio, joint by joint, not by way of a file.

Same as ours: motions and forces [linear; angular], speeds of spherical and free joints in child axes, `data.f` the
wrench of a joint on its body in the body's axes. Converted: quaternions (x, y, z, w); universal, cylindrical and planar
joints are two or three joints with massless bodies between; bodies on fixed joints are lumped, so the wrench in a fixed
joint is not told; coupled joints are free there and eliminated here, since Pinocchio's forward dynamics has no mimics.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.peers.numbers import Joints, inertia, placement, refuse_prescribed

SAME = 1e-9
"""Relative difference from which on two of Pinocchio's own mass matrices are told to differ: far above rounding."""


class Pinocchio:
    gives: tuple[str, ...] = ("v_dot", "wrenches", "base_wrench", "M", "energy_rate")

    def __init__(self, model: Model) -> None:
        pin: Any = import_module("pinocchio")
        refuse_prescribed(model, "pinocchio")
        self.pin, self.version, self.model, self.joints = pin, pin.__version__, model, Joints(model)
        self.at: list[tuple[int, Any]] = [(0, pin.SE3.Identity())]  # body → its joint there, its frame in that joint's
        self.theirs = self._built()
        self.still = self.theirs.copy()  # without gravity, so that M comes as columns without a difference
        self.still.gravity = pin.Motion.Zero()
        self.data, self.rest = self.theirs.createData(), self.still.createData()
        moves = np.array([model.kind(i).nv > 0 for i in model.tree])
        self.told: Mapping[str, np.ndarray] = {"wrenches": np.repeat(moves[:, None], 6, axis=1)}
        self.off = 0.0

    def _built(self) -> Any:
        pin, model = self.pin, self.model
        theirs = pin.Model()
        theirs.gravity = pin.Motion(np.array([*map(float, model.gravity), 0.0, 0.0, 0.0]))
        armature = []
        for i in model.tree:
            above, frame = self.at[model.parent[i]]
            place = frame * pin.SE3(*placement(model.joint(i)))
            for k, one in enumerate(self._parts(i)):
                above = theirs.addJoint(above, one, place, f"{model.joint(i).name}/{k}")
                place = pin.SE3.Identity()
            self.at.append((above, place))
            body = pin.Inertia.Zero()
            body.mass, body.lever, body.inertia = inertia(model.bodies[i])  # by parts: a point's -1e-20 is not refused
            theirs.appendBodyToJoint(above, body, place)
            armature += map(float, model.joint(i).armature)
        theirs.armature = np.array(armature)
        return theirs

    def _parts(self, i: int) -> list[Any]:
        """Joints of Pinocchio that make joint i, from the parent outwards; none for a fixed one."""
        pin, joint = self.pin, self.model.joint(i)
        a, b = np.array(joint.axis, float), np.array(joint.axis2, float)
        turn, slide = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
        match joint.kind:
            case "fixed":
                return []
            case "revolute" | "continuous":
                return [turn(a)]
            case "prismatic":
                return [slide(a)]
            case "helical":
                return [pin.JointModelHelicalUnaligned(a, float(joint.pitch))]
            case "cylindrical":
                return [turn(a), slide(a)]
            case "universal":
                return [turn(a), turn(b)]
            case "planar":
                return [*(slide(np.array(e)) for e in across(joint.axis)), turn(a)]
            case "spherical":
                return [pin.JointModelSpherical()]
            case "free":
                return [pin.JointModelFreeFlyer()]
        raise NotImplementedError(f"joints of kind '{joint.kind}' have no row in this table")

    def _coordinates(self, q: np.ndarray) -> np.ndarray:
        out = []
        for i, own in enumerate(self.joints.coordinates(q)[1:], 1):
            at = self.model.kind(i).quaternion
            out.append(own if at is None else np.concatenate([own[:at], own[at + 1 :], own[at : at + 1]]))
        return np.concatenate(out)

    def _wrenches(self, f_ext: np.ndarray) -> Any:
        pin = self.pin
        given = [pin.Force.Zero() for _ in self.theirs.joints]
        for (joint, frame), f in zip(self.at[1:], f_ext, strict=True):
            given[joint] += frame.act(pin.Force(f))
        vector = pin.StdVec_Force()
        vector.extend(given)
        return vector

    def _mass(self, q: np.ndarray) -> np.ndarray:
        pin, zero = self.pin, np.zeros(self.still.nv)
        M = np.array([pin.rnea(self.still, self.rest, q, zero, e) for e in np.eye(self.still.nv)]).T
        other = np.triu(pin.crba(self.still, self.rest, q))
        other = other + np.triu(other, 1).T
        self.off = max(self.off, np.abs(M - other).max(initial=0.0) / np.abs(M).max(initial=1e-300))
        return M

    def __call__(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, f_ext: np.ndarray, t: np.ndarray
    ) -> dict[str, np.ndarray]:
        pin, theirs, data, G = self.pin, self.theirs, self.data, self.joints.G
        q, v_all, outer = self._coordinates(q), G @ v, self._wrenches(f_ext)
        M = self._mass(q)
        if self.joints.coupled:
            h = pin.rnea(theirs, data, q, v_all, np.zeros(theirs.nv), outer)
            v_dot = np.linalg.solve(G.T @ M @ G, tau - G.T @ h)
        else:
            v_dot = pin.aba(theirs, data, q, v, tau, outer).copy()
        pin.rnea(theirs, data, q, v_all, G @ v_dot, outer)
        held = theirs.inertias[0] * -theirs.gravity - outer[0]  # by the world: what is welded to it
        base = -np.array(held.vector)
        for j in range(1, theirs.njoints):
            if theirs.parents[j] == 0:
                base -= data.liMi[j].act(data.f[j]).vector
        motions = [frame.actInv(data.v[j]).vector for j, frame in self.at[1:]]
        return {
            "v_dot": v_dot,
            "wrenches": np.array([data.f[j].vector for j, _ in self.at[1:]]),
            "base_wrench": base,
            "M": G.T @ M @ G,
            "energy_rate": tau @ v + np.sum(f_ext * motions),
        }

    @property
    def notes(self) -> list[str]:
        title, found = f"pinocchio {self.version}", []
        if self.joints.coupled:
            found.append(f"{title}: v_dot of coupled joints is solved from its inverse dynamics; it has no such joints")
        if any(not kind.nv for kind in map(self.model.kind, self.model.tree)):
            found.append(f"{title}: lumps bodies on fixed joints, so wrenches in fixed joints are not compared")
        if self.off > SAME:
            why = "" if contiguous(self.theirs.parents) else ": subtrees of this model are not contiguous"
            found.append(
                f"{title}: M is compared as columns of its inverse dynamics; its crba differs from them by "
                f"{self.off:.1e}{why}"
            )
        return found


def contiguous(parents: Any) -> bool:
    """Are the joints beyond every joint numbered without gaps? Pinocchio's crba takes it for granted."""
    last: dict[int, list[int]] = {}
    for j in reversed(range(1, len(parents))):
        own = [j, *last.get(j, [])]
        if max(own) - j + 1 != len(own):
            return False
        last.setdefault(parents[j], []).extend(own)
    return True
