"""`verify`: what it compares, what it catches, how it answers what cannot be compared."""

import json
import shlex
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from mechanisms import random_mechanism

import linkwork as lw
from linkwork import cli, peers
from linkwork.dynamics.formulation import gives
from linkwork.verify import QUANTITIES, WAYS
from linkwork.verifying.compare import CLOSE, LOOSEST, allowed, compared
from linkwork.verifying.states import States

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
ARM = EXAMPLES / "arm.yaml"
MODELS = ("arm.yaml", "governor.yaml", "biped.yaml", "docking/contact.yaml", "docking/captured.yaml", "docking_tables")
FEW = {name: WAYS[name] for name in ("kane_graph", "docking_tree", "separate_bodies")}


@pytest.fixture
def run(capsys):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def call(*words):
        code = cli.main([str(word) for word in words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def pendulum(**more):
    rod = {"mass": 2, "centre": (0, 0, -0.5), "inertia": (0.2, 0.2, 0.01)}
    return (
        lw.Mechanism("pendulum").body("rod", **rod).joint("pin", "revolute", "world", "rod", axis="y", **more).build()
    )


def spoilt(way, quantity, change):
    """A formulation with a mistake in one quantity."""

    @gives(*QUANTITIES)
    def wrong(model, q, v, tau, f_ext=None, t=None):
        found = dict(zip(QUANTITIES, way.giving(*QUANTITIES)(model, q, v, tau, f_ext, t), strict=True))
        return found | {quantity: change(found[quantity])}

    return wrong


# --- what agrees, and what does not -----------------------------------------------------------------------------------
@pytest.mark.parametrize("file", MODELS)
def test_formulations_agree_on_every_example(file, run):
    code, out, err = run("verify", EXAMPLES / file, "--samples", 5, "--json")
    found = json.loads(out)
    assert (code, err, found["ok"]) == (0, "", True)
    assert set(found["quantities"]) == set(QUANTITIES)
    assert all("machine code" in found["quantities"]["v_dot"]["ways"] for _ in "1")
    assert len(found["quantities"]["v_dot"]["ways"]) >= 8


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("size", [1e-6, 1.0])
def test_a_mistake_in_one_quantity_is_caught_and_named(quantity, size):
    """One part in a million of one entry: far above rounding, and nobody would see it in a picture."""
    model = lw.read(ARM)

    def change(x):
        return ca.vertcat(x[:-1, :], x[-1, :] + size * (ca.norm_inf(ca.vec(x)) + 1e-3)) if x.shape[0] > 1 else x + size

    found = lw.verify(model, 3, ways={**FEW, "wrong": spoilt(WAYS["kane_graph"], quantity, change)})
    assert not found.ok and found.faults == [quantity]
    assert "wrong" in found.worst[quantity][1:3] and "DO NOT AGREE" in found.verdict and "wrong" in found.verdict
    assert found.quantities[quantity].shares[0, 1] <= 1  # of the two that are right


@pytest.mark.parametrize(("quantity", "entry"), [("M", (-1, -1)), ("wrenches", (-1, 5))])
def test_a_mistake_about_a_finger_is_seen_beside_its_train(quantity, entry):
    """One per cent of a moment of 10 g, on 400 t: 1e-14 of the largest entry."""
    train = lw.Mechanism("train").body("train", mass=4e5, centre=(0, 0, 1), inertia=(1e6, 9e6, 9e6))
    train.body("arm", mass=5, centre=(0.2, 0, 0), inertia=(0.1, 0.3, 0.3))
    train.body("finger", mass=0.01, centre=(0.02, 0, 0), inertia=(1e-7, 2e-6, 2e-6))
    train.joint("way", "free", "world", "train").joint("elbow", "revolute", "train", "arm", at=(10, 2, 3), axis="y")
    model = train.joint("knuckle", "revolute", "arm", "finger", at=(0.4, 0, 0), axis="z").build()

    def change(x):
        x = ca.SX(x)
        x[entry] *= 1.01
        return x

    found = lw.verify(model, 5, ways={**FEW, "wrong": spoilt(WAYS["kane_graph"], quantity, change)})
    assert found.faults == [quantity] and found.quantities[quantity].shares[0, 1] <= 1
    peered = lw.verify(model, 20, ways=FEW, peers=[p for p in ("pinocchio", "mujoco") if find_spec(p)])
    assert peered.ok, peered.verdict


def test_frames_without_mass_have_no_wrenches_and_agree():
    post = lw.Mechanism("frame").body("frame").joint("weld", "fixed", "world", "frame").build()
    assert lw.verify(post, 2).ok


def test_a_sign_error_that_shows_in_one_state_alone_is_found_in_that_state():
    model = lw.read(ARM)
    bad = States(model, 3)[4]["q"]

    @gives("v_dot")
    def wrong(model, q, v, tau, f_ext=None, t=None):
        v_dot = lw.kane_graph(model, q, v, tau, f_ext, t)
        return {"v_dot": ca.if_else(ca.norm_2(q - ca.DM(bad)) < 1e-9, -v_dot, v_dot)}

    found = lw.verify(model, 8, 3, ways={**FEW, "wrong": wrong})
    assert found.faults == ["v_dot"] and found.worst["v_dot"].sample == 4


def test_what_is_not_a_number_is_a_disagreement():
    found = lw.verify(
        pendulum(), 2, ways={**FEW, "wrong": spoilt(WAYS["kane_graph"], "wrenches", lambda x: x + ca.inf)}
    )
    assert found.faults == ["wrenches"] and found.worst["wrenches"].difference == np.inf
    found = lw.verify(pendulum(), 2, ways={**FEW, "wrong": spoilt(WAYS["kane_graph"], "M", lambda x: x * float("nan"))})
    assert found.faults == ["M"] and "inf" in found.verdict


def test_a_condition_excuses_no_more_than_a_millionth():
    assert allowed(np.array([1.0])) == pytest.approx(CLOSE, rel=1e-3)
    assert allowed(np.array([1e300])) == LOOSEST == 1e-6


def test_what_a_peer_does_not_tell_is_still_compared_between_the_others():
    ours, theirs = [np.array([1.0, 2.0])], [np.array([1.0, 99.0])]
    off = [np.array([1.0, 2.5])]
    told = {"peer": np.array([True, False])}
    found = compared({"a": ours, "b": off, "peer": theirs}, told, np.zeros(1), np.full(1, 1e-10), [0])
    assert found.largest[0, 2] == 0 and found.largest[0, 1] == 0.5 / 2.5


# --- the worst state again --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("words", [(), ("--with", "pinocchio"), ("--tolerance", "1e-17")])
@pytest.mark.parametrize("file", ["arm.yaml", "biped.yaml"])
def test_the_printed_command_finds_the_same_figure_in_the_worst_state(file, words, run):
    if words[:1] == ("--with",):
        pytest.importorskip("pinocchio")
    code, out, _ = run("verify", EXAMPLES / file, "--samples", 12, "--seed", 5, *words, "--json")
    whole = json.loads(out)
    again = shlex.split(whole["again"])
    assert again[:2] == ["linkwork", "verify"] and "--sample" in again
    assert run("verify", EXAMPLES / file, "--samples", 12, "--seed", 5, *words)[1].rstrip().endswith(whole["again"])
    code_again, out, _ = run(*again[1:], "--json")
    alone = json.loads(out)
    sample = int(again[again.index("--sample") + 1])
    worst = [q for q, each in whole["quantities"].items() if each["worst"]["sample"] == sample]
    assert code_again == code == (1 if "--tolerance" in words else 0)
    assert any(alone["quantities"][q]["worst"] == whole["quantities"][q]["worst"] for q in worst)
    assert alone["verdict"].partition("; worst")[2] == whole["verdict"].partition("; worst")[2]


def test_a_single_state_is_shown_with_all_its_numbers(run):
    code, out, _ = run("verify", ARM, "--sample", 7)
    assert code == 0 and "arm: 9 ways agree on state 7" in out and "external wrenches" in out
    state = States(lw.read(ARM), 0)[7]
    assert all(f"{x:.17g}" in out for word in ("q", "v", "tau") for x in state[word])


# --- states -----------------------------------------------------------------------------------------------------------
def test_a_state_depends_on_seed_and_number_alone():
    model = random_mechanism(3)
    a, b = States(model, 8)[5], States(model, 8)[5]
    assert all(np.array_equal(a[k], b[k]) for k in a)
    assert not np.array_equal(a["q"], States(model, 8)[6]["q"]) and not np.array_equal(a["q"], States(model, 9)[5]["q"])


@pytest.mark.parametrize("limits", [(-0.2, 0.3), (2.0, 2.5), (None, -3.0), (4.0, None), (None, None)])
def test_states_keep_limits(limits):
    model = pendulum(limits=limits)
    q = np.array([States(model, 0)[i]["q"][0] for i in range(200)])
    low, high = model.joint(1).lower[0], model.joint(1).upper[0]
    assert low <= q.min() < q.max() <= high and np.ptp(q) > 0.4


def test_a_model_a_million_times_heavier_is_drawn_the_same_accelerations():
    """Forces are as large as what they act on is heavy, so mass has no say in how well formulations agree."""
    light = random_mechanism(11, kinds=("revolute", "prismatic", "spherical"), gravity=False)
    heavy = light.replace(
        {n: 1e6 * x for n, x in light.values.items() if n.endswith(("mass", ".xx", ".yy", ".zz", ".xy", ".xz", ".yz"))}
    )
    v_dot = []
    for model in (light, heavy):
        s = States(model, 0)[0]
        f = lw.equations(model, lw.aba, external=True).casadi
        v_dot.append(np.array(f.call([ca.DM(s[n]) for n in f.name_in()])[0]))
    assert np.abs(v_dot[0] - v_dot[1]).max() < 1e-9 * np.abs(v_dot[0]).max()  # solved with other roundings


def test_no_part_of_a_mechanism_is_drawn_without_forces():
    """Massless frames too: what acts on them acts on what they are welded to."""
    model = lw.read(EXAMPLES / "biped.yaml")
    assert all(not b.inertials for b in model.bodies[1:] if b.name == "right_ankle")
    s = States(model, 0)[0]
    assert np.all(s["tau"] != 0) and np.all(s["f_ext"] != 0)


# --- what cannot be compared ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--with", "pinochio"), "there is no peer 'pinochio'\n  fix: did you mean 'pinocchio'?"),
        (("--samples", 0), "samples = 0\n  fix: give at least one"),
        (("--samples", -2), "samples = -2\n  fix: give at least one"),
        (("--sample", -1), "sample = -1\n  fix: states are numbered from 0"),
        (("--seed", -1), "seed = -1\n  fix: give zero or a positive number"),
        (("--tolerance", "nan"), "tolerance = nan\n  fix: give a relative difference above zero, 1e-10 say"),
        (("--tolerance", "-1e-9"), "tolerance = -1e-09\n  fix: give a relative difference above zero, 1e-10 say"),
        (("--tolerance", 0), "tolerance = 0.0\n  fix: give a relative difference above zero, 1e-10 say"),
        (("--html", "."), "--html '.' is a folder\n  fix: name a file in it"),
        (("--html", "no/such/a.html"), "--html 'no/such/a.html': there is no folder 'no/such'\n  fix: make it first"),
    ],
)
def test_a_bad_request_is_answered_by_name(words, text, run):
    code, out, err = run("verify", ARM, *words)
    assert (code, out, err.strip()) == (1, "", text)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"ways": {}}, "ways = {} names no formulations"),
        ({"ways": ["aba"]}, "ways = ['aba'] names no formulations"),
        ({"ways": {"mine": lw.rnea}}, "way 'mine' gives nothing that can be compared (v_dot, wrenches, base_wrench, M"),
        ({"ways": {"mine": max}}, "way 'mine' gives nothing that can be compared"),
        ({"samples": 2.5}, "samples = 2.5"),
        ({"seed": "7"}, "seed = '7'"),
        ({"sample": True}, "sample = True"),
    ],
)
def test_what_python_asks_for_amiss_is_answered_by_name(asked, text):
    with pytest.raises(lw.RunError) as told:
        lw.verify(pendulum(), **asked)
    assert told.value.what.startswith(text) and told.value.fix


