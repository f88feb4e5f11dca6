"""A sphere against cup, funnel and stops: where they touch, what the force does."""

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.model import contacts, laws

BETA, MOUTH, SEAT, RADIUS = np.radians(50), 0.4, 0.05, 0.04
BORE, DEPTH = 0.045, 0.1


def outline(kind, n=40001):
    """Points of the wall in the half plane (rho, z), dense."""
    s, c = np.sin(BETA), np.cos(BETA)
    if kind == "cup":
        foot = SEAT * np.array([c, -s])
        along = np.linspace(0, (MOUTH - SEAT * c) / s, n)[:, None] * np.array([s, c])
        turn = np.linspace(-np.pi / 2, -BETA, n)
        return np.vstack([foot + along, SEAT * np.column_stack([np.cos(turn), np.sin(turn)])])
    along = np.linspace(0, (MOUTH - BORE) / s, n)[:, None] * np.array([s, c])
    bore = np.column_stack([np.full(n, BORE), np.linspace(0, DEPTH, n)])
    return np.vstack([np.array([BORE, DEPTH]) + along, bore])


def touched(kind, points):
    """Depth and normal at points of the x–z plane, through CasADi."""
    x = ca.SX.sym("x", 3)
    still = (ca.SX.zeros(3), ca.SX.eye(3))
    if kind == "cup":
        touch = contacts.cup(x, *still, RADIUS, BETA, MOUTH, SEAT)
    else:
        touch = contacts.funnel(x, *still, RADIUS, BETA, MOUTH, BORE, DEPTH)
    f = ca.Function("touch", [x], [touch.depth, touch.normal, touch.point]).map(len(points))
    depth, normal, point = (np.array(v) for v in f(points.T))
    return depth[0], normal.T, point.T


def places(seed, n=4000):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-0.5, 0.5, n), np.zeros(n), rng.uniform(-0.09, 0.5, n)])


def test_depth_in_a_cup_is_the_radius_less_the_distance_to_its_outline():
    """The outline is a row of points 1e-5 m apart: its nearest one is off by no more than 5e-6 m."""
    x = places(1)
    wall = outline("cup")
    depth, normal, point = touched("cup", x)
    for k in range(0, len(x), 20):
        away = np.hypot(wall[:, 0] - abs(x[k, 0]), wall[:, 1] - x[k, 2])
        assert depth[k] == pytest.approx(RADIUS - away.min(), abs=5e-6)
    assert np.allclose(np.linalg.norm(normal, axis=1), 1, rtol=0, atol=1e-12)
    assert np.allclose(x - point, (RADIUS - depth)[:, None] * normal, rtol=0, atol=1e-12)


def test_depth_in_a_funnel_is_the_radius_less_the_distance_to_its_outline():
    """Where only one of sheet and bottom is touched; in the corner the two add up as vectors."""
    x = places(2, 40000)
    wall = outline("funnel")
    depth, _, _ = touched("funnel", x)
    checked = 0
    for k in np.flatnonzero(depth > 0)[::10]:
        away = np.hypot(wall[:, 0] - abs(x[k, 0]), wall[:, 1] - x[k, 2]).min()
        side, floor = max(RADIUS - away, 0), max(RADIUS - x[k, 2], 0) if abs(x[k, 0]) < BORE else 0.0
        if not (side and floor):
            assert depth[k] == pytest.approx(max(side, floor), abs=5e-6)
            checked += 1
    assert checked > 100
    corner, n, _ = touched("funnel", np.array([[BORE - RADIUS + 3e-4, 0, RADIUS - 4e-4]]))
    assert corner[0] == pytest.approx(5e-4, abs=1e-12) and np.allclose(n[0], [-0.6, 0, 0.8], rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["cup", "funnel"])
