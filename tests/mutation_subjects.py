"""The formulations whose mutants are judged: their files, what holds equations there, and how `verify` takes them.

Left out are functions that hold no equation of motion (checks of numbers, their messages) and results of its own that
only one formulation gives, so that nothing can be compared: those have tests of their own in tests/dynamics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np
from mutants import Key, Site, sites
from mutation_models import in_a_plane, in_space
from mutation_same import SAME

import linkwork as lw
from linkwork.dynamics.coupling import expansion
from linkwork.dynamics.formulation import gives
from linkwork.dynamics.kinematics import poses
from linkwork.model.describe import Joint
from linkwork.model.joints import across
from linkwork.model.model import Model
from linkwork.verify import QUANTITIES

DYNAMICS = "linkwork.dynamics."
Modules = Mapping[str, ModuleType]


@dataclass(frozen=True)
class Subject:
    """A formulation: `modules` are imported privately, in this order, and `ways` of them given to `verify`.

    places   module → functions that hold its equations; () for the whole file
    same     places whose change changes no answer that can be compared → why
    """

    modules: tuple[str, ...]
    places: Mapping[str, tuple[str, ...]]
    ways: Callable[[Modules], Mapping[str, Any]]
    models: Callable[[], dict[str, Model]] = in_space
    same: Mapping[Key, str] = field(default_factory=dict)

    def sites(self) -> list[Site]:
        found = [s for m, functions in self.places.items() for s in sites(m, functions)]
        unknown = set(self.same) - {s.key for s in found}
        assert not unknown, f"no such places: {unknown}"
        return [s for s in found if s.key not in self.same]


SPATIAL, JOINTS = "linkwork.spatial", "linkwork.model.joints"


def _dynamics(*names: str) -> tuple[str, ...]:
    return tuple(DYNAMICS + name for name in names)


def _way(name: str, modules: Modules, **fixed: Any) -> Any:
    """A formulation of a private module with options set."""
    form = getattr(modules[DYNAMICS + name], name)
    quantities = tuple(q for q in QUANTITIES if q in form.gives)

    @gives(*quantities, refuses=form.refuses)
    def way(model: Any, *given: Any) -> dict[str, Any]:
        return dict(zip(quantities, form.giving(*quantities)(model, *given, **fixed), strict=True))

    return way


def recursions(modules: Modules) -> dict[str, Any]:
    """Whatever of `aba`, `rnea` and `crba` is private, the others as they are."""
    aba, rnea, crba = (modules.get(DYNAMICS + name) for name in ("aba", "rnea", "crba"))

    @gives("v_dot", "wrenches", "base_wrench", "M")
    def way(model: Any, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        v_dot = (lw if aba is None or rnea else aba).aba(model, q, v, tau, f_ext, t)
        f, base = (rnea or lw).wrenches(model, q, v, v_dot, f_ext, t)
        return {"v_dot": v_dot, "wrenches": f, "base_wrench": base, "M": (crba or lw).crba(model, q, t)}

    @gives("v_dot")
    def undone(model: Any, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        """v_dot + M⁻¹ (tau − rnea(v_dot))."""
        v_dot = lw.aba(model, q, v, tau, f_ext, t)
        left = tau - rnea.rnea(model, q, v, v_dot, f_ext, t)  # type: ignore[union-attr]
        return {"v_dot": v_dot + ca.solve(lw.crba(model, q, t), left)}

    return {"mutant": way} | ({"mutant, factorised": crba.forward, "mutant, undone": undone} if crba else {})


def docking_closed(modules: Modules) -> dict[str, Any]:
    """With the mass matrix by composite inertias, and by unit accelerations."""
    form = modules[DYNAMICS + "docking_tree"].docking_tree

    @gives("v_dot", "M")
    def columns(model: Any, *given: Any) -> dict[str, Any]:
        v_dot, A = form.giving("v_dot", "A")(model, *given)
        G = expansion(model) if model.coupled else ca.SX.eye(model.nv)
        return {"v_dot": v_dot, "M": G.T @ A @ G}

    return {"mutant": _way("docking_tree", modules), "mutant, columns": columns}


def docking_opened(modules: Modules) -> dict[str, Any]:
    """All of it articulated, and what hangs on the first body folded into the closed form."""
    return {
        "mutant": _way("docking_open", modules),
        "mutant, controlled": _way("docking_open", modules, controlled="b1"),
    }


def separate(modules: Modules) -> dict[str, Any]:
    """Besides: joint wrenches from its own R, at centres of mass in inertial axes."""
    form = modules[DYNAMICS + "separate_bodies"].separate_bodies

    @gives("v_dot", "wrenches", refuses=form.refuses)
    def moved(model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        (v_dot, R), rows = form.giving("v_dot", "R")(model, q, v, tau, f_ext, t), []
        for b, own in zip(poses(model, q, t)[1:], ca.vertsplit(R), strict=True):
            force, moment = b.R.T @ own[:3].T, b.R.T @ own[3:].T
            m = ca.if_else(b.m > 0, b.m, 1)
            rows.append(ca.vertcat(force, moment + ca.cross(b.md / m, force)).T)
        return {"v_dot": v_dot, "wrenches": ca.vertcat(*rows)}

    return {"mutant": _way("separate_bodies", modules), "mutant, R": moved}


def kane(modules: Modules) -> dict[str, Any]:
    """By the complement; all at once, with hinge wrenches of its multipliers and the mass matrix of its matrices; from
    the 6n speeds of the complement; a hinge opened and held by further rows."""
    Kane = modules[DYNAMICS + "kane_graph"].Kane

    @gives("v_dot", "wrenches", "M")
    def at_once(model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        k = Kane(model, q, v, tau, f_ext, t)
        drive, rows = k.tau - k.armature * (k.G @ k.v_dot_a), []
        for i in model.tree:
            own, h = drive[model.v_slices[i]], k.hinges[i]
            F, T = k.F_c[i - 1, :].T, k.T_c[i - 1, :].T
            if own.numel():
                F, T = F + h.Fa @ own, T + h.Ta @ own
            rows.append(ca.horzcat(F.T @ k.R[i], T.T @ k.R[i]))
        M = k.N.T @ k.Mz @ k.N + k.G.T @ ca.diag(k.armature) @ k.G
        return {"v_dot": k.v_dot_a, "wrenches": ca.vertcat(*rows), "M": M}

    @gives("v_dot")
    def speeds(model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        k = Kane(model, q, v, tau, f_ext, t)
        u = k.drives[0] @ k.z_dot - k.drives[1]
        own = [u[model.v_slices[i]] for i in model.independent if model.kind(i).nv]
        return {"v_dot": ca.vertcat(*own)}

    @gives("v_dot", "wrenches")
    def held(model: Model, *given: Any) -> dict[str, Any]:
        return opened_and_held(Kane, model, *given)

    way = _way("kane_graph", modules)
    return {"mutant": way, "mutant, all at once": at_once, "mutant, speeds": speeds, "mutant, held": held}


def opened_and_held(
    Kane: Any, model: Model, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None
) -> dict[str, Any]:
    """The first revolute joint as a free one, with five further rows that keep it turning about its axis."""
    turns = [i for i in model.tree if model.joint(i).kind == "revolute" and not model.coupled]
    if not turns:
        k = Kane(model, q, v, tau, f_ext, t)
        return {"v_dot": k.v_dot, "wrenches": k.wrenches}
    i, p, n = turns[0], model.parent[turns[0]], len(model.tree)
    joint, axis, none = model.joint(i), ca.DM(model.joint(i).axis), ca.DM.zeros(3)
    free = Joint(joint.name, "free", joint.parent, joint.child, joint.position, joint.rotation,
                 armature=(0.0,) * 3 + joint.armature * 3)  # fmt: skip
    opened = model.replace(joints=(None, *(free if k == i else model.joint(k) for k in model.tree)))
    at, on = model.q_slices[i].start, model.v_slices[i].start
    omega, slide = slice(3 * (i - 1), 3 * i), slice(3 * (n + i - 1), 3 * (n + i))

    def widened(x: Any) -> Any:
        return ca.vertcat(x[:on], none, axis * x[on], x[on + 1 :])

    def hold(opened: Model, q: Any, t: Any) -> Any:
        rows = ca.SX(5, 6 * n)
        rows[:2, omega] = sides = ca.DM(np.array(across(joint.axis))) @ poses(opened, q, t)[i].R.T
        if p:
            rows[:2, 3 * (p - 1) : 3 * p] = -sides
        rows[2:, slide] = ca.SX.eye(3)
        return rows, 0

    pose = ca.vertcat(none, ca.cos(q[at] / 2), ca.sin(q[at] / 2) * axis)
    k = Kane(opened, ca.vertcat(q[:at], pose, q[at + 1 :]), widened(v), widened(tau), f_ext, t, extra=hold)
    v_dot, loads = k.v_dot, k.wrenches
    outside = -k.extra_rows[0].T @ k._solution[1]  # on the body; the opposite on its parent
    loads[i - 1, :] += ca.horzcat(outside[slide].T @ k.R[i], outside[omega].T @ k.R[i])
    turned = axis.T @ v_dot[on + 3 : on + 6]
    return {"v_dot": ca.vertcat(v_dot[:on], turned, v_dot[on + 6 :]), "wrenches": loads}


def block(modules: Modules) -> dict[str, Any]:
    """Forward dynamics; the same with the matrix B; inverse dynamics, which is linear in the accelerations."""
    names = ("block_letters", "block_links", "block_drives", "block_matrix")
    letters, links, drives, whole = (modules[DYNAMICS + name] for name in names)

    @gives("v_dot", "M")
    def matrices(model: Any, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        chain = links.chain(model, q, v, t)
        x = letters.letters(model, chain, f_ext)
        M = whole.mass_matrix(model, q, ca.SX.sym("t") if t is None else t)
        forces = x.A @ chain.q_ddot_0 + x.B @ x.q_dot - x.C @ x.f_g - x.Dn @ x.n_g
        return {"v_dot": ca.solve(M, tau - chain.G.T @ forces), "M": M}

    @gives("v_dot", "wrenches", "base_wrench", "M")
    def inverse(model: Any, q: Any, v: Any, tau: Any, f_ext: Any = None, t: Any = None) -> dict[str, Any]:
        a = ca.SX.sym("a", model.nv)
        needed = drives.drive_forces(model, q, v, a, f_ext, t)
        M, h = ca.jacobian(needed, a), ca.substitute(needed, a, 0)
        v_dot = ca.solve(M, tau - h)
        f, base, _, _ = drives.link_forces(model, q, v, v_dot, f_ext, t)
        return {"v_dot": v_dot, "wrenches": f, "base_wrench": base, "M": M}

    return {"mutant": _way("block_matrix", modules), "mutant, B": matrices, "mutant, inverse": inverse}


_MOTION = ("_revolute", "_prismatic", "_helical", "_cylindrical", "_universal", "_planar", "_free", "_prescribed")
_SWEEPS = {DYNAMICS + "sweeps": ("link", "body_inertia", "links", "run")}
_TRANSFORM = ("Transform.into", "Transform.motion", "Transform.force", "Transform.inertia")
SUBJECTS: dict[str, Subject] = {
    "aba": Subject(
        (SPATIAL, JOINTS, *_dynamics("sweeps", "aba")),
        {DYNAMICS + "aba": (), **_SWEEPS, JOINTS: _MOTION,
         SPATIAL: (*_TRANSFORM, "spin", "gyroscopic", "rigid_inertia", "solve_symmetric", "eliminate")},
        recursions,
        same=SAME["aba"],
    ),
    "rnea, crba": Subject(
        (SPATIAL, JOINTS, *_dynamics("sweeps", "aba", "coupling", "rnea", "crba")),
        {DYNAMICS + "rnea": (), DYNAMICS + "crba": (), DYNAMICS + "aba": ("world", "velocities"),
         DYNAMICS + "coupling": (), **_SWEEPS, SPATIAL: _TRANSFORM},
        recursions,
        same=SAME["rnea, crba"],
    ),
    "separate_bodies": Subject(
        _dynamics("separate_bodies_joints", "separate_bodies"),
        {DYNAMICS + "separate_bodies_joints": (),
         DYNAMICS + "separate_bodies": ("mass_of", "outward", "inward", "accelerations", "separate_bodies", "at_origin",
                                       "power")},
        separate,
        same=SAME["separate_bodies"],
    ),
    "separate_bodies_planar": Subject(
        _dynamics("separate_bodies", "separate_bodies_planar"),
        {DYNAMICS + "separate_bodies_planar": ("_normal", "outward", "separate_bodies_planar", "power"),
         DYNAMICS + "separate_bodies": ("inward", "accelerations")},
        lambda m: {"mutant": _way("separate_bodies_planar", m)},
        in_a_plane,
        SAME["separate_bodies_planar"],
    ),
    "docking_tree": Subject(
        _dynamics("docking_rows", "docking_tree"),
        {DYNAMICS + "docking_rows": (),
         DYNAMICS + "docking_tree": ("columns", "composite", "_Symmetric.add",
                                    "right_side", "loads", "in_body_axes", "told",
                                    "docking_tree")},
        docking_closed,
        same=SAME["docking_tree"],
    ),
    "docking_open": Subject(
        _dynamics("docking_rows", "docking_tree", "docking_open"),
        {DYNAMICS + "docking_open": (), DYNAMICS + "docking_rows": ("_load", "move")},
        docking_opened,
        same=SAME["docking_open"],
    ),
    "kane_graph": Subject(
        _dynamics("kane_hinges", "kane_tree", "kane_reactions", "kane_graph"),
        {DYNAMICS + "kane_hinges": (*_MOTION, "Hinge.turned"), DYNAMICS + "kane_tree": (),
         DYNAMICS + "kane_reactions": ("all_at_once",), DYNAMICS + "kane_graph": ()},
        kane,
        same=SAME["kane_graph"],
    ),
    "block_matrix": Subject(
        _dynamics("block_links", "block_letters", "block_matrix", "block_drives"),
        {DYNAMICS + "block_links": (), DYNAMICS + "block_letters": (), DYNAMICS + "block_matrix": (),
         DYNAMICS + "block_drives": ("moved", "drive_forces")},
        block,
        same=SAME["block_matrix"],
    ),
}  # fmt: skip