def test_a_peer_that_is_missing_is_told_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    with pytest.raises(lw.RunError) as told:
        lw.verify(pendulum(), peers=["pinocchio"])
    assert str(told.value) == "the peer 'pinocchio' is not installed\n  fix: pip install pin"


def test_a_model_that_no_formulation_takes_says_why():
    empty = lw.Mechanism("empty").body("a", mass=0).joint("j", "revolute", "world", "a").build()
    with pytest.raises(
        lw.ModelError, match="no formulation takes 'empty': joint 'j' moves no mass, so its accel"
    ) as told:
        lw.verify(empty)
    assert told.value.where == empty.joint(1).source
    with pytest.raises(lw.ModelError, match="'void' has no bodies: there is nothing to compare"):
        lw.verify(lw.Mechanism("void").build())


def test_one_way_alone_is_no_agreement(run):
    found = lw.verify(pendulum(), 2, ways={"kane_graph": lw.kane_graph})
    assert not found.ok and found.verdict == "pendulum: nothing to compare" and found.worst == {}


def test_a_model_without_freedom_still_has_wrenches():
    post = lw.Mechanism("post").body("post", mass=2, centre=(0.1, 0, 0)).joint("weld", "fixed", "world", "post").build()
    found = lw.verify(post, 3)
    assert found.ok and set(found.quantities) == {"wrenches", "base_wrench", "energy_rate"}
    turning = {"position": ["0.1*sin(t)", 0, 0], "rotation": [0, 0, "5*deg*t"]}
    deck = lw.Mechanism("deck").body("deck", mass=2, inertia=(1, 1, 1))
    found = lw.verify(deck.joint("carried", "prescribed", "world", "deck", motion=turning).build(), 3)
    assert found.ok and len(found.ways) == 6


