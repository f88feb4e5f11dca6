"""URDF files of real robots, read as Pinocchio reads them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import ModelError
from linkwork.model.describe import Note
from linkwork.model.native import read_yaml, write_yaml
from linkwork.model.shapes import about_origin, total
from linkwork.model.tables import read_tables, write_tables
from linkwork.model.urdf import read_urdf

pin = pytest.importorskip("pinocchio")
ROBOTS = Path(pin.__file__).parents[4] / "share/example-robot-data/robots"
FILES = sorted(p.relative_to(ROBOTS).as_posix() for p in ROBOTS.rglob("*.urdf"))
UNREAD = {"ur_description/urdf/ur3.urdf"}  # by neither: it has no links
DANGLING = {"alex_description/urdf/alex_psyonic_hands.urdf"}  # mimics joints it does not have


@pytest.fixture(autouse=True, scope="module")
def table():
    rows: list[tuple] = []
    yield rows
    print(f"\n{'file':64} {'nv':>4} {'mass':>9} {'notes':>6} {'inertia':>8} {'ms':>6}")
    for row in rows:
        print("{:64} {:4d} {:9.3f} {:6d} {:8d} {:6.0f}".format(*row))


@pytest.mark.parametrize("file", [f for f in FILES if f not in UNREAD])
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_robot_is_read_as_pinocchio_reads_it(file, base, table):
    path = ROBOTS / file
    peer = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if base == "free" else []))
    began = time.perf_counter()
    model = read_urdf(path, base=base, mimic="free")
    took = time.perf_counter() - began
    assert took < 1.0
    moving = {model.joint(i).name: i for i in model.tree if model.kind(i).nv}
    assert sorted(moving) == sorted(list(peer.names)[1:])
    assert (model.nq - model.nv, model.nv) == ((1, peer.nv) if base == "free" else (0, peer.nv))
    mass = sum(p.mass for b in model.bodies for p in b.inertials)
    assert mass == pytest.approx(sum(i.mass for i in peer.inertias), rel=1e-12, abs=1e-12)
    if base == "fixed":
        odd = sum("it is used as it is" in n.text for n in model.notes)
        table.append((file, model.nv, mass, len(model.notes), odd, took * 1e3))


@pytest.mark.parametrize("file", [f for f in FILES if f not in UNREAD])
def test_merged_bodies_have_the_frames_inertias_and_limits_of_pinocchio(file):
    path = ROBOTS / file
    peer, model = pin.buildModelFromUrdf(str(path)), read_urdf(path, fixed="merge", mimic="free")
    assert model.nv == peer.nv and len(model.bodies) == peer.njoints
    for i in model.tree:
        joint = model.joint(i)
        k = peer.getJointId(joint.name)
        there = peer.jointPlacements[k]
        np.testing.assert_allclose(joint.position, there.translation, atol=1e-12)
        np.testing.assert_allclose(joint.rotation, there.rotation, atol=1e-12)
        at = peer.idx_vs[k]
        assert joint.effort[0] == peer.effortLimit[at] and joint.damping[0] == peer.damping[at]
        if joint.kind != "continuous" and np.isfinite(joint.lower[0]) and peer.lowerPositionLimit[peer.idx_qs[k]] != 0:
            assert joint.lower[0] == peer.lowerPositionLimit[peer.idx_qs[k]]
        part = total(model.bodies[i].inertials) if model.bodies[i].inertials else None
        if part is not None and part.mass:
            np.testing.assert_allclose(part.centre, peer.inertias[k].lever, atol=1e-9)
            I = peer.inertias[k].inertia - part.mass * pin.skew(peer.inertias[k].lever) @ pin.skew(
                peer.inertias[k].lever
            )
            six = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
            np.testing.assert_allclose(about_origin(part), six, atol=1e-9)


def told(model):
    """Every number and name that equations see."""
    parts = [[(p.name, p.mass, p.centre, p.inertia, p.unchecked) for p in b.inertials] for b in model.bodies]
    markers = [[(m.name, m.position, m.rotation) for m in b.markers] for b in model.bodies]
    words = (
        "name",
        "kind",
        "parent",
        "child",
        "position",
        "rotation",
        "damping",
        "stiffness",
        "rest",
        "friction",
    )
    words += ("armature", "lower", "upper", "effort", "velocity", "friction_speed", "pitch")
    joints = [[getattr(model.joint(i), w) for w in words] for i in model.tree]
    axes = [model.joint(i).axis for i in model.tree if model.kind(i).nv and model.kind(i).quaternion is None]
    couplings = [(c.leader, c.ratio, c.offset) for i in model.coupled if (c := model.joint(i).coupling)]
    return (
        model.name,
        model.gravity,
        [b.name for b in model.bodies],
        parts,
        markers,
        joints,
        axes,
        couplings,
    )


@pytest.mark.parametrize("file", [f for f in FILES[::3] if f not in UNREAD])
@pytest.mark.parametrize("fixed", ["keep", "merge"])
def test_what_is_written_reads_back_as_the_same_numbers(file, fixed, tmp_path):
    model = read_urdf(ROBOTS / file, fixed=fixed, base="free")
    write_yaml(model, tmp_path / "m.yaml")
    assert told(read_yaml(tmp_path / "m.yaml")) == told(model)
    write_tables(model, tmp_path / "tables")
    assert told(read_tables(tmp_path / "tables")) == told(model)


def test_every_element_not_used_is_noted_with_its_line():
    notes: tuple[Note, ...] = read_urdf(ROBOTS / "pr2_description/urdf/pr2.urdf").notes
    text = "\n".join(n.text for n in notes)
    for word in (
        "<transmission>",
        "<gazebo>",
        "<collision>",
        "<safety_controller>",
        "<calibration>",
        "triangle",
    ):
        assert word in text
    assert all(n.source is not None and n.source.line for n in notes)


def test_a_mimicked_joint_that_is_not_there_is_noted_and_with_strict_refused():
    with pytest.raises(ModelError, match="mimics an unknown joint 'index_q1'"):
        read_urdf(ROBOTS / next(iter(DANGLING)), strict=True)
    assert any("mimics an unknown joint 'index_q1'" in n.text for n in read_urdf(ROBOTS / next(iter(DANGLING))).notes)


def test_a_chain_of_mimics_follows_its_first_joint(tmp_path):
    mimics = [("ab", "a", "b", ""), ("bc", "b", "c", '<mimic joint="ab" multiplier="2" offset="1"/>')]
    mimics.append(("cd", "c", "d", '<mimic joint="bc" multiplier="-3" offset="0.5"/>'))
    links = "".join(f'<link name="{n}"/>' for n in "abcd")
    joints = "".join(
        f'<joint name="{n}" type="continuous"><parent link="{p}"/><child link="{c}"/>{inside}</joint>'
        for n, p, c, inside in mimics
    )
    (tmp_path / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    model = read_urdf(tmp_path / "r.urdf")
    coupling = model.joint(model.joint_index["cd"]).coupling
    assert coupling is not None
    assert (coupling.leader, coupling.ratio, coupling.offset) == ("ab", -6.0, -2.5)


def test_meshes_are_found_in_package_folders():
    path = ROBOTS / "z1_description/urdf/z1.urdf"
    assert not any(v.file for b in read_urdf(path).bodies for v in b.visuals)
    model = read_urdf(path, package_dirs=[ROBOTS.parents[1]])
    files = [v.file for b in model.bodies for v in b.visuals if v.shape == "mesh"]
    assert files and all(Path(f).is_file() for f in files)
    assert not any("not found" in n.text for n in model.notes)
