"""Quantities at the door."""

import math

import numpy as np
import pytest

from linkwork.errors import ModelError, Place
from linkwork.model.units import quantity


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("15 deg", "rad", math.radians(15)),
        ("90°", "rad", math.pi / 2),
        ("120 mm", "m", 0.12),
        ("2 kg*m^2", "kg*m^2", 2.0),
        ("2 kg m²", "kg*m^2", 2.0),
        ("3 N*m*s/rad", "N*m*s/rad", 3.0),
        ("3 N*m*s", "N*m*s/rad", 3.0),
        ("4 N/(m/s)", "N*s/m", 4.0),
        ("5 mm/rev", "m/rad", 0.005 / (2 * math.pi)),
        ("9.81 m/s^2", "m/s^2", 9.81),
        ("1 rpm", "rad/s", 2 * math.pi / 60),
        ("2.7 g/cm^3", "kg/m^3", 2700.0),
        ("1 in", "m", 0.0254),
        ("1 ft", "m", 0.3048),
        ("1 lb", "kg", 0.45359237),
        ("1 lbf", "N", 4.4482216152605),
        ("36 km/h", "m/s", 10.0),
        ("0.3 MPa", "N/m^2", 3e5),
        ("-1e-3", "m", -1e-3),
        ("5 %", "1", 0.05),
        (2, "kg", 2.0),
        (np.float32(0.5), "kg", 0.5),
    ],
)
def test_a_quantity_is_told_in_si(text, dimension, value):
    assert quantity(text, dimension) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("given", "dimension", "fragment"),
    [
        ("15 kg", "m", "'kg', which is not one of a length"),
        ("5 mm", "m/rad", "not one of an advance per angle"),
        ("5 1/s", "rad/s", "not one of an angular rate"),
        ("5 mn", "m", "did you mean 'min' or 'm'"),
        ("5 m*", "m", "unreadable unit"),
        ("5 ((((((m))))))", "m", "unreadable unit"),
        ("5 m" + "*m" * 80, "m", "a text of"),
        ("five", "m", "'five', not a number"),
        ("1e999", "m", "not a finite number"),
        ("nan", "m", "not a finite number"),
        (math.inf, "m", "not a finite number"),
        (True, "m", "is true, not a number"),
        (np.True_, "m", "not a number"),
        (None, "m", "is empty, not a number"),
        ([1], "m", "not a number"),
    ],
)
def test_what_is_no_quantity_is_refused_with_its_place(given, dimension, fragment):
    with pytest.raises(ModelError) as caught:
        quantity(given, dimension, Place("arm.yaml", 3), "length of body 'x'")
    text = str(caught.value)
    assert text.startswith("arm.yaml:3: length of body 'x'") and fragment in text and "fix:" in text


def test_limits_may_be_infinite():
    assert quantity("inf", "rad", infinite=True) == math.inf