# --- peers ------------------------------------------------------------------------------------------------------------
def carried(**more):
    deck = lw.Mechanism("deck").body("deck", mass=2, inertia=(1, 1, 1))
    return deck.joint("carried", **more).build()


@pytest.mark.parametrize("peer", ["pinocchio", "mujoco"])
def test_a_peer_leaves_out_what_it_has_no_word_for(peer):
    pytest.importorskip(peer)
    model = carried(kind="prescribed", parent="world", child="deck", motion={"position": ["0.1*t", 0, 0]})
    found = lw.verify(model, 1, ways=FEW, peers=[peer])
    assert found.refused[peer] == (
        f"joint 'carried': '{peer}' takes no prescribed joint: its joints move by forces alone"
    )
    assert found.ok and f"left out  {peer}: joint 'carried'" in str(found)


def test_mujoco_leaves_out_by_name_what_it_cannot_hold():
    pytest.importorskip("mujoco")
    uneven = carried(kind="free", parent="world", child="deck", armature=(1, 2, 3, 1, 1, 1))
    found = lw.verify(uneven, 1, ways=FEW, peers=["mujoco"])
    assert "'carried': 'mujoco' takes no free joint with different armatures along its axes" in found.refused["mujoco"]
    point = lw.Mechanism("p").body("bob", mass=1, centre=(0, 0, -1)).joint("j", "revolute", "world", "bob", axis="y")
    found = lw.verify(point.build(), 1, ways=FEW, peers=["mujoco"])
    assert found.refused["mujoco"] == "body 'bob': 'mujoco' takes no moving body without mass or moments of inertia"


