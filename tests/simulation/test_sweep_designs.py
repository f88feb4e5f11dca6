"""Designs: sample i by its number alone, and each design's own law."""

from dataclasses import replace

import numpy as np
import pytest
import toys
from scipy import stats

from linkwork.errors import RunError
from linkwork.simulation import sobol
from linkwork.simulation.designs import draw
from linkwork.simulation.distributions import Beta, Constant, Discrete, Normal, Uniform
from linkwork.simulation.plan import Correlated, Input, Plan, Stop, differences

X, Y, Z = Input("x", Uniform(0, 1)), Input("y", Normal(2, 0.5), "m"), Input("z", Beta(0.5, 0.5, -1, 1))
LEVELS = (Input("a", Discrete((1.0, 2.0, 3.0))), Input("fixed", Constant(7.0)), Input("b", Discrete((10.0, 20.0))))


def made(design="random", inputs=(X, Y, Z), samples=500, **more):
    return Plan("p", inputs, samples, 3, design, **more)


def correlated(rho):
    return (Correlated(("y", "x"), ((1.0, rho), (rho, 1.0))),)


EVERY = {
    "random": made(),
    "sobol": made("sobol"),
    "latin": made("latin"),
    "saltelli": made("saltelli"),
    "grid": made("grid", LEVELS, 6),
    "table": made("table", (Input("x", None), Y), 500, table={"x": tuple(np.linspace(0, 1, 500).tolist())}),
    "correlated": made(correlated=correlated(0.7)),
}


@pytest.mark.parametrize("plan", EVERY.values(), ids=EVERY)
def test_a_sample_depends_on_plan_and_number_alone(plan):
    whole = draw(plan, np.arange(plan.samples))
    some = np.random.default_rng(0).permutation(plan.samples)[:5]
    for i in some.tolist():
        one = draw(plan, np.array([i]))
        assert {k: x[0] for k, x in one.items()} == {k: x[i] for k, x in whole.items()}
    assert Plan.of_told(plan.told()) == plan and Plan.of_told(plan.told()).sha256() == plan.sha256()


@pytest.mark.parametrize("design", ["random", "sobol", "latin"])
def test_an_input_that_is_added_leaves_the_others_as_they_are(design):
    few, more = made(design, (X, Y)), made(design, (X, Y, Z))
    a, b = (draw(plan, np.arange(500)) for plan in (few, more))
    assert np.array_equal(a["x"], b["x"]) and np.array_equal(a["y"], b["y"])
    other = draw(replace(few, seed=4), np.arange(500))
    assert not np.any(other["x"] == a["x"])


