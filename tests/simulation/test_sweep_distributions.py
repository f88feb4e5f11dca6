"""Distributions: quantiles against closed forms, limits, what is refused, bits that stay."""

import hashlib
import math

import mpmath
import numpy as np
import pytest
from scipy import stats

from linkwork.errors import RunError
from linkwork.simulation import estimate
from linkwork.simulation.distributions import (
    Beta,
    Constant,
    Discrete,
    Normal,
    Triangular,
    Truncated,
    Uniform,
    of_numbers,
    of_told,
)
from linkwork.simulation.incomplete_beta import incomplete_beta
from linkwork.simulation.normal import normal, normal_probability

U = (np.arange(999) + 0.5) / 999
INF = math.inf


def test_the_normal_quantile_is_that_of_wichura():
    """AS 241 promises about 1e-16 relative; 4 units are left for rounding in two polynomials.

    What is right follows by one step of Newton in 50 digits, which leaves the square of the error.
    """
    with mpmath.workdps(50):
        for u in (1e-300, 1e-20, 1e-5, 0.02425, 0.075, 0.3, 0.499, 0.7, 0.999, 1 - 1e-12):
            z = mpmath.mpf(float(normal(u)))
            right = z - (mpmath.ncdf(z) - mpmath.mpf(u)) / mpmath.npdf(z)
            assert abs(z / right - 1) < 9e-16, u
    assert normal(0.5) == 0


def test_the_normal_probability_inverts_it():
    """Φ from the inverse: an error of 4e-16 in z becomes z² 4e-16 in Φ, relative; z = −37 is the farthest."""
    z = np.linspace(-37, 8, 300)
    right = np.array([float(mpmath.ncdf(x)) for x in z])
    assert np.max(np.abs(normal_probability(z) / right - 1) / (1 + z * z)) < 2e-15
    assert normal_probability(np.array([-INF, INF])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("own", "peer"),
    [
        (Uniform(-2, 5), stats.uniform(-2, 7)),
        (Normal(3, 0.2), stats.norm(3, 0.2)),
        (Triangular(-1, 0.5, 4), stats.triang(0.3, -1, 5)),
        (Triangular(0, 0, 1), stats.triang(0, 0, 1)),
        (Triangular(0, 1, 1), stats.triang(1, 0, 1)),
        (Beta(0.5, 0.5, -1, 3), stats.arcsine(-1, 4)),
        (Beta(2.5, 0.7, 0, 10), stats.beta(2.5, 0.7, 0, 10)),
        (Beta(3, 1), stats.beta(3, 1)),
        (Beta(1, 4), stats.beta(1, 4)),
        (Beta(80, 120), stats.beta(80, 120)),
        (Beta(0.05, 0.05), stats.beta(0.05, 0.05)),
        (Truncated(Normal(0, 1), -1, 2), stats.truncnorm(-1, 2)),
        (Truncated(Normal(0, 1), 9, INF), stats.truncnorm(9, INF)),
        (Truncated(Normal(0, 1), -INF, -30), stats.truncnorm(-INF, -30)),
        (Truncated(Uniform(0, 10), 2, 4), stats.uniform(2, 2)),
    ],
    ids=lambda x: str(getattr(x, "told", lambda: "")()),
)
def test_quantiles_and_probabilities_are_the_textbook_ones(own, peer):
    """1e-12 of the range: SciPy's own beta quantiles are good to about that."""
    found, right = own.quantile(U), peer.ppf(U)
    assert np.max(np.abs(found - right)) < 1e-12 * max(np.ptp(right), 1)
    assert np.all(np.diff(found) >= 0) and own.low <= found.min() and found.max() <= own.high
    shares = [own.probability(float(x)) for x in found[::50]]
    # an error of 1e-16 in x near an edge of beta(0.05, 0.05) is 1e-2 of probability: the quantile cannot be sharper
    steep = isinstance(own, Beta) and min(own.a, own.b) < 0.5
    assert np.max(np.abs(shares - U[::50])) < (0.2 if steep else 1e-7)


def test_beta_of_halves_is_the_closed_form_and_heavy_at_the_edges():
    u = np.linspace(0.001, 0.999, 1001)
    np.testing.assert_allclose(Beta(0.5, 0.5).quantile(u), np.sin(np.pi * u / 2) ** 2, rtol=0, atol=4e-16)
    drawn = Beta(0.5, 0.5).quantile(U)
    assert np.mean((drawn < 0.1) | (drawn > 0.9)) == pytest.approx(2 * 2 / np.pi * math.asin(math.sqrt(0.1)), abs=2e-3)


