"""A result answers by name, prints itself, and reads back what it wrote."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

sys.path.insert(0, str(Path(__file__).parent / "display"))
from oscillator import oscillator

import linkwork as lw
from linkwork.errors import RunError
from linkwork.result import Result, Series, Statuses, Trust, energy_balance, provenance


@pytest.fixture(scope="module")
def one() -> Result:
    return oscillator()


@pytest.fixture(scope="module")
def many() -> Result:
    return oscillator(500, diverged=(17,))


def test_one_start_has_no_sample_axis(one: Result, many: Result) -> None:
    assert one["q"].shape == (201, 2) and many["q"].shape == (500, 201, 2)
    assert one["elbow"].shape == (201,) and many["elbow"].shape == (500, 201)
    assert one["elbow.wrench"].shape == (201, 6) and one["kinetic_energy"].shape == (201,)


def test_a_coordinate_is_a_column_of_the_stored_arrays(many: Result) -> None:
    np.testing.assert_array_equal(many["elbow"], many["q"][..., 1])
    np.testing.assert_array_equal(many["elbow.rate"], many["v"][..., 1])
    assert many["elbow"].units == ("rad",) and many["elbow.rate"].units == ("rad/s",)


def test_quantities_on_demand_are_computed_once() -> None:
    run, calls = oscillator(), []
    inner = run.outputs
    assert inner is not None

    def counted(name: str) -> Series:
        calls.append(name)
        return inner(name)

    run = Result(run.time, run.series, run.statuses, run.provenance, counted, run.known, single=True)
    assert run["tool.position"] is run["tool.position"] and calls == ["tool.position"]
    np.testing.assert_array_equal(run["tool.position.y"], run["tool.position"][:, 1])
    assert run["tool.position"].frame == "world" and calls == ["tool.position"]


def test_an_unknown_name_is_answered_with_the_nearest(one: Result) -> None:
    with pytest.raises(RunError, match=r"no quantity 'elbo.rate'\n.*did you mean 'elbow.rate'"):
        one["elbo.rate"]
    with pytest.raises(RunError, match="no component 'fq'"):
        one["elbow.wrench.fq"]
    assert "elbow" in one and "knee" not in one and "tool.position" in list(one)


def test_a_series_is_an_array(many: Result) -> None:
    s = many["kinetic_energy"]
    np.testing.assert_array_equal(s + many["potential_energy"], np.asarray(s) + many["potential_energy"][:])
    assert np.nanmax(s) == np.nanmax(s[:]) and np.isnan(s).sum() == 198
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(s)[0] = 0
    assert s.sel(sample=3).shape == (201,) and s.sel(sample=many.ok).shape == (499, 201)
    assert many["elbow.wrench"].sel(sample=[1, 2], component=["mx", "my"]).shape == (2, 201, 2)
    with pytest.raises(RunError, match="no sample 500"):
        s.sel(sample=500)
    assert repr(one := s.sel(sample=0)) == "<kinetic_energy [J]: 201>" and one.single


def test_a_series_that_does_not_fit_is_refused(one: Result) -> None:
    with pytest.raises(RunError, match="quantity 'p'"):
        Series("p", np.zeros((2, 3, 3)), ("x", "y"), ("m",))
    with pytest.raises(RunError, match="2 units"):
        Series("p", np.zeros((2, 3, 3)), ("x", "y", "z"), ("m", "rad"))
    with pytest.raises(RunError, match="for 1 samples and 201 times"):
        Result(one.time, {"q": Series("q", np.zeros((1, 7, 1)), ("a",), ("rad",))}, one.statuses)


def test_a_failed_sample_is_told_by_number_time_and_place(many: Result) -> None:
    assert many.failures() == ["sample 17: diverged at t = 0.132 s in elbow.rate"]
    assert many.ok.sum() == 499 and not many.ok[17]
    assert np.isnan(many["q"][17, 3:]).all() and np.isfinite(many["q"][17, :3]).all()
    assert many.statuses.counts() == {"reached the end": 499, "diverged": 1}


def test_trust_is_the_largest_imbalance_of_the_good_samples(many: Result) -> None:
    error, play = energy_balance(many)
    part = np.abs(error[many.ok]).max(axis=1) / play[many.ok]
    assert many.trust.energy_error == part.max()
    assert 1e-11 < part.max() < 1e-9
    text = str(many.trust)
    for words in ("energy error", f"{part.max():.2g}", "206,000", "1,500", "0.83", "499  reached the end"):
        assert words in text


def test_a_broken_energy_is_seen() -> None:
    run, inner = oscillator(20), oscillator(20).outputs
    assert inner is not None
    bad = np.zeros((20, 201))
    bad[5, 100] = np.nan_to_num(np.inf)

    def broken(name: str) -> Series:
        s = inner(name)
        return Series(name, s.values + bad, (), s.units) if name == "kinetic_energy" else s

    trust = Result(run.time, run.series, run.statuses, {}, broken, run.known).trust
    assert trust.energy_worst == 5 and trust.energy_error is not None and trust.energy_error > 0.9


def test_printing_tells_what_there_is(one: Result, many: Result) -> None:
    text = str(many)
    for words in (
        "500 samples, 201 times from 0 to 10 s",
        "dopri5, rtol 1e-9",
        "elbow [rad]",
        "elbow.rate [rad/s]",
    ):
        assert words in text
    assert "sample 17: diverged" in text and "tool.position" in text and "energy error" in text
    assert "1 sample," in str(one) and max(map(len, str(one).splitlines())) < 130


def test_provenance_holds_versions_and_no_place_on_a_machine() -> None:
    said = provenance("/home/someone/models/arm.yaml", "dopri5", rtol=np.float64(1e-9), log=Path("/tmp/x/run.log"))
    assert said["model"] == "arm.yaml" and said["log"] == "run.log" and "numpy" in said["versions"]
    assert said["rtol"] == 1e-9 and type(said["rtol"]) is float
    said = Result(np.zeros(1), {}, Statuses.finished(1, 0.0), {"model": r"C:\models\arm.yaml"}).provenance
    assert said["model"] == "arm.yaml"


@pytest.mark.parametrize("samples", [1, 40])
def test_netcdf_reads_back_what_was_written(samples: int, tmp_path: Path) -> None:
    run = oscillator(samples, diverged=(0,) if samples > 1 else ())
    path = tmp_path / "run.nc"
    run.to_netcdf(path, "q", "v", "elbow.wrench", "kinetic_energy")
    back = Result.from_netcdf(path)
    assert back.single == run.single and list(back.series) == ["q", "v", "elbow.wrench", "kinetic_energy"]
    for name in back.series:
        np.testing.assert_array_equal(back[name], run[name])
        assert back[name].units == run[name].units and back[name].components == run[name].components
        assert back[name].frame == run[name].frame
    np.testing.assert_array_equal(back.time, run.time)
    assert back.failures() == run.failures() and back.trust == run.trust
    assert dict(back.provenance) == dict(run.provenance)
    assert os.listdir(tmp_path) == ["run.nc"]
    with pytest.raises(RunError, match="read from a file"):
        back["work"]


def test_a_matrix_and_a_slash_in_a_name_survive_a_file(tmp_path: Path) -> None:
    turn = Series("tool/turn", np.arange(18.0).reshape(1, 2, 3, 3), tuple("abcdefghi"), ("",))
    run = Result(np.arange(2.0), {"tool/turn": turn}, Statuses.finished(1, 1.0), checks=Trust(), single=True)
    run.to_netcdf(tmp_path / "a.nc")
    back = Result.from_netcdf(tmp_path / "a.nc")
    np.testing.assert_array_equal(back["tool/turn"], turn[0])


def test_xarray_carries_units_and_provenance(one: Result, many: Result) -> None:
    data = many.to_xarray("q", "elbow.wrench", "work")
    assert isinstance(data, xr.Dataset) and data["q"].dims == ("sample", "time", "q_component")
    np.testing.assert_array_equal(data["q"].sel(q_component="elbow"), many["elbow"])
    assert data["work"].attrs["units"] == "J" and data["time"].attrs["units"] == "s"
    assert data.attrs["model"] == "arm" and data.attrs["method"] == "dopri5"
    assert data["elbow.wrench"].attrs["frame"] == "elbow"
    assert int((data["sample_code"] > 1).sum()) == 1
    assert one.to_xarray()["q"].dims == ("time", "q_component")


def test_pandas_names_columns_with_units(one: Result, many: Result) -> None:
    table = many.to_pandas()
    assert list(table) == ["shoulder [rad]", "elbow [rad]", "shoulder.rate [rad/s]", "elbow.rate [rad/s]"]
    np.testing.assert_array_equal(table.loc[3, "elbow [rad]"], many["elbow"].sel(sample=3))
    assert one.to_pandas("tool.position").columns[2] == "tool.position.z [m]"
    assert one.to_pandas().index.name == "time [s]"


def test_csv_reads_back_to_the_same_bits(one: Result, tmp_path: Path) -> None:
    few = oscillator(3, diverged=(1,))
    one.to_csv(tmp_path / "one.csv")
    few.to_csv(tmp_path / "few.csv", "q", "work")
    head = (tmp_path / "few.csv").read_text().splitlines()[0]
    assert head == "sample,time [s],shoulder [rad],elbow [rad],work [J]"
    back = pd.read_csv(tmp_path / "one.csv")
    np.testing.assert_array_equal(back["elbow.rate [rad/s]"], one["elbow.rate"])
    np.testing.assert_array_equal(back["time [s]"], one.time)


def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing(
    one: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RunError, match=r"no folder .*nowhere"):
        one.to_netcdf(tmp_path / "nowhere" / "a.nc")
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(RunError, match="cannot be written"):
        one.to_csv(tmp_path / "a.csv")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "kept.nc").write_text("before")
    monkeypatch.setattr(xr.Dataset, "to_netcdf", refuse)
    with pytest.raises(RunError, match="no permission"):
        one.to_netcdf(tmp_path / "kept.nc")
    assert (tmp_path / "kept.nc").read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "kept.nc"]


def test_a_file_that_is_no_result_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such file"):
        Result.from_netcdf(tmp_path / "none.nc")
    (tmp_path / "text.nc").write_text("not a result")
    with pytest.raises(RunError, match="not a result"):
        Result.from_netcdf(tmp_path / "text.nc")
    xr.Dataset({"a": 1.0}).to_netcdf(tmp_path / "other.nc")
    with pytest.raises(RunError, match="not a result"):
        Result.from_netcdf(tmp_path / "other.nc")


def test_a_mechanism_without_freedom_is_simulated_written_and_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    m = lw.Mechanism("crane").body("jib", 2, (1, 0, 0)).marker("tip", "jib", (1, 0, 0))
    turn = {"rotation": [0, 0, "0.5*t"]}
    for model in (
        m.joint("post", "prescribed", "world", "jib", motion=turn).build(),
        lw.Mechanism("still").body("b", 2).joint("post", "fixed", "world", "b").build(),
    ):
        run = lw.simulate(model, until=1, times=4)
        assert run.ok.all() and run["q"].shape == (5, 0) and run["post.wrench.f_z"][0] == pytest.approx(19.62)
        assert run.trust.energy_error < 1e-9 and model.name in str(run)
        run.to_netcdf(tmp_path / "r.nc")
        assert run.to_pandas().shape == (5, 1) and "work" in lw.Result.from_netcdf(tmp_path / "r.nc")
        lw.plot(run, path=tmp_path / "r.png")
        lw.page(run, tmp_path / "r.html", model=model)
    kernel = lw.function(model, lw.aba)
    assert kernel(q=np.zeros(0), v=np.zeros(0), tau=np.zeros(0)).shape == (0,)


def test_events_and_the_end_of_samples_read_back_from_a_file(tmp_path):
    m = lw.Mechanism("ball").body("b", 1).joint("z", "prismatic", "world", "b", axis="z").build()
    low = lw.Event("low", lambda s: s.q("z") - 0.5, "record")
    ground = lw.Event("ground", lambda s: s.q("z"), "stop")
    run = lw.simulate(m, {"z": [1.0, 9.0]}, 1.0, events=[low, ground])
    run.to_netcdf(tmp_path / "r.nc")
    kept = lw.Result.from_netcdf(tmp_path / "r.nc")
    assert kept.events == run.events and [len(e) for e in kept.events] == [2, 0]
    assert kept.statuses[0] == run.statuses[0]


def test_rows_after_the_end_hold_no_numbers_even_of_what_does_not_move():
    m = lw.Mechanism("ball").body("b", 1).joint("z", "prismatic", "world", "b", axis="z").marker("base", "world")
    run = lw.simulate(m.build(), {"z": 1.0}, 1.0, events=[lw.Event("ground", lambda s: s.q("z"))])
    for name in ("spring_energy", "base.position", "z.wrench", "work"):
        assert np.isnan(run[name].values[0, -1]).all() and np.isfinite(run[name].values[0, 0]).all()
