"""A walking robot of 18 coordinates, six of them fictitious: the torques its legs need, what the ground must bear."""

from importlib.util import find_spec
from pathlib import Path

import casadi as ca
import numpy as np

import linkwork as lw
from linkwork.dynamics.block_drives import drive_forces, link_forces
from linkwork.dynamics.fictitious_chain import fictitious_chain
from linkwork.model.describe import Joint
from linkwork.spatial import quaternion_product

T = np.linspace(0, 0.2 * np.pi, 41)  # one step: the left foot is down, the right one swings


def walk(t):
    """Smooth functions of time: x, y, z, yaw, pitch, roll of the trunk, then six angles for each leg; and the trunk's
    position and quaternion, which is the same motion without fictitious joints."""
    s, c = ca.sin(5 * t), ca.cos(5 * t)
    q = [0.6 * t, 0.04 * s, 0.78 + 0.02 * ca.cos(10 * t), 0.06 * s, 0.08 + 0.02 * s * s, 0.03 * c]
    z, y, x = (ca.vertcat(ca.cos(q[k] / 2), ca.sin(q[k] / 2) * ca.DM.eye(3)[:, 5 - k]) for k in (3, 4, 5))
    for side in (1, -1):
        hip, knee = -0.1 - 0.35 * side * c, 0.4 - 0.3 * side * s
        q += [-0.05 * side * s, 0.03 * c, hip, knee, -hip - knee, -0.04 * c]
    return ca.vertcat(*q), (q[:3], quaternion_product(quaternion_product(z, y), x))


def check() -> None:
    rates = [x := walk(t := ca.SX.sym("t"))[0], ca.jacobian(x, t), ca.jacobian(ca.jacobian(x, t), t)]
    q, v, a = (np.array(x).T for x in ca.Function("walk", [t], rates).map(len(T))(T))
    free = lw.read(Path(__file__).with_suffix(".yaml"))
    base = Joint("base", "prescribed", "world", "trunk", motion=lambda t: walk(t)[1])
    biped, moved = fictitious_chain(free, "zyx"), free.replace(joints=(None, base, *free.joints[2:]))
    tau, found = (lw.function(biped, form)(q=q, v=v, v_dot=a) for form in (drive_forces, link_forces))
    rnea, others = (lw.function(moved, f)(q=q[:, 6:], v=v[:, 6:], v_dot=a[:, 6:], t=T) for f in (lw.rnea, lw.wrenches))
    off = np.abs(tau[:, 6:] - rnea).max(), np.abs(found["wrenches"][:, 5:] - others["wrenches"]).max()
    F, M = np.split(found["base_wrench"], 2, axis=1)  # on the ground, if the fictitious drives stood on it
    p, R = (lw.function(biped, f, frame="left_foot")(q=q) for f in (lw.position, lw.rotation_of))
    f_ext = np.zeros((len(T), len(biped.tree), 6))  # the ground on the left foot, about the foot's origin in its axes
    f_ext[:, biped.body_index["left_foot"] - 1] = -(np.stack([F, M - np.cross(p, F)], axis=1) @ R).reshape(-1, 6)
    stood = lw.function(biped, drive_forces, external=True)(q=q, v=v, v_dot=a, f_ext=f_ext)
    print(" t [s] | fictitious drives x, y, z [N] | on the ground [N] | the drives with the foot on the ground [N]")
    for row in np.column_stack([T, tau[:, :3], F, stood[:, :3].round(9)])[::8]:
        print("{:6.3f} |{:8.2f}{:8.2f}{:8.2f} |{:8.2f}{:8.2f}{:8.2f} |{:8.2f}{:8.2f}{:8.2f}".format(*(row + 0.0)))
    assert np.max([*off, np.abs(tau[:, :3] + F).max(), np.abs(stood[:, :6]).max()]) < 1e-9
    if find_spec("matplotlib"):
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(layout="constrained")
        axes.plot(T, stood[:, 6:12], label=[name.removesuffix(".rate") for name in biped.v_names[6:12]])
        axes.legend(title="drives of the standing leg [N m] by time [s]")
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/biped.png")


if __name__ == "__main__":
    check()
