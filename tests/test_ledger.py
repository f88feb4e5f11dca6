"""Nothing is ignored in silence: what is added to a model changes every formulation's answer, or is refused by name."""

import runpy
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.dynamics.ledger import ELEMENTS, IN_TAU, STORED, rows, verdict
from linkwork.model.build import build
from linkwork.model.describe import Body, Coupling, Description, Inertial, Joint, Law
from linkwork.model.joints import KINDS
from linkwork.model.model import Model

ROUNDING = 1e-10
"""Of exact formulations against `aba`, relative to the largest entry: the tolerance of every comparison of them."""
NOTICED = 1e-6
"""An answer has changed: far above rounding, far below what any of these elements does."""
DOCS = Path(__file__).parent.parent / "docs"
SHEET = runpy.run_path(str(DOCS / "ledger.py"))
FORMULATIONS = SHEET["COLUMNS"]
CRAFT = lw.Spacecraft(20.0, (3.0, 4.0, 5.0, 0.0, 0.0, 0.0), port=(0.3, 0.1, 0.0))
FIXED = {"docking_spacecraft": {"craft": CRAFT}}
SOLID = (0.05, 0.06, 0.07, 0.0, 0.0, 0.0)
PRODUCTS = (0.05, 0.06, 0.07, 0.005, 0.004, 0.003)
TURNED = ((0.8, -0.6, 0.0), (0.6, 0.8, 0.0), (0.0, 0.0, 1.0))
UP = (0.0, 0.0, 1.0)


def chain(middle=None, gravity=(1.0, -3.0, 0.0), world=(), laws=(), more=(), last=None, **parts):
    """A body on the world, a joint between, a body, one more body: in a plane as long as the joint between is."""
    shapes = {name: (Inertial(1.0 + k, (0.0, 0.0, 0.0), SOLID),) for k, name in enumerate("abc")} | parts
    joints = [
        Joint("first", "revolute", "world", "a", axis=UP),
        Joint(
            **{
                "name": "middle",
                "kind": "fixed",
                "parent": "a",
                "child": "b",
                "position": (0.7, 0.0, 0.0),
                **(middle or {}),
            }
        ),
        last or Joint("last", "revolute", "b", "c", position=(0.5, 0.2, 0.0), axis=UP),
        *(joint for joint, _ in more),
    ]
    bodies = [*(Body(n, p) for n, p in shapes.items()), *(body for _, body in more)]
    world = Body("world", tuple(world))
    return build(Description("chain", gravity, tuple(bodies), tuple(joints), tuple(laws), world=world))


def motion(t):
    return (0.2 * ca.sin(t), 0.0, 0.1 * t), (1.0, 0.1 * t, 0.2 * ca.sin(2 * t), 0.0)


def kind(name):
    more = {"axis": (1.0, 0.0, 0.0) if name == "prismatic" else UP, "axis2": (0.0, 1.0, 0.0), "pitch": 0.1}
    more |= {"motion": motion} if name == "prescribed" else {"pitch": 0.0} if name != "helical" else {}
    return chain(), chain({"kind": name, **more})


def turning(**more):
    """Without and with something that a revolute joint may have."""
    plain = {"kind": "revolute", "axis": UP}
    return chain(plain), chain(plain | more)


def welded():
    tip = Joint("tip", "fixed", "c", "d", position=(0.4, 0.0, 0.0)), Body("d", (Inertial(2.0),))
    return chain(), chain(more=[tip])


def coupled():
    follower = Joint("last", "revolute", "b", "c", position=(0.5, 0.2, 0.0), coupling=Coupling("first", 0.7, 0.1))
    return chain(last=replace(follower, coupling=None, kind="fixed")), chain(last=follower)


def body(joint=None, **more):
    """Without and with a change to the middle body."""
    part, joint = Inertial(2.0, (0.0, 0.0, 0.0), SOLID), joint or {"kind": "revolute", "axis": UP}
    return chain(joint, b=(part,)), chain(joint, b=(replace(part, **more),))


def tilted(**more):
    return body({"kind": "universal", "axis": (1.0, 0.0, 0.0), "axis2": (0.0, 1.0, 0.0)}, **more)


