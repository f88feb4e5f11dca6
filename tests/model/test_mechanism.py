"""Mechanisms built in Python."""

import math
import time

import casadi as ca
import numpy as np
import pytest

from linkwork.errors import ModelError
from linkwork.model import laws
from linkwork.model.build import build
from linkwork.model.describe import Body as BodyRecord
from linkwork.model.describe import Description, Inertial
from linkwork.model.describe import Joint as JointRecord
from linkwork.model.joints import KINDS
from linkwork.model.mechanism import Mechanism


def arm() -> Mechanism:
    m = Mechanism("arm")
    m.body("upper", mass="2 kg", centre=(0, 0, "-20 cm"), inertia=(0.02, 0.02, 0.004))
    m.body("lower", shape="box", size=("10 cm", 0.2, 0.3), density="2.7 g/cm^3")
    m.joint("shoulder", "revolute", "world", "upper", axis="y", limits=("-90 deg", None), damping="0.1 N*m*s")
    m.joint("elbow", "revolute", "upper", "lower", axis=(0, 2, 0), at=(0, 0, -0.4), rotation=(0, 0, "90 deg"))
    return m


def test_numbers_with_units_arrive_in_si():
    model = arm().marker("tip", "lower", at=(0, 0, "1 in")).parameter("lower.mass", "5 lb").build()
    assert model.joint(1).lower == (-math.pi / 2,) and model.joint(1).upper == (math.inf,)
    assert model.joint(2).axis == (0.0, 1.0, 0.0)
    assert model.joint(2).rotation == ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert model.bodies[2].inertials[0].mass == pytest.approx(5 * 0.45359237)
    assert model.values["tip.position.z"] == 0.0254 and model.parameters == ("lower.mass",)
    assert [v.shape for v in model.bodies[2].visuals] == ["box"]


def test_an_error_names_the_line_of_the_caller():
    m = arm()
    for mistake in (
        lambda: m.body("upper"),
        lambda: m.body("x", mass="2 m"),
        lambda: m.body("x", masss=2),
        lambda: m.joint("x", "revolut", "world", "upper"),
        lambda: m.marker("x", "uper"),
        lambda: m.joint("x", "spherical", "world", "upper", limits=(0, 1)),
    ):
        with pytest.raises((ModelError, TypeError)) as caught:
            mistake()
        if isinstance(caught.value, ModelError):
            assert f"test_mechanism.py:{mistake.__code__.co_firstlineno}" in str(caught.value)


def test_inertia_is_taken_in_three_forms_and_other_axes():
    given = [(1, 2, 2.5), (1, 2, 2.5, 0, 0, 0), np.diag([1, 2, 2.5])]
    turned = {"axes": (0, 0, "90 deg")}
    for form in given:
        m = Mechanism("m").body("a", 1, inertia=form, **turned).joint("j", "free", "world", "a").build()
        np.testing.assert_allclose(m.bodies[1].inertials[0].inertia, (2, 1, 2.5, 0, 0, 0), atol=1e-15)
    origin = Mechanism("m").body("a", 2, (1, 0, 0), (1, 3, 3), about="origin").joint("j", "free", "world", "a")
    assert origin.build().bodies[1].inertials[0].inertia[:3] == (1, 1, 1)


