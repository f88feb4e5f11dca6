"""The docking study in MuJoCo, as fast as we know to write it.

Two free bodies, two hinges and a slide with springs and dampers. Two ways for the head in the cone:

own       the force law of the study, in C, as passive force (mjcb_passive): no constraint is left to be solved
solver    one contact from a collision function in C (mjCOLLISIONFUNC); MuJoCo's soft contact with the same stiffness,
          elliptic friction cone, and the damping that gives the study's restitution

What needs no C, a ring of 24 boxes as the cone, was tried and left: twice as slow as `solver`, and where the head lies
in the edge of two boxes the contact is twice as stiff (peak forces off by up to 77 %).
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import Wrong
from linkwork.docking import Design, DockingStudy
from linkwork.model.contacts import restitution

SOURCE = Path(__file__).with_name("docking_contact.c")
WAYS = ("own", "solver")
INTEGRATORS = ("implicitfast", "Euler", "RK4")
SOFT = 1e-3
"""Impedance of the contact: small, so that the force is that of a spring and damper, whatever masses are behind it."""
SPEED = 0.2
"""Where the restitution of both contacts is the same [m/s]."""


@cache
def library() -> ctypes.CDLL:
    """The callbacks, compiled for this processor."""
    import mujoco

    home = Path(mujoco.__file__).parent
    shared = next(home.glob("libmujoco.so*"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "docking_contact.so"
        words = ["cc", "-O3", "-march=native", "-shared", "-fPIC", f"-I{home / 'include'}", str(SOURCE), str(shared)]
        try:
            subprocess.run([*words, "-lm", "-o", str(file)], check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise ImportError("no C compiler", name="cc") from None
        except subprocess.CalledProcessError as error:
            raise Wrong(f"{SOURCE.name} does not compile: {error.stderr.strip().splitlines()[0]}") from None
        return ctypes.CDLL(str(file))


@dataclass(frozen=True, eq=False)
class Rollout:
    """`call()` runs all starts for `seconds`; `force` is then the contact's normal force (samples, steps)."""

    call: Callable[[], None]
    force: np.ndarray
    states: np.ndarray
    step: float


def rollout(
    study: DockingStudy, inputs: dict[str, np.ndarray], seconds: float, step: float, way: str = "own",
    integrator: str = "implicitfast",
) -> Rollout:  # fmt: skip
    """The samples of `inputs` by `mujoco.rollout` on the calling thread."""
    import mujoco
    from mujoco import rollout as rolling

    model = mujoco.MjModel.from_xml_string(xml(study.docking.design, step, way, integrator))
    if way != "own":
        _stiffen(model, study.docking.design)
    data, starts = mujoco.MjData(model), _starts(study, inputs)
    initial = np.zeros((len(starts), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS.value)))
    initial[:, 1 : 1 + starts.shape[1]] = starts
    steps = round(seconds / step)
    states = np.zeros((len(starts), steps, initial.shape[1]))
    force = np.zeros((len(starts), steps, model.nsensordata))
    runner, models, install = rolling.Rollout(nthread=0), [model] * len(starts), _installer(model, study, way)

    def call() -> None:
        install()
        runner.rollout(models, [data], initial, nstep=steps, state=states, sensordata=force, skip_checks=True)
        mujoco.set_mjcb_passive(None)
        mujoco.set_mjcb_sensor(None)

    return Rollout(call, force[:, :, 0], states, step)


def _starts(study: DockingStudy, inputs: dict[str, np.ndarray]) -> np.ndarray:
    """[q; v] of the study as MuJoCo counts them: linear speeds of free bodies in the axes of the world."""
    own, m = study.starts(inputs), study.docking.contact_model
    q, v = own["q"], own["v"].copy()
    for joint in ("ship", "station"):
        at, rate = m.q_names.index(f"{joint}.qw"), m.v_names.index(f"{joint}.v_x")
        w, u = q[:, at : at + 1], q[:, at + 1 : at + 4]
        x = v[:, rate : rate + 3]
        turned = 2 * np.cross(u, x)
        v[:, rate : rate + 3] = x + w * turned + np.cross(u, turned)
    return np.concatenate([q, v], axis=1)


def _installer(model: Any, study: DockingStudy, way: str) -> Callable[[], None]:
    """What puts this model's numbers and callbacks in place: they are global in MuJoCo."""
    import mujoco

    code, values = library(), _numbers(model, study.docking.design, way)
    kinds = {"passive": (ctypes.c_void_p,) * 2, "sensed": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)}
    passive, sensed = (ctypes.CFUNCTYPE(None, *given)((name, code)) for name, given in kinds.items())
    table = (ctypes.c_void_p * mujoco.mjtGeom.mjNGEOMTYPES.value**2).in_dll(_engine(), "mjCOLLISIONFUNC")
    sphere, cone = mujoco.mjtGeom.mjGEOM_SPHERE.value, mujoco.mjtGeom.mjGEOM_ELLIPSOID.value

    def install() -> None:
        code.numbers(values)
        mujoco.set_mjcb_passive(passive)
        mujoco.set_mjcb_sensor(sensed)
        table[sphere * mujoco.mjtGeom.mjNGEOMTYPES.value + cone] = ctypes.cast(code.collide, ctypes.c_void_p).value

    return install