def test_the_force_never_jumps(kind):
    """On random lines through every zone, in steps of 2e-7 m: φ(δ) n is Lipschitz with 1 + δ / least distance, which is
    no more than 2 as long as the sphere is no deeper than half its radius."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        a, b = places(rng.integers(1 << 30), 2)
        x = a + np.linspace(0, 1, 4001)[:, None] * (b - a) * (8e-4 / np.linalg.norm(b - a))
        depth, normal, _ = touched(kind, x)
        near = (depth > -1e-3) & (depth < RADIUS / 2)
        if not near.all():
            continue
        over = np.maximum(depth, 0)
        m = np.minimum(over, 5e-4)
        force = (m * (over - m / 2) / 5e-4)[:, None] * normal
        assert np.abs(np.diff(force, axis=0)).max() <= 2.1 * np.linalg.norm(x[1] - x[0])


def dropped(restitution, speed, onset, **more):
    """A free ball flies straight at the bottom of a cup that is fixed in the world."""
    m = lw.Mechanism("drop", gravity=(0, 0, 0))
    m.body("ball", mass=3, inertia=(0.01, 0.01, 0.01))
    m.joint("flight", "free", "world", "ball", at=(0, 0, SEAT + 0.1))
    m.marker("bowl", "world")
    d = contacts.dissipation(restitution, speed)
    wall = {"radius": RADIUS, "half_angle": BETA, "mouth": MOUTH, "seat": SEAT}
    law = laws.cup("ball", "bowl", **wall, stiffness=1e5, onset=onset, dissipation=d, slip=0.01, **more)
    m.law(law, "contact")
    return m.build(), law


@pytest.mark.parametrize(("restitution", "onset"), [(0.3, 1e-4), (0.3, 5e-3), (0.8, 1e-3), (1.0, 1e-3)])
def test_an_impact_leaves_with_the_restitution_its_dissipation_was_made_for(restitution, onset):
    """Whatever the onset: 1e-7 is what rtol 1e-11 leaves after the kinks of φ."""
    model, _ = dropped(restitution, 0.4, onset)
    run = lw.simulate(
        model, start={"flight.v_z": -0.4, "flight.z": -0.12}, until=3, times=1, rtol=1e-11, atol=1e-13, progress=False
    )
    assert run["flight.v_z"][-1] == pytest.approx(0.4 * restitution, abs=1e-7)
    assert contacts.restitution(contacts.dissipation(restitution, 0.4), 0.4) == pytest.approx(restitution, abs=1e-12)


def test_restitution_falls_with_speed():
    d = contacts.dissipation(0.3, 0.2)
    e = [contacts.restitution(d, v) for v in (0.01, 0.1, 0.2, 0.4)]
    assert e == sorted(e, reverse=True) and e[2] == pytest.approx(0.3, abs=1e-12)


def test_stored_energy_is_the_integral_of_the_spring():
    depth = ca.SX.sym("depth")
    slope = ca.Function("s", [depth], [ca.jacobian(contacts.stored(depth, 2e-3), depth), contacts.spring(depth, 2e-3)])
    for x in (-1e-3, 5e-4, 1.9e-3, 2.1e-3, 0.1):
        a, b = slope(x)
        assert float(a) == pytest.approx(float(b), abs=1e-15)


def test_a_contact_gives_equal_and_opposite_wrenches():
    """Force and moment of the pair about the world's origin vanish: nothing comes from outside."""
    m = lw.Mechanism("pair", gravity=(0, 0, 0))
    m.body("ball", mass=3, inertia=(0.01, 0.02, 0.03)).body("bowl", mass=9, inertia=(0.4, 0.5, 0.6))
    m.joint("flight", "free", "world", "ball").joint("drift", "free", "world", "bowl", at=(0.3, 0.2, 0.1))
    wall = {"radius": RADIUS, "half_angle": BETA, "mouth": MOUTH, "seat": SEAT}
    law = laws.cup("ball", "bowl", **wall, stiffness=1e5, onset=1e-3, dissipation=3, friction=0.3, slip=0.01)
    model = m.law(law, "contact").build()
    start = {"flight.position": (0.3 + 0.012, 0.2, 0.1), "flight.velocity": (0.1, 0.3, -0.2), "flight.omega": (1, 2, 3),
             "drift.omega": (-0.3, 0.2, 0.1), "drift.velocity": (0.1, 0, 0)}  # fmt: skip
    run = lw.simulate(model, start=start, until=0.2, times=20, rtol=1e-12, atol=1e-12, progress=False)
    p = run["momentum"][:]
    assert np.abs(run["flight.v_z"][-1] - run["flight.v_z"][0]) > 0.05  # they did touch
    assert np.abs(p - p[0]).max() < 1e-10
    assert run.trust.energy_error < 1e-9