def test_quaternions_say_their_order():
    half = math.sqrt(0.5)
    for turn in (
        {"quat_wxyz": (half, 0, 0, half)},
        {"quat_xyzw": (0, 0, half, half)},
        {"rotation": (0, 0, math.pi / 2)},
    ):
        m = Mechanism("m").body("a", 1).joint("j", "fixed", "world", "a", **turn).build()
        np.testing.assert_allclose(m.joint(1).rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_every_kind_of_joint_can_be_built():
    m = Mechanism("all")
    for k, kind in enumerate(KINDS):
        special = {"helical": {"pitch": "5 mm/rev"}, "prescribed": {"motion": {"position": ["sin(t)", 0, 0]}}}
        m.body(f"b{k}", 1, inertia=(1, 1, 1)).joint(f"j{k}", kind, "world", f"b{k}", **special.get(kind, {}))
    model = m.build()
    assert model.nv == sum(kind.nv for kind in KINDS.values())
    assert str(model).count("→") == len(KINDS)


def test_starts_are_told_by_component_or_in_one_piece():
    m = arm().body("ship", 1).joint("base", "free", "world", "ship")
    m.start(
        {
            "elbow": "30 deg",
            "elbow.rate": "1 rpm",
            "base.position": (1, 2, 3),
            "base.rotation": (0, 0, "180 deg"),
        }
    )
    start = m.build().start
    assert start["elbow"] == pytest.approx(math.pi / 6) and start["base.z"] == 3.0
    assert start["base.qz"] == pytest.approx(1) and start["base.qw"] == pytest.approx(0, abs=1e-15)
    with pytest.raises(ModelError, match=r"tells 'base.qw' twice"):
        m.start({"base.qw": 1}).build()


def test_a_follower_keeps_its_ratio_with_units():
    m = arm().body("slide", 1).joint("screw", "prismatic", "upper", "slide", follows="shoulder", ratio="5 mm/rev")
    model = m.build()
    assert model.nv == 2 and model.joint(3).coupling.ratio == pytest.approx(0.005 / (2 * math.pi))
    with pytest.raises(ModelError, match="not one of an advance per angle"):
        arm().body("s", 1).joint("x", "prismatic", "upper", "s", follows="elbow", ratio="2 mm").build()


def test_a_geared_rotor_counts_with_the_square_of_its_ratio():
    m = Mechanism("m").body("a", 1).joint("j", "revolute", "world", "a", rotor_inertia="2 g*m^2", gear_ratio=10)
    assert m.build().joint(1).armature == (pytest.approx(0.2),)


def test_a_motion_that_fails_is_told_at_once():
    with pytest.raises(ModelError, match="motion of joint 'j'"):
        Mechanism("m").body("a", 1).joint("j", "prescribed", "world", "a", motion=lambda t: t)


def test_a_motion_told_by_formulas_turns_as_roll_pitch_yaw():
    motion = {"position": ["0.1*sin(2*pi*t)", "2 mm", 0], "rotation": ["0.3*t", "-0.2*t", "0.5*t"]}
    model = Mechanism("m").body("a", 1).joint("j", "prescribed", "world", "a", motion=motion).build()
    t = ca.SX.sym("t")
    p, q = model.joint(1).motion(t)
    p, q = (np.array(ca.Function("f", [t], [ca.vertcat(*x)])(1.25)).ravel() for x in (p, q))
    np.testing.assert_allclose(p, [0.1, 0.002, 0], atol=1e-15)
    from scipy.spatial.transform import Rotation

    wanted = Rotation.from_euler("xyz", [0.375, -0.25, 0.625]).as_quat()[[3, 0, 1, 2]]
    np.testing.assert_allclose(q, wanted, atol=1e-15)


def test_numbers_of_ready_made_laws_are_numbers_of_the_model():
    m = arm().marker("hook", "world", at=(1, 0, 0)).law(laws.spring("lower", "hook", "2 N/mm", length="30 cm"), "strut")
    model = m.law(laws.pd("elbow", kp=3, target="30 deg"), "servo").parameter("strut.stiffness").build()
    assert model.values["strut.stiffness"] == 2000.0 and model.values["servo.target"] == pytest.approx(math.pi / 6)
    assert model.replace({"strut.length": 0.5}).laws[0].function.length == 0.5
    with pytest.raises(ModelError, match="did you mean 'lower'"):
        arm().law(laws.drag("lowr", 1)).build()


def test_rings_of_any_length_are_told_in_few_words():
    n = 5000
    bodies = tuple(BodyRecord(f"b{k}") for k in range(n))
    joints = tuple(JointRecord(f"j{k}", "revolute", f"b{(k - 1) % n}", f"b{k}") for k in range(n))
    with pytest.raises(ModelError, match="in a ring") as caught:
        build(Description("ring", (0, 0, 0), bodies, joints))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("backwards", [False, True])
def test_a_chain_of_twenty_thousand_bodies_is_built_and_printed(backwards):
    n = 20_000
    part = (Inertial(1.0, (0, 0, 0.5), (1.0, 1.0, 1.0, 0, 0, 0)),)
    bodies = tuple(BodyRecord(f"b{k}", part) for k in range(n))
    joints = [JointRecord(f"j{k}", "revolute", f"b{k - 1}" if k else "world", f"b{k}") for k in range(n)]
    began = time.perf_counter()
    model = build(Description("chain", (0, 0, -9.81), bodies, tuple(joints[::-1] if backwards else joints)))
    text = str(model)
    assert time.perf_counter() - began < 5.0
    assert model.nv == n and model.parent[-1] == n - 1 and len(text) < 500_000 and "more bodies" in text


def geared() -> Mechanism:
    m = arm().body("nut", 1).body("block", 1).constant("gain", 3)
    m.joint("screw", "helical", "lower", "nut", pitch="5 mm/rev", follows="elbow", ratio=2)
    m.joint("slide", "cylindrical", "upper", "block", damping=(0.1, 0.2), friction=0.1)
    m.marker("hook", "world").law(laws.spring("lower", "hook", "2 N/mm"), "strut")
    return m.law(laws.pd("elbow", kp=3), "servo")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("upper.mass", "300 g", 0.3),
        ("upper.inertia.xx", "30 g*m^2", 0.03),
        ("upper.centre.z", "-1 cm", -0.01),
        ("gravity.z", "1 g0", 9.80665),
        ("elbow.position.z", "4 mm", 0.004),
        ("shoulder.damping", "2 mN*m*s/rad", 0.002),
        ("slide.damping.displacement", "2 N*s/mm", 2000.0),
        ("slide.friction_speed", "90 deg/s", math.pi / 2),
        ("screw.offset", "180 deg", math.pi),
        ("screw.pitch", "2 mm/rad", 0.002),
        ("strut.stiffness", "2 N/mm", 2000.0),
        ("servo.kp", "2 kNm/rad", 2000.0),
        ("servo.target", "180 deg", math.pi),
        ("gain", "2 km", 2000.0),
    ],
)
def test_a_number_is_replaced_with_its_unit_and_only_with_one_of_its_kind(name, value, expected):
    model = geared().build()
    assert model.replace({name: value}).values[name] == pytest.approx(expected, rel=1e-15)  # one rounding
    if name != "gain":  # its author knows
        with pytest.raises(ModelError, match="which is not one of"):
            model.replace({name: "3 Pa"})
        with pytest.raises(ModelError, match="which is not one of"):
            geared().parameter(name, "3 Pa").build()


