"""Forces that belong to the model: springs, damping and dry friction of joints, and the laws a user wrote.

    tau_damping = −damping · v        tau_friction = −friction · tanh(v / friction_speed)
    tau_spring  = −∂V/∂q N(q), V the joints' spring energy and dq/dt = N(q) v

All are sums over all joints, coupled ones included, told in the independent speeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from linkwork.dynamics import kinematics
from linkwork.dynamics.coupling import expand, gather, spread
from linkwork.dynamics.energy import joint_spring_energy
from linkwork.errors import ModelError, nearest
from linkwork.model.describe import Joint
from linkwork.model.joints import Kind
from linkwork.model.model import Model
from linkwork.spatial import SX, cross, vector, zeros


@dataclass(frozen=True)
class Applied:
    """One force: joint forces tau (nv) and wrenches on bodies (bodies × 6, body axes and origins) or None."""

    name: str
    tau: SX
    f_ext: SX | None = None


class State:
    """What a law may read, by name, while it is traced. Vectors are CasADi 3-vectors in world axes."""

    def __init__(self, model: Model, q: SX, v: SX, t: SX):
        self.t = t
        self._model, self._q, self._v = model, expand(model, q), spread(model, v)
        self._bodies = kinematics.moving(model, q, v, t)

    def _joint(self, name: str, slices: tuple[slice, ...], x: SX) -> SX:
        joint, _, component = name.partition(".") if name not in self._model.joint_index else (name, "", "")
        if joint not in self._model.joint_index:
            raise ModelError(f"a law reads an unknown joint '{name}'", fix=nearest(name, self._model.joint_index))
        i = self._model.joint_index[joint]
        own, kind = x[slices[i]], self._model.kind(i)
        if not component:
            return own
        names = [c for c, _ in (kind.coordinates if slices is self._model.q_slices else kind.speeds)]
        if component not in names:
            raise ModelError(f"joint '{joint}' has no component '{component}'", fix=nearest(component, names))
        return own[names.index(component)]

    def q(self, joint: str) -> SX:
        """Coordinates of a joint ("elbow"), or one of them ("base.x")."""
        return self._joint(joint, self._model.q_slices, self._q)

    def v(self, joint: str) -> SX:
        return self._joint(joint, self._model.v_slices, self._v)

    def position(self, frame: str) -> SX:
        i, _, r = kinematics.find(self._model, frame)
        return self._bodies[i].r + self._bodies[i].R @ r

    def rotation(self, frame: str) -> SX:
        i, R, _ = kinematics.find(self._model, frame)
        return self._bodies[i].R @ R

    def velocity(self, frame: str) -> SX:
        i, _, r = kinematics.find(self._model, frame)
        b = self._bodies[i]
        return b.R @ (b.vel[:3] + cross(b.vel[3:], r))

    def omega(self, frame: str) -> SX:
        i, _, _ = kinematics.find(self._model, frame)
        return self._bodies[i].R @ self._bodies[i].vel[3:]

    def constant(self, name: str) -> Any:
        """A named constant of the model; it may be a parameter."""
        if name not in self._model.constants:
            raise ModelError(f"a law reads an unknown constant '{name}'", fix=nearest(name, self._model.constants))
        return self._model.constants[name]


def applied(model: Model, q: SX, v: SX, t: SX) -> list[Applied]:
    """Every force that belongs to the model, by name; only those that are there."""
    found = [Applied(name, tau) for name, tau in _passive(model, q, v).items()]
    state = State(model, q, v, t) if model.laws else None
    for law in model.laws:
        assert state is not None
        said = called(law.function, state, f"law '{law.name}'", law.source)
        found.append(_of_law(model, law.name, said, law.source, state))
    return found


def called(function: Callable[[State], Any], state: State, what: str, where: Any = None) -> Any:
    """What a function of named states returns; a branch on a value, which cannot be traced, is told."""
    try:
        return function(state)
    except RuntimeError as error:
        if "truth value" not in str(error):
            raise
        fix = "use ca.if_else, ca.fmax, ca.fmin: it is traced once, before there are values"
        raise ModelError(f"{what} branches on a value", where=where, fix=fix) from error


def _column(value: Any, name: str, target: str, where: Any) -> SX:
    try:
        found = ca.vec(SX(ca.vertcat(*value) if isinstance(value, (list, tuple)) else value))
    except (NotImplementedError, TypeError):
        fix = "give numbers or CasADi SX expressions"
        raise ModelError(f"law '{name}' gives '{target}' {type(value).__name__}", where=where, fix=fix) from None
    fixed = [float(ca.evalf(found[k])) for k in range(found.numel()) if found[k].is_constant()]
    if any(map(math.isnan, fixed)):
        fix = "use CasADi's functions (ca.sin, not math.sin)"
        raise ModelError(f"law '{name}' gives '{target}' nan, not a number", where=where, fix=fix)
    return found


def joint_forces(joint: Joint, kind: Kind, q: SX, v: SX) -> dict[str, SX]:
    """Damping, friction and spring forces of one joint; those it has."""
    found: dict[str, SX] = {}
    if any(map(_there, joint.damping)):
        found["damping"] = -vector(joint.damping) * v
    if any(map(_there, joint.friction)):
        found["friction"] = -vector(joint.friction) * ca.tanh(v / joint.friction_speed)
    if any(map(_there, joint.stiffness)):
        at, rate = SX.sym("q", kind.nq), SX.sym("v", kind.nv)
        power = ca.jtimes(joint_spring_energy(joint, kind, at), at, kind.q_dot(at, rate))
        found["springs"] = ca.substitute(-ca.jacobian(power, rate).T, at, q)
    return found


def _passive(model: Model, q: SX, v: SX) -> dict[str, SX]:
    q, v = expand(model, q), spread(model, v)
    each = {
        i: joint_forces(model.joint(i), model.kind(i), q[model.q_slices[i]], v[model.v_slices[i]])
        for i in model.tree
        if model.kind(i).nv
    }
    sums: dict[str, SX] = {}
    for word in ("damping", "friction", "springs"):
        if any(word in f for f in each.values()):
            sums[word] = gather(model, ca.vertcat(*[f.get(word, SX.zeros(model.kind(i).nv)) for i, f in each.items()]))
    return sums


def _there(x: Any) -> bool:
    return not (isinstance(x, (int, float)) and x == 0)


def _of_law(model: Model, name: str, said: Any, where: Any, state: State) -> Applied:
    """Sort what a law returned into joint forces and body wrenches."""
    if not isinstance(said, Mapping):
        raise ModelError(
            f"law '{name}' returned {type(said).__name__}, not a dictionary",
            where=where,
            fix="return {joint or marker name: force}",
        )
    tau = zeros(model.v_slices[-1].stop, 1)
    f_ext = None
    for target, value in said.items():
        value = _column(value, name, target, where)
        if target in model.joint_index:
            rows = model.v_slices[model.joint_index[target]]
            if value.numel() != rows.stop - rows.start:
                raise ModelError(
                    f"law '{name}' gives joint '{target}' {value.numel()} forces",
                    where=where,
                    fix=f"give {rows.stop - rows.start}, one per freedom",
                )
            tau[rows] = tau[rows] + value
        elif target in model.markers:
            if value.numel() not in (3, 6):
                raise ModelError(
                    f"law '{name}' gives '{target}' {value.numel()} numbers",
                    where=where,
                    fix="give a force (3) or a force and a moment (6), world axes",
                )
            f_ext = SX.zeros(len(model.bodies) - 1, 6) if f_ext is None else f_ext
            i, _, r = kinematics.find(model, target)
            if i:
                R = state._bodies[i].R
                force = R.T @ value[:3]
                moment = (R.T @ value[3:] if value.numel() == 6 else 0) + cross(r, force)
                f_ext[i - 1, :] = f_ext[i - 1, :] + ca.vertcat(force, moment).T
        else:
            raise ModelError(
                f"law '{name}' acts on '{target}', which is no joint, body or marker",
                where=where,
                fix=nearest(target, [*model.joint_index, *model.markers]),
            )
    return Applied(name, gather(model, tau), f_ext)


def totals(model: Model, forces: list[Applied]) -> tuple[SX, SX | None]:
    """Sum of joint forces, sum of body wrenches (None when there are none)."""
    tau = sum((f.tau for f in forces), zeros(model.nv, 1))
    wrenches = [f.f_ext for f in forces if f.f_ext is not None]
    return tau, sum(wrenches[1:], wrenches[0]) if wrenches else None


def power(model: Model, q: SX, v: SX, force: Applied, t: SX) -> SX:
    """Power a force brings into the mechanism [W]."""
    total = ca.dot(force.tau, v)
    if force.f_ext is not None:
        for i, b in enumerate(kinematics.moving(model, q, v, t)):
            if i:
                total += ca.dot(force.f_ext[i - 1, :].T, b.vel)
    return total


def prescribed_power(model: Model, q: SX, v: SX, v_dot: SX, f_ext: SX | None, t: SX) -> SX:
    """Power that prescribed joints bring in: their wrench along their given motion."""
    from linkwork.dynamics.rnea import motion

    total = SX(0)
    if model.is_moved:
        for i, b in enumerate(motion(model, q, v, v_dot, f_ext, t)):
            if i and model.joint(i).motion is not None:
                total += ca.dot(b.f, b.v_rel)
    return total