@cache
def pair(element, flat=False):
    """Two models that differ in this element alone; `flat`: in a plane where they could be out of it."""
    plain = {"kind": "revolute", "axis": UP}
    part = Inertial(2.0, (0.0, 0.0, 0.0), SOLID)
    spring = Law("spring", lambda state: {"first": -2.0 * state.q("first") - 1.0})
    special = {
        "fixed joint": welded,
        "coupled joint": coupled,
        "joint off its parent's origin": lambda: turning(position=(0.7, 0.3, 0.0)),
        "joint frame turned": lambda: turning(rotation=TURNED),
        "axis between x, y and z": lambda: (
            chain({"kind": "prismatic", "axis": (1.0, 0.0, 0.0)}),
            chain({"kind": "prismatic", "axis": (0.6, 0.8, 0.0)}),
        ),
        "armature": lambda: turning(armature=(0.3,)),
        "damping": lambda: turning(damping=(0.3,)),
        "stiffness": lambda: turning(stiffness=(3.0,), rest=(0.2,)),
        "friction": lambda: turning(friction=(0.4,), friction_speed=0.5),
        "law": lambda: (chain(plain), chain(plain, laws=[spring])),
        "gravity": lambda: (chain(plain, gravity=(0.0, 0.0, 0.0)), chain(plain)),
        "centre of mass off the origin": lambda: body(centre=(0.2, 0.1, 0.0)),
        "products of inertia": lambda: body(inertia=PRODUCTS) if flat else tilted(inertia=PRODUCTS),
        "several inertial parts": lambda: (chain(plain, b=(part,)), chain(plain, b=(part, Inertial(1.0, (0.3, 0, 0))))),
        "massless body": lambda: (chain(plain), chain(plain, b=())),
        "parameter": lambda: (chain(plain), replace(chain(plain), parameters=("c.mass",))),
        "external wrenches": lambda: (chain(plain), chain(plain)),
        "mass of the world": lambda: (chain(plain), chain(plain, world=(Inertial(5.0),))),
        "limits": lambda: turning(lower=(-0.1,), upper=(0.1,)),
        "effort and velocity limits": lambda: turning(effort=(0.01,), velocity=(0.01,)),
    }
    return special[element]() if element in special else kind(element.removesuffix(" joint"))


@cache
def answers(model, way, wrench=1.0, mass=None, **option):
    """Accelerations, own forces added, in a state that is drawn name by name. `mass`: of body c, when a parameter."""
    fixed = FIXED.get(way, {}) | option
    equations = lw.equations(model, FORMULATIONS[way], forces=True, external=True, **fixed)

    def drawn(names):
        return np.array([np.random.default_rng(list(name.encode())).uniform(0.3, 1.0) for name in names])

    q = drawn(model.q_names)
    for k in model.independent:
        if (at := model.kind(k).quaternion) is not None:
            start = model.q_names.index(f"{model.joint(k).name}.qw")
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
            assert at in (0, 3)
    f_ext = np.stack([drawn([f"{b.name}.{k}" for k in range(6)]) for b in model.bodies[1:]])
    given = {"q": q, "v": drawn(model.v_names), "tau": drawn([f"tau of {n}" for n in model.v_names]), "t": 0.7}
    given |= {"f_ext": wrench * f_ext, "c_mass": model.values["c.mass"] if mass is None else mass}
    (found,) = equations.casadi.call([ca.DM(given[name]) for name in equations.casadi.name_in()])
    return np.array(found).ravel()


def shared(model, v_dot):
    """Accelerations of the joints that stand in every model."""
    return np.array([v_dot[model.v_names.index(n)] for n in ("first.rate", "last.rate") if n in model.v_names])


def changed(element, way, without, with_):
    """Largest relative change of what both models tell."""
    if element == "external wrenches":
        a, b = answers(without, way, wrench=0.0), answers(with_, way)
    elif element == "parameter":
        a, b = answers(with_, way), answers(with_, way, mass=7.0)
    else:
        a, b = shared(without, answers(without, way)), shared(with_, answers(with_, way))
        a, b = a[: min(len(a), len(b))], b[: min(len(a), len(b))]
    return np.abs(a - b).max() / np.abs(a).max()


@pytest.mark.parametrize("way", FORMULATIONS)
@pytest.mark.parametrize("element", ELEMENTS)
def test_an_element_changes_the_answer_or_is_refused_by_name(element, way):
    flat = way == "separate_bodies_planar"
    without, with_ = pair(element, flat)
    word = verdict(FORMULATIONS[way], element)
    if word.startswith("refused"):
        part, _ = ELEMENTS[element](with_)
        with pytest.raises(lw.ModelError) as told:
            answers(with_, way)
        assert str(told.value).startswith(f"{part}: '{way}' takes no {element}: {word.removeprefix('refused: ')}")
        return
    seen = changed(element, way, without, with_)
    if element in STORED:
        assert word == STORED[element] and seen == 0
    elif flat and element == "products of inertia":
        assert seen == changed(element, "aba", without, with_) == 0  # in a plane they play no part
    else:
        assert seen > NOTICED, f"{way} takes no notice of {element}"
    if way not in ("aba", "docking_spacecraft"):
        a, b = answers(with_, "aba"), answers(with_, way)
        assert np.abs(a - b).max() < ROUNDING * np.abs(a).max()


