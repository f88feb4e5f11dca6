"""The commands: what they print, where they write, how they fail."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import linkwork as lw
from linkwork import cli
from linkwork.commands import looking

EXAMPLES = Path(__file__).parent.parent / "examples"
ARM, GOVERNOR = str(EXAMPLES / "arm.yaml"), str(EXAMPLES / "governor.yaml")
URDF = """<robot name="r">
 <link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
  <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
 <gazebo/>
</robot>
"""


@pytest.fixture
def run(capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def call(*words):
        code = cli.main([str(word) for word in words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def outside(*words, **options):
    command = [sys.executable, "-m", "linkwork.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def test_check_tells_tree_freedoms_and_mass(run):
    code, out, err = run("check", ARM)
    assert (code, err) == (0, "")
    assert "└─ elbow [revolute" in out
    assert "freedoms    2" in out and "ok " in out


def test_check_lists_what_a_urdf_reader_ignored_with_its_line(run, tmp_path):
    (tmp_path / "r.urdf").write_text(URDF)
    code, out, _ = run("check", tmp_path / "r.urdf")
    assert code == 0 and "r.urdf:6: ignored <gazebo>" in out
    code, out, _ = run("check", tmp_path / "r.urdf", "--base", "free", "--json")
    found = json.loads(out)
    assert found["ok"] and found["nv"] == 7 and found["notes"][0]["line"] == 6


def test_a_joint_that_moves_no_mass_is_a_fault(run, tmp_path):
    file = tmp_path / "m.yaml"
    file.write_text("gravity: [0,0,-9.81]\nbodies: {a: {}}\njoints: {j: {kind: revolute, parent: world, child: a}}\n")
    code, out, _ = run("check", file)
    assert code == 1 and "m.yaml:3: joint 'j' moves no mass" in out and "not ok" in out
    code, _, err = run("simulate", file)
    assert code == 1 and "moves no mass" in err and "fix:" in err


def test_show_prints_tables_and_json(run):
    code, out, _ = run("show", GOVERNOR)
    assert code == 0
    for word in ("bodies", "joints", "markers", "right_middle", "spindle.rate", "rad/s"):
        assert word in out
    found = json.loads(run("show", GOVERNOR, "--json")[1])
    arm = next(b for b in found["bodies"] if b["name"] == "right_arm")
    assert arm["mass"] == pytest.approx(5.3) and arm["parts"] == 2
    assert arm["moments"][2] == pytest.approx(0.3 * 1.0001 / 12 + 0.3 * 5 / 5.3 * 0.25)
    assert [j["kind"] for j in found["joints"]] == ["revolute", "prismatic", "revolute", "revolute"]


def test_simulate_writes_every_kind_of_file(run, tmp_path):
    pytest.importorskip("matplotlib")
    out, plot, page = tmp_path / "run.nc", tmp_path / "run.png", tmp_path / "run.html"
    words = ("--until", "500 ms", "--times", 20, "--start", "elbow=30deg", "--start", "elbow.rate=2", "--set")
    words += ("payload.mass=3 kg", "--also", "tool.position", "--out", out, "--plot", plot, "--page", page)
    code, told, _ = run("simulate", ARM, *words)
    assert code == 0 and f"wrote {out}" in told and "energy error" in told
    kept = lw.Result.from_netcdf(out)
    model = lw.read(ARM).replace({"payload.mass": 3.0})
    again = lw.simulate(model, {"elbow": "30 deg", "elbow.rate": 2}, 0.5, times=20)
    assert (kept["q"][:] == again["q"][:]).all() and "tool.position" in kept
    assert plot.read_bytes().startswith(b"\x89PNG") and page.read_text().startswith("<!doctype html>")


def test_simulate_tells_json(run, tmp_path):
    code, out, err = run("simulate", ARM, "--until", 0.1, "--out", tmp_path / "r.csv", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and found["ok"] and found["final"]["elbow"]["unit"] == "rad"
    assert (tmp_path / "r.csv").read_text().startswith("time [s],shoulder [rad],elbow [rad]")


def test_a_component_of_a_quantity_is_told_too(run):
    code, out, _ = run("simulate", ARM, "--until", 0.1, "--also", "tool.position.z", "--also", "work", "--json")
    assert code == 0 and {"tool.position.z", "work"} <= set(json.loads(out)["final"])
    code, _, err = run("simulate", ARM, "--until", 0.1, "--also", "tool.position.w")
    assert code == 1 and "did you mean 'tool.position.z'" in err


def test_vectors_are_given_with_commas(run, tmp_path):
    (tmp_path / "r.urdf").write_text(URDF)
    words = ("--base", "free", "--until", 1, "--start", "root_joint.position=1,2,3", "--start")
    code, out, _ = run("simulate", tmp_path / "r.urdf", *words, "root_joint.rotation=0,0,30deg", "--json")
    assert code == 0 and json.loads(out)["final"]["root_joint.z"]["value"] == pytest.approx(3 - 9.81 / 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "armm.yaml"), "there is no such file"),
        (("check", str(EXAMPLES / "arm.py")), "a file '.py' is not read"),
        (("simulate", ARM, "--start", "elbw=3"), "did you mean 'elbow'?"),
        (("simulate", ARM, "--start", "elbow"), "is not NAME=VALUE"),
        (("simulate", ARM, "--start", "elbow=1", "--start", "elbow=2"), "tells 'elbow' twice"),
        (("simulate", ARM, "--start", "elbow=3kg"), "not one of an angle"),
        (("simulate", ARM, "--set", "payload.mas=3"), "did you mean 'payload.mass'"),
        (("simulate", ARM, "--set", "payload.mass=3m"), "not one of a mass"),
        (("simulate", ARM, "--set", "elbow.damping=3N*s/m"), "not one of a torsional damping"),
        (("simulate", ARM, "--set", "payload.mass=-3"), "below zero"),
        (("simulate", ARM, "--method", "rk5"), "there is no integrator 'rk5'"),
        (("simulate", ARM, "--method", "rk4"), "rk4 needs a step"),
        (("simulate", ARM, "--until", "0"), "give a time above zero"),
        (("simulate", ARM, "--out", "run.txt"), "let it end with .nc or .csv"),
        (("simulate", ARM, "--plot", "nowhere/run.png"), "there is no folder"),
        (("simulate", ARM, "--base", "free"), "no option 'base'"),
        (("simulate", ARM, "--also", "tool.positon"), "tool.position"),
        (("demo", "--samples", "0"), "give one or more"),
        (("demo", "chain", "--samples", "0"), "give one or more"),
    ],
)
def test_what_is_wrong_is_told_on_stderr_without_a_traceback(run, words, said):
    code, _, err = run(*words)
    assert code == 1 and said in err and "Traceback" not in err


def test_json_tells_errors_too(run):
    code, out, _ = run("check", "armm.yaml", "--json")
    assert code == 1 and json.loads(out)["error"]["what"] == "there is no such file"


@pytest.mark.parametrize("words", [("frob",), ("check",), ("simulate", ARM, "--rtol", "x"), ("show", ARM, "--no")])
def test_what_is_not_understood_ends_with_2(run, words):
    assert run(*words)[0] == 2


def test_half_a_count_is_not_rounded(run):
    code, _, err = run("simulate", ARM, "--times", "2.5")
    assert code == 2 and "'2.5' is not a whole number" in err


def test_json_tells_what_is_not_understood_too(run):
    code, out, err = run("show", ARM, "--nothing", "--json")
    assert code == 2 and json.loads(out)["error"]["what"] == "Unknown option: --nothing." and "--nothing" in err


def test_a_defect_asks_to_be_reported(run, monkeypatch):
    from linkwork.commands import looking

    monkeypatch.setattr(looking, "read", lambda *_, **__: 1 / 0)
    code, _, err = run("check", ARM)
    assert code == 3 and "division by zero" in err and "report" in err and "Traceback" not in err
    assert "Traceback" in run("check", ARM, "--debug")[2]


def test_the_demo_runs_reports_and_shows_the_hardest_contact(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    code, told, _ = run("demo", "--samples", 48, "--out", out)
    assert code == 0 and all(w in told for w in ("Will it succeed?", "Is it to be believed?", "report.html"))
    assert len(list((out / "docking").glob("sample-*.html"))) == 1
    kept = lw.read_sweep(out / "docking")
    assert kept.complete and len(kept) == 48
    code, told, _ = run("demo", "--samples", 48, "--out", out, "--json")
    assert code == 0 and json.loads(told)["sha256"] == kept.sha256


def test_another_demo_moves_the_first_aside_and_removes_nothing(run, tmp_path):
    assert run("demo", "--samples", 3, "--out", tmp_path, "--json")[0] == 0
    (tmp_path / "docking" / "mine.txt").write_text("a note")
    code, out, err = run("demo", "--samples", 4, "--out", tmp_path, "--json")
    assert code == 0 and json.loads(out)["samples"] == 4 and "it is now" in err
    assert (tmp_path / "docking-1" / "mine.txt").read_text() == "a note"
    assert len(lw.read_sweep(tmp_path / "docking-1")) == 3


def test_a_demo_whose_samples_all_fail_still_reports(run, tmp_path):
    pytest.importorskip("matplotlib")
    vary = "{closing: {uniform: [0.1, 0.3]}, target.mass: {values: [-1]}}"
    (tmp_path / "docking.yaml").write_text(f"study: docking\nsamples: 4\nvary: {vary}\nsuccess: capture > 0 s\n")
    code, out, err = run("demo", "--samples", 4, "--out", tmp_path)
    assert (code, err) == (0, "") and "4 samples of docking" in out and "in motion" not in out


def test_the_plan_of_the_demo_is_the_one_among_the_examples():
    demo = Path(lw.__file__).parent / "docking" / "demo.yaml"
    assert demo.read_bytes() == (EXAMPLES / "docking" / "docking.yaml").read_bytes()


def test_the_chain_of_the_demo_meets_the_reference_digits(run, tmp_path):
    code, out, _ = run("demo", "chain", "--samples", 16, "--out", tmp_path / "out", "--json")
    found = json.loads(out)
    assert code == 0 and found["ensemble"]["samples"] == 16
    for t, miss in found["reference"]["misses"].items():
        assert miss < 2 * found["reference"]["known_misses"][t]
    assert all(Path(file).stat().st_size > 10_000 for file in found["files"])


def test_a_sample_of_the_demo_does_not_depend_on_how_many_there_are():
    from linkwork.commands.demo_chain import starts

    assert (starts(3, 1) == starts(50, 1)[:3]).all() and (starts(3, 1) != starts(3, 2)).any()


def test_help_and_version_come_from_outside_too():
    assert outside("--version").stdout.strip() == lw.__version__
    told = outside("--help")
    assert told.returncode == 0 and all(
        w in told.stdout for w in ("check", "simulate", "sweep", "report", "verify", "demo")
    )
    assert outside("check", "nofile.yaml").returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_ctrl_c_keeps_what_is_done(tmp_path):
    out = tmp_path / "run.csv"
    command = [sys.executable, "-m", "linkwork.cli", "simulate", GOVERNOR, "--out", str(out)]
    command += ["--until", "1e7", "--max-steps", "1000000000000"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "stopped" in err, err


def test_too_many_steps_is_a_failure_with_advice(run, tmp_path):
    out = tmp_path / "run.csv"
    code, told, err = run("simulate", GOVERNOR, "--max-steps", 100, "--out", out)
    assert code == 1 and "too many steps" in err and "rodas5p" in err and f"wrote {out}" in told


def test_benches_are_told_to_be_in_the_repository(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lw, "__file__", str(tmp_path / "site" / "linkwork" / "__init__.py"))
    code, _, err = run("bench")
    assert code == 1 and "part of the repository" in err


def test_check_fails_on_an_inertia_no_solid_can_have_but_the_file_is_read(tmp_path, capsys):
    inertia = '<inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    body = f'<link name="b"><inertial><mass value="1"/>{inertia}</inertial></link>'
    joint = '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
    file = tmp_path / "odd.urdf"
    file.write_text(f'<robot name="r"><link name="a"/>\n{body}\n{joint}</robot>')
    assert lw.read(file).nv == 1
    assert looking.check(str(file), {}, False) == 1
    out = capsys.readouterr().out
    assert "odd.urdf:2: inertia of body 'b' breaks the triangle inequality" in out
    assert "fix:" in out
