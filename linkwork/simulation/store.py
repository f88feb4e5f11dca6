"""Where a sweep keeps its parts: a folder that any interruption leaves whole, or memory.

    manifest.json          the plan, its SHA-256, the model's, versions; how the sweep ended
    part-000000.npz …      one file a part, written beside, synced, renamed, never changed
    lock                   held by the one process that writes

A file that is there is whole: names appear only when all bytes are on the disk. What a killed process left half-written
has another name and is removed by the next one.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import RunError
from . import parts
from .parts import Columns, Damaged
from .plan import differences

FORMAT = "linkwork sweep 1"
MANIFEST, LOCK, HALF = "manifest.json", "lock", ".half"


class Store(Protocol):
    """What a sweep needs of the place where its parts go."""

    def has(self, part: int) -> bool: ...
    def put(self, part: int, columns: Columns) -> None: ...
    def get(self, part: int, names: Iterable[str] | None = None) -> dict[str, np.ndarray]: ...
    def drop(self, part: int) -> None: ...
    def finish(self, told: Mapping[str, Any]) -> None: ...


class Memory:
    """Parts kept in memory."""

    def __init__(self) -> None:
        self.kept: dict[int, dict[str, np.ndarray]] = {}
        self.manifest: dict[str, Any] = {}

    def has(self, part: int) -> bool:
        return part in self.kept

    def put(self, part: int, columns: Columns) -> None:
        self.kept[part] = {name: np.array(array) for name, array in columns.items()}

    def get(self, part: int, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
        found = self.kept[part]
        return dict(found) if names is None else {name: found[name] for name in names if name in found}

    def drop(self, part: int) -> None:
        self.kept.pop(part, None)

    def finish(self, told: Mapping[str, Any]) -> None:
        self.manifest["finished"] = dict(told)


class Folder:
    """Parts kept in a folder."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)

    def __str__(self) -> str:
        return str(self.path)

    def file(self, part: int) -> Path:
        return self.path / f"part-{part:06d}.npz"

    def has(self, part: int) -> bool:
        return self.file(part).is_file()

    def put(self, part: int, columns: Columns) -> None:
        self._write(self.file(part), parts.packed(columns), f"part {part}")

    def get(self, part: int, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
        try:
            return parts.read(self.file(part), names)
        except FileNotFoundError:
            raise RunError(f"part {part} is missing", where=f"folder '{self}'", fix="run the sweep again") from None

    def keep(self, name: str, data: bytes) -> None:
        """Another file beside the parts."""
        self._write(self.path / name, data, name)

    def drop(self, part: int) -> None:
        self.file(part).unlink(missing_ok=True)
        self._sync()

    def finish(self, told: Mapping[str, Any]) -> None:
        self._manifest({**self.manifest, "finished": dict(told)})

    # --- the manifest ---
    @property
    def manifest(self) -> dict[str, Any]:
        where = f"folder '{self}'"
        try:
            found = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise RunError("holds no sweep", where=where, fix="name a folder that `linkwork sweep` wrote") from None
        except (OSError, ValueError) as error:
            raise RunError(f"its {MANIFEST} cannot be read: {error}", where=where, fix="restore it") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RunError(f"its {MANIFEST} is not one of '{FORMAT}'", where=where, fix="restore it")
        return found

    def _manifest(self, told: Mapping[str, Any]) -> None:
        text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
        self._write(self.path / MANIFEST, text.encode(), MANIFEST)

    def begin(self, told: Mapping[str, Any]) -> bool:
        """Write the manifest, or see that the one that is there tells of the same sweep. True: it goes on."""
        if not (self.path / MANIFEST).exists():
            known = (LOCK, HALF)
            if strange := [f.name for f in self.path.iterdir() if not f.name.endswith(known)]:
                text = f"is not empty ('{sorted(strange)[0]}') and holds no sweep"
                raise RunError(text, where=f"folder '{self}'", fix="give a new folder")
            self._manifest({"format": FORMAT, **told, "finished": None})
            return False
        self._agrees(self.manifest, told)
        return True

    def _agrees(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        where, fix = f"folder '{self}'", "give another folder, or put the plan back"
        if old["plan"]["name"] != new["plan"]["name"]:
            text = f"holds a sweep of another plan, '{old['plan']['name']}', not '{new['plan']['name']}'"
            raise RunError(text, where=where, fix="give another folder")
        if old["plan_sha256"] != new["plan_sha256"]:
            told = differences(old["plan"], new["plan"])
            more = f" and {len(told) - 3} more" if len(told) > 3 else ""
            text = f"the plan has changed since this sweep was begun: {'; '.join(told[:3])}{more}"
            raise RunError(text, where=where, fix=fix)
        if old["versions"] != new["versions"]:
            pairs = [f"{k} {v} → {new['versions'].get(k)}" for k, v in old["versions"].items()]
            changed = [
                x for x, (k, v) in zip(pairs, old["versions"].items(), strict=True) if new["versions"].get(k) != v
            ]
            text = f"begun with other versions, which may differ in the last bits: {', '.join(changed)}"
            raise RunError(text, where=where, fix="give another folder, or install those")
        if old["model_sha256"] != new["model_sha256"]:
            text = f"the model '{new['model']}' has changed since this sweep was begun"
            raise RunError(text, where=where, fix="give another folder, or put the model back")

    # --- writing so that nothing is ever half there ---
    def _write(self, path: Path, data: bytes, what: str) -> None:
        half = path.with_name(path.name + HALF)
        try:
            with half.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(half, path)
            self._sync()
        except OSError as error:
            with suppress(OSError):
                half.unlink(missing_ok=True)
            raise self._refused(error, what) from error

    def _refused(self, error: OSError, what: str) -> RunError:
        where = f"folder '{self}'"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            fix = "make space and run the same command again; what is written is kept"
            return RunError(f"the disk is full; {what} is not written", where=where, fix=fix)
        return RunError(f"{what} cannot be written: {error.strerror or error}", where=where, fix="check the folder")

    def _sync(self) -> None:
        """The names too are to survive a loss of power."""
        if os.name == "posix":
            folder = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The right to write, for one process at a time; the system takes it back when that ends, however it ends."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise self._refused(error, "the folder") from error
        try:
            if not _locked(file):
                who = os.read(file, 200).decode(errors="replace").strip() or "another process"
                text = f"{who} is writing there now"
                raise RunError(text, where=f"folder '{self}'", fix="let it end, or give another folder")
            with suppress(OSError):  # only words for the other one
                os.lseek(file, 0, os.SEEK_SET)
                os.ftruncate(file, 0)
                os.write(file, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
            for half in self.path.glob(f"*{HALF}"):
                half.unlink(missing_ok=True)
            yield
        finally:
            os.close(file)


def _locked(file: int) -> bool:
    """Try to lock an open file; the lock goes when the file is closed."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            return True
        except OSError:
            return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN):
            return False
        raise RunError(f"cannot be locked: {error.strerror}", fix="give a folder on a local disk") from error


__all__ = ["Damaged", "Folder", "Memory", "Store"]
