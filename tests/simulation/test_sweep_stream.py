"""Random numbers by counter and elementary functions of our own: known answers, and what they must not depend on."""

import hashlib
import math

import mpmath
import numpy as np
import pytest

from linkwork.simulation import plainmath, stream

# Random123, kat_vectors: philox 4x32, 10 rounds: counter, key → words
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return [int(word, 16) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_philox_gives_the_known_answers(counter, key, expected):
    found = stream.philox(np.array([words(counter)], np.uint64), tuple(words(key)))
    assert found[0].tolist() == words(expected)


def test_a_number_depends_on_seed_name_and_index_alone():
    whole = stream.uniform(7, "payload.mass", np.arange(1000))
    assert stream.uniform(7, "payload.mass", np.array([999, 3])).tolist() == whole[[999, 3]].tolist()
    assert stream.uniform(7, "payload.mass", np.array(2**40)) != stream.uniform(7, "payload.mass", np.array(0))
    for other in (stream.uniform(8, "payload.mass", np.arange(1000)), stream.uniform(7, "elbow", np.arange(1000))):
        assert not np.any(other == whole)
        assert abs(np.corrcoef(whole, other)[0, 1]) < 0.13  # four deviations of 1/√1000


def test_numbers_lie_within_zero_and_one_and_are_uniform():
    u = stream.uniform(1, "x", np.arange(200_000))
    assert 0 < u.min() < 1e-4 and 1 - 1e-4 < u.max() < 1
    counts = np.bincount((u * 100).astype(int), minlength=100)
    chi2 = float(np.sum((counts - 2000) ** 2 / 2000))
    assert 51 < chi2 < 167  # 1e-5 … 1 − 1e-5 of χ² with 99 freedoms
    assert stream.unit(np.array([0, 2**52 - 1], np.uint64)).tolist() == [2.0**-53, 1 - 2.0**-53]


def test_the_bits_of_the_stream_never_change():
    """A digest written down once: if this fails, every sample ever drawn changes."""
    u = stream.uniform(20, "elbow", np.arange(4096))
    assert hashlib.sha256(u.tobytes()).hexdigest() == "cade091ce176c01e3cb7ee407b3c6b41e6429b4a7bf3cf7f76e92e538c4152d6"


def test_a_permutation_holds_every_number_once_and_differs_by_name():
    order = stream.permutation(3, "a", 1000)
    assert sorted(order.tolist()) == list(range(1000))
    assert order.tolist() != stream.permutation(3, "b", 1000).tolist()
    assert stream.permutation(3, "a", 1).tolist() == [0]


@pytest.mark.parametrize(
    ("own", "exact", "points"),
    [
        (plainmath.log, mpmath.log, np.concatenate([np.logspace(-307, 307, 400), 1 + np.linspace(-0.3, 0.3, 301)])),
        (plainmath.exp, mpmath.exp, np.linspace(-700, 700, 701)),
        (plainmath.sine, mpmath.sin, np.linspace(-math.pi / 4, math.pi / 4, 401)),
    ],
)
def test_elementary_functions_are_right_to_one_unit_in_the_last_place(own, exact, points):
    """fdlibm's bound is below one unit; 2.3e-16 is one unit relative to a number just above a power of two."""
    for x in points.tolist():
        right = exact(mpmath.mpf(x))
        assert abs(mpmath.mpf(float(own(x))) - right) <= 2.3e-16 * abs(right), x


@pytest.mark.parametrize("x", [0.001, 0.5, 1.7, 3.0, 14.9, 15.0, 200.0, 1e5])
def test_log_gamma(x):
    """Stirling's series beyond 15 misses 1e-17; the rest is rounding of a sum of terms of size x log x."""
    assert plainmath.log_gamma(x) == pytest.approx(float(mpmath.loggamma(x)), abs=1e-15 * (20 + abs(x * math.log(x))))
