"""Samples that pass from one model to another keep poses and momentum, whatever the models."""

import hashlib

import casadi as ca
import numpy as np
import pytest
from mechanisms import EVERY_KIND, random_mechanism, random_state, relative

import linkwork as lw
from linkwork.dynamics import kinematics
from linkwork.dynamics.energy import kinetic_energy, momentum
from linkwork.dynamics.transfer import COORDINATES, quaternion_of, transfer
from linkwork.handover import Pass
from linkwork.phases import Phase, Study


def numbers(expressions, symbols, values):
    f = ca.Function("f", symbols, [ca.densify(x) for x in expressions])
    return [np.array(x) for x in f(*values)]


def freed(model):
    """The same bodies, each on a free joint of its own."""
    m = lw.Mechanism("freed", gravity=model.gravity)
    for i in model.tree:
        part = model.bodies[i].inertials
        parts = [{"name": p.name, "mass": p.mass, "centre": p.centre, "inertia": p.inertia} for p in part]
        m.body(model.bodies[i].name, parts=parts)
        m.joint(f"free{i}", "free", "world", model.bodies[i].name)
    return m.build()


def passed(old, new, q, v, frames=None):
    """q, v of the new model; poses, momentum and kinetic energy of both."""
    x, w = ca.SX.sym("q", old.nq), ca.SX.sym("v", old.nv)
    q2, v2 = transfer(old, x, w, new, frames)
    told = []
    for model, a, b in ((old, x, w), (new, q2, v2)):
        bodies = kinematics.moving(model, a, b)
        at = {model.bodies[i].name: ca.veccat(bodies[i].R, bodies[i].r, bodies[i].vel) for i in model.tree}
        told += [ca.horzcat(*[at[n] for n in sorted(at)]), momentum(model, a, b), kinetic_energy(model, a, b)]
    out = numbers([q2, v2, *told], [x, w], [q, v])
    return out[0].ravel(), out[1].ravel(), out[2:5], out[5:]


@pytest.mark.parametrize("seed", range(12))
def test_a_tree_taken_apart_and_put_together_again_has_its_old_state(seed):
    """Every joint kind: coordinates and speeds of free bodies follow from the tree's, and the tree's from theirs.

    1e-8 relative: quaternion to matrix and back is 1e-16, the condition of random mass matrices reaches 1e6.
    """
    tree = random_mechanism(seed, kinds=[k for k in EVERY_KIND if k != "helical"])
    q, v, _ = random_state(tree, seed)
    loose = freed(tree)
    q1, v1, a, b = passed(tree, loose, q, v)
    for x, y in zip(a, b, strict=True):
        assert relative(x, y) < 1e-9
    _, v2, _, c = passed(loose, tree, q1, v1)
    assert relative(v2, v) < 1e-8
    assert relative(a[0], c[0]) < 1e-8  # poses: angles may differ by whole turns


def test_every_kind_with_coordinates_can_be_told_from_poses():
    from linkwork.model.joints import KINDS

    assert {name for name, kind in KINDS.items() if kind.nq} == set(COORDINATES)


def test_a_helical_joint_keeps_its_turns():
    m = lw.Mechanism("screw").body("nut", mass=1, inertia=(1, 1, 1))
    screw = m.joint("screw", "helical", "world", "nut", axis="z", pitch="5 mm/rev").build()
    q, _, _, _ = passed(freed(screw), screw, [0, 0, 0.025, 1, 0, 0, 0], [0] * 6)
    assert q[0] == pytest.approx(10 * np.pi, abs=1e-12)


def test_a_quaternion_follows_from_its_matrix_in_every_direction():
    from linkwork.spatial import quaternion_rotation

    x = ca.SX.sym("x", 4)
    f = ca.Function("f", [x], [quaternion_of(quaternion_rotation(x))])
    rng = np.random.default_rng(1)
    some = rng.normal(size=(200, 4)) * 10.0 ** rng.integers(-6, 1, size=(200, 4))
    for quat in [*np.eye(4), *some]:
        quat = quat / np.linalg.norm(quat)
        back = np.array(f(quat)).ravel()
        assert min(np.abs(back - quat).max(), np.abs(back + quat).max()) < 1e-14


