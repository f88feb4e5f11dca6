"""The pictures of README.md and docs/: python docs/images/make.py"""

from pathlib import Path

import numpy as np

import linkwork as lw

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "examples"
MODEL = EXAMPLES / "arm.yaml"


def main() -> None:
    model = lw.read(MODEL)
    one = lw.simulate(model, {"shoulder": "30 deg"}, until=2)
    lw.plot(one, path=HERE / "arm.png")
    loads = np.random.default_rng(7).uniform(0, 5, 2000)
    many = lw.simulate(model, until=2, parameters={"payload.mass": loads})
    names = ("tool.position.x", "tool.position.z", "shoulder", "elbow", "energy balance")
    lw.plot(many, *names, path=HERE / "arm_samples.png")
    docking()


def docking() -> None:
    """Capture and load over closing speed and offset."""
    from matplotlib import rc_context

    from linkwork.display import maps, style

    found = lw.report(lw.sweep(EXAMPLES / "docking" / "docking.yaml", samples=20_000), maps=["closing, offset"])
    with rc_context({**style.LOOK, "axes.formatter.use_mathtext": False}):
        style.save(maps.maps(found, found.maps[:1]), HERE / "docking.png")


if __name__ == "__main__":
    main()
