"""The page holds the numbers, needs nothing else, and takes no orders from a name."""

from __future__ import annotations

import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from oscillator import oscillator

from linkwork.display import page
from linkwork.display.page import last
from linkwork.errors import RunError
from linkwork.result import Result, Series, Statuses

HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&amp;"


class Reader(HTMLParser):
    """Tags, their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def many() -> Result:
    return oscillator(200, diverged=(17,))


@pytest.fixture(scope="module")
def text(many: Result, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("page") / "run.html"
    page(many, path, title="Arm study", model="arm\n└─ shoulder", notes=["first", "second < third"])
    return path.read_text(encoding="utf-8")


def test_the_page_holds_the_numbers(many: Result, text: str) -> None:
    seen = Reader(text).text
    final = np.quantile(many["elbow"][many.ok, -1], (0.05, 0.25, 0.5, 0.75, 0.95))
    for number in final:
        assert f"{number:.4g}".replace("-", "−") in seen
    assert many.trust.energy_error is not None and f"{many.trust.energy_error:.2g}" in text
    for words in (
        "Arm study",
        "1 of 200 samples failed.",
        "sample 17: diverged at t = 0.132 s in elbow.rate",
        "dopri5",
        "arm\n└─ shoulder",
        "second < third",
        "199",
        "82,400",
    ):
        assert words in seen


def test_the_page_needs_nothing_else(text: str) -> None:
    tags = Reader(text).tags
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in tags}
    sources = [a["src"] for tag, a in tags if tag == "img"]
    assert len(sources) == 2 and all(s and s.startswith("data:image/") for s in sources)
    assert not re.search(r"https?://", re.sub(r'src="data:[^"]*"', "", text))
    assert any(a.get("name") == "viewport" for _, a in tags)


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    q = Series("q", np.ones((3, 4, 1)), (HOSTILE,), (HOSTILE,), HOSTILE)
    ends = Statuses(np.array([2, 0, 0]), (HOSTILE,) * 3, np.ones(3), (HOSTILE,) * 3)
    run = Result(np.arange(4.0), {"q": q}, ends, {"model": HOSTILE, HOSTILE: {HOSTILE: [HOSTILE]}})
    page(run, tmp_path / "a.html", title=HOSTILE, model=HOSTILE, notes=HOSTILE)
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    tags = Reader(text).tags
    assert "script" not in {tag for tag, _ in tags} and escape(HOSTILE) in text
    assert all(key in ("src", "alt") for tag, a in tags if tag == "img" for key in a)
    assert sum(tag == "img" for tag, _ in tags) == 1


def test_the_same_run_gives_the_same_page(many: Result, text: str, tmp_path: Path) -> None:
    page(
        many,
        tmp_path / "a.html",
        title="Arm study",
        model="arm\n└─ shoulder",
        notes=["first", "second < third"],
    )
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == text


def test_one_sample_has_its_range(tmp_path: Path) -> None:
    run = oscillator()
    page(run, tmp_path / "a.html")
    seen = Reader((tmp_path / "a.html").read_text(encoding="utf-8")).text
    assert "The run reached the end at t = 10 s." in seen and f"{run['elbow'][:].max():.4g}" in seen


def test_the_last_value_is_the_last_finite_one() -> None:
    values = np.array([[1, 2, 3.0], [4, np.nan, np.nan], [np.nan] * 3])
    np.testing.assert_array_equal(last(values), [3, 4, np.nan])


def test_a_missing_folder_is_told(many: Result, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no folder"):
        page(many, tmp_path / "nowhere" / "a.html")