def test_pinocchio_takes_a_point_whose_inertia_is_rounded_below_zero(tmp_path):
    """As exported from drawings: pinocchio.Inertia(…) itself raises 'The 3d inertia should be positive'."""
    pytest.importorskip("pinocchio")
    frame = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><axis xyz="{3}"/></joint>'
    body = '<link name="{}"><inertial><origin xyz="{}"/><mass value="2"/><inertia {}/></inertial></link>'
    solid, point = (
        " ".join(f'{k}="{x}"' for k, x in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), moments, strict=True))
        for moments in ((0.1, 0.1, 0.1, 0, 0, 0), (0, 0, 0, 0, 1.4e-20, 0))
    )
    parts = [body.format("arm", "0 0 0.1", solid), body.format("bob", "0.3 0.1 0", point)]
    joints = [frame.format("turn", "base", "arm", "0 1 0"), frame.format("swing", "arm", "bob", "0 0 1")]
    (tmp_path / "bob.urdf").write_text(f'<robot name="bob"><link name="base"/>{"".join(parts + joints)}</robot>')
    found = lw.verify(lw.read_urdf(tmp_path / "bob.urdf"), 3, peers=["pinocchio"])
    assert found.ok and any(way.startswith("pinocchio") for way in found.ways)


@pytest.mark.parametrize("order", [("a", "b", "c", "d"), ("a", "c", "b", "d")])
def test_pinocchios_mass_matrix_is_told_to_differ_where_subtrees_have_gaps(order):
    """Bodies a and b on the world, c on a, d on b: numbered a, b, c, d the subtrees are not contiguous."""
    pytest.importorskip("pinocchio")
    parent = {"a": "world", "b": "world", "c": "a", "d": "b"}
    tree = lw.Mechanism("tree")
    for name in order:
        tree.body(name, mass=1, centre=(0.1, 0.2, 0.3), inertia=(0.1, 0.1, 0.1))
        tree.joint(f"j{name}", "revolute", parent[name], name, at=(0.4, 0, 0), axis="y")
    found = lw.verify(tree.build(), 3, ways=FEW, peers=["pinocchio"])
    notes = [n for n in found.notes if "crba" in n]
    assert found.ok and len(notes) == (order[1] == "b")
    assert all("its crba differs from them by" in n and "subtrees of this model are not contiguous" in n for n in notes)


