"""Parts in a folder: written whole or not at all, the same bytes for the same bits, gone on with after anything."""

import errno
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import toys

from linkwork.errors import RunError
from linkwork.simulation import parts, store
from linkwork.simulation.parted import Interrupted, Task, fill, in_this_process
from linkwork.simulation.plan import Input, Stop
from linkwork.simulation.store import Folder, Memory

VERSIONS = {"linkwork": "1"}


def told(task, **more):
    return {
        "plan": task.plan.told(),
        "plan_sha256": task.plan.sha256(),
        "model": task.runner.name,
        "model_sha256": task.runner.fingerprint(),
        "versions": VERSIONS,
        **more,
    }


def run(task, path=None, said=lambda text: None):
    if path is None:
        return fill(task.plan, Memory(), in_this_process(task, 1), said)
    folder = Folder(path)
    with folder.writing():
        folder.begin(json.loads(json.dumps(told(task))))
        return fill(task.plan, folder, in_this_process(task, 1), said)


# --- bits ---
def test_the_digest_does_not_depend_on_how_samples_are_cut_into_parts(tmp_path):
    found = {run(toys.task(part=part))["sha256"] for part in (1, 7, 64, 1000, 5000)}
    found.add(run(toys.task(part=100), tmp_path)["sha256"])
    assert len(found) == 1
    assert run(toys.task(seed=1))["sha256"] not in found


def test_the_same_columns_make_the_same_bytes_and_read_back():
    columns = toys.task().part(3)
    assert parts.packed(columns) == parts.packed(dict(reversed(columns.items())))
    nan = dict(columns) | {"value:z": -columns["value:z"] * -1}
    assert parts.packed(nan) == parts.packed(columns)  # every NaN is one NaN


def test_a_part_is_read_by_numpy_alone_without_pickle(tmp_path):
    run(toys.task(), tmp_path)
    with np.load(tmp_path / "part-000000.npz", allow_pickle=False) as file:
        assert file["value:z"].shape == (64,) and file["trajectory:line"].shape == (64, 5)
        assert file["value:z"].dtype == "<f8" and file["code"].dtype == np.int8
    assert all(
        info.compress_type == zipfile.ZIP_STORED for info in zipfile.ZipFile(tmp_path / "part-000000.npz").filelist
    )


def test_texts_are_lines():
    given = ["reached the end", "", "über\nzwei"]
    assert parts.lines(parts.texts(given)) == ["reached the end", "", "über zwei"]
    assert parts.lines(parts.texts([])) == []


