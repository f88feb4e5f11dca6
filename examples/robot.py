"""Forward dynamics of a robot from URDF for a batch of states, fixed and floating base."""

import time
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

import linkwork as lw

SAMPLES = 10_000


def z1() -> Path | None:
    """The file of a seven-joint arm in the package example-robot-data, if that is installed."""
    try:
        known = files("example-robot-data") or []
    except PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in known if file.name == "z1.urdf"), None)


def check() -> None:
    file = z1()
    if file is None:
        print("skipped: pip install example-robot-data")
        return
    for base in ("fixed", "free"):
        model = lw.read(file, base=base, package_dirs=[file.parents[2]])
        aba = lw.compile(lw.equations(model, lw.aba))
        rnea = lw.compile(lw.equations(model, lw.rnea))
        rng = np.random.default_rng(0)
        q = rng.normal(size=(SAMPLES, model.nq))
        v, tau = rng.normal(size=(2, SAMPLES, model.nv))
        if base == "free":  # q is the position, a unit quaternion (w, x, y, z), then the joints
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        aba(q=q, v=v, tau=tau)  # builds
        began = time.perf_counter()
        v_dot = aba(q=q, v=v, tau=tau)
        spent = time.perf_counter() - began
        print(f"{model.name}, {base} base: {model.nv} speeds, {spent / SAMPLES * 1e9:.0f} ns a sample")
        assert np.allclose(rnea(q=q, v=v, v_dot=v_dot), tau, atol=1e-8)


if __name__ == "__main__":
    check()
