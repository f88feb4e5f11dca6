"""Our own files: what was written reads back as the same numbers."""

import pytest
from test_urdf import told

from linkwork.errors import ModelError
from linkwork.model import laws
from linkwork.model.joints import KINDS
from linkwork.model.mechanism import Mechanism
from linkwork.model.native import read_yaml, write_yaml
from linkwork.model.tables import read_tables, write_tables


def everything(motions: bool = True) -> Mechanism:
    """A mechanism with every kind of joint and every kind of number."""
    m = Mechanism("all: of it", gravity=(0.1, -0.2, -9.81))
    parent = "world"
    for k, kind in enumerate(KINDS):
        if kind == "prescribed" and not motions:
            continue
        nv, given = KINDS[kind].nv, {}
        if nv:
            given = {
                w: [0.1 * (k + n + 1) / 3 for n in range(nv)] for w in ("damping", "stiffness", "friction", "armature")
            }
        if kind == "helical":
            given["pitch"] = "5 mm/rev"
        if kind == "universal":
            given["axis2"] = (0.3, 1, 0.2)
        if kind == "prescribed":
            given["motion"] = {"position": ["0.1*sin(2*pi*t)", 0.3, 0], "rotation": [0, "0.2*t", 0]}
        if nv and KINDS[kind].quaternion is None:
            given |= {
                "axis": (0.2, 0.3, 0.9),
                "limits": [-1 / 3, None] if nv == 1 else [[-1 / 3, 2 / 3]] * nv,
            }
        m.body(
            f"b {k}",
            parts=[
                {"name": "x", "mass": 1 / 3, "centre": (0.1, 0.2, 0.3)},
                {"mass": 2, "inertia": (1, 1, 1)},
            ],
        )
        m.joint(f"j/{k}", kind, parent, f"b {k}", at=(1 / 3, 0, 1), rotation=(0.1, 0.2, 0.3), **given)
        m.marker(f"m{k}", f"b {k}", at=(0, 0, 1 / 7), rotation=(1, 2, 3))
        parent = f"b {k}"
    m.body("last", shape="capsule", size=("2 cm", "10 cm"), mass=0.1)
    m.joint(
        "follower",
        "revolute",
        "world",
        "last",
        follows="j/2",
        ratio=-1 / 3,
        offset="5 deg",
        effort=3,
        velocity=2,
    )
    m.visual("last", "box", (1, 2, 3), color=(1, 0, 0), rotation=(0, 0, 1)).constant("gain", 1 / 3)
    m.parameter("last.mass").parameter("gain").start({"j/2": "30 deg", "j/10.rotation": (0.1, 0.2, 0.3)})
    return m


def test_yaml_reads_back_what_was_written(tmp_path):
    m = everything().law(laws.spring("m2", "last", 200, 3, 0.1), "strut").law(laws.drag("b 2", 1, 2, 3), "air")
    model = m.law(laws.pd("j/2", 3, 1 / 3, "0.1*sin(t)"), "servo").build()
    write_yaml(model, tmp_path / "m.yaml")
    again = read_yaml(tmp_path / "m.yaml")
    assert told(again) == told(model) and again.values == model.values
    assert (again.start, again.parameters, again.constants) == (
        model.start,
        model.parameters,
        model.constants,
    )
    assert [law.function for law in again.laws] == [law.function for law in model.laws]
    assert [again.joint(i).motion for i in again.tree] == [model.joint(i).motion for i in model.tree]
    assert len([v for b in again.bodies for v in b.visuals]) == 2
    write_yaml(again, tmp_path / "n.yaml")
    assert (tmp_path / "n.yaml").read_text() == (tmp_path / "m.yaml").read_text()


def test_tables_read_back_what_was_written(tmp_path):
    model = everything(motions=False).build()
    write_tables(model, tmp_path / "t")
    again = read_tables(tmp_path / "t")
    assert told(again) == told(model) and again.values == model.values
    assert (again.start, again.parameters, again.constants) == (
        model.start,
        model.parameters,
        model.constants,
    )


def test_what_was_written_in_python_is_refused_by_name(tmp_path):
    lawful = everything().law(lambda state: {}, "mine").build()
    with pytest.raises(ModelError, match="law 'mine' is a Python function"):
        write_yaml(lawful, tmp_path / "m.yaml")
    with pytest.raises(ModelError, match="law 'mine' cannot be written"):
        write_tables(lawful, tmp_path / "t")
    moved = (
        Mechanism("m").body("a", 1).joint("j", "prescribed", "world", "a", motion=lambda t: ((t, 0, 0), (1, 0, 0, 0)))
    )
    with pytest.raises(ModelError, match="motion of joint 'j' is a Python function"):
        write_yaml(moved.build(), tmp_path / "m.yaml")


def test_a_docking_table_with_several_freedoms_on_massless_bodies(tmp_path):
    (tmp_path / "model.csv").write_text("key,value\nname,probe\ngravity_x,0\ngravity_y,0\ngravity_z,0\n")
    (tmp_path / "tree.csv").write_text("body,branch,parent\n1,0,0\n2,0,1\n3,0,2\n")
    (tmp_path / "bodies.csv").write_text(
        "body,mass [kg],centre_z [mm],Ixx_origin,Iyy_origin,Izz_origin\n3,2,500,1,1,0.1\n"
    )
    (tmp_path / "joints.csv").write_text(
        "# a universal joint and a slide\n"
        "body,type,axis,position_z [mm],c11,c12,c13,c21,c22,c23,c31,c32,c33,stiffness,damping,rest,active\n"
        "1,0,1,100,,,,,,,,,,10 N*m/deg,,1 deg,1\n2,0,2,0,,,,,,,,,,0,0,0,1\n"
        "3,1,3,0,0,1,0,-1,0,0,0,0,1,200,3,0,0\n"
    )
    model = read_tables(tmp_path)
    assert [model.joint(i).kind for i in model.tree] == ["revolute", "revolute", "prismatic"]
    assert model.bodies[1].inertials == () and model.bodies[3].inertials[0].inertia[0] == 0.5
    assert model.joint(3).rotation[0] == (0.0, -1.0, 0.0)  # joint → parent: the transpose of the cosines
    assert model.joint(1).stiffness[0] == pytest.approx(572.957795, rel=1e-8)
    assert any("not active" in note.text for note in model.notes)
