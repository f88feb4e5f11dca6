"""A file that cannot be a model is refused once, at once, with its place and advice."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from broken import CASES, TABLES, YAML, inertial, link, urdf

from linkwork.errors import ModelError
from linkwork.model.read import read
from linkwork.model.urdf import read_urdf

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
    began = time.perf_counter()
    with pytest.raises(ModelError) as caught:
        read(path)
    took = time.perf_counter() - began
    text = str(caught.value)
    assert fragment in text, text
    assert name in text and "fix:" in text, text
    assert len(text) < 1000, text
    if not WITHOUT_LINE.search(text):
        assert re.search(r"\.(yaml|urdf|csv):\d+: ", text), text
    assert took < 2.0


def test_there_are_more_than_sixty_broken_files():
    assert len(CASES) > 60 and len({c[0] for c in CASES}) == len(CASES)


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
