"""One door for all files: the suffix tells which reader."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork.errors import ModelError, Place, nearest
from linkwork.model.model import Model

KNOWN = ".yaml, .yml, .urdf, .xml, or a folder with tree.csv, bodies.csv and joints.csv"


def read(path: str | PathLike[str], **options: Any) -> Model:
    """The Model in a file: .urdf or .xml (URDF), .yaml or .yml, or a folder of CSV tables.

    `options` are those of the reader; URDF has base=, fixed=, mimic=, package_dirs=, strict=.
    """
    file = Path(path)
    where = Place(str(path))
    if not str(path):
        raise ModelError("the name of the file is empty", fix="name a file, or '.' for the folder of tables you are in")
    if not _is(file, Path.exists):
        if _is(file, Path.is_symlink):
            raise ModelError("the symbolic link leads to no file", where=where, fix="mend the link")
        raise ModelError("there is no such file", where=where, fix=_beside(file))
    if file.is_dir():
        from linkwork.model.tables import read_tables as reader
    elif file.suffix.lower() in (".urdf", ".xml"):
        from linkwork.model.urdf import read_urdf as reader
    elif file.suffix.lower() in (".yaml", ".yml"):
        from linkwork.model.native import read_yaml as reader
    else:
        kind = f"'{file.suffix}'" if file.suffix else "without a suffix"
        raise ModelError(f"a file {kind} is not read", where=where, fix=f"known are {KNOWN}")
    known = reader.__kwdefaults__ or {}
    for name in options:
        if name not in known:
            fix = nearest(name, known) if known else "this kind of file is read without options"
            raise ModelError(f"there is no option '{name}' for such a file", where=where, fix=fix)
    return reader(path, **options)


def _is(file: Path, question: Callable[[Path], bool]) -> bool:
    try:
        return "\0" not in str(file) and question(file)
    except OSError:  # a name that is too long, a folder that may not be entered
        return False


def _beside(file: Path) -> str:
    try:
        names = [p.name for p in file.parent.iterdir()] if file.parent.is_dir() else []
    except (OSError, ValueError):
        names = []
    near = nearest(file.name, names)
    return near if near.startswith("did") else "check the path"
