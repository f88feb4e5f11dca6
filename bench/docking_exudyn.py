"""The docking study in Exudyn, as fast as we know to write it.

Chaser and probe are one kinematic tree in minimal coordinates (three slides, three turns, two swings and the absorber,
springs, dampers and attitude control as its joint control), the target is a rigid body: nothing to be solved for
constraints, so explicit integrators run, on the module without range checks. Head and cone meet in a
RigidBodySpringDamper whose force is a Python function: no contact of Exudyn knows a cone, its triangles would be met
two at a time, and its symbolic function, being a tree without shared parts, took 0.8 ms a call where Python takes 5 µs.
Left out, in Exudyn's favour: stops and limiter, which no start reaches, and the lever of the force at the target.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, sin, sqrt
from typing import Any

import numpy as np

from linkwork.docking import Design, DockingStudy
from linkwork.docking.vehicles import FACING

SOLVERS = ("RK44", "DOPRI5", "GeneralizedAlpha")
LINKS = 9
LONGEST = 1e-2
"""Step up to which adaptive solvers may go [s]."""
Force = Callable[..., Sequence[float]]


def engine() -> Any:
    """The module, its fast build where the processor has it."""
    if "exudyn" not in sys.modules:
        sys.exudynFast = True  # type: ignore[attr-defined]
    with open(os.devnull, "w") as nothing:  # it tells on import which build it took
        before, sys.stdout = sys.stdout, nothing
        try:
            import exudyn
        finally:
            sys.stdout = before
    return exudyn


@dataclass(frozen=True, eq=False)
class Mechanism:
    """An assembled system: `run(i, …)` solves a start and gives times and contact forces (normal and friction)."""

    system: Any
    container: Any
    sensor: int
    starts: tuple[np.ndarray, np.ndarray]

    def run(self, i: int, seconds: float, solver: str, fineness: float) -> tuple[np.ndarray, np.ndarray]:
        """`fineness`: the step [s], or for DOPRI5 the tolerance."""
        exu, adaptive = engine(), solver == "DOPRI5"
        data, first = self.system.systemData, exu.ConfigurationType.Initial
        data.SetODE2Coordinates(self.starts[0][i], configuration=first)
        data.SetODE2Coordinates_t(self.starts[1][i], configuration=first)
        settings = exu.SimulationSettings()
        time, solution = settings.timeIntegration, settings.solution
        time.numberOfSteps = round(seconds / (LONGEST if adaptive else fineness))
        time.endTime, time.verboseMode, time.automaticStepSize = seconds, 0, adaptive
        if adaptive:
            time.absoluteTolerance = time.relativeTolerance = fineness
        time.explicit.computeMassMatrixInversePerBody = True
        time.generalizedAlpha.spectralRadius = 0.9
        solution.file.write = False
        solution.sensors.writePeriod = 1e-4 if adaptive else fineness
        self.system.SolveDynamic(settings, solverType=getattr(exu.DynamicSolverType, solver))
        found = self.system.GetSensorStoredData(self.sensor)
        return found[:, 0], np.linalg.norm(found[:, 1:4], axis=1)


def mechanism(study: DockingStudy, inputs: dict[str, np.ndarray], touching: bool = True) -> Mechanism:
    """The study before capture; without `touching` there is no force in the cone, and no Python is run."""
    exu, d = engine(), study.docking.design
    import exudyn.itemInterface as items

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        container = exu.SystemContainer()
        mbs = container.AddSystem()
        tree = mbs.AddObject(_tree(exu, items, mbs, d))
        node = mbs.AddNode(items.NodeRigidBodyRxyz(referenceCoordinates=[0.0] * 6))
        inertia = [*d.target.inertia, 0, 0, 0]
        body = items.ObjectRigidBody(mass=d.target.mass, inertia=inertia, nodeNumber=node)
        seat = [d.cone.depth - d.target.port, 0, 0]
        ends = [
            mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=mbs.AddObject(body), localPosition=seat)),
            mbs.AddMarker(
                items.MarkerKinematicTreeRigid(
                    objectNumber=tree, linkNumber=LINKS - 1, localPosition=[d.probe.length, 0, 0]
                )
            ),
        ]
        none = np.zeros((6, 6))
        between = items.ObjectConnectorRigidBodySpringDamper(
            markerNumbers=ends, stiffness=none, damping=none, rotationMarker0=np.array(FACING)
        )
        contact = mbs.AddObject(between)
        if touching:
            mbs.SetObjectParameter(contact, "springForceTorqueUserFunction", force(d))
        kind = exu.OutputVariableType.ForceLocal
        watch = items.SensorObject(objectNumber=contact, storeInternal=True, writeToFile=False, outputVariableType=kind)
        sensor = mbs.AddSensor(watch)
        mbs.Assemble()
    return Mechanism(mbs, container, sensor, _starts(study, inputs))


def _tree(exu: Any, items: Any, mbs: Any, d: Design) -> Any:
    """Chaser, gimbal, sleeve and rod; the absorber's coordinate counts against ours."""
    p, joint, nowhere, empty = d.probe, exu.JointType, [0.0] * 3, np.zeros((3, 3))
    omega, ratio = d.control or (0.0, 0.0)
    long = p.length**2
    held = [omega**2 * i for i in d.chaser.inertia]
    damped = [2 * ratio * omega * i for i in d.chaser.inertia]
    node = mbs.AddNode(
        items.NodeGenericODE2(
            numberOfODE2Coordinates=LINKS, referenceCoordinates=[0.0] * LINKS,
            initialCoordinates=[0.0] * LINKS, initialCoordinates_t=[0.0] * LINKS,
        )
    )  # fmt: skip
    return items.ObjectKinematicTree(
        nodeNumber=node,
        jointTypes=[
            joint.PrismaticX, joint.PrismaticY, joint.PrismaticZ, joint.RevoluteX, joint.RevoluteY, joint.RevoluteZ,
            joint.RevoluteZ, joint.RevoluteY, joint.PrismaticX,
        ],
        linkParents=list(range(-1, LINKS - 1)),
        jointTransformations=exu.Matrix3DList([np.eye(3)] * LINKS),
        jointOffsets=exu.Vector3DList([*[nowhere] * 6, [d.chaser.port, 0, 0], nowhere, nowhere]),
        linkMasses=[*[0.0] * 5, d.chaser.mass, 0.0, p.sleeve_mass, p.rod_mass],
        linkCOMs=exu.Vector3DList([*[nowhere] * 7, [0.15 * p.length, 0, 0], [0.55 * p.length, 0, 0]]),
        linkInertiasCOM=exu.Matrix3DList([
            *[empty] * 5, np.diag(d.chaser.inertia), empty,
            _rod(p.sleeve_mass, 0.3 * p.length), _rod(p.rod_mass, 0.9 * p.length),
        ]),
        jointPControlVector=[*nowhere, *held, *[p.lateral_stiffness * long] * 2, p.axial_stiffness],
        jointDControlVector=[*nowhere, *damped, *[p.lateral_damping * long] * 2, p.axial_damping],
        jointPositionOffsetVector=[0.0] * LINKS, jointVelocityOffsetVector=[0.0] * LINKS,
    )  # fmt: skip


