"""The report of a sweep: it says what the numbers say, needs nothing else, takes no orders, is never half there."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from linkwork import cli
from linkwork.commands.report import facts
from linkwork.display.sweep_words import number, percent, summary, verdict
from linkwork.errors import RunError
from linkwork.simulation.store import Folder
from linkwork.sweeping.effects import split
from linkwork.sweeping.report import findings
from linkwork.sweeps import execute, read_plan, read_sweep, report, sweep

EXAMPLES = Path(__file__).parent.parent / "examples"
HOSTILE = "</style><script>alert('1')</script><img src=http://a.b/c onerror=x>&\"$\\frac$"
PLAN = """
model: arm.yaml
samples: 192
seed: 5
until: 1 s
rtol: 1e-7
vary:
  payload.mass: {arcsine: [0.5, 3 kg]}
  elbow: {normal: [30 deg, 5 deg], truncate: [20 deg, 40 deg]}
  shoulder.damping: 0.2
  elbow.damping: {values: [0.05, 0.1, 0.2 N*m*s/rad]}
events: {low: {of: tool.position.z - 0.3, action: record, direction: -1}}
record:
  height: tool.position.z at end
  load: max of abs(shoulder.wrench.m_y)
  trajectory: {of: [tool.position.z, elbow], times: 10}