def test_the_incomplete_beta_function_has_its_symmetry_and_its_closed_forms():
    x = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(incomplete_beta(3.0, 2.0, x), x**3 * (4 - 3 * x), rtol=2e-14)
    np.testing.assert_allclose(incomplete_beta(0.3, 7.0, x) + incomplete_beta(7.0, 0.3, 1 - x), 1, rtol=0, atol=2e-14)


def test_discrete_values_come_in_the_share_of_their_weights():
    found = Discrete((1.0, 2.0, 5.0), (1.0, 2.0, 1.0)).quantile(np.array([0.1, 0.2499, 0.2501, 0.7499, 0.7501, 0.99]))
    assert found.tolist() == [1, 1, 2, 2, 5, 5]
    assert Discrete((4.0, 7.0)).quantile(U).mean() == pytest.approx(5.5, abs=2e-3)
    assert Discrete((1.0, 2.0), (0.0, 1.0)).quantile(np.array([1e-9, 0.5])).tolist() == [2, 2]


@pytest.mark.parametrize(
    "one",
    [Uniform(0.1, 0.3), Normal(0.1, 3.0), Triangular(0, 0.1, 1), Beta(0.5, 0.7, 0.1, 2), Constant(0.1),
     Discrete((0.1, 3.0), (1.0, 2.0)), Truncated(Normal(0.1, 1.0), -INF, 0.7)],
)  # fmt: skip
def test_what_is_told_reads_back_the_same(one):
    assert of_told(one.told()) == one


def test_the_bits_of_the_distributions_never_change():
    """A digest written down once, over every kind of them."""
    whole = hashlib.sha256()
    for one in (Uniform(-2, 5), Normal(3, 0.2), Triangular(-1, 0.5, 4), Beta(0.5, 0.5), Beta(2.5, 0.7), Beta(3, 1),
                Truncated(Normal(0, 1), -1, 2), Truncated(Normal(0, 1), 9, INF)):  # fmt: skip
        whole.update(one.quantile(U).tobytes())
    assert whole.hexdigest() == "d3abc396cbd43224b7dc98c65c306162a2c6dd64a1cdcd2839c94cd24438ed49"


def test_a_value_does_not_depend_on_those_beside_it():
    for one in (Normal(0, 1), Beta(2.5, 0.7), Truncated(Normal(0, 1), -1, 2)):
        whole = one.quantile(U)
        assert one.quantile(U[17:18])[0] == whole[17] and one.quantile(U[::-1])[-1] == whole[0]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Uniform(3, 3), "uniform between 3 and 3 has no support"),
        (lambda: Uniform(1, math.nan), "has no support"),
        (lambda: Normal(1, 0), "a standard deviation of 0"),
        (lambda: Triangular(0, 5, 2), "its peak 5 outside 0 … 2"),
        (lambda: Beta(0, 1), "beta has a = 0"),
        (lambda: Truncated(Normal(0, 1), 2, 1), "normal, truncated between 2 and 1 has no support"),
        (lambda: Truncated(Normal(0, 1), 50, 60), "truncated to 50 … 60, has no support there"),
        (lambda: Truncated(Uniform(0, 1), 2, 3), "truncated to 2 … 3, has no support there"),
        (lambda: Truncated(Discrete((1.0,)), 0, 3), "cannot be truncated"),
        (lambda: Discrete((1.0, 2.0), (1.0,)), "1 weights for 2 values"),
        (lambda: Discrete((1.0, 2.0), (1.0, -1.0)), "not all zero or more"),
        (lambda: Discrete(()), "no value to choose from"),
    ],
)
def test_a_distribution_that_cannot_be_is_refused(make, said):
    with pytest.raises(RunError, match="fix:") as caught:
        make()
    assert said in str(caught.value)


def test_arcsine_is_beta_of_halves():
    assert of_numbers("arcsine", [0.0, 3.0]) == Beta(0.5, 0.5, 0.0, 3.0)


def test_wilson_and_the_other_intervals():
    """Newcombe 1998, table I: 81 of 263, 95 %: 0.2553 … 0.3662; 0 of 20: 0 … 0.1611."""
    found = estimate.wilson(81, 263)
    assert (round(found.low, 4), round(found.high, 4)) == (0.2553, 0.3662)
    none = estimate.wilson(0, 20)
    assert (none.low, round(none.high, 4)) == (0, 0.1611)
    x = Normal(5, 2).quantile(U)
    mean = estimate.mean(x)
    assert mean.value == pytest.approx(5) and mean.width == pytest.approx(2 * 1.96 * 2 / math.sqrt(999), rel=5e-3)
    found = estimate.quantile(np.arange(1000.0), 0.5)
    assert found.value == 499.5 and found.width == pytest.approx(2 * 1.96 * math.sqrt(250), abs=3)
    assert estimate.quantile(np.array([np.nan, 3.0]), 0.5).value == 3
