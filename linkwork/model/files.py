"""Files from elsewhere: how big they may be, and which of them may be looked at."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from linkwork.errors import ModelError, Place

LARGEST = 50 * 2**20  # bytes


def content(path: Path) -> bytes:
    """The bytes of a file; ModelError when there is none, it is too large or empty."""
    where = Place(str(path))
    try:
        if path.is_dir():
            raise ModelError("this is a directory, not a file", where=where, fix="name a file")
        found = path.stat()
        size = found.st_size
        if not stat.S_ISREG(found.st_mode):  # a pipe or a device may never end
            raise ModelError("this is a pipe or a device, not a file", where=where, fix="name a file")
        if size > LARGEST:
            text = f"the file has {size / 2**20:.0f} MB, more than {LARGEST / 2**20:.0f} MB"
            raise ModelError(text, where=where, fix="is this a model? Split it, or shorten it")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise ModelError(f"cannot be read: {_reason(error)}", where=where, fix="check the path") from None
    if not data.strip():
        raise ModelError("the file is empty", where=where, fix="write a model into it, or name another file")
    return data


def text(path: Path) -> str:
    """The text of a UTF-8 file."""
    data = content(path)
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = Place(str(path), data.count(b"\n", 0, error.start) + 1)
        raise ModelError("the file is not UTF-8 text", where=where, fix="save it as UTF-8 text") from None
    if "\0" in decoded:
        where = Place(str(path), decoded.count("\n", 0, decoded.index("\0")) + 1)
        raise ModelError("the file is binary, not text", where=where, fix="name a text file")
    return decoded


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


class Outside(Exception):
    """A path that leaves the folders that may be looked at."""


def inside(name: str, folders: Sequence[Path]) -> Path | None:
    """The file `name` in one of the folders; None when it is in none. Never looks outside of them.

    Raises Outside when the path, or a symbolic link on it, leads out of every folder.
    """
    left = False
    roots = [folder.resolve() for folder in folders]
    for root in roots:
        try:
            found = (root / name).resolve()
            if not any(found.is_relative_to(one) for one in roots):
                left = True
            elif found.is_file():
                return found
        except (OSError, ValueError, RuntimeError):
            continue
    if left:
        raise Outside(name)
    return None