@cache
def _engine() -> ctypes.CDLL:
    import mujoco

    return ctypes.CDLL(str(next(Path(mujoco.__file__).parent.glob("libmujoco.so*"))))


def _numbers(model: Any, d: Design, way: str) -> Any:
    """The record `Numbers` of the C file, in its order."""
    c, p = d.cone, d.probe
    held = d.control or (0.0, 0.0)
    kp = [held[0] ** 2 * i for i in d.chaser.inertia]
    kd = [2 * held[1] * held[0] * i for i in d.chaser.inertia]
    q, v = {j: int(model.joint(j).qposadr[0]) for j in JOINTS}, {j: int(model.joint(j).dofadr[0]) for j in JOINTS}
    values = [
        p.head, c.half_angle, c.mouth, c.seat, c.stiffness, c.onset, c.dissipation, c.friction, c.slip,
        *p.stroke, p.stop_stiffness, p.stop_onset, p.stop_dissipation, p.swing, p.swing_stiffness, p.swing_onset,
        *kp, *kd, float(way == "own"), model.site("head").id, model.site("seat").id,
        model.body("chaser").id, model.body("rod").id, model.body("target").id,
        v["slide"], v["swing_z"], v["swing_y"], v["ship"], q["slide"], q["swing_z"], q["swing_y"],
    ]  # fmt: skip
    assert len(values) == library().size(), "the records here and in C differ"
    return (ctypes.c_double * len(values))(*map(float, values))


JOINTS = ("ship", "swing_z", "swing_y", "slide", "station")


def _stiffen(model: Any, d: Design) -> None:
    """Stiffness and damping of MuJoCo's contact are per effective mass, of which it keeps an estimate: undo it."""
    inverse = sum(float(model.body(name).invweight0[0]) for name in ("rod", "target"))
    e = restitution(d.cone.dissipation, SPEED) if d.cone.dissipation else 1.0
    ratio = -np.log(e) / np.hypot(np.pi, np.log(e))
    damping = 2 * ratio * np.sqrt(d.cone.stiffness / inverse)
    model.geom_solref[:] = (-d.cone.stiffness * inverse, -max(damping * inverse, 1e-9))


def xml(d: Design, step: float, way: str, integrator: str) -> str:
    """The mechanism before capture."""
    p, c, long = d.probe, d.cone, d.probe.length**2
    swing = f'stiffness="{p.lateral_stiffness * long}" damping="{p.lateral_damping * long}"'
    seat = c.depth - d.target.port
    off = "" if way != "own" else 'constraint="disable" contact="disable"'
    felt = '<user dim="1"/>' if way == "own" else '<touch site="felt"/>'
    return f"""<mujoco>
      <option timestep="{step}" integrator="{integrator}" gravity="0 0 0" cone="elliptic" impratio="10">
        <flag energy="disable" {off}/></option>
      <size memory="1M" nuserdata="1"/>
      <default><geom mass="0" condim="3" friction="{c.friction} 0 0" solimp="{SOFT} {SOFT} 1 .5 2"/></default>
      <worldbody>
        <body name="chaser"><freejoint name="ship"/>
          <inertial pos="0 0 0" mass="{d.chaser.mass}" diaginertia="{_words(d.chaser.inertia)}"/>
          <body pos="{d.chaser.port} 0 0">
            <joint name="swing_z" axis="0 0 1" {swing}/><joint name="swing_y" axis="0 1 0" {swing}/>
            {_rod(p.sleeve_mass, 0.15 * p.length, 0.3 * p.length)}
            <body name="rod"><joint name="slide" type="slide" axis="-1 0 0"
                stiffness="{p.axial_stiffness}" damping="{p.axial_damping}"/>
              {_rod(p.rod_mass, 0.55 * p.length, 0.9 * p.length)}
              <site name="head" pos="{p.length} 0 0"/><site name="felt" pos="{p.length} 0 0" size="{2 * p.head}"/>
              {_head(p.length, p.head, way)}
            </body></body></body>
        <body name="target"><freejoint name="station"/>
          <inertial pos="0 0 0" mass="{d.target.mass}" diaginertia="{_words(d.target.inertia)}"/>
          <site name="seat" pos="{seat} 0 0" xyaxes="0 0 1 0 1 0"/>
          {_cone(d, seat, way)}
        </body>
      </worldbody>
      <sensor>{felt}</sensor>
    </mujoco>"""


def _words(numbers: Any) -> str:
    return " ".join(map(str, numbers))


def _rod(mass: float, centre: float, length: float) -> str:
    across = mass * length * length / 12
    return f'<inertial pos="{centre} 0 0" mass="{mass}" diaginertia="{across / 20} {across} {across}"/>'


def _head(at: float, radius: float, way: str) -> str:
    return f'<geom type="sphere" pos="{at} 0 0" size="{radius}"/>' if way != "own" else ""


def _cone(d: Design, seat: float, way: str) -> str:
    """What stands for the cone in the broad phase and is handed to the collision function: an ellipsoid around it."""
    if way == "own":
        return ""
    size = 2 * d.cone.mouth
    return f'<geom type="ellipsoid" size="{size} {size} {size}" pos="{seat} 0 0" xyaxes="0 0 1 0 1 0"/>'
