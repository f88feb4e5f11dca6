"""What every peer needs of a model, as NumPy numbers: inertias, joint placements, speeds of coupled joints."""

from __future__ import annotations

import casadi as ca
import numpy as np

from linkwork.dynamics import coupling
from linkwork.errors import ModelError
from linkwork.model.describe import Body, Joint
from linkwork.model.model import Model

SX = ca.SX


def inertia(body: Body) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass, inertia about it (body axes) of all parts together."""
    m = sum((float(p.mass) for p in body.inertials), 0.0)
    centre, I = np.zeros(3), np.zeros((3, 3))
    for p in body.inertials:
        centre += float(p.mass) * np.array(p.centre, float) / (m or 1.0)
    for p in body.inertials:
        xx, yy, zz, xy, xz, yz = map(float, p.inertia)
        off = np.array(p.centre, float) - centre
        I += np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        I += float(p.mass) * (off @ off * np.eye(3) - np.outer(off, off))
    return m, centre, I


def placement(joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """Joint axes → parent axes, joint origin in the parent."""
    return np.array(joint.rotation, float), np.array(joint.position, float)


def refuse_prescribed(model: Model, peer: str) -> None:
    """Raise ModelError for the first joint that follows a motion: peers know no time."""
    for i in model.tree:
        joint = model.joint(i)
        if joint.motion is not None:
            raise ModelError(
                f"joint '{joint.name}': '{peer}' takes no prescribed joint: its joints move by forces alone",
                where=joint.source,
                fix="leave this peer out",
            )


class Joints:
    """Coordinates and speeds of all joints from the independent ones: v_all = G v."""

    def __init__(self, model: Model) -> None:
        q = SX.sym("q", model.nq)
        self._expand = ca.Function("q", [q], [ca.densify(coupling.expand(model, q))])
        self.model, self.coupled = model, bool(model.coupled)
        self.G = np.array(ca.evalf(coupling.expansion(model))) if model.coupled else np.eye(model.nv)

    def coordinates(self, q: np.ndarray) -> list[np.ndarray]:
        """One array for each body; the world's is empty."""
        every = np.array(self._expand(q)).ravel()
        return [every[at] for at in self.model.q_slices]
