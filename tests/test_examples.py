"""Every example runs and holds its check; the Python of README.md and docs/ runs as printed."""

import os
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.py")), ids=lambda file: file.stem)
def test_example(file):
    assert len(file.read_text().splitlines()) <= 60
    runpy.run_path(str(file))["check"]()


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_this_page_runs_in_order(page, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.chdir(tmp_path)
    os.symlink(ROOT / "examples", tmp_path / "examples")
    space: dict[str, object] = {}
    for k, block in enumerate(blocks(page)):
        exec(compile(block, f"{page.name}, block {k + 1}", "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_on_this_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_readme_has_one_block_for_the_benches():
    text = (ROOT / "README.md").read_text()
    assert text.count("<!-- bench:start -->") == text.count("<!-- bench:end -->") == 1


def test_the_yaml_of_the_manual_is_a_model(tmp_path):
    import linkwork as lw

    (text,) = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs" / "model.md").read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "model.yaml").write_text(text)
    model = lw.read(tmp_path / "model.yaml")
    assert model.parameters == ("rod.mass", "strut.stiffness") and lw.simulate(model, until=0.1).ok.all()