def test_stops_hold_a_joint_within_its_stroke_and_take_energy():
    m = lw.Mechanism("slider", gravity=(0, 0, 0))
    m.body("block", mass=2).joint("slide", "prismatic", "world", "block", axis="x")
    stop = laws.stop("slide", lower=-0.1, upper="30 cm", stiffness=1e5, onset="1 mm", dissipation=2)
    run = lw.simulate(
        m.law(stop, "stops").build(), start={"slide.rate": 0.5}, until=6, times=600, rtol=1e-9, atol=1e-12,
        progress=False,
    )  # fmt: skip
    x, energy = run["slide"][:], run["kinetic_energy"][:]
    assert -0.104 < x.min() < -0.1 and 0.3 < x.max() < 0.304
    free = (x > -0.1) & (x < 0.3)
    assert (np.diff(energy[free]) <= 1e-9).all() and energy[-1] < 0.5 * energy[0]


def test_a_round_stop_limits_the_size_of_two_angles():
    m = lw.Mechanism("rod", gravity=(0, 0, 0)).body("cross")
    m.body("rod", mass=2, centre=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    m.joint("a", "revolute", "world", "cross", axis="x").joint("b", "revolute", "cross", "rod", axis="y")
    stop = laws.limiter("a", "b", limit="15 deg", stiffness=2e3, onset="0.2 deg", dissipation=1)
    run = lw.simulate(
        m.law(stop, "limiter").build(), start={"a.rate": 0.3, "b.rate": 0.4}, until=4, times=400, progress=False
    )
    size = np.degrees(np.hypot(run["a"][:], run["b"][:]))
    assert 15 < size.max() < 16.5 and size[-1] < 15.5


BAD = [
    (lambda: laws.cup("a", "b", radius=0.1, half_angel=1), "unknown key 'half_angel'"),
    (lambda: laws.stop("slide", lower="1 kg"), "lower of the stop"),
    (lambda: contacts.dissipation(1.2, 0.1), "restitution 1.2"),
]


@pytest.mark.parametrize(("make", "text"), BAD, ids=[text for _, text in BAD])
def test_wrong_numbers_are_refused_by_name(make, text):
    with pytest.raises(lw.ModelError, match=text):
        make()


def test_names_and_ranges_of_contact_laws_are_checked_when_the_model_is_built():
    def made(law):
        m = lw.Mechanism("m").body("b", mass=1, inertia=(1, 1, 1)).joint("j", "free", "world", "b")
        return m.law(law, "law").build()

    wall = {"radius": 0.1, "half_angle": 1, "mouth": 1, "onset": 1e-3, "slip": 1e-2}
    for law, text in (
        (laws.cup("bb", "world", **wall), "unknown sphere 'bb'"),
        (laws.cup("b", "b", **wall), "both ends at 'b'"),
        (laws.cup("b", "world", **{**wall, "onset": 0}), "onset of law 'law' is zero"),
        (laws.cup("b", "world", **wall, friction=-1), "friction of law 'law' is below zero"),
        (laws.stop("j", onset=1), "acts on 'j', which has several freedoms"),
    ):
        with pytest.raises(lw.ModelError, match=text):
            made(law)
