"""One step of a walking robot of 18 coordinates, six of them fictitious: drive torques and reactions of the ground."""

from importlib.util import find_spec
from pathlib import Path

import casadi as ca
import numpy as np

import linkwork as lw
from linkwork.dynamics.block_drives import drive_forces, link_forces
from linkwork.dynamics.fictitious_chain import fictitious_chain

T, PACE = np.linspace(0, np.pi / 5, 41), (9.81 / 0.786) ** 0.5  # one step; rate of a pendulum on its head, as tall


def walk(t):
    """Trunk and legs: the left ankle stands at (0, 0.1, 0) with a level foot, the right one swings 0.8 m ahead."""
    s, c, u, top = ca.sin(5 * t), ca.cos(5 * t), PACE * (t - T[20]), PACE * T[20]
    trunk = ca.vertcat(0.2 * ca.sinh(u) / np.sinh(top), 0.1 * (1 - ca.cosh(u) / np.cosh(top)), 0.74)
    yaw, q = 0.06 * c, [trunk, 0.06 * c, 0, 0]
    for side, ankle in ((0.1, ca.DM([0, 0.1, 0])), (-0.1, ca.vertcat(-0.4 * c, -0.1, 0.05 * s * s))):
        x, y, z = ca.vertsplit(ankle - trunk - side * ca.vertcat(-ca.sin(yaw), ca.cos(yaw), 0))  # from the hip
        roll, down, bend = ca.atan2(y, -z), ca.hypot(y, z), ca.acos(ca.sqrt(x * x + y * y + z * z) / 0.8)
        q += [-yaw, roll, -ca.atan2(x, down) - bend, 2 * bend, ca.atan2(x, down) - bend, -roll]
    return ca.vertcat(*q)


def check() -> None:
    rates = [x := walk(t := ca.SX.sym("t")), ca.jacobian(x, t), ca.jacobian(ca.jacobian(x, t), t)]
    q, v, a = (np.array(x).T for x in ca.Function("walk", [t], rates).map(len(T))(T))
    biped = fictitious_chain(lw.read(Path(__file__).with_suffix(".yaml")), "zyx")
    forms = drive_forces, link_forces, lw.rnea, lw.wrenches
    tau, found, rnea, others = (lw.function(biped, form)(q=q, v=v, v_dot=a) for form in forms)
    p, R = (lw.function(biped, f, frame="left_foot")(q=q) for f in (lw.position, lw.rotation_of))
    assert np.abs(p - [0, 0.1, 0]).max() < 1e-12 and np.abs(R - np.eye(3)).max() < 1e-12  # it stands
    F, M = np.split(-found["base_wrench"], 2, axis=1)  # what fictitious drives bear, the ground does, at the left foot
    f_ext, foot = np.zeros((len(T), len(biped.tree), 6)), biped.body_index["left_foot"]
    f_ext[:, foot - 1] = ground = np.hstack([F, M - np.cross(p, F)])  # about the ankle; the foot's axes are the world's
    stood = lw.function(biped, drive_forces, external=True)(q=q, v=v, v_dot=a, f_ext=f_ext)
    print("time [s], force [N] and moment [N m] of the ground on the left foot, drive of the left knee [N m]")
    print(np.column_stack([T, ground, stood[:, 9]])[::8].round(3))
    off = tau - rnea, found["wrenches"] - others["wrenches"], tau[:, :3] - F, stood[:, :6]
    assert max(np.abs(x).max() for x in off) < 1e-9  # on the ground the fictitious drives rest
    if find_spec("matplotlib"):
        import matplotlib.pyplot as plt

        figure, panels = plt.subplots(2, 2, figsize=(10, 6), layout="constrained", sharex=True)
        drives = ["hip yaw", "hip roll", "hip", "knee", "ankle", "ankle roll"]
        told = {"drives of the standing leg [N m]": stood[:, 6:12], "force of the ground on its foot [N]": F}
        told |= {"drives of the swinging leg [N m]": stood[:, 12:], "moment about its ankle [N m]": ground[:, 3:]}
        for panel, (title, curves) in zip(panels.flat, told.items(), strict=True):
            panel.plot(T, curves, label=drives if curves.shape[1] == 6 else ["x", "y", "z"])
            panel.set(title=title, xlabel="time [s]")
            panel.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/biped.png", dpi=120)


if __name__ == "__main__":
    check()
