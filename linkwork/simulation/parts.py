"""One part of a sweep as a file: named columns in an uncompressed zip of .npy arrays, which `numpy.load` reads.

The same columns give the same bytes: no date, no compression, names in order, numbers little-endian. The comment of the
zip is the SHA-256 of the columns; each array has a checksum of its own besides. Texts are kept as UTF-8, one line each.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from ..errors import RunError

Columns = Mapping[str, np.ndarray]
EPOCH = (1980, 1, 1, 0, 0, 0)


class Damaged(RunError):
    """A file whose checksum says that it is not what was written."""


def texts(lines: Sequence[str]) -> np.ndarray:
    """Lines of text as a column of bytes."""
    return np.frombuffer("".join(f"{' '.join(str(x).splitlines())}\n" for x in lines).encode(), np.uint8)


def lines(column: np.ndarray) -> list[str]:
    """The lines of a column of text."""
    return column.tobytes().decode().split("\n")[:-1]


def _little(array: np.ndarray) -> np.ndarray:
    """C order, little-endian, one NaN."""
    array = np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.nan, array)  # the sign and payload of a NaN carry no meaning
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def digest_of(columns: Columns) -> str:
    """SHA-256 of the columns of a part."""
    whole = Digest()
    whole.add(columns)
    return whole.value()


class Digest:
    """SHA-256 of columns that come in parts; how they were cut into parts does not matter."""

    def __init__(self) -> None:
        self._columns: dict[str, hashlib._Hash] = {}

    def add(self, columns: Columns) -> None:
        for name in sorted(columns):
            array = _little(columns[name])
            if name not in self._columns:
                self._columns[name] = hashlib.sha256(f"{name}\0{array.dtype.str}\0{array.shape[1:]}\0".encode())
            self._columns[name].update(array.data.cast("B") if array.size else b"")

    def value(self) -> str:
        whole = hashlib.sha256()
        for name in sorted(self._columns):
            whole.update(self._columns[name].digest())
        return whole.hexdigest()


def packed(columns: Columns) -> bytes:
    """The bytes of a part's file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for name in sorted(columns):
            member = io.BytesIO()
            np.lib.format.write_array(member, _little(columns[name]), version=(1, 0), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", EPOCH)
            info.external_attr, info.create_system = 0o644 << 16, 3
            file.writestr(info, member.getvalue())
        file.comment = digest_of(columns).encode()
    return out.getvalue()


def read(path: Path, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """The columns of a file, or some of them; all of them are checked against the SHA-256 of the whole."""
    wanted = None if names is None else set(names)
    try:
        with zipfile.ZipFile(path) as file:
            found = {}
            for member in file.namelist():
                name = member.removesuffix(".npy")
                if wanted is None or name in wanted:
                    found[name] = np.lib.format.read_array(io.BytesIO(file.read(member)), allow_pickle=False)
            told = file.comment.decode("ascii", "replace")
    except FileNotFoundError:
        raise
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, NotImplementedError) as error:
        raise Damaged(f"damaged: {error}", where=f"file '{path}'", fix=_AGAIN) from None
    if wanted is None and digest_of(found) != told:
        raise Damaged("damaged: its checksum does not fit", where=f"file '{path}'", fix=_AGAIN)
    return found


_AGAIN = "run the sweep again: it is made anew"
