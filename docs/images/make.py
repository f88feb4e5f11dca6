"""The pictures of README.md and docs/: python docs/images/make.py"""

from pathlib import Path

import numpy as np

import linkwork as lw

HERE = Path(__file__).parent
MODEL = HERE.parent.parent / "examples" / "arm.yaml"


def main() -> None:
    model = lw.read(MODEL)
    one = lw.simulate(model, {"shoulder": "30 deg"}, until=2)
    lw.plot(one, path=HERE / "arm.png")
    loads = np.random.default_rng(7).uniform(0, 5, 2000)
    many = lw.simulate(model, until=2, parameters={"payload.mass": loads})
    names = ("tool.position.x", "tool.position.z", "shoulder", "elbow", "energy balance")
    lw.plot(many, *names, path=HERE / "arm_samples.png")


if __name__ == "__main__":
    main()
