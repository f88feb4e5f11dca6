"""Machine code on disk: found again, never trusted when damaged, never needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from linkwork.compiler import cache, compile_function


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "code"))
    return tmp_path / "code"


def make(factor: float = 1.5):
    x = ca.SX.sym("x", 3)
    return compile_function(ca.Function("f", [x], [factor * ca.sin(x) + x], ["x"], ["y"]), lanes=4)


X = np.linspace(0, 1, 30).reshape(10, 3)


def used(kernel) -> bool:
    """Whether the code came from the disk."""
    return kernel.variant(4).cached


def test_code_is_found_again(place):
    first, second = make(), make()
    assert (first(x=X) == second(x=X)).all()
    assert not used(first) and used(second)
    assert "from the cache" in second.explain() and first.name == second.name
    assert not used(make(2.5))


def test_only_what_is_called_is_compiled(place):
    kernel = make()
    assert not place.exists()
    kernel(x=X)
    assert len(list(place.glob("*.code"))) == 1
    kernel(x=X[0])
    assert len(list(place.glob("*.code"))) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="rights of files are another matter there")
def test_the_directory_is_the_users_own(place):
    make()(x=X)
    assert place.stat().st_mode & 0o777 == 0o700
    place.chmod(0o777)
    assert cache.directory() is None
    kernel = make()
    kernel(x=X)
    assert not used(kernel)


@pytest.mark.parametrize("damage", ("flipped", "truncated", "empty", "foreign", "lengthened"))
def test_damaged_code_is_made_anew(place, damage):
    expected = make()(x=X)
    (file,) = place.glob("*.code")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    whole = file.read_bytes()
    changed = {
        "flipped": bytes(data),
        "truncated": whole[: len(whole) // 2],
        "empty": b"",
        "foreign": b"\x7fELF" + whole,
        "lengthened": whole + b"\0",
    }
    file.write_bytes(changed[damage])
    again = make()
    assert (again(x=X) == expected).all() and not used(again)
    later = make()
    assert (later(x=X) == expected).all() and used(later)


def test_without_a_directory_everything_works(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a directory")
    expected = make()(x=X)
    for name in ("", str(tmp_path / "file" / "code"), str(tmp_path / "file")):
        monkeypatch.setenv("LINKWORK_CACHE", name)
        kernel = make()
        assert (kernel(x=X) == expected).all() and not used(kernel)


def test_an_option_leaves_the_disk_alone(place):
    x = ca.SX.sym("x")
    compile_function(ca.Function("f", [x], [x + 1], ["x"], ["y"]), cache=False)(x=np.ones(9))
    assert not place.exists()


def test_old_entries_go_when_there_are_too_many(place, monkeypatch):
    make(1.25)(x=X)
    (old,) = place.glob("*.code")
    os.utime(old, (1, 1))
    monkeypatch.setattr(cache, "LIMIT", old.stat().st_size + 10)
    make(2.25)(x=X)
    assert not old.exists() and len(list(place.glob("*.code"))) == 1


def test_names_depend_on_all_parts():
    names = {cache.key("a", "b"), cache.key("ab"), cache.key("a", "b", 1), cache.key("b", "a")}
    assert len(names) == 4


PROGRAM = """
import casadi as ca, numpy as np, json
from linkwork.compiler import compile_function
x = ca.SX.sym("x", 3)
results = []
for k in range(4):
    kernel = compile_function(ca.Function("f", [x], [(k + 0.5) * ca.sin(x) + x], ["x"], ["y"]), lanes=4)
    results.append(kernel(x=np.linspace(0, 1, 30).reshape(10, 3)).tobytes().hex())
print(json.dumps([kernel.name, results]))
"""


def test_processes_share_the_directory(place):
    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)

    answers = [json.loads(process.communicate(timeout=60)[0]) for process in [start() for _ in range(3)]]
    assert answers[0] == answers[1] == answers[2]
    assert len(list(place.glob("*.code"))) == 4 and not list(place.glob("*.part"))