def dumbbells(joint):
    """Two bodies, both free, or the second on the first by `joint` at their touching ends."""
    m = lw.Mechanism("two", gravity=(0, 0, 0))
    m.body("a", mass=70, inertia=(9, 40, 45)).body("b", mass=9000, inertia=(1900, 8000, 7000))
    m.joint("fly_a", "free", "world", "a")
    if joint is None:
        m.joint("fly_b", "free", "world", "b")
    else:
        axis = {"axis": "z"} if joint in ("revolute", "prismatic") else {}
        m.joint("hitch", joint, "a", "b", at=(1, 0.2, 0), **axis)
    return m.build()


@pytest.mark.parametrize("joint", ["spherical", "revolute", "fixed", "prismatic"])
def test_joining_keeps_linear_and_angular_momentum_and_loses_energy(joint, figures):
    """1e-12 relative: the momenta are rows of the equations that are solved, so only their rounding is left."""
    two, one = dumbbells(None), dumbbells(joint)
    rng = np.random.default_rng(4)
    worst, lost = 0.0, 1.0
    for _ in range(20):
        q, v, _ = random_state(two, int(rng.integers(1 << 30)))
        q[7:10] = q[:3] + rotation(q[3:7]) @ (1, 0.2, 0)
        if joint != "spherical":
            q[10:14] = q[3:7]
        _, _, before, after = passed(two, one, q, v)
        worst = max(worst, relative(before[1], after[1]))
        lost = min(lost, float(1 - after[2].item() / before[2].item()))
        assert relative(before[0][:12], after[0][:12]) < 1e-13  # poses
    figures("docking", f"momentum through a new {joint} joint", worst=f"{worst:.1e}", asked="1e-12")
    assert worst < 1e-12 and lost > 0


def rotation(quat):
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(quat[[1, 2, 3, 0]]).as_matrix()


def test_what_cannot_be_passed_is_told_by_name():
    two, one = dumbbells(None), dumbbells("spherical")
    more = lw.Mechanism("more", gravity=(0, 0, 0)).body("c", mass=1, inertia=(1, 1, 1)).joint("j", "free", "world", "c")
    q, v = ca.SX.sym("q", one.nq), ca.SX.sym("v", one.nv)
    with pytest.raises(lw.ModelError, match="body 'c' is not in the model 'two'"):
        transfer(one, q, v, more.build())
    assert transfer(two, q, v, two) == (q, v)


# --- studies ---
def ball(kind, mass_known=True):
    """A ball on a vertical track that falls ("down") or flies up without weight ("up")."""
    m = lw.Mechanism(kind, gravity=(0, 0, -9.81 if kind == "down" else 0))
    m.body("ball", mass=2, inertia=(1, 1, 1)).joint("track", "prismatic", "world", "ball", axis="z")
    return m.parameter("gravity.z").build() if kind == "down" else m.build()


def there_and_back():
    """Falls to z = 0, then the same motion goes on without gravity (downwards) to z = −1."""
    low = lw.Event("floor", lambda s: s.q("track"), "stop", -1)
    deep = lw.Event("deep", lambda s: s.q("track") + 1, "stop", -1)
    peaks = {"speed": lambda s: -s.v("track")}
    return Study([
        Phase("fall", lw.system(ball("down"), events=[low]), {"floor": "drift"}, late="still falling", peaks=peaks),
        Phase("drift", lw.system(ball("up"), events=[deep]), late="still drifting", limit=0.4, peaks=peaks),
    ])  # fmt: skip


HEIGHTS = np.array([0.05, 0.5, 1.0, 2.0, 400.0])


