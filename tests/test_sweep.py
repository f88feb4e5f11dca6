"""Sweeps of models: what is drawn, kept and told; single samples again; the same bits however they are computed."""

import importlib.util
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.commands import sweep as commands
from linkwork.errors import RunError
from linkwork.sweeping.progress import Progress, line
from linkwork.sweeping.reading import task_of
from linkwork.sweeps import execute, read_plan, read_sweep, sweep

EXAMPLES = Path(__file__).parent.parent / "examples"
ARM = EXAMPLES / "arm.yaml"
OSCILLATOR = """
gravity: [0, 0, 0]
bodies: {block: {mass: 2, inertia: [1, 1, 1]}}
joints: {slide: {kind: prismatic, parent: world, child: block, axis: x, stiffness: 8}}
start: {slide: 1}
"""
PLAN = """
model: arm.yaml
samples: 96
seed: 5
until: 1 s
rtol: 1e-7
vary:
  payload.mass: {arcsine: [0.5, 3 kg]}
  elbow: {normal: [30 deg, 5 deg], truncate: [20 deg, 40 deg]}
events:
  low: {of: tool.position.z - 0.3, action: record, direction: -1}
record:
  height: tool.position.z at end
  load: max of abs(shoulder.wrench.m_y)
  trajectory: {of: [tool.position, elbow], times: 10}
success: height > 7 cm and low < 0.22 s
part: 16
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "oscillator.yaml").write_text(OSCILLATOR)
    return lw.read(tmp_path / "oscillator.yaml")


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "arm.yaml").write_text(ARM.read_text())
    (tmp_path / "plan.yaml").write_text(PLAN)
    return tmp_path / "plan.yaml"


def edited(plan, *changes):
    text = plan.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    plan.write_text(text)
    return plan


# --- statistics against closed forms ---
@pytest.mark.parametrize(("design", "off"), [("random", 0.05), ("sobol", 2e-3), ("latin", 4e-3)])
def test_quantiles_of_a_linear_oscillator_with_random_stiffness(model, design, off):
    """x(1) = cos √(k/m), falling in k, so its p-quantile is that of k at 1 − p. k uniform on 6 … 10, m = 2.

    Off by √(p(1−p)/n) of the range 0.4 for random samples (4 deviations), by some 1/n for the others.
    """
    found = sweep(model, {"slide.stiffness": {"uniform": [6, 10]}}, samples=1024, design=design, until=1,
                  record={"x": "slide at end", "fastest": "max of abs(slide.rate)"}, times=400)  # fmt: skip
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    right = [math.cos(math.sqrt((10 - 4 * p) / 2)) for p in shares]
    np.testing.assert_allclose(found.quantiles("x", q=shares).to_numpy()[0], right, atol=off)
    exact = np.cos(np.sqrt(found["slide.stiffness"] / 2))
    np.testing.assert_allclose(found["x"], exact, atol=1e-8)  # rtol 1e-9 over a sixth of a turn
    # the greatest speed √(k/m), at a quarter turn; sampled every 2.5 ms it misses (ω Δt/2)²/2 = 4e-6 at most
    omega = np.sqrt(found["slide.stiffness"] / 2)
    np.testing.assert_allclose(found["fastest"], np.where(omega > np.pi / 2, omega, found["fastest"]), rtol=5e-6)


def test_means_ranges_and_their_times(model):
    """x = cos 2t over 0 … π: mean square ½, range 2, least at π/2; trapezia miss (2h)²/12 = 2e-5."""
    record = {"mean": "mean of slide", "rms": "rms of slide", "range": "range of slide", "low": "time of min of slide",
              "half": "slide at 500 ms", "first": "slide at start",
              "both": "max of slide**2 + slide.rate**2/4"}  # fmt: skip
    found = sweep(model, {"slide.rate": 0.0}, samples=2, until=math.pi, record=record)
    expected = {"mean": 0, "rms": math.sqrt(0.5), "range": 2, "low": math.pi / 2, "half": math.cos(1), "first": 1}
    for name, right in (expected | {"both": 1}).items():
        np.testing.assert_allclose(found[name], right, atol=1e-4, err_msg=name)


def test_events_stop_and_are_counted(model):
    """x = cos 2t falls through zero at π/4; stopped there its values are those of that instant."""
    events = {"zero": {"of": "slide", "direction": -1}}
    found = sweep(model, {"slide": {"values": [1, 2, -1]}}, design="grid", until=2, events=events,
                  record={"t": "time of event zero", "v": "slide.rate at end", "most": "max of abs(slide.rate)"},
                  )  # fmt: skip
    at = np.array([math.pi / 4, math.pi / 4, 3 * math.pi / 4])
    at[2] = np.nan  # −cos 2t falls through zero at 3π/4, after 2 s
    np.testing.assert_allclose(found["zero"], at, atol=1e-9)
    np.testing.assert_allclose(found["t"], at, atol=1e-9)
    assert found["zero.count"].tolist() == [1, 1, 0] and found["code"].tolist() == [1, 1, 0]
    np.testing.assert_allclose(found["v"][:2], [-2, -4], atol=1e-8)
    np.testing.assert_allclose(found["most"][:2], [2, 4], atol=1e-8)  # the end counts too
    twice = {"zero": {"of": "slide", "action": "record"}, "back": {"of": "slide - 0.5", "action": "record"}}
    found = sweep(model, {"slide": 1.0}, samples=1, until=3, events=twice,
                  record={"n": "count of event zero", "last": "time of last event zero"})  # fmt: skip
    assert found["n"][0] == 2 and found["last"][0] == pytest.approx(3 * math.pi / 4, abs=1e-9)


def test_a_reset_may_be_told_in_a_plan(tmp_path):
    """A ball dropped from 1 m that keeps 0.8 of its speed: the second impact is 2 · 0.8 t₁ after the first."""
    (tmp_path / "ball.yaml").write_text(
        "gravity: [0, 0, -9.81]\nbodies: {ball: {mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {height: {kind: prismatic, parent: world, child: ball, axis: z}}\nstart: {height: 1}\n"
    )
    event = {
        "impact": {
            "of": "ball.position.z",
            "action": "reset",
            "direction": -1,
            "reset": {"height.rate": "-0.8*height.rate"},
        }
    }
    found = sweep(tmp_path / "ball.yaml", {"height.rate": 0.0}, samples=1, until=1.5, events=event,
                  record={"n": "count of event impact", "last": "time of last event impact"})  # fmt: skip
    first = math.sqrt(2 / 9.81)
    assert found["n"][0] == 2 and found["impact"][0] == pytest.approx(first, abs=1e-9)
    assert found["last"][0] == pytest.approx(first * 2.6, abs=1e-9)


def test_attitudes_and_expressions_are_inputs(tmp_path):
    """Starts at roll, pitch, yaw are those `simulate` makes of base.rotation; set computes inputs of others."""
    body = lw.Mechanism("body", gravity=(0, 0, 0))
    body.body("hub", mass=1, inertia=(1, 2, 3))
    body.joint("base", "free", "world", "hub")
    record = {"x": "base.x at end", "z": "hub.position.z at end", "trajectory": {"of": ["hub.rotation"], "times": 1}}
    vary = {"base.roll": {"uniform": ["-20 deg", "20 deg"]}, "base.yaw": 0.3, "offset": {"uniform": [0, 1]},
            "clock": {"uniform": [0, "360 deg"]}, "base.omega_x": 0.2}  # fmt: skip
    found = sweep(body.build(), vary, samples=20, until=1, record=record,
                  set={"base.x": "offset * cos(clock)", "base.z": "offset * sin(clock)"})  # fmt: skip
    np.testing.assert_allclose(found["x"], found["offset"] * np.cos(found["clock"]), atol=1e-14)
    np.testing.assert_allclose(found["z"], found["offset"] * np.sin(found["clock"]), atol=1e-14)
    run = lw.simulate(body.build(), {"base.rotation": [float(found["base.roll"][7]), 0, 0.3]}, 1)
    matrix = [found[f"hub.rotation.{a}{b}(t)"][7, 0] for a in "xyz" for b in "xyz"]
    np.testing.assert_allclose(matrix, run["hub.rotation"][0].ravel(), atol=1e-15)
    assert found.ok.all() and np.nanmax(found["momentum_drift"]) < 1e-12
    replayed = found.replay(7)
    assert replayed["base.x"][-1] == found["x"][7]
    with pytest.raises(RunError, match=r"vary base\.roll, base\.pitch, base\.yaw"):
        sweep(body.build(), {"base.qw": {"uniform": [0, 1]}}, samples=3)


# --- the same bits ---
def test_bits_do_not_depend_on_threads_parts_or_interruption(plan, tmp_path):
    once = sweep(plan, out=tmp_path / "once", threads=2)
    assert once.complete and once.manifest["finished"]["sha256"] == once.sha256
    assert sweep(plan, threads=1).sha256 == once.sha256
    for part in (1, 64, 5000):
        assert execute(read_plan(edited(plan, ("part: 16", f"part: {part}"))), threads=2).sha256 == once.sha256
        plan.write_text(PLAN)
    seen = []

    def stop(done, total):
        seen.append(done)
        if done > 40 and len(seen) < 1000:
            raise KeyboardInterrupt

    cut = sweep(plan, out=tmp_path / "cut", progress=stop)
    assert not cut.complete and 16 <= len(cut) < 96
    np.testing.assert_array_equal(cut["load"], once["load"][: len(cut)])
    again = sweep(plan, out=tmp_path / "cut")
    assert again.complete and again.sha256 == once.sha256
    for file in (tmp_path / "once").glob("part-*"):
        assert file.read_bytes() == (tmp_path / "cut" / file.name).read_bytes()


def test_a_replay_has_the_bits_of_the_sweep_and_the_whole_motion(plan, tmp_path):
    found = sweep(plan, out=tmp_path / "a")
    kept = read_sweep(tmp_path / "a")  # the model is in the folder
    run = kept.replay(17)
    assert run["tool.position.z"][-1] == found["height"][17]
    at = np.searchsorted(run.time, found.data.time.values)
    np.testing.assert_array_equal(run["elbow"][at], found["elbow(t)"][17])
    np.testing.assert_array_equal(run["tool.position"][at, 0], found["tool.position.x(t)"][17])
    assert run.single and len(run.time) > 200 and kept.inputs(17) == found.inputs(17)
    assert run["elbow"][0] == found["elbow"][17] == found["elbow(t)"][17, 0]
    with pytest.raises(RunError, match="there is no sample 96"):
        kept.replay(96)


def test_numbers_are_those_of_simulate(plan):
    """Plain runs with the same starts and parameters, bit for bit."""
    found = sweep(plan)
    model = lw.read(ARM)
    same = lw.simulate(model, {"elbow": found["elbow"]}, 1.0, parameters={"payload.mass": found["payload.mass"]},
                       rtol=1e-7, times=200)  # fmt: skip
    np.testing.assert_array_equal(found["height"], same["tool.position.z"][:, -1])
    np.testing.assert_array_equal(found["load"], np.abs(same["shoulder.wrench.m_y"]).max(axis=1))
    assert found["energy_error"].max() == pytest.approx(same.trust.energy_error, rel=1e-6)
    assert found["steps"].sum() == same.trust.steps


# --- results ---
def test_everything_is_read_by_name_with_units(plan, tmp_path):
    found = sweep(plan, out=tmp_path / "a")
    data = read_sweep(tmp_path / "a").data
    assert dict(data.sizes) == {"sample": 96, "time": 11}
    assert data["payload.mass"].attrs == {"kind": "input", "units": "kg"} and data["load"].attrs["units"] == "N*m"
    assert data["elbow(t)"].dims == ("sample", "time") and data["low"].attrs == {"kind": "event", "units": "s"}
    assert set(data["status"].values) == {"reached the end"} and "energy_error" in data
    assert found.ok.all() and found.failures() == [] and found.statuses() == {"reached the end": 96}
    p = found.estimate()
    assert (
        p.value == np.mean((found["height"] > 0.07) & (found["low"] < 0.22)) == np.mean(found["success"])
        and p.low < p.value < p.high
    )
    table = found.quantiles("load", "height", q=(0, 0.5, 1))
    assert table.loc["load", "0 %"] == found["load"].min() and table.loc["height", "50 %"] == np.median(found["height"])
    assert "success" in repr(found) and "96 samples" in repr(found)
    found.to_netcdf(tmp_path / "a.nc")
    found.to_parquet(tmp_path / "a.parquet")
    import pandas as pd
    import xarray as xr

    with xr.open_dataset(tmp_path / "a.nc", decode_timedelta=False) as back:
        np.testing.assert_array_equal(back["load"], found["load"])
    frame = pd.read_parquet(tmp_path / "a.parquet")
    np.testing.assert_array_equal(frame["load"], found["load"])
    assert frame.attrs["units"]["load"] == "N*m"
    with pytest.raises(RunError, match="did you mean 'load'"):
        found["lod"]


def test_everything_may_be_kept(model):
    found = sweep(model, {"slide": {"uniform": [0, 1]}}, samples=3, until=1, record="everything")
    assert found["slide(t)"].shape == (3, 201) and np.array_equal(found["slide(t)"][:, 0], found["slide"])
    assert found["slide.rate(t)"].shape == (3, 201)


def test_a_poisoned_sample_in_ten_thousand_leaves_the_others(model, tmp_path):
    stiffness = np.linspace(6, 10, 10_000)
    good = sweep(model, {"slide.stiffness": stiffness}, until=1, record={"x": "slide at end"}, times=10)
    stiffness[5171] = np.nan
    rows = "\n".join("nan" if np.isnan(k) else repr(float(k)) for k in stiffness)
    (tmp_path / "table.csv").write_text(f"slide.stiffness [N/m]\n{rows}\n")
    (tmp_path / "p.yaml").write_text(
        "model: oscillator.yaml\nuntil: 1\ntable: table.csv\nrecord: {x: slide at end}\ntimes: 10\n"
    )
    found = sweep(tmp_path / "p.yaml")
    assert len(found) == 10_000 and found.ok.sum() == 9_999
    assert found.failures() == ["sample 5171: bad start: slide.stiffness is nan at t = 0 s"]
    others = np.delete(np.arange(10_000), 5171)
    np.testing.assert_array_equal(found["x"][others], good["x"][others])
    assert np.isnan(found["x"][5171]) and found.estimate("mean of x").samples == 9_999
    with pytest.raises(RunError, match=r"sample 5171 cannot be run: slide.stiffness is nan"):
        found.replay(5171)


def test_samples_that_fail_in_every_way_are_named(model):
    """A mass below zero, too many steps, a divergence: each alone."""
    masses = {"normal": [1.0, 1.0]}
    found = sweep(model, {"block.mass": masses}, samples=64, until=1, seed=2)
    below = found["block.mass"] < 0
    assert 3 < below.sum() < 20 and np.array_equal(found["code"] == 5, below)
    assert set(found["status"][below]) == {s for s in found["status"] if "below zero" in s}
    assert set(found["where"][below]) == {"block.mass"}
    found = sweep(model, {"slide.stiffness": {"values": [1, 1e6]}}, design="grid", until=1, max_steps=200)
    assert found["status"].tolist() == ["reached the end", "too many steps"]
    growing = model.replace({})
    run = sweep(growing, {"slide.rate": [0.0, 1e308]}, until=10, record={"x": "slide at end"})
    assert run["code"][0] == 0 and run["code"][1] != 0 and np.isfinite(run["x"][0]) and np.isnan(run["x"][1])


def test_a_study_stands_in_for_a_model(tmp_path, monkeypatch):
    import sys

    from linkwork.sweeping import studies

    monkeypatch.syspath_prepend(str(Path(__file__).parent / "simulation"))
    import toys

    vary = {"x": {"uniform": ["0", "1 m"]}, "y": {"uniform": [-1, 1]}}
    found = sweep(toys.Toy(), vary, samples=100, success="z < 0.5", out=tmp_path / "a")
    assert np.array_equal(found["x"] > 0.9, found["code"] == 2) and found["line(t)"].shape == (100, 5)
    assert np.array_equal(found["success"] == 1, found["z"] < 0.5)
    monkeypatch.setitem(studies.STUDIES, "toy", "toys:Toy")
    (tmp_path / "p.yaml").write_text(
        "study: toy\nname: toy\noptions: {version: '1'}\nsamples: 100\nsuccess: z < 0.5\n"
        "vary: {x: {uniform: [0, 1 m]}, y: {uniform: [-1, 1]}}\n"
    )
    assert sweep(tmp_path / "p.yaml", out=tmp_path / "a").sha256 == found.sha256
    (tmp_path / "p.yaml").write_text("study: tie\nsamples: 1\nvary: {x: 1}\n")
    with pytest.raises(RunError, match="there is no study 'tie'"):
        sweep(tmp_path / "p.yaml")
    sys.modules.pop("toys", None)


# --- the command ---
@pytest.fixture
def run(capsys):
    def call(*words):
        from linkwork import cli

        code = cli.main(["sweep", *map(str, words)])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_the_command_tells_runs_goes_on_and_replays(run, plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = commands._page
    monkeypatch.setattr(commands, "_page", lambda *given: [])  # pages take seconds each; one is enough
    code, out, err = run(plan, "--dry-run")
    assert (code, err) == (0, "") and "what it would take" in out and "payload.mass [kg]" in out and "kB" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm.yaml", "plan.yaml"]
    code, out, _ = run(plan, "--out", "runs/a")
    assert code == 0 and "96 samples of 'arm'" in out and "SHA-256" in out and "Wilson" in out
    code, out, _ = run(plan, "--out", "runs/a", "--json")
    found = json.loads(out)
    assert found["ok"] and found["samples"] == 96 and found["sha256"] == read_sweep("runs/a").sha256
    code, out, _ = run(plan, "--out", "runs/a", "--replay", 3)
    assert code == 0 and "bit for bit" in out and lw.Result.from_netcdf("runs/a/replay-000003.nc").single
    code, out, _ = run("runs/a", "--replay", 4, "--json")
    assert code == 0 and json.loads(out)["same"] is True
    monkeypatch.setattr(commands, "_page", page)
    code, out, _ = run(plan, "--replay", 3)
    assert code == 0 and Path("replay-000003.nc").exists()
    if importlib.util.find_spec("matplotlib"):
        assert Path("replay-000003.html").read_text().startswith("<!doctype html>")
    assert run(plan, "--samples", 20, "--seed", 9, "--out", "runs/b", "--threads", 1)[0] == 0
    assert len(read_sweep("runs/b")) == 20


def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(run, plan, tmp_path, monkeypatch):
    from linkwork.sweeping.samples import ModelSamples

    whole, calls = ModelSamples.trajectories, []

    def interrupted(self, *args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, *args)

    monkeypatch.setattr(ModelSamples, "trajectories", interrupted)
    code, _, err = run(plan, "--out", tmp_path / "a")
    assert code == 130 and "32 of 96 samples are kept, the same command goes on" in err
    assert run(plan, "--out", tmp_path / "a")[0] == 0 and len(calls) == 3 + 4
    assert read_sweep(tmp_path / "a").sha256 == sweep(plan).sha256


def test_progress_tells_rate_and_time_left(capsys, monkeypatch):
    assert line(100, 300, 1000, 2.0) == "300 of 1,000 samples, 50 a second, 14 s left"
    assert line(0, 300, 1000, 2.0) == "300 of 1,000 samples"
    clock = iter(np.arange(0, 1000, 3.0).tolist())
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    counter = Progress(True, 100)
    for done in (0, 20, 40, 60, 100):
        counter.at(done)
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "20 of 100 samples, 6.67 a second, 12 s left" and told[-1].startswith("100 of 100 samples")


# --- what is wrong ---
BAD = [
    (
        ("payload.mass:", "payload.mas:"),
        r"plan.yaml:8: 'payload.mas': there is no such start or parameter",
        "payload.mass",
    ),
    (("  elbow: {normal", "  elbw: {normal"), r"plan.yaml:9: 'elbw'.*", "did you mean 'elbow'"),
    (("samples: 96", "samples: -3"), r"plan.yaml:3: samples is -3", "a whole number, 1 or more"),
    (("samples: 96", "sampels: 96"), r"plan.yaml:3: the plan has an unknown key 'sampels'", "did you mean 'samples'"),
    (("samples: 96\n", ""), r"the plan has no 'samples'", "samples: 1000"),
    (("until: 1 s\n", ""), r"the plan has no 'until'", "until: 10 s"),
    (("until: 1 s", "until: 1 m"), r"plan.yaml:5: until has the unit 'm'", "a time"),
    (
        ("truncate: [20 deg, 40 deg]", "truncate: [20, 40 deg]"),
        r"plan.yaml:9: 'elbow': 20 has no unit, but 40 deg has",
        "write 20 deg",
    ),
    (
        ("truncate: [20 deg, 40 deg]", "truncate: [340 deg, 350 deg]"),
        r"plan.yaml:9: 'elbow': normal, truncated to 5.9\d+ … 6.1\d+, has no support there",
        "widen",
    ),
    (
        ("arcsine: [0.5, 3 kg]", "arcsine: [3, 0.5 kg]"),
        r"plan.yaml:8: 'payload.mass': beta between 3 and 0.5 has no support",
        "lower limit first",
    ),
    (("arcsine: [0.5, 3 kg]", "arcsine: [0.5, 3 m]"), r"not one of a mass", ""),
    (("arcsine: [0.5, 3 kg]", "arcsin: [0.5, 3 kg]"), r"there is no distribution 'arcsin'", "did you mean 'arcsine'"),
    (("arcsine: [0.5, 3 kg]", "uniform: [0.5, 3, 4]"), r"uniform has 3 numbers", "give 2"),
    (
        ("tool.position.z at end", "tool.positon.z at end"),
        r"plan.yaml:13: record of 'height': the model has no quantity 'tool.positon.z'",
        "tool.position",
    ),
    (("tool.position.z at end", "tool.position.w at end"), r"has no quantity 'tool.position.w'", "known: 'x'"),
    (("tool.position.z at end", "tool.position at end"), r"a vector of 3 numbers", "name a component"),
    (("tool.position.z at end", "tool.position.z"), r"says nothing of when", "at end"),
    (("tool.position.z at end", "tool.position.z at 3 s"), r"asks for a value at 3 s", "end at 1 s"),
    (("tool.position.z at end", "time of event lo"), r"unknown event 'lo'", "did you mean 'low'"),
    (
        ("of: tool.position.z - 0.3", "of: tool.positio.z - 0.3"),
        r"plan.yaml:11: event 'low' cannot watch 'tool.positio.z'",
        "tool.position.z",
    ),
    (("action: record", "action: recrd"), r"unknown action 'recrd'", "did you mean 'record'"),
    (("direction: -1", "direction: 3"), r"has the direction 3", ""),
    (("height > 7 cm", "heigt > 7 cm"), r"success names an unknown 'heigt'", "did you mean 'height'"),
    (("height > 7 cm and low < 0.22 s", "height >"), r"unreadable expression", ""),
    (("height > 7 cm and low < 0.22 s", "__import__('os').system('x')"), r"success is more than arithmetic", "use + -"),
    (("part: 16", "part: 16\nstop: {of: mean of lod, interval: 1}"), r"stop looks at an unknown 'lod'", "load"),
    (("part: 16", "part: 16\nstop: {of: success}"), r"stop: it has no 'interval'", ""),
    (("part: 16", "part: 16\ndesign: sobl"), r"plan.yaml:\d+: there is no design 'sobl'", "did you mean 'sobol'"),
    (
        ("part: 16", "part: 16\ncorrelate: {names: [elbow, payload.mas], correlation: [[1, 0], [0, 1]]}"),
        r"correlate names 'payload.mas'",
        "payload.mass",
    ),
    (
        ("part: 16", "part: 16\ncorrelate: {names: [elbow, payload.mass], correlation: [[1, 2], [2, 1]]}"),
        r"negative direction",
        "",
    ),
    (
        ("part: 16", "part: 16\ncorrelate: {names: [elbow, payload.mass], covariance: [[1, 0], [0, 1]]}"),
        r"needs normal inputs, and 'elbow' is none",
        "",
    ),
    (("part: 16", "part: 16\nmethod: rk5"), r"there is no integrator 'rk5'", ""),
    (("part: 16", "part: 16\nmethod: rk4"), r"rk4 needs a step", ""),
    (("part: 16", "part: 16\ntable: nowhere.csv"), r"there is no table 'nowhere.csv'", ""),
    (("part: 16", "part: 16\nset: {shoulder: elbw * 2}"), r"set names an unknown 'elbw'", "did you mean 'elbow'"),
    (
        ("part: 16", "part: 16\nset: {shoudler: elbow * 2}"),
        r"set names an unknown start or parameter 'shoudler'",
        "shoulder",
    ),
    (("model: arm.yaml", "model: ../arm.yaml"), r"lies outside the folder of the plan", ""),
    (("model: arm.yaml", "model: arms.yaml"), r"there is no such file", "arm.yaml"),
    (("model: arm.yaml\n", ""), r"the plan has no 'model'", "add model"),
]


@pytest.mark.parametrize(("change", "said", "fix"), BAD, ids=[b[0][1][:40] for b in BAD])
def test_what_is_wrong_in_a_plan_is_told_with_its_line_and_a_fix(run, plan, change, said, fix):
    code, _, err = run(edited(plan, change), "--out", plan.parent / "out")
    assert code == 1 and "Traceback" not in err and "defect" not in err, err
    assert re.search(said, err) and fix in err and "fix:" in err, err
    assert len(err.splitlines()) == 2 and not (plan.parent / "out").exists()


def test_what_is_wrong_on_the_command_line_is_told(run, plan, tmp_path):
    assert "no folder to write to" in run(plan)[2]
    assert "there is no such file" in run(tmp_path / "plam.yaml", "--out", tmp_path / "a")[2]
    assert "no Dask scheduler answers" in run(plan, "--out", tmp_path / "a", "--cluster", "udp:nowhere")[2]
    assert "0 workers" in run(plan, "--out", tmp_path / "b", "--workers", 0)[2]
    assert (
        "both workers and a cluster" in run(plan, "--out", tmp_path / "b", "--workers", 1, "--cluster", "tcp://x:1")[2]
    )
    assert run(plan, "--samples", "many")[0] == 2
    run(plan, "--out", tmp_path / "c")
    code, _, err = run(plan, "--out", tmp_path / "c", "--seed", 6)
    assert code == 1 and "the plan has changed since this sweep was begun: seed: 5 → 6" in err
    edited(tmp_path / "arm.yaml", ("kp: 40", "kp: 41"))
    code, _, err = run(plan, "--out", tmp_path / "c")
    assert code == 1 and "the model 'arm' has changed since this sweep was begun" in err


def test_what_is_wrong_in_python_is_told(model):
    with pytest.raises(RunError, match="a plan has no 'recrod'"):
        task_of(model, {"vary": {"slide": 1}, "samples": 1, "recrod": {}})
    with pytest.raises(RunError, match="nothing varies"):
        sweep(model, {}, samples=3)
    with pytest.raises(RunError, match="the plan file says what to do, and so does until="):
        sweep("plan.yaml", until=3)
    with pytest.raises(RunError, match="'slide' is told by vary and by set"):
        sweep(model, {"slide": 1.0}, samples=2, set={"slide": "2"})
    with pytest.raises(RunError, match="'slide' names two things"):
        sweep(model, {"slide": 1.0}, samples=2, record={"slide": "slide at end"})


# --- the manual ---
def manual(language):
    text = (EXAMPLES.parent / "docs" / "sweep.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_plans_of_the_manual_run(tmp_path):
    (tmp_path / "arm.yaml").write_text(ARM.read_text())
    first, *more = manual("yaml")
    (tmp_path / "plan.yaml").write_text(first)
    task = read_plan(tmp_path / "plan.yaml")
    assert task.plan.samples == 5000 and task.plan.stop is not None
    assert len(execute(read_plan(tmp_path / "plan.yaml", samples=64))) == 64
    for text in more:  # sections that are added to a plan
        (tmp_path / "plan.yaml").write_text("model: arm.yaml\nsamples: 8\nuntil: 10 ms\n" + text)
        assert len(execute(read_plan(tmp_path / "plan.yaml"))) == 8


def test_a_thousand_starts_with_quantiles_are_eight_lines_of_python():
    block = next(b for b in manual("python") if "samples=1000" in b)
    assert len(block.splitlines()) <= 8 and "quantiles" in block