def test_gravity_and_start_are_replaced_with_units_and_unknown_names_refused():
    model = arm().build().replace(gravity=(0, 0, "1 g0"), start={"elbow": "180 deg", "shoulder.rate": "60 rpm"})
    assert model.gravity == (0.0, 0.0, 9.80665)
    assert model.start == {"elbow": math.pi, "shoulder.rate": 2 * math.pi}
    with pytest.raises(ModelError, match="unknown coordinate"):
        model.replace(start={"elbo": 1})
    with pytest.raises(ModelError, match="has no number"):
        model.replace({"uper.mass": "1 kg"})


def test_a_law_is_checked_again_after_its_numbers_were_replaced():
    model = geared().build()
    with pytest.raises(ModelError, match="stiffness of law 'strut' is below zero"):
        model.replace({"strut.stiffness": -1}).check()


@pytest.mark.parametrize("odd", [7, None, ["a"], {"a": 1}, np.arange(3)])
def test_what_is_no_name_is_refused_where_a_name_belongs(odd):
    for tried in (
        lambda: Mechanism(odd),
        lambda: Mechanism("m").body(odd, 1),
        lambda: Mechanism("m").joint("j", odd, "world", "a"),
        lambda: Mechanism("m").joint("j", "fixed", odd, "a"),
        lambda: Mechanism("m").constant(odd, 1),
        lambda: Mechanism("m").visual("world", odd, 1),
        lambda: arm().law(laws.drag(odd, 1)).build(),
    ):
        with pytest.raises(ModelError, match="not text"):
            tried()