def test_samples_go_through_phases_at_their_own_times():
    """Closed form: falls for √(2h/g), drifts at √(2gh); events are found to 1e-12 of the step."""
    run = there_and_back().run({"track": HEIGHTS}, until=3, times=300, rtol=1e-12, atol=1e-12)
    speed, when = np.sqrt(2 * 9.81 * HEIGHTS), np.sqrt(2 * HEIGHTS / 9.81)
    assert run.outcome == ("still drifting", "deep", "deep", "deep", "still falling")
    assert np.allclose(run.entered["drift"][:4], when[:4], rtol=0, atol=1e-11) and np.isnan(run.entered["drift"][4])
    ends = [when[0] + 0.4, *(when[1:4] + 1 / speed[1:4]), 3]
    assert np.allclose(run.statuses.time, ends, rtol=0, atol=1e-11)
    assert np.allclose(run.peaks["speed"], [*speed[:4], 3 * 9.81], rtol=1e-11)
    assert np.allclose(run.peak_times["speed"][[0, 4]], [when[0], 3], atol=0.5)
    z = run["track"].values
    for k in range(4):
        t = run.time
        exact = np.where(t < when[k], HEIGHTS[k] - 9.81 * t * t / 2, -speed[k] * (t - when[k]))
        alive = t <= ends[k]
        assert np.allclose(z[k, alive], exact[alive], rtol=0, atol=1e-10) and np.isnan(z[k, ~alive]).all()
    assert np.allclose(run.end("track")[1:4], -1, rtol=0, atol=1e-11)
    assert np.allclose(run.leaving("fall", "track.rate")[:4], -speed[:4], rtol=1e-11)


def test_bits_do_not_depend_on_batch_lanes_or_threads():
    study, n = there_and_back(), 37
    h = np.random.default_rng(1).uniform(0.01, 40, n)

    def digest(run):
        parts = [
            run["track"].values,
            run["track.rate"].values,
            run.peaks["speed"],
            run.statuses.time,
            run.end("energy"),
        ]
        return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in parts)).hexdigest()

    whole = study.run({"track": h}, until=3, times=30)
    for options in ({"threads": 1}, {"threads": 2}, {"lanes": 1}, {"lanes": 4, "threads": 2}):
        assert digest(study.run({"track": h}, until=3, times=30, **options)) == digest(whole)
    alone = [study.run({"track": h[k : k + 1]}, until=3, times=30)["track"].values[0] for k in range(n)]
    assert np.array(alone).tobytes() == whole["track"].values.tobytes()


def test_a_lane_forgets_the_events_of_its_last_sample():
    """In one lane, samples that an event has stopped come before others: these start as if they were the first."""
    m = lw.Mechanism("line", gravity=(0, 0, 0)).body("b", mass=1, inertia=(1, 1, 1))
    model = m.joint("x", "prismatic", "world", "b", axis="x").build()
    kink = lw.Event("kink", lambda s: ca.fmax(s.q("x") - 1, 0.5 - s.v("x")), "stop", -1)
    start = {"x": np.array([2.0, 1 + 1e-9, 2.0, 1 + 1e-9]), "x.rate": np.array([-1.0, -1.0, 0.7, 0.7])}
    one = lw.simulate(model, start, until=2, times=1, events=[kink], threads=1, progress=False)
    for k in range(4):
        alone = lw.simulate(model, {n: x[k] for n, x in start.items()}, until=2, times=1, events=[kink], progress=False)
        assert one.statuses[k] == alone.statuses[0]


def test_parameters_reach_every_phase_that_declares_them():
    run = there_and_back().run({"track": 1.0}, {"gravity.z": np.array([-1.0, -4.0])}, until=3, times=1)
    assert np.allclose(run.entered["drift"], np.sqrt(2 / np.array([1.0, 4.0])), rtol=1e-6)