def _rod(mass: float, length: float) -> np.ndarray:
    across = mass * length * length / 12
    return np.diag([across / 20, across, across])


def _starts(study: DockingStudy, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and rates of all starts: R = Rx(a) Ry(b) Rz(c), the target at rest at the origin."""
    own = study.starts(inputs)
    places, rates = np.zeros((len(own["q"]), LINKS + 6)), np.zeros((len(own["q"]), LINKS + 6))
    for k, (q, v) in enumerate(zip(own["q"], own["v"], strict=True)):
        R = _rotation(q[3:7])
        a, b, c = np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])
        turns = [
            [cos(b) * cos(c), sin(c), 0],
            [-cos(b) * sin(c), cos(c), 0],
            [sin(b), 0, 1],
        ]  # fmt: skip
        places[k, :6] = *q[:3], a, b, c
        rates[k, :6] = *(R @ v[:3]), *np.linalg.solve(turns, v[3:6])
    return places, rates


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    w, u = quaternion[0], quaternion[1:]
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def force(d: Design) -> Force:
    """The law of the study (linkwork/model/contacts.py) in the axes of the seat, with floats and branches."""
    c, head = d.cone, d.probe.head
    s, cos_, seat, stiffness, onset = sin(c.half_angle), cos(c.half_angle), c.seat, c.stiffness, c.onset
    dissipation, friction, slip, edge = c.dissipation, c.friction, c.slip**2, (c.mouth - c.seat * cos_) / s
    none = [0.0] * 6

    def contact(mbs, t, item, u, rotation, rate, o, stiff, damp, r0, r1, offset):
        x, y, z = u[0], u[1], u[2]
        rho = sqrt(x * x + y * y + 1e-30)
        a, b = rho * s + z * cos_, z * s - rho * cos_ + seat
        if a < 0:
            far = sqrt(rho * rho + z * z + 1e-30)
            inside = -1.0 if far <= seat else 1.0
            distance, n_rho, nz = abs(seat - far), inside * rho / far, inside * z / far
        else:
            beyond = a - edge if a > edge else 0.0
            distance = sqrt(beyond * beyond + b * b + 1e-30)
            n_rho, nz = (beyond * s - b * cos_) / distance, (beyond * cos_ + b * s) / distance
        depth = head - distance
        if depth <= 0:
            return none
        nx, ny = n_rho * x / rho, n_rho * y / rho
        wx, wy, wz, ox, oy, oz = -distance * nx, -distance * ny, -distance * nz, o[0], o[1], o[2]
        vx, vy, vz = rate[0] + oy * wz - oz * wy, rate[1] + oz * wx - ox * wz, rate[2] + ox * wy - oy * wx
        inwards = -(vx * nx + vy * ny + vz * nz)
        m, factor = min(depth, onset), 1 + dissipation * inwards
        if factor <= 0:
            return none
        normal = stiffness * m * (depth - m / 2) / onset * factor
        vx, vy, vz = vx + inwards * nx, vy + inwards * ny, vz + inwards * nz
        grip = friction * normal / sqrt(vx * vx + vy * vy + vz * vz + slip)
        fx, fy, fz = normal * nx - grip * vx, normal * ny - grip * vy, normal * nz - grip * vz
        return [-fx, -fy, -fz, wz * fy - wy * fz, wx * fz - wz * fx, wy * fx - wx * fy]

    return contact
