"""Machine code kept on disk by content, so that the same graph is compiled once.

An entry's name is the hash of everything its code depends on; no path and no date enters it. Entries are
written to a temporary file and renamed, so several processes may share the directory. Each carries a
checksum: a damaged one is dropped and built anew, because loading it would end the process. The directory is
the user's own; one that others can write to is not used. Where there is no such directory everything works,
only without a memory.

`LINKWORK_CACHE` names the directory; set to nothing (`LINKWORK_CACHE=`) it turns the cache off.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import llvmlite

_MAGIC = b"linkwork code 1\n"
_DIGEST = hashlib.sha256().digest_size
LIMIT = 1 << 30
"""Bytes the directory may hold; the entries unused for longest go first."""


@dataclass(frozen=True)
class Entry:
    """Object code and what is told about it."""

    image: bytes
    facts: dict[str, Any]


@cache
def _versions() -> str:
    try:
        own = version("linkwork")
    except PackageNotFoundError:
        own = "0"
    return f"linkwork {own} {_own_code()} llvmlite {llvmlite.__version__} {llvmlite.binding.llvm_version_info}"


def _own_code() -> str:
    """Hash of the compiler's own source, so that a changed compiler does not find its old code."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def key(*parts: object) -> str:
    """The name of the code made from these parts by this version of the compiler."""
    digest = hashlib.sha256()
    for part in (_versions(), *parts):
        text = part if isinstance(part, bytes) else str(part).encode()
        digest.update(len(text).to_bytes(8, "little"))
        digest.update(text)
    return digest.hexdigest()[:40]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def directory() -> Path | None:
    """Where entries lie, made if need be; None when there is no place only this user can write to."""
    named = os.environ.get("LINKWORK_CACHE")
    if named == "":
        return None
    path = Path(named).expanduser() if named else _platform_directory()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid"):
            status = path.stat()
            if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
    except OSError:
        return None
    return path


def _platform_directory() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "linkwork" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "linkwork"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linkwork"


def fetch(name: str) -> Entry | None:
    """The entry of this name, or None if there is none that is whole."""
    place = directory()
    if place is None:
        return None
    file = place / f"{name}.code"
    try:
        entry = _parse(file.read_bytes())
    except OSError:
        return None
    try:
        if entry is None:
            file.unlink()
        else:
            os.utime(file)
    except OSError:
        pass
    return entry


def store(name: str, entry: Entry) -> None:
    """Keep an entry. Failure to write is no failure of the caller: the code is there, only not remembered."""
    place = directory()
    if place is None:
        return
    facts = json.dumps(entry.facts).encode()
    body = len(facts).to_bytes(8, "little") + facts + entry.image
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=place, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(body).digest() + body)
        os.replace(temporary, place / f"{name}.code")
        _prune(place)
    except OSError:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _parse(data: bytes) -> Entry | None:
    head = len(_MAGIC) + _DIGEST
    body = data[head:]
    if not data.startswith(_MAGIC) or hashlib.sha256(body).digest() != data[len(_MAGIC) : head]:
        return None
    length = int.from_bytes(body[:8], "little")
    return Entry(body[8 + length :], json.loads(body[8 : 8 + length]))


def _prune(place: Path) -> None:
    """Keep the directory within its limit."""
    with os.scandir(place) as found:
        files = [(entry.stat(), entry.path) for entry in found if entry.name.endswith((".code", ".part"))]
    total = sum(status.st_size for status, _ in files)
    for status, path in sorted(files, key=lambda file: file[0].st_mtime):
        if total <= LIMIT:
            break
        Path(path).unlink(missing_ok=True)
        total -= status.st_size
