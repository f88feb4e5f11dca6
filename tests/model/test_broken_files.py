"""A file that cannot be a model is refused once, at once, with its place and advice."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from broken import CASES as PLAIN_CASES
from broken import TABLES, YAML, inertial, link, urdf
from broken_odd import ODD_CASES

from linkwork.errors import ModelError
from linkwork.model import yamltree
from linkwork.model.read import read
from linkwork.model.urdf import read_urdf

CASES = PLAIN_CASES + ODD_CASES
WITHOUT_LINE = re.compile(
    "no such file|is not read|without a suffix|has no (tree|bodies|joints|model).csv|loops|empty|MB|not told"
)


def put(folder: Path, name: str, content: str | bytes | dict[str, str | bytes] | None) -> Path:
    path = folder / name
    if isinstance(content, dict):
        path.mkdir()
        for file, inside in content.items():
            put(path, file, inside)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(("name", "content", "fragment"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_broken_file_is_refused_with_its_place_and_advice(tmp_path, name, content, fragment):
    path = put(tmp_path, name, content)
    began = time.process_time()  # its own time, whatever else the machine does
    with pytest.raises(ModelError) as caught:
        read(path)
    took = time.process_time() - began
    text = str(caught.value)
    assert fragment in text, text
    assert name in text and "fix:" in text, text
    assert len(text) < 1000, text
    if not WITHOUT_LINE.search(text):
        assert re.search(r"\.(yaml|urdf|csv):\d+: ", text), text
    assert took < 2.0


def test_there_are_more_than_two_hundred_and_fifty_broken_files():
    assert len(CASES) > 250 and len({c[0] for c in CASES}) == len(CASES)


def test_the_unbroken_ones_are_read(tmp_path):
    assert read(put(tmp_path, "arm.yaml", YAML)).nv == 2
    model = read(put(tmp_path, "arm", TABLES))
    assert model.nv == 2 and model.joint(2).stiffness == (2.0,) and model.joint(2).position == (0.5, 0.0, 0.0)
    assert model.bodies[2].inertials[0].inertia[1] == pytest.approx(1 - 0.1**2)


def test_impossible_inertia_in_urdf_is_noted_and_strictly_refused(tmp_path):
    path = put(tmp_path, "a.urdf", urdf(link("a", inertial(izz="3"))))
    assert any("triangle inequality" in note.text and note.source.line == 3 for note in read(path).notes)
    with pytest.raises(ModelError, match="triangle inequality"):
        read_urdf(path, strict=True)


def test_meshes_outside_the_folder_are_not_opened(tmp_path):
    (tmp_path / "secret.stl").write_text("x")
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "link.stl").symlink_to(tmp_path / "secret.stl")
    (folder / "own.stl").write_text("x")
    names = (
        "../secret.stl",
        str(tmp_path / "secret.stl"),
        "link.stl",
        "file:///etc/passwd",
        "package://robot/../secret.stl",
    )
    visuals = "".join(f'<visual><geometry><mesh filename="{n}"/></geometry></visual>' for n in (*names, "own.stl"))
    model = read(put(folder, "a.urdf", urdf(link("a", visuals))))
    assert [v.file for b in model.bodies for v in b.visuals] == [str((folder / "own.stl").resolve())]
    assert sum("outside the folder and is not opened" in n.text for n in model.notes) == len(names)


def test_an_unknown_option_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no option 'bas'"):
        read(put(tmp_path, "a.urdf", urdf(link("a"))), bas="free")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have names on POSIX only")
@pytest.mark.parametrize("name", ["pipe.yaml", "pipe.urdf", "endless.yaml", "endless.urdf", "folder"])
def test_what_never_ends_is_not_read(tmp_path, name):
    path = tmp_path / name
    if name.startswith("endless"):
        path.symlink_to("/dev/zero")
    elif name == "folder":
        put(tmp_path, name, {k: v for k, v in TABLES.items()})
        os.mkfifo(path / "markers.csv")
    else:
        os.mkfifo(path)
    with pytest.raises(ModelError, match="a pipe or a device, not a file"):
        read(path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "name of the file is empty"),
        ("n" * 300 + ".yaml", "no such file"),
        ("x/" * 3000 + "a.urdf", "no such file"),
        ("a\0b.yaml", "no such file"),
        ("file.yaml/arm.yaml", "no such file"),
    ],
    ids=["empty", "long", "deep", "with a zero", "in a file"],
)
def test_a_name_no_file_can_have_is_refused_as_any_other(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "file.yaml", YAML)
    with pytest.raises(ModelError, match=said):
        read(name)


def test_symbolic_links_that_lead_nowhere_are_told(tmp_path):
    (tmp_path / "ring.yaml").symlink_to("ring.yaml")
    (tmp_path / "gone.urdf").symlink_to("nothing.urdf")
    for name in ("ring.yaml", "gone.urdf"):
        with pytest.raises(ModelError, match="symbolic link leads to no file"):
            read(tmp_path / name)


def test_a_long_yaml_file_is_read_at_once_and_as_a_short_one(tmp_path):
    """Long ones are parsed in C where that is installed."""
    bodies = "".join(f"  b{i}: {{mass: {i + 1} kg, inertia: [1, 1, 1]}}\n" for i in range(2000))
    joints = "".join(f"  j{i}: {{kind: free, parent: world, child: b{i}, at: [0, 0, 1 m]}}\n" for i in range(2000))
    text = f"gravity: [0, 0, -9.81]\nbodies:\n{bodies}joints:\n{joints}"
    assert len(text) > yamltree.SHORT
    began = time.process_time()
    model = read(put(tmp_path, "long.yaml", text))
    assert time.process_time() - began < 3.0  # the parser in Python takes ten
    assert model.bodies[2000].inertials[0].mass == 2000.0 and model.joint(7).position == (0.0, 0.0, 1.0)
    assert model.joint(7).source.line == 2 + 2000 + 1 + 7