# --- going on ---
def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path):
    whole = run(toys.task(), tmp_path / "whole")
    toy = toys.Toy()
    task = toys.task(toy)
    first = task.part

    class Once(Task):
        def part(self, k, **options):
            if k == 5 and len(toy.ran) == 5:
                raise Interrupted
            return first(k, **options)

    with pytest.raises(KeyboardInterrupt):
        run(Once(task.plan, toy), tmp_path / "cut")
    assert len(list((tmp_path / "cut").glob("part-*.npz"))) == 5
    assert json.loads((tmp_path / "cut" / "manifest.json").read_text())["finished"] is None
    again = run(Task(task.plan, toy), tmp_path / "cut")
    assert again == whole and len(toy.ran) == task.plan.parts
    for one in (tmp_path / "whole").glob("part-*"):
        assert one.read_bytes() == (tmp_path / "cut" / one.name).read_bytes()
    assert run(Task(task.plan, toy), tmp_path / "cut") == whole and len(toy.ran) == task.plan.parts  # nothing to do


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "text", "other"])
def test_a_damaged_part_is_told_and_made_anew(tmp_path, damage):
    whole, said = run(toys.task(), tmp_path), []
    victim = tmp_path / "part-000007.npz"
    data = bytearray(victim.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "other":
        data = bytearray((tmp_path / "part-000015.npz").read_bytes())  # whole, but of another count of samples
    else:
        data = bytearray(b"" if damage == "empty" else b"hello")
    victim.write_bytes(data)
    if damage != "other":
        with pytest.raises(RunError, match=r"part-000007.npz': damaged.*\n  fix: run the sweep again"):
            Folder(tmp_path).get(7)
    assert run(toys.task(), tmp_path, said.append) == whole
    assert len(said) == 1 and "part 7 is damaged and made anew" in said[0]


def test_a_flipped_bit_in_the_column_asked_for_is_seen_too(tmp_path):
    run(toys.task(), tmp_path)
    file = tmp_path / "part-000002.npz"
    z = Folder(tmp_path).get(2)["value:z"].tobytes()
    data = bytearray(file.read_bytes())
    data[data.index(z[:64])] ^= 4
    file.write_bytes(data)
    with pytest.raises(RunError, match="damaged"):
        Folder(tmp_path).get(2, ["value:z"])
    assert len(Folder(tmp_path).get(2, ["code"])["code"]) == 64


def test_what_was_half_written_is_not_seen_and_goes(tmp_path):
    run(toys.task(), tmp_path)
    (tmp_path / "part-000003.npz").rename(tmp_path / f"part-000003.npz{store.HALF}")
    assert not Folder(tmp_path).has(3)
    run(toys.task(), tmp_path)
    assert not list(tmp_path.glob(f"*{store.HALF}")) and Folder(tmp_path).has(3)


# --- stopping ---
def test_it_stops_at_the_first_part_after_which_the_interval_is_narrow_enough(tmp_path):
    """Success is x² + y < ½ where x < 0.9, in a share p = ¾ − 0.27/2 = 0.615 of the nine tenths that do not fail:
    1.96 √(p (1 − p) / n) = 0.05 at n = 364, that is 404 samples, so the 7th part of 64 is the last.
    """
    stop = Stop("success", 0.1)
    found = run(toys.task(samples=5000, stop=stop, success="z < 0.5"), tmp_path / "a")
    assert found["parts"] == 7 and found["samples"] == 448 and "success is 0." in found["why"]
    ahead = toys.task(samples=5000, stop=stop, success="z < 0.5")

    def all_at_once(missing):
        yield from reversed([(k, ahead.part(k)) for k in missing[:20]])

    folder = Folder(tmp_path / "b")
    with folder.writing():
        folder.begin(json.loads(json.dumps(told(ahead))))
        assert fill(ahead.plan, folder, all_at_once) == found
    assert len(list((tmp_path / "b").glob("part-*"))) == 7  # what was computed ahead is no part of the result
    mean = run(toys.task(samples=5000, stop=Stop("mean of z", 0.1)))
    assert 600 < mean["samples"] < 900  # (2 · 1.96 · 0.62 / 0.1)² = 590 samples that do not fail
    assert run(toys.task(samples=200, stop=Stop("mean of z", 1e-9)))["why"] == "all samples"


# --- bad samples ---
def test_a_poisoned_sample_is_named_and_the_others_do_not_notice():
    x, y = np.linspace(0, 0.8, 1000), np.zeros(1000)
    good = toys.task(inputs=(Input("x", None), Input("y", None)), design="table", table={"x": tuple(x), "y": tuple(y)})
    x[517], y[3] = np.nan, np.inf
    bad = toys.task(inputs=good.plan.inputs, design="table", table={"x": tuple(x), "y": tuple(y)})
    a, b = (t.columns(np.arange(1000)) for t in (good, bad))
    others = np.delete(np.arange(1000), [517, 3])
    for name in ("value:z", "code", "trajectory:line", "end"):
        assert np.array_equal(a[name][others], b[name][others])
    text, where = parts.lines(b["text"]), parts.lines(b["where"])
    assert text[517] == "bad start: x is nan" and where[517] == "x" and text[3] == "bad start: y is inf"
    assert (
        b["code"][[517, 3]].tolist() == [5, 5]
        and np.isnan(b["value:z"][517])
        and set(text) - {text[517], text[3]} == {"reached the end"}
    )


def test_a_part_of_bad_samples_only_is_a_part():
    nothing = tuple([float("nan")] * 1000)
    task = toys.task(inputs=(Input("x", None), Input("y", None)), design="table", table={"x": nothing, "y": nothing})
    assert run(task)["statuses"] == {"bad start: x is nan": 1000}


def test_a_runner_that_gives_too_little_is_told():
    class Short(toys.Toy):
        def run_samples(self, inputs, **options):
            return {**super().run_samples(inputs), "value:z": np.zeros(3)}

    with pytest.raises(RunError, match="'toy' gives 3 of 64 values of 'value:z'"):
        run(toys.task(Short()))


# --- what is refused ---
def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(RunError, match=r"is not empty \('thesis.tex'\) and holds no sweep"):
        run(toys.task(), tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "other"}, "holds a sweep of another plan, 'toy', not 'other'"),
        ({"seed": 8}, "the plan has changed since this sweep was begun: seed: 0 → 8"),
        (
            {"samples": 2000, "part": 10, "seed": 1, "success": "z < 1"},
            "samples: 1000 → 2000; seed: 0 → 1; part: 64 → 10 and 1 more",
        ),
    ],
)
def test_a_folder_of_another_plan_is_refused(tmp_path, change, said):
    run(toys.task(), tmp_path)
    with pytest.raises(RunError, match="fix:") as caught:
        run(toys.task(**change), tmp_path)
    assert said in str(caught.value)


