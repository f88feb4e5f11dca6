"""The models of the benches, each as ours and as Pinocchio's, with the maps between their orders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw

ROBOTS = {
    "Z1": ("z1_description/urdf/z1.urdf", "fixed"),
    "G1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "fixed"),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "free"),
    "Talos": ("talos_data/robots/talos_reduced.urdf", "free"),
}
"""File and base of each robot."""
LENGTH = 0.3


def _file(name: str) -> Path:
    import pinocchio

    for above in Path(pinocchio.__file__).parents:
        folder = above / "share" / "example-robot-data" / "robots"
        if folder.is_dir():
            return folder / ROBOTS[name][0]
    raise FileNotFoundError("example-robot-data is not installed")


def robot(name: str) -> lw.Model:
    """A robot as ours."""
    return lw.read_urdf(_file(name), base=ROBOTS[name][1])  # type: ignore[arg-type]


def robot_there(name: str) -> Any:
    """The same as Pinocchio's."""
    import pinocchio as pin

    file = str(_file(name))
    base = () if ROBOTS[name][1] == "fixed" else (pin.JointModelFreeFlyer(),)
    return pin.buildModelFromUrdf(file, *base)


def links(n: int) -> list[tuple[float, tuple[float, float, float], str]]:
    """Mass, centre height and moments of the links of a chain, and their axes; no two links alike."""
    rng = np.random.default_rng(n)
    masses = rng.uniform(0.5, 1.0, n)
    found = []
    for k, mass in enumerate(map(float, masses)):
        across = mass * LENGTH**2 / 12
        found.append((mass, (across, 1.05 * across, 0.1 * across), "yx"[k % 2]))
    return found


def chain(n: int) -> lw.Model:
    """n links one below the other on revolute joints, axes across in turn."""
    made = lw.Mechanism(f"chain{n}")
    for k, (mass, moments, axis) in enumerate(links(n)):
        made.body(f"b{k}", mass=mass, centre=(0.0, 0.0, -LENGTH / 2), inertia=moments)
        at = (0.0, 0.0, -LENGTH if k else 0.0)
        made.joint(f"j{k}", "revolute", f"b{k - 1}" if k else "world", f"b{k}", axis=axis, at=at)
    return made.build()


def chain_there(n: int) -> Any:
    """The same as Pinocchio's."""
    import pinocchio as pin

    made, parent = pin.Model(), 0
    for k, (mass, moments, axis) in enumerate(links(n)):
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTH if k else 0.0]))
        kind = pin.JointModelRY() if axis == "y" else pin.JointModelRX()
        parent = made.addJoint(parent, kind, place, f"j{k}")
        inertia = pin.Inertia(mass, np.array([0.0, 0.0, -LENGTH / 2]), np.diag(moments))
        made.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    made.gravity.linear = np.array([0.0, 0.0, -9.81])
    return made


def chain_xml(n: int, integrator: str, step: float) -> str:
    """The same in MuJoCo's language, with everything switched off that only contacts and limits need."""
    inner = ""
    for k, (mass, moments, axis) in reversed(list(enumerate(links(n)))):
        at = f"0 0 {-LENGTH if k else 0.0}"
        inertia = " ".join(map(repr, moments))
        inner = (
            f'<body pos="{at}"><joint type="hinge" axis="{"0 1 0" if axis == "y" else "1 0 0"}"/>'
            f'<inertial pos="0 0 {-LENGTH / 2}" mass="{mass!r}" diaginertia="{inertia}"/>{inner}</body>'
        )
    off = "contact constraint equality frictionloss limit sensor warmstart eulerdamp".split()
    flags = " ".join(f'{name}="disable"' for name in off)
    return (
        f'<mujoco><compiler angle="radian"/><option timestep="{step!r}" integrator="{integrator}" gravity="0 0 -9.81">'
        f"<flag {flags}/></option><worldbody>{inner}</worldbody></mujoco>"
    )


@dataclass(frozen=True, eq=False)
class Pair:
    """One model, ours and Pinocchio's."""

    name: str
    ours: lw.Model
    there: Any

    @cached_property
    def orders(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of our coordinates and speeds stand where in Pinocchio's."""
        q: list[int] = []
        v: list[int] = []
        for name in list(self.there.names)[1:]:
            at_q = [k for k, x in enumerate(self.ours.q_names) if x == name or x.startswith(f"{name}.")]
            q += [at_q[k] for k in (0, 1, 2, 4, 5, 6, 3)] if len(at_q) == 7 else at_q
        at = 0
        slices = {}
        for i in self.ours.independent:
            kind = self.ours.kind(i)
            slices[self.ours.joint(i).name] = range(at, at + kind.nv)
            at += kind.nv
        for name in list(self.there.names)[1:]:
            v += slices[name]
        return np.array(q), np.array(v)

    def states(self, samples: int, seed: int = 0) -> dict[str, np.ndarray]:
        """Random q, v, tau and v_dot in our order, batch first; chains only bend a little."""
        rng = np.random.default_rng(seed)
        model, scale = self.ours, 0.3 if self.name.startswith("chain") else 1.5
        q = rng.uniform(-scale, scale, (samples, model.nq))
        at = 0
        for i in model.independent:
            kind = model.kind(i)
            if kind.quaternion is not None:
                quat = q[:, at + kind.quaternion : at + kind.quaternion + 4]
                quat /= np.linalg.norm(quat, axis=1, keepdims=True)
            at += kind.nq
        others = {k: rng.uniform(-1, 1, (samples, model.nv)) for k in ("v", "tau", "v_dot")}
        return {"q": q, **others}

    def moved(self, given: np.ndarray, what: str) -> np.ndarray:
        """Numbers, batch first, in Pinocchio's order."""
        return np.ascontiguousarray(given[:, self.orders[0 if what == "q" else 1]])


def pair(name: str) -> Pair:
    """A robot by name, or `chain 10`."""
    if name.startswith("chain"):
        n = int(name.split()[1])
        return Pair(name, chain(n), chain_there(n))
    return Pair(name, robot(name), robot_there(name))


def made(name: str) -> lw.Model:
    """Ours alone."""
    return chain(int(name.split()[1])) if name.startswith("chain") else robot(name)


def kernel(model: lw.Model, formulation: Callable[..., Any]) -> Any:
    return lw.compile(lw.equations(model, formulation))