success: height > 7 cm and low < 0.22 s
part: 64
"""


class Throw:
    """A throw that may fall short, go far, or burst; one in eight of the odd starts is no number."""

    times = np.zeros(0)

    def __init__(self, name="throw", speed="speed", text="burst"):
        self.name, self.speed, self.text = name, speed, text
        self.inputs = {speed: "m/s", "angle": "rad"}
        self.columns = {"value:range": "m", f"value:{HOSTILE} too" if name == HOSTILE else "value:force": "N",
                        "event:landed": "s", "trust:energy_error": "1", "trust:steps": "1"}  # fmt: skip

    def fingerprint(self):
        return f"throw {self.name}"

    def run_samples(self, inputs, *, threads=None, progress=None):
        v, a = inputs[self.speed], inputs["angle"]
        n, far = len(v), v * v * np.sin(2 * a) / 9.81
        code = np.where(v > 24.5, 2, 0)
        text = [self.text if c else "far" if x > 38 else "short" for c, x in zip(code, far, strict=True)]
        columns = [np.where(code, np.nan, far), v * 3, np.where(far > 38, far / v, np.nan), v * 1e-9, np.ones(n)]
        return {
            **dict(zip(self.columns, columns, strict=True)),
            "code": code, "end": np.ones(n), "text": text, "where": ["v" if c else "" for c in code],
        }  # fmt: skip


VARY = {"speed": {"uniform": [15, 25]}, "angle": {"uniform": ["20 deg", "70 deg"]}}


def throws(samples=400, vary=VARY, success="range > 30", **plan):
    return sweep(Throw(), vary, samples=samples, success=success, **plan)


class Reader(HTMLParser):
    """Tags that are not closed, addresses, scripts; and the text alone."""

    void = frozenset(("meta", "img", "br"))

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.tags, self.words = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [x for key, x in attrs if key in ("src", "href")]
        assert not any(key.startswith("on") for key, _ in attrs)
        self.open += [tag] * (tag not in self.void)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def page(found, path, **options):
    report(found, path, **options)
    text = path.read_text()
    return text, " ".join(Reader(text).words)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arm")
    (folder / "arm.yaml").write_text((EXAMPLES / "arm.yaml").read_text())
    (folder / "plan.yaml").write_text(PLAN)
    found = sweep(folder / "plan.yaml", out=folder / "run")
    return found, *page(folder / "run", folder / "r.html")


# --- what it says ---
def test_the_first_lines_answer_what_is_asked_first(arm):
    found, _, words = arm
    p, worst = found.estimate(), int(np.argmax(found["load"]))
    assert f"In {percent(p.value)} of the samples (height > 7 cm and low < 0.22 s)" in words
    assert f"between {percent(p.low, '')} and {percent(p.high)} with 95 % confidence" in words
    assert f"load reaches {number(found['load'].max())} N·m" in words and f"Sample {worst} (reached the end)" in words
    assert f"linkwork sweep {found.store} --replay {worst}" in words
    assert "192 samples of arm; none failed." in words and "The numbers can be believed" in words
    assert "Success depends most on payload.mass" in words


def test_numbers_are_those_of_the_sweep(arm):
    found, text, words = arm
    told = findings(found)
    for x in told.numbers:
        table = found.quantiles(x.name, q=tuple(x.quantiles))
        np.testing.assert_allclose([e.value for e in x.quantiles.values()], table.to_numpy()[0], rtol=1e-14)
        assert all(e.low <= e.value <= e.high for e in x.quantiles.values())
        assert (x.least, x.greatest) == (np.nanmin(found[x.name]), np.nanmax(found[x.name]))
        assert number(x.quantiles[0.5].value, x.unit) in text
    assert told.success and tuple(told.success.share) == tuple(found.estimate())
    assert [c.name for c in told.checks] == ["steps", "refusals", "step_error", "energy_error"]
    energy = told.checks[-1]
    assert energy.largest == found["energy_error"].max() and energy.worst == np.argmax(found["energy_error"])
    assert found.manifest["finished"]["sha256"] in words and found.manifest["plan_sha256"] in words
    assert "llvmlite" in words and "rtol 1e-07" in words and "arcsine 0.5, 3" in words


def test_success_is_told_over_every_input_that_varies(arm):
    found = arm[0]
    success = findings(found).success
    assert success and [a.name for a in success.against] == ["payload.mass", "elbow", "elbow.damping"]
    for a in success.against:
        assert sum(b.share.samples for b in a.bins) == len(found)
    levels = success.against[2].bins
    assert [b.middle for b in levels] == [0.05, 0.1, 0.2]
    for b in levels:
        inside = found["elbow.damping"] == b.middle
        assert b.share.samples == inside.sum() and b.share.value == found["success"][inside].mean()


def test_maps_hold_counts_shares_and_quantiles(arm):
    found = arm[0]
    (one,) = findings(found, maps=["payload.mass, elbow.damping"]).maps
    assert one.share is not None and one.load is not None and one.levels[1] is not None and one.levels[0] is None
    assert one.count.sum() == 192 and one.count.shape[1] == 3
    for i, j in np.ndindex(*one.count.shape):
        x, y = found["payload.mass"], found["elbow.damping"]
        inside = (x >= one.edges[0][i]) & (x <= one.edges[0][i + 1]) & (y == one.levels[1][j])
        assert one.count[i, j] == inside.sum() and one.share[i, j] == found["success"][inside].mean()
        if inside.sum() >= 20:
            assert one.load[i, j] == np.quantile(found["load"][inside], 0.95)


def test_an_axis_may_be_an_expression_and_keeps_its_unit():
    found = throws()
    told = findings(found, maps=["tilt = abs(angle - 45 deg), speed", "sqrt(angle**2 + angle**2), cos(angle)"])
    assert told.maps[0].x == "tilt" and [m.units for m in told.maps] == [("", "m/s"), ("rad", "")]
    assert split("atan2(a, b), c") == ("atan2(a, b)", " c")


def test_worst_samples_bring_inputs_and_the_command_that_runs_them_again(arm):
    found, text, words = arm
    order = np.argsort(-found["load"], kind="stable")[:10]
    corner = findings(found).load.corner
    assert [s.sample for s in corner.greatest] == order.tolist()
    for s in corner.greatest:
        assert s.inputs == tuple(found.inputs(s.sample).values()) and s.value == found["load"][s.sample]
        assert f"linkwork sweep {found.store} --replay {s.sample}" in words
    assert text.count("<details>") >= 2 and "height:" in words


def test_failed_samples_are_named_and_left_out(tmp_path):
    found = throws()
    failed = ~found.ok
    assert 0 < failed.sum() < 60
    told = findings(found)
    assert told.failed == failed.sum() and [s.sample for s in told.failures] == np.flatnonzero(failed)[:20].tolist()
    assert told.used == found.ok.sum() and told.numbers[1].greatest < 3 * 24.5
    low, high = told.success.bounds
    assert (low, high) == (found["success"].mean(), (found["success"].sum() + failed.sum()) / 400)
    kind, said = verdict(told)
    assert kind == "bad" and "of the samples failed" in said
    words = page(found, tmp_path / "r.html")[1]
    assert "burst" in words and "found.replay(" in words and f"{failed.sum()} failed" in words


def test_each_way_of_ending_has_its_share(tmp_path):
    told = findings(throws())
    assert {x.text for x in told.statuses} == {"far", "short", "burst"} and sum(x.count for x in told.statuses) == 400
    for x in told.statuses:
        assert x.share.low < x.share.value == x.count / 400 < x.share.high and x.good == (x.text != "burst")


def test_drift_and_energy_beyond_the_limits_are_told(monkeypatch):
    from linkwork.sweeping import evidence

    monkeypatch.setitem(evidence.MEANINGS, "energy_error", ("", 1e-9))
    kind, said = verdict(findings(throws(vary={"speed": 20.0, "angle": {"uniform": [0.5, 1]}})))
    assert kind == "bad" and "energy error reaches 2e−8 in sample 0, more than 1e-09" in said


# --- sensitivity ---
def test_a_saltelli_design_gives_sobol_indices_and_counts_independent_samples(tmp_path):
    found = throws(4 * 256, vary={**VARY, "speed": {"uniform": [15, 24]}}, design="saltelli")
    told = findings(found)
    assert {s.of: s.how for s in told.sensitivity} == dict.fromkeys(("success", "range", "force"), "sobol")
    force = next(s for s in told.sensitivity if s.of == "force")  # 3 v: all of it is the speed's
    assert abs(force.effects[0].first.value - 1) < 0.02 and force.effects[0].name == "speed"
    assert abs(force.effects[1].second.value) < 1e-12 and not force.effects[1].clear and force.samples == 256
    assert told.used == 512 and told.about.samples == 1024
    assert "of the 512 samples that are independent" in dict(summary(told))["Will it succeed?"]
    assert "only the two independent samples count" in page(found, tmp_path / "r.html")[1]


def test_an_unfinished_saltelli_design_uses_whole_blocks_only(tmp_path):
    whole = throws(4 * 64, design="saltelli", part=30, out=tmp_path / "a")
    ok = whole.ok
    (tmp_path / "a" / "part-000003.npz").unlink()
    manifest = json.loads((tmp_path / "a" / "manifest.json").read_text())
    (tmp_path / "a" / "manifest.json").write_text(json.dumps({**manifest, "finished": None}))
    found = read_sweep(tmp_path / "a")
    kept = np.setdiff1d(np.arange(64), np.arange(90 // 4, -(-120 // 4)))
    good = [b for b in kept if ok[4 * b : 4 * b + 4].all()]
    assert next(s for s in findings(found).sensitivity if s.of == "range").samples == len(good)


# --- the file ---
def test_the_page_needs_nothing_else_and_is_well_formed(arm):
    text = arm[1]
    read = Reader(text)
    assert read.open == [] and "script" not in read.tags and "link" not in read.tags
    assert read.links and all(x.startswith("data:image/") for x in read.links)
    assert "default-src 'none'" in text and "url(" not in text and len(text) < 4_000_000


def test_the_same_sweep_gives_the_same_page(arm, tmp_path):
    found, text, _ = arm
    report(found, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == text


def test_a_name_is_text_wherever_it_stands(tmp_path):
    hostile = Throw(HOSTILE, speed=HOSTILE, text=HOSTILE)
    vary = {HOSTILE: {"uniform": [15, 25]}, "angle": {"uniform": [0.5, 1.2]}}
    text, words = page(sweep(hostile, vary, samples=60, name=HOSTILE, out=tmp_path / "a"), tmp_path / "r.html")
    assert "<script" not in text and "<img src=http" not in text and HOSTILE in words and Reader(text).open == []
    assert unescape(text).count("<script>") > 3  # told, not run


def test_a_page_is_whole_or_not_there(arm, tmp_path, monkeypatch):
    from linkwork.display import sweep_page

    path = tmp_path / "r.html"
    path.write_text("before")
    monkeypatch.setattr(sweep_page.sweep_tables, "origin", lambda found: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        report(arm[0], path)
    assert path.read_text() == "before" and [f.name for f in tmp_path.iterdir()] == ["r.html"]


# --- sweeps that are hardly there ---
@pytest.mark.parametrize(
    ("samples", "vary", "success"),
    [
        (1, {"speed": 20.0, "angle": 0.7}, "range > 30"),
        (3, VARY, "range > 30"),
        (50, {"speed": {"uniform": [24.6, 25]}, "angle": 0.7}, "range > 30"),  # all burst
        (60, {"speed": {"uniform": [24.4, 24.5]}, "angle": 0.7}, ""),
        (30, {"speed": 20.0, "angle": 0.7}, "range > 30"),
        (40, VARY, "range > 1000"),
        (40, {"speed": {"uniform": [15, 24]}, "angle": 0.7}, "range > 0"),
    ],
)
def test_any_sweep_has_a_report(samples, vary, success, tmp_path):
    found = throws(samples, vary, success)
    text, words = page(found, tmp_path / "r.html")
    assert Reader(text).open == [] and f"{samples} sample" in words
    kind = verdict(findings(found))[0]
    assert kind == ("bad" if not found.ok.all() else "care")
    json.dumps(summary(findings(found)))


def test_inputs_that_are_no_numbers_are_failures(tmp_path):
    speed = np.linspace(15, 24, 150)
    speed[7] = np.nan
    found = throws(None, {"speed": speed, "angle": np.full(150, 0.7)}, out=tmp_path / "a")
    assert [s.sample for s in findings(found).failures] == [7]
    assert "bad start: speed is nan" in page(tmp_path / "a", tmp_path / "r.html")[1]


def test_a_sweep_that_is_not_finished_has_a_report(tmp_path):
    plan = tmp_path / "plan.yaml"
    (tmp_path / "arm.yaml").write_text((EXAMPLES / "arm.yaml").read_text())
    plan.write_text(PLAN.replace("until: 1 s", "until: 0.1 s"))
    seen = []

    def stop(done, total):
        seen.append(done)
        if done > 70 and len(seen) < 1000:
            raise KeyboardInterrupt

    cut = execute(read_plan(plan), tmp_path / "cut", progress=stop)
    assert not cut.complete and len(cut) in (64, 128)
    words = page(tmp_path / "cut", tmp_path / "r.html")[1]
    assert f"{len(cut)} samples of 192 of arm" in words and "the sweep is not finished" in words
    store = Folder(tmp_path / "empty")
    with store.writing():
        store.begin({k: x for k, x in cut.manifest.items() if k not in ("format", "finished")})
    assert "0 samples of 192" in page(tmp_path / "empty", tmp_path / "e.html")[1]


def test_a_grid_is_told_as_its_points():
    vary = {"speed": {"linspace": [15, 24, 10]}, "angle": {"linspace": [0.4, 1.2, 5]}}
    told = findings(throws(None, vary, design="grid"))
    (one,) = told.maps
    assert one.count.tolist() == [[1] * 5] * 10 or one.count.tolist() == [[1] * 10] * 5


# --- the command ---
def run(capsys, *words):
    code = cli.main(["report", *map(str, words)])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_writes_the_page_beside_the_parts(arm, capsys):
    found = arm[0]
    code, out, _ = run(capsys, found.store, "--map", "payload.mass, elbow", "--load", "height")
    path = found.store.path / "report.html"
    assert code == 0 and f"written to {path}" in out and "height reaches" in out
    assert path.read_text().startswith("<!doctype html>") and re.search(r"Will it succeed\?\s+In", out)
    assert read_sweep(found.store.path).sha256 == found.sha256  # the folder is still that sweep


def test_json_holds_every_number(arm, capsys, tmp_path):
    found = arm[0]
    code, out, _ = run(capsys, found.store, "--json", "--out", tmp_path / "r.html")
    told = json.loads(out)
    assert code == 0 and told["ok"] and told["success"]["value"] == found.estimate().value
    assert told["numbers"]["load"]["quantiles"]["0.99"]["value"] == found.quantiles("load", q=[0.99]).iloc[0, 0]
    assert told["worst"]["load"]["greatest"][0]["sample"] == np.argmax(found["load"])
    assert told["worst"]["load"]["greatest"][0]["inputs"]["elbow"] == found["elbow"][np.argmax(found["load"])]
    assert told["sensitivity"]["load"]["effects"]["elbow"]["rank_correlation"]["high"] <= 1
    assert told["trust"]["energy_error"]["kept"] and facts(findings(found))["plan"] == "plan"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "folder 'nowhere': is not there"),
        (("file",), "folder 'file': is a file, not the folder of a sweep"),
        (("empty",), "folder 'empty': holds no sweep"),
        (("run", "--out", "no/r.html"), "there is no folder 'no'"),
        (("run", "--out", "empty"), "file 'empty': cannot be written"),
        (("run", "--load", "lod"), "this sweep records no 'lod'\n  fix: did you mean 'load'"),
        (("run", "--map", "elbow"), "a map of 'elbow' does not have two axes"),
        (("run", "--map", "elbow, payload"), "a map has no axis 'payload'"),
        (("run", "--map", "elbow, 2*mass"), "the axis '2*mass' of a map names an unknown 'mass'"),
        (("run", "--map", "elbow, __import__('os')"), "has an unknown function '__import__'"),
        (("run", "--share", "1.5"), "the share of a quantile is 1.5"),
        (("run", "--confidence", "0"), "confidence is 0"),
    ],
)
def test_what_is_at_fault_is_told_in_a_line(arm, words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").symlink_to(arm[0].store.path)
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    code, _, err = run(capsys, *words)
    assert code == 1 and said in err and "Traceback" not in err and "fix:" in err


def test_a_folder_that_may_not_be_read_is_told(tmp_path):
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(RunError, match="cannot be read"):
        report(tmp_path)


@pytest.mark.parametrize("how", ["cut", "turned", "other"])
def test_a_damaged_part_is_told_and_nothing_is_written(how, tmp_path, capsys):
    throws(90, part=30, out=tmp_path / "a")
    file, other = tmp_path / "a" / "part-000001.npz", tmp_path / "a" / "part-000000.npz"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes({"cut": bytes(data[:-300]), "turned": bytes(data), "other": other.read_bytes()}[how])
    code, _, err = run(capsys, tmp_path / "a")
    assert code == 1 and "run the sweep again" in err and not (tmp_path / "a" / "report.html").exists()
    assert ("part-000001" in err) == (how != "other")


# --- docking ---
def test_the_report_of_a_docking_answers_its_engineer(tmp_path):
    plan = (EXAMPLES / "docking" / "docking.yaml").read_text().replace("samples: 1000", "samples: 96")
    (tmp_path / "docking.yaml").write_text(plan)
    found = sweep(tmp_path / "docking.yaml", out=tmp_path / "a")
    words = page(tmp_path / "a", tmp_path / "r.html")[1]
    for asked in ("Will it succeed?", "How hard does it get?", "Which start is worst?", "Why believe it?"):
        assert asked in words
    assert f"contact_force reaches {number(np.nanmax(found['contact_force']))} N" in words
    assert "momentum drift" in words and "energy error" in words and "capture" in words and "time-out" in words