# --- page and text ----------------------------------------------------------------------------------------------------
def test_the_page_tells_verdict_matrices_and_the_command(run, tmp_path):
    page = tmp_path / "agree.html"
    code, out, _ = run("verify", EXAMPLES / "governor.yaml", "--samples", 3, "--html", page)
    text = page.read_text()
    assert code == 0 and f"written to {page}" in out
    assert "8 ways agree on 3 states" in text and "linkwork verify" in text and "leaves the plane" in text
    assert text.count('<table class="shares">') == len(QUANTITIES) and "<script" not in text


def test_names_on_the_page_are_text(tmp_path):
    model = replace(pendulum(), name="<b>a & b</b>")
    text = lw.verify(model, 2, ways=FEW).to_html(tmp_path / "a.html").read_text()
    assert "&lt;b&gt;a &amp; b&lt;/b&gt;" in text and "<b>a" not in text


def test_a_page_in_no_folder_is_answered_by_name(tmp_path):
    with pytest.raises(lw.RunError, match="there is no folder"):
        lw.verify(pendulum(), 2, ways=FEW).to_html(tmp_path / "no" / "a.html")


def test_a_disagreement_ends_with_exit_code_1_and_is_marked(run):
    code, out, _ = run("verify", ARM, "--samples", 2, "--tolerance", 1e-17)
    assert code == 1 and "DO NOT AGREE on 2 states" in out and "e-16!" in out


# --- robots -----------------------------------------------------------------------------------------------------------
def robots():
    cmeel = pytest.importorskip("cmeel")
    prefix = next(Path(p) for p in cmeel.__path__).parent / "cmeel.prefix"
    return sorted((prefix / "share/example-robot-data/robots").rglob("*.urdf"))


@pytest.mark.slow
@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize(
    "name", ["ur5_robot", "z1", "panda", "anymal", "talos_reduced", "double_pendulum", "tiago_dual"]
)
def test_formulations_and_pinocchio_agree_on_a_robot(name, base, figures):
    pytest.importorskip("pinocchio")
    path = next(p for p in robots() if p.stem == name)
    found = lw.verify(lw.read_urdf(path, base=base), 20, peers=["pinocchio"])
    figures("verify on robots", f"{name} {base}", **{q: f"{x.difference:.1e}" for q, x in found.worst.items()})
    assert found.ok and any(way.startswith("pinocchio") for way in found.ways), found.verdict


def test_the_agreement_page_has_a_row_for_every_robot():
    text = (ROOT / "docs" / "agreement.md").read_text()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 2 * len(robots())
    assert "do not agree" not in text and sum(row[-1].startswith("agree") for row in rows) > len(rows) / 3