def test_another_model_and_other_versions_are_refused(tmp_path, monkeypatch):
    run(toys.task(), tmp_path)
    with pytest.raises(RunError, match="the model 'toy' has changed since this sweep was begun"):
        run(toys.task(toys.Toy(version="2")), tmp_path)
    monkeypatch.setitem(VERSIONS, "linkwork", "2")
    with pytest.raises(RunError, match=r"begun with other versions.*: linkwork 1 → 2"):
        run(toys.task(), tmp_path)


def test_a_manifest_that_is_not_one_is_told(tmp_path):
    with pytest.raises(RunError, match="holds no sweep"):
        _ = Folder(tmp_path).manifest
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(RunError, match=r"manifest.json cannot be read"):
        _ = Folder(tmp_path).manifest
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(RunError, match="is not one of 'linkwork sweep 1'"):
        _ = Folder(tmp_path).manifest


def test_two_writers_at_once_are_refused_and_the_right_ends_with_its_process(tmp_path):
    code = "from linkwork.simulation.store import Folder\n"
    code += f"with Folder({str(tmp_path)!r}).writing():\n print('in', flush=True); input()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "in\n"
    with pytest.raises(RunError, match=f"process {other.pid} on .* is writing there now"):
        run(toys.task(), tmp_path)
    other.kill()
    other.wait()
    run(toys.task(), tmp_path)


# --- a disk that is full ---
def test_a_full_disk_is_told_and_the_sweep_goes_on_when_there_is_space(tmp_path, monkeypatch):
    whole = run(toys.task(), tmp_path / "whole")
    written, sync = [], os.fsync

    def full(file):
        written.append(file)
        if len(written) > 12:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"the disk is full; part \d+ is not written\n  fix: make space") as caught:
        run(toys.task(), tmp_path / "full")
    assert "what is written is kept" in str(caught.value)
    assert not list((tmp_path / "full").glob(f"*{store.HALF}"))
    monkeypatch.setattr(os, "fsync", sync)
    assert 1 <= len(list((tmp_path / "full").glob("part-*"))) < 16
    assert run(toys.task(), tmp_path / "full") == whole


@pytest.fixture
def small_disk(tmp_path):
    """256 kB in memory; without the right to mount there is no such test."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("may not mount a tmpfs")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs is Linux's")
def test_a_disk_that_is_really_full(small_disk, tmp_path):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 200_000)
    with pytest.raises(RunError, match="the disk is full"):
        run(toys.task(samples=400), small_disk / "a")
    assert not list((small_disk / "a").glob(f"*{store.HALF}"))
    ballast.unlink()
    assert run(toys.task(samples=400), small_disk / "a") == run(toys.task(samples=400))


def test_a_folder_that_may_not_be_written_is_told(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(RunError, match="the folder cannot be written"):
        run(toys.task(), file / "below")
    assert Path(file).read_text() == "x"