def test_a_sample_whose_body_would_jump_ends_and_is_named():
    """A ball caught at another height than the joint that is to hold it: 3 mm, with `within` of 2 and of 4 mm."""
    held = lw.Mechanism("held", gravity=(0, 0, 0)).body("ball", mass=2, inertia=(1, 1, 1))
    held = held.joint("hinge", "revolute", "world", "ball", at=(0, 0, -0.003), axis="z").build()
    low = lw.Event("floor", lambda s: s.q("track"), "stop", -1)
    heights = np.array([1.0, -1.0, 2.0])  # the second is below the floor from the start and goes on falling

    def outcomes(within):
        fall = Phase("fall", lw.system(ball("down"), events=[low]), {"floor": Pass("held", within=within)})
        return Study([fall, Phase("held", lw.system(held))]).run({"track": heights}, until=2)

    torn = outcomes(0.002)
    why = "cannot pass to 'held': body 'ball' would jump by 0.003 m"
    assert torn.outcome == (why, "time-out", why) and list(torn.ok) == [False, True, False]
    assert outcomes(0.004).outcome == ("time-out", "time-out", "time-out")


def test_speeds_may_be_changed_on_the_way_and_parameters_carried():
    """Up again with half the speed, in a phase whose gravity is 3 m/s² and the height at the event."""
    low = lw.Event("floor", lambda s: s.q("track"), "stop", -1)
    way = Pass("up", carry={"gravity.z": lambda s: -3 - s.q("track")}, speeds=lambda s: -0.5 * s.v("track"))
    study = Study([
        Phase("fall", lw.system(ball("down"), events=[low]), {"floor": way}),
        Phase("up", lw.system(ball("down"), events=[low]), peaks={"height": lambda s: s.q("track")}, h_max=0.02),
    ])  # fmt: skip
    run = study.run({"track": HEIGHTS[:3]}, until=30, times=1, rtol=1e-11, atol=1e-11)
    assert run.outcome == ("floor",) * 3 and study.parameters == ()
    assert np.allclose(run.peaks["height"], 0.25 * 9.81 * HEIGHTS[:3] / 3, rtol=1e-4)  # steps/8 of 2.5 ms
    assert np.allclose(run.end("track.rate"), -0.5 * np.sqrt(2 * 9.81 * HEIGHTS[:3]), rtol=1e-9)


def test_endless_passing_to_and_fro_is_stopped_and_told():
    up = lw.Event("up", lambda s: s.q("track") - 1, "stop", +1)
    down = lw.Event("down", lambda s: s.q("track"), "stop", -1)
    turn = {"speeds": lambda s: -s.v("track")}
    study = Study([
        Phase("there", lw.system(ball("up"), events=[up]), {"up": Pass("back", **turn)}),
        Phase("back", lw.system(ball("up"), events=[down]), {"down": Pass("there", **turn)}),
    ], rounds=6)  # fmt: skip
    run = study.run({"track": 0.5, "track.rate": np.array([1.0, 0.1])}, until=20, times=1)
    assert run.outcome == ("too many phases", "time-out") and list(run.ok) == [False, True]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Study([Phase("a", lw.system(ball("up")), {"flor": "b"})]), "no event 'flor'"),
        (lambda: Study([]), "the phases of 'study' are"),
        (lambda: there_and_back().run({"track": 1.0}, {"gravity.x": 1}), "'gravity.x' is not a declared parameter"),
        (lambda: there_and_back().phase("drfit"), "no phase 'drfit'"),
        (lambda: there_and_back().run({"track": HEIGHTS}, {"gravity.z": np.ones(3)}), "'gravity.z' has 3 values for 5"),
        (lambda: there_and_back().run({"track": 1.0}, until=1)["track.rat"], "no quantity 'track.rat'"),
    ],
)
def test_mistakes_in_a_study_are_told_by_name(make, text):
    with pytest.raises(lw.LinkworkError, match=text):
        make()
