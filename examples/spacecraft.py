"""A free-floating spacecraft with three arms: momentum stays, and the motion agrees with reference digits."""

import numpy as np

import linkwork as lw

TIP = {  # time → tip of arm 2, to 13 digits
    0.5: (1.513105399876, 0.1812733082998, -0.0294957313683),
    1.0: (1.417382953963, 0.05198257722352, -0.2657788422565),
    2.0: (1.023386876681, -0.09842709759754, -0.4539705155855),
    3.0: (0.6586553205294, -0.2051344431512, -0.4396600832067),
}
MOMENTUM = (1.051602871705314, -0.442025420494739, 1.29516691875648,
            0.101887245868736, 0.28336531689057, 0.003954181889447)  # fmt: skip


def model() -> lw.Model:
    craft = lw.Mechanism("spacecraft", gravity=(0, 0, 0))
    craft.body("bus", mass=12, inertia=(0.9, 0.7, 0.5))
    craft.body("arm1", mass=2, centre=(0.3, 0, 0), inertia=(0.01, 0.06, 0.06))
    craft.body("arm2", mass=1, centre=(0.25, 0, 0), inertia=(0.004, 0.02, 0.02))
    craft.body("arm3", mass=1.5, centre=(0, 0.2, 0.1), inertia=(0.03, 0.02, 0.025))
    craft.joint("base", "free", "world", "bus")
    craft.joint("joint1", "revolute", "bus", "arm1", at=(0.4, 0, 0), axis="z")
    craft.joint("joint2", "revolute", "arm1", "arm2", at=(0.6, 0, 0), axis="y")
    craft.joint("joint3", "revolute", "bus", "arm3", at=(-0.4, 0.1, 0), axis="x")
    craft.marker("tip", "arm2", at=(0.5, 0, 0))
    craft.start({"base.velocity": (0.05, -0.02, 0.1), "base.omega": (0.1, 0.05, 0.4)})  # in the bus's axes
    craft.start({"joint1": 0.3, "joint2": -0.5, "joint3": 0.8})
    craft.start({"joint1.rate": -0.8, "joint2.rate": 1.2, "joint3.rate": -0.6})
    return craft.build()


def check() -> None:
    run = lw.simulate(model(), times=list(TIP), rtol=1e-12, atol=1e-12)
    tip, momentum = run["tip.position"][1:], run["momentum"][:]  # row 0 is the start
    print(f"tip off by {np.abs(tip - list(TIP.values())).max():.1e} m")
    print(f"momentum drift {run.trust.momentum_drift:.1e}")
    assert np.allclose(tip, list(TIP.values()), rtol=0, atol=1e-10)
    assert np.allclose(momentum, MOMENTUM, rtol=0, atol=1e-11)
    assert np.allclose(run["energy"], 0.246108906242581, rtol=0, atol=1e-11)
    quaternion = run["q"].sel(component=["base.qw", "base.qx", "base.qy", "base.qz"])
    assert np.allclose(np.linalg.norm(quaternion, axis=-1), 1.0, rtol=0, atol=1e-14)


if __name__ == "__main__":
    check()
