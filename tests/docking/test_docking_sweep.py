"""The docking as a plan: the same bits however it is computed, its motion, its report, one sample again."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.commands import sweep as commands
from linkwork.docking import DockingStudy
from linkwork.docking.recorded import COLUMNS
from linkwork.sweeps import execute, read_plan, read_sweep, report, sweep

EXAMPLES = Path(__file__).parents[2] / "examples" / "docking"
SAMPLES = 96


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The first samples of the example's plan, in a folder."""
    folder = tmp_path_factory.mktemp("docking") / "run"
    execute(read_plan(EXAMPLES / "docking.yaml", samples=SAMPLES), folder)
    return read_sweep(folder)


def edited(tmp_path, *changes, of="docking.yaml"):
    text = (EXAMPLES / of).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / of).write_text(text)
    return tmp_path / of


# --- the same bits ---
@pytest.mark.parametrize("part", [1, 64, 5000])
def test_bits_depend_on_neither_parts_nor_threads(part, kept, tmp_path):
    plan = edited(tmp_path, ("samples: 1000", f"samples: {SAMPLES}\npart: {part}"))
    assert sweep(plan, threads=1 if part == 64 else 2).sha256 == kept.sha256


def test_a_docking_that_was_stopped_goes_on_with_the_same_bits(kept, tmp_path):
    plan = edited(tmp_path, ("samples: 1000", f"samples: {SAMPLES}\npart: 16"))

    def stop(done, total):
        if done > 40:
            raise KeyboardInterrupt

    cut = sweep(plan, out=tmp_path / "cut", progress=stop)
    assert not cut.complete and len(cut) >= 32
    assert sweep(plan, out=tmp_path / "cut").sha256 == kept.sha256


def test_a_start_that_is_no_number_is_named_and_alone(kept, tmp_path):
    names = [x.name for x in kept.plan.inputs]
    table = np.column_stack([kept[name] for name in names])
    table[17, names.index("offset")] = np.nan
    rows = "\n".join(",".join(repr(float(x)) for x in row) for row in table)
    (tmp_path / "starts.csv").write_text(",".join(names) + "\n" + rows + "\n")
    text = (EXAMPLES / "docking.yaml").read_text()
    (tmp_path / "p.yaml").write_text(
        text.partition("vary:")[0].replace("samples: 1000", "table: starts.csv") + "success: capture > 0 s\n"
    )
    found = sweep(tmp_path / "p.yaml")
    assert found.failures() == ["sample 17: bad start: offset is nan at t = 0 s"]
    others = np.arange(SAMPLES) != 17
    for name in (*kept.values, "energy_error", "stroke(t)"):
        assert found[name][others].tobytes() == kept[name][others].tobytes(), name


# --- its motion ---
def test_motion_is_kept_and_changes_no_other_number(kept):
    inputs = {x.name: kept[x.name] for x in kept.plan.inputs}
    without = DockingStudy(until=10.0).run_samples(inputs)
    for column in COLUMNS:
        assert without[column].tobytes() == kept[column.rpartition(":")[2]].tobytes(), column
    caught = np.isfinite(kept["capture"])
    assert kept.data.sizes["time"] == 51 and np.isfinite(kept["stroke(t)"][caught]).all()
    gone = kept["end"] < 9.9
    assert np.isnan(kept["head_along(t)"][gone, -1]).all()
    # what is kept at some times lies below what was watched all the time
    assert (np.nanmax(kept["stroke(t)"], axis=1) <= kept["stroke"] + 1e-9).all()
    np.testing.assert_allclose(kept["speed(t)"][caught, -1], kept["end_speed"][caught], rtol=1e-12)


def test_a_rigid_docking_has_no_stroke(tmp_path):
    study = read_plan(edited(tmp_path, ("target: module", "target: module\n  rigid: true"))).runner
    assert "trajectory:stroke" not in study.columns and "trajectory:angle" in study.columns
    found = study.run_samples({"closing": np.array([0.2])})
    assert found["trajectory:angle"].shape == (1, 51)


def test_a_phase_tells_nothing_of_times_at_which_a_sample_was_elsewhere(kept):
    """Forces take the greater of something and 0, and the greater of NaN and 0 is 0."""
    run = kept.who().run({"closing": 0.2, "offset": 0.1}, times=100)
    (leg,) = (leg for leg in run.legs if leg.phase.name == "contact")
    force = leg.over_time(leg.phase.peaks["contact_force"])[0, :, 0]
    inside = (run.time >= run.entered["contact"][0]) & (run.time <= run.entered["captured"][0])
    assert np.array_equal(np.isfinite(force), inside)


# --- its report ---
def test_the_report_answers_a_docking_engineer(kept, tmp_path):
    told = report(kept, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert [(m.x, m.y) for m in told.maps][:2] == [("closing", "offset"), ("offset", "tilt")]
    assert len({frozenset((m.x, m.y)) for m in told.maps}) == len(told.maps)
    for said in (
        "grip_force reaches", "absorber_force reaches", "Success is rarest at closing",
        "greatest force between head and cone, before capture", "the head within 5 mm of the seat",
        "mass 7220 kg", "half angle 50 °", "0.2 rad/s, damping ratio 0.7, until capture",
    ):  # fmt: skip
        assert said in text, said
    assert {e.name for e in told.envelopes} == {"head_along", "head_aside", "speed", "rate", "angle", "stroke"}


def test_the_thrust_example_shows_what_is_lost_at_low_speed_and_its_cure(tmp_path):
    """Below 0.1 m/s hardly any of the first contacts ends in capture without thrust, nearly all with it."""
    found = sweep(edited(tmp_path, ("samples: 2000", "samples: 200"), of="thrust.yaml"))
    slow, pushed = found["closing"] < 0.1, found["thrust.x"] > 0
    assert found["success"][slow & ~pushed].mean() < 0.25 and found["success"][slow & pushed].mean() > 0.9
    (one,) = (m for m in report(found).maps if (m.x, m.y) == ("closing", "thrust.x"))
    assert one.levels[1] is not None and one.share is not None
    assert one.share[0, 0] < 0.6 and one.share[0, 1] > 0.9  # of 200 samples there are two classes of speed


# --- one sample again ---
def test_a_replay_is_shown_in_motion_and_says_when_it_was_caught(kept, capsys):
    sample = int(np.flatnonzero(np.isfinite(kept["capture"]))[0])
    folder = Path(str(kept.store))
    assert commands.sweep(commands.Order(str(folder), replay=sample), False) == 0
    out = capsys.readouterr().out
    assert "bit for bit" in out and f"capture at t = {kept['capture'][sample]:.4g} s, the end at t = 10 s" in out
    moving = folder / f"replay-{sample:06d}-motion.html"
    assert str(moving) in out and "contact_force" in moving.read_text()
    page = (folder / f"replay-{sample:06d}.html").read_text()
    assert "The run ended with capture at t = " in page and " °/s" in page
    run = lw.Result.from_netcdf(folder / f"replay-{sample:06d}.nc")
    before = run.time < kept["contact"][sample]
    assert np.isnan(run["contact_force"][before]).all() and np.isfinite(run["stroke"][before]).all()
    assert np.nanmax(run["stroke"][:]) <= kept["stroke"][sample] + 1e-9