@pytest.mark.parametrize("element", ELEMENTS)
def test_the_ledger_finds_an_element_where_it_is_and_only_there(element):
    without, with_ = pair(element)
    if element == "external wrenches":
        return  # an input, not a part
    if element not in ("joint off its parent's origin", "fixed joint", "revolute joint"):  # every chain has such
        assert not ELEMENTS[element](without)
    part, _ = ELEMENTS[element](with_)
    assert any(part.endswith(f"'{name}'") or part == "gravity" for name in _names(with_))
    assert element in rows(with_, FORMULATIONS)


def _names(model):
    yield from [*model.joint_index, *model.body_index, *(law.name for law in model.laws), *model.parameters]


@pytest.mark.parametrize("element", [*IN_TAU, *STORED])
def test_verify_tells_what_no_formulation_sees(element):
    _, with_ = pair(element)
    text = str(lw.verify(with_, 1, ways={"kane_graph": lw.kane_graph, "docking_tree": lw.docking_tree}))
    assert f"{element}: {verdict(lw.kane_graph, element)} (all)" in text


@pytest.mark.parametrize(
    ("way", "option", "element"),
    [
        ("docking_tree", {"base": "velocity terms only"}, "prescribed joint"),
        ("docking_open", {"base": "velocity terms only"}, "prescribed joint"),
        ("docking_spacecraft", {"coupling": "alternating"}, "revolute joint"),
    ],
)
def test_an_approximate_option_is_declared_and_does_change_the_answer(way, option, element):
    ((name, value),) = option.items()
    assert f'{name}="{value}"' in FORMULATIONS[way].approximates
    _, model = pair(element)
    if element == "prescribed joint":
        prescribed = Joint("base", "prescribed", "world", "a", motion=motion)
        model = build(Description("moved", (0, 0, -9.81), model.bodies[1:], (prescribed, *model.joints[2:])))
    exact, approximate = answers(model, way), answers(model, way, **option)
    assert np.abs(exact - approximate).max() > NOTICED * np.abs(exact).max()


def test_every_approximate_option_is_in_the_test_above():
    declared = {(w, o) for w, f in FORMULATIONS.items() for o in getattr(f, "approximates", ())}
    assert declared == {
        ("docking_tree", 'base="velocity terms only"'),
        ("docking_open", 'base="velocity terms only"'),
        ("docking_spacecraft", 'coupling="alternating"'),
    }


def test_every_joint_kind_is_an_element():
    assert {f"{name} joint" for name in KINDS} <= set(ELEMENTS)


OF_FIELD = {
    Joint: {
        "kind": "fixed joint", "parent": "fixed joint", "child": "fixed joint", "motion": "prescribed joint",
        "position": "joint off its parent's origin", "rotation": "joint frame turned",
        "axis": "axis between x, y and z", "axis2": "universal joint", "pitch": "helical joint",
        "damping": "damping", "stiffness": "stiffness", "rest": "stiffness", "friction": "friction",
        "friction_speed": "friction", "armature": "armature", "coupling": "coupled joint", "lower": "limits",
        "upper": "limits", "effort": "effort and velocity limits", "velocity": "effort and velocity limits",
    },
    Body: {"inertials": "several inertial parts"},
    Inertial: {"mass": "massless body", "centre": "centre of mass off the origin", "inertia": "products of inertia"},
    Coupling: {"leader": "coupled joint", "ratio": "coupled joint", "offset": "coupled joint"},
    Model: {
        "gravity": "gravity", "bodies": "massless body", "joints": "fixed joint", "parent": "fixed joint",
        "laws": "law", "parameters": "parameter", "constants": "law",
    },
}  # fmt: skip
NO_PART = {"name", "source", "markers", "visuals", "unchecked", "notes", "folder", "start"}
"""What says where, how it looks or where runs start."""


@pytest.mark.parametrize("record", OF_FIELD)
def test_every_field_of_a_model_has_a_row_in_the_ledger(record):
    """A new field must be told here: which element is it, and what does every formulation do with it?"""
    known = OF_FIELD[record]
    assert {f.name for f in fields(record)} - NO_PART == set(known)
    assert set(known.values()) <= set(ELEMENTS)


def test_the_page_is_what_the_code_says():
    assert (DOCS / "ledger.md").read_text() == SHEET["text"](), "run `python docs/ledger.py`"
