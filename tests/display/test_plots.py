"""Pictures show the right numbers, without warnings, from one sample to very many."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from oscillator import oscillator

from linkwork.display import plot
from linkwork.display.plots import quantiles
from linkwork.errors import RunError
from linkwork.result import Result, Series, Statuses

matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def one() -> Result:
    return oscillator()


@pytest.fixture(scope="module")
def many() -> Result:
    return oscillator(500, diverged=(17,))


def titles(figure: object) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes]  # type: ignore[attr-defined]


def chain(count: int, times: int = 50) -> Result:
    t = np.linspace(0, 1, times)
    q = np.sin(t[:, None] * np.arange(1, count + 1))[None]
    names = tuple(f"link_{k}" for k in range(count))
    return Result(t, {"q": Series("q", q, names, ("rad",))}, Statuses.finished(1, 1.0), single=True)


def test_the_usual_view_is_coordinates_speeds_and_energy_balance(one: Result, tmp_path: Path) -> None:
    figure = plot(one, path=tmp_path / "a.png")
    assert titles(figure)[:2] == ["Coordinates", "Speeds"] and titles(figure)[2].startswith("Energy balance")
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "angle [rad]",
        "angular speed [rad/s]",
        "relative error [–]",
    ]
    np.testing.assert_array_equal(figure.axes[0].lines[1].get_ydata(), one["elbow"])
    assert [t.get_text() for t in figure.axes[0].texts] in (["elbow", "shoulder"], ["shoulder", "elbow"])
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_a_wrench_has_forces_apart_from_moments(one: Result, tmp_path: Path) -> None:
    figure = plot(one, "elbow.wrench", path=tmp_path / "a.svg")
    assert [ax.get_ylabel() for ax in figure.axes] == ["force [N]", "moment [N m]"]
    assert [len(ax.lines) for ax in figure.axes] == [3, 3]


def test_energy_shows_its_balance_on_a_logarithmic_axis(one: Result, many: Result, tmp_path: Path) -> None:
    figure = plot(one, "energy", path=tmp_path / "a.pdf")
    assert len(figure.axes[0].lines) == 4 and figure.axes[1].get_yscale() == "log"
    assert len(plot(many, "energy", path=tmp_path / "b.png").axes) == 5


def test_many_samples_become_bands_of_their_quantiles(many: Result, tmp_path: Path) -> None:
    figure = plot(many, "elbow", path=tmp_path / "a.png")
    median = figure.axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(median, np.nanmedian(many["elbow"], axis=0), rtol=1e-14)
    assert len(figure.axes[0].collections) == 2 and "1 failed" in figure.get_supxlabel()


def test_samples_and_kind_choose_lines(many: Result, tmp_path: Path) -> None:
    figure = plot(many, "q", samples=[3, 17], path=tmp_path / "a.png")
    assert titles(figure) == ["shoulder", "elbow"]
    assert {t.get_text() for t in figure.axes[0].texts} == {"sample 3", "sample 17"}
    assert "sample 17" in plot(many, "q", samples=17, path=tmp_path / "a.png").get_supxlabel().lower()
    assert len(plot(many, "elbow", kind="lines", path=tmp_path / "a.png").axes) == 2  # with a colour scale
    with pytest.raises(RunError, match="no sample 500"):
        plot(many, samples=[500])
    with pytest.raises(RunError, match="kind='lines'"):
        plot(many, kind="pie")


def test_twelve_lines_are_named_and_thirty_have_a_colour_scale(tmp_path: Path) -> None:
    named = plot(chain(12), path=tmp_path / "a.png")
    places = sorted(t.get_position()[1] for t in named.axes[0].texts)
    assert len(places) == 12 and min(np.diff(places)) > 0.03 and places[0] >= 0 and places[-1] <= 1
    scaled = plot(chain(30), path=tmp_path / "b.png")
    assert len(scaled.axes) == 2 and not scaled.axes[0].texts


@pytest.mark.parametrize("name", ["$x_1$", "<b>&", "a\nb", "x" * 300, "{%s}", "\\frac"])
def test_any_name_can_be_drawn(name: str, tmp_path: Path) -> None:
    q = Series("q", np.ones((1, 5, 2)), (name, "other"), ("rad", "$m^2$"))
    run = Result(np.arange(5.0), {"q": q}, Statuses.finished(1, 4.0), {"model": name}, single=True)
    plot(run, path=tmp_path / "a.png")


def test_nothing_to_see_is_said(tmp_path: Path) -> None:
    gone = Series("q", np.full((20, 4, 1), np.nan), ("a",), ("rad",))
    run = Result(np.arange(4.0), {"q": gone}, Statuses.finished(20, 3.0))
    assert plot(run, path=tmp_path / "a.png").axes[0].texts[0].get_text() == "no finite values"
    assert plot(run, samples=2, path=tmp_path / "a.png").axes[0].texts[0].get_text() == "no finite values"
    still = Result(
        np.arange(4.0),
        {},
        Statuses.finished(20, 3.0),
        {},
        lambda name: Series(name, np.zeros((20, 4)), (), ("J",)),
        ("kinetic_energy", "potential_energy", "work"),
    )
    assert plot(still, "energy", path=tmp_path / "a.png").axes[-1].texts[0].get_text() == "zero"
    with pytest.raises(RunError, match="nothing to draw"):
        plot(Result(np.arange(4.0), {}, Statuses.finished(1, 3.0)))


def test_one_time_is_a_dot(tmp_path: Path) -> None:
    plot(chain(3, times=1), path=tmp_path / "a.png")


def test_quantiles_in_pieces_are_those_of_the_whole() -> None:
    values = np.random.default_rng(0).normal(size=(300, 40))
    values[::7, 10:] = np.nan
    values[:, 30] = np.nan
    pieces, whole = quantiles(values, (0.05, 0.5), room=1000), quantiles(values, (0.05, 0.5))
    np.testing.assert_array_equal(pieces, whole)
    np.testing.assert_allclose(whole[:, :30], np.nanquantile(values[:, :30], (0.05, 0.5), axis=0))
    assert np.isnan(whole[:, 30]).all()


def test_a_hundred_thousand_samples_can_be_drawn(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(100_000, 40, 1))
    run = Result(np.arange(40.0), {"q": Series("q", values, ("a",), ("rad",))}, Statuses.finished(100_000, 39.0))
    plot(run, path=tmp_path / "a.png")


def test_the_same_picture_gives_the_same_bytes(one: Result, tmp_path: Path) -> None:
    for ending in ("png", "svg", "pdf"):
        first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
        plot(one, "q", path=first), plot(one, "q", path=second)
        assert first.read_bytes() == second.read_bytes()


def test_a_path_that_will_not_do_is_told(one: Result, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"\.png, \.svg or \.pdf"):
        plot(one, path=tmp_path / "a.bmp")
    with pytest.raises(RunError, match="no folder"):
        plot(one, path=tmp_path / "nowhere" / "a.png")


def test_without_matplotlib_the_fix_is_told(one: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RunError, match=r"pip install linkwork\[plot\]"):
        plot(one)
