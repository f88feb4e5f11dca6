"""Inertias of solids against sums over many points."""

import numpy as np
import pytest

from linkwork.model import shapes

rng = np.random.default_rng(1)
CLOUD = rng.uniform(-1, 1, (400_000, 3))


def inside(shape, size, x):
    r, z = np.hypot(x[:, 0], x[:, 1]), np.abs(x[:, 2])
    if shape == "box":
        return np.all(np.abs(x) < np.array(size) / 2, axis=1)
    if shape == "sphere":
        return np.linalg.norm(x, axis=1) < size[0]
    if shape == "cylinder":
        return (r < size[0]) & (z < size[1] / 2)
    if shape == "tube":
        return (r < size[0]) & (r > size[1]) & (z < size[2] / 2)
    return np.hypot(r, np.maximum(z - size[1] / 2, 0)) < size[0]


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("box", (1.0, 1.5, 0.8)),
        ("sphere", (0.8,)),
        ("cylinder", (0.6, 1.5)),
        ("tube", (0.8, 0.5, 1.0)),
        ("capsule", (0.5, 0.8)),
    ],
)
def test_a_solid_weighs_and_turns_like_its_points(shape, size):
    part = shapes.SOLIDS[shape][0](*size, density=2.0)
    x = CLOUD[inside(shape, size, CLOUD)]
    assert part.mass == pytest.approx(2.0 * 8 * len(x) / len(CLOUD), rel=1e-2)
    tensor = part.mass * (np.eye(3) * np.mean(np.sum(x * x, axis=1)) - x.T @ x / len(x))
    np.testing.assert_allclose(shapes.tensor(part.inertia), tensor, atol=1e-2 * part.inertia[0])
    same = shapes.SOLIDS[shape][0](*size, mass=part.mass)
    np.testing.assert_allclose(same.inertia, part.inertia)


def test_moving_the_pole_there_and_back_changes_nothing():
    part = shapes.placed(shapes.box(1, 2, 3, mass=2.0), (0.3, -0.2, 0.5))
    back = shapes.about_centre(part.mass, part.centre, shapes.about_origin(part))
    np.testing.assert_allclose(back, part.inertia, atol=1e-14)


def test_two_half_boxes_make_a_box():
    half = shapes.box(1, 1, 1, mass=1.0)
    whole = shapes.total([shapes.placed(half, (-0.5, 0, 0)), shapes.placed(half, (0.5, 0, 0))])
    np.testing.assert_allclose(whole.inertia, shapes.box(2, 1, 1, mass=2.0).inertia, atol=1e-15)