def test_sobol_points_are_those_of_joe_and_kuo_shifted():
    assert sobol.DIMENSIONS == 64
    peer = stats.qmc.Sobol(64, scramble=False).random_base2(10)
    for d in range(64):
        assert np.array_equal(sobol.points(np.arange(1024), d) * 2.0**-52, peer[:, d]), d
    x = draw(made("sobol", samples=256), np.arange(256))
    assert sorted((x["x"] * 256).astype(int).tolist()) == list(range(256))  # a shift keeps the net
    square = set(
        zip((x["x"] * 16).astype(int).tolist(), (Y.distribution.probability(v) * 16 // 1 for v in x["y"]), strict=True)
    )
    assert len(square) == 256


def test_latin_samples_fill_every_slice_once():
    x = draw(made("latin", samples=100), np.arange(100))
    assert sorted((x["x"] * 100).astype(int).tolist()) == list(range(100))
    shares = [Y.distribution.probability(float(v)) for v in x["y"]]
    assert sorted(int(s * 100) for s in shares) == list(range(100))


def test_a_grid_has_all_combinations_the_last_fastest():
    x = draw(EVERY["grid"], np.arange(6))
    assert x["a"].tolist() == [1, 1, 2, 2, 3, 3] and x["b"].tolist() == [10, 20] * 3
    assert x["fixed"].tolist() == [7] * 6 and list(x) == ["a", "fixed", "b"]


def test_a_table_is_taken_as_it_is_beside_what_is_drawn():
    x = draw(EVERY["table"], np.array([499, 0]))
    assert x["x"].tolist() == [1, 0] and np.array_equal(x["y"], draw(made(), np.array([499, 0]))["y"])


def test_a_saltelli_block_changes_one_column_at_a_time():
    plan = EVERY["saltelli"]
    x = draw(plan, np.arange(500))
    rows = np.stack([x[n] for n in ("x", "y", "z")], axis=1).reshape(100, 5, 3)
    first, last = rows[:, 0], rows[:, 4]
    for k in range(3):
        assert np.array_equal(rows[:, k + 1, k], last[:, k])
        others = [j for j in range(3) if j != k]
        assert np.array_equal(rows[:, k + 1][:, others], first[:, others])
    assert not np.any(first == last)


@pytest.mark.parametrize("design", ["random", "latin", "sobol"])
def test_correlated_inputs_have_their_correlation_and_their_own_distributions(design):
    """Normal scores have the correlation asked for; 20,000 samples tell it to 3/√20000."""
    plan = made(design, samples=20_000, correlated=correlated(0.7))
    x = draw(plan, np.arange(20_000))
    scores = stats.norm.ppf(x["x"]), (x["y"] - 2) / 0.5
    assert np.corrcoef(*scores)[0, 1] == pytest.approx(0.7, abs=0.012)
    assert np.mean(x["x"]) == pytest.approx(0.5, abs=0.01) and np.std(x["y"]) == pytest.approx(0.5, abs=0.01)
    same = draw(made(samples=100, correlated=correlated(1.0)), np.arange(100))
    np.testing.assert_allclose(stats.norm.ppf(same["x"]), (same["y"] - 2) / 0.5, atol=1e-7)  # a singular covariance


def test_sobol_indices_of_the_ishigami_function():
    """Saltelli 2010 and Jansen 1999 on a Saltelli design of 8,192 blocks: errors below 0.002 with three seeds."""
    around = Uniform(-np.pi, np.pi)
    plan = made("saltelli", tuple(Input(n, around) for n in "abc"), 5 * 8192)
    x = draw(plan, np.arange(plan.samples))
    y = np.sin(x["a"]) + 7 * np.sin(x["b"]) ** 2 + 0.1 * x["c"] ** 4 * np.sin(x["a"])
    rows = (y - y.mean()).reshape(8192, 5)
    a, b, variance = rows[:, 0], rows[:, 4], np.var(rows[:, [0, 4]])
    first = [np.mean(b * (rows[:, k + 1] - a)) / variance for k in range(3)]
    total = [np.mean((a - rows[:, k + 1]) ** 2) / 2 / variance for k in range(3)]
    np.testing.assert_allclose(first, [0.31390, 0.44241, 0], atol=0.004)
    np.testing.assert_allclose(total, [0.55759, 0.44241, 0.24368], atol=0.004)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: made("sobal"), "did you mean 'sobol'?"),
        (lambda: made(samples=0), "samples is 0"),
        (lambda: made(samples=-5), "samples is -5"),
        (lambda: made(samples=2.5), "samples is 2.5"),
        (lambda: made(part=0), "part is 0"),
        (lambda: Plan("p", (X,), 5, -1), "seed is -1"),
        (lambda: made(inputs=(X, X)), "'x' is told twice"),
        (lambda: made("grid"), "a grid needs levels, but 'x' has a distribution"),
        (lambda: made("grid", LEVELS, 7), "samples is 7, but the grid has 6"),
        (lambda: made("latin", stop=Stop("success", 0.1)), "whole only with all its samples"),
        (lambda: made("saltelli", samples=501), "samples: 500 or 505"),
        (lambda: made("sobol", tuple(Input(f"x{k}", Uniform(0, 1)) for k in range(65))), "65 inputs"),
        (lambda: made(correlated=(Correlated(("x", "w"), ((1, 0), (0, 1))),)), "correlate names 'w'"),
        (lambda: made("table", (Input("x", None),), 2, table={"x": (1.0, 2.0), "y": (1.0,)}), "lengths"),
        (
            lambda: made(correlated=(Correlated(("x", "y", "z"), ((1, 0.9, -0.9), (0.9, 1, 0.9), (-0.9, 0.9, 1))),)),
            "has a negative direction",
        ),
        (lambda: Stop("success", 0.0), "interval is 0"),
        (lambda: Stop("success", 0.1, 1.0), "confidence is 1"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(make, said):
    with pytest.raises(RunError, match="fix:") as caught:
        make()
    assert said in str(caught.value)


def test_differences_between_plans_are_told_by_name():
    old, new = made().told(), replace(made(), seed=9, inputs=(X, Y, Input("z", Uniform(0, 1)))).told()
    found = differences(old, new)
    assert found[0] == "seed: 3 → 9" and any(text.startswith("vary.z") for text in found)
    assert toys.plan().sha256() == toys.plan().sha256()
