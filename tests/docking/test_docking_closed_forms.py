"""verification-cases.md V14 on the docking's own models, V11(c) and (d) by the same impulse."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.docking import Cone, Design, Probe, Vehicle, apart, contact, joined
from linkwork.dynamics.impact import equivalent_mass, impact, relative_jacobian
from linkwork.impacts import bounce
from linkwork.model import contacts

TIGHT = {"rtol": 1e-12, "atol": 1e-12, "progress": False}
C30, S30 = np.cos(np.pi / 6), 0.5

# V14(a): chaser and target as printed there
IMPULSE, MASS = 1187.8105484643, 3386.4885582209
V1, W1 = (0.1530465557353, -0.06484361060459, 0), -0.04682334094605
V2, W2 = (0.05143370549266, 0.02969526371161, 0), -0.01507666586945


def v14a(**cone):
    """The docking's vehicles with a locked probe; head and seat placed so that they touch at the printed points.

    The cone's wall has the normal (cos 30°, sin 30°) where it is met from inside at 60° half angle.
    """
    chaser, target = Vehicle(7000, (5000, 40000, 40000), 3.5), Vehicle(20000, (30000, 250000, 250000), 6)
    shape = Cone(half_angle=np.pi / 3, friction=0.0, **cone)
    d = Design(chaser=chaser, target=target, cone=shape, rigid=True, control=None)
    r = d.probe.head
    along = (0.2 - shape.seat * S30) / C30  # from the seat's foot to the wall's point 0.2 m off the axis
    seat = -6 + along * S30 - shape.seat * C30
    places = {"head.position.x": 3.5 - r * C30, "head.position.y": 0.2 - r * S30, "seat.position.x": seat}
    return d, apart(d).replace(places)


def before(clear=0.0):
    """Contact at t = 0, or `clear` seconds later, at the relative velocity (0.3, 0.02)."""
    return {"ship.position": (-9.5 - 0.3 * clear, -0.02 * clear, 0), "ship.velocity": (0.3, 0.02, 0)}


def test_the_first_impact_is_that_of_v14a(figures):
    d, model = v14a()
    event = bounce(contact(d), restitution=0.3)
    run = lw.simulate(model, start=before(0.05), until=0.1, times=[0.1], events=[event], **TIGHT)
    ((t, name),) = run.events[0]
    assert name == "impact" and t == pytest.approx(0.05, abs=1e-9)
    v1, v2 = run["chaser.velocity"][-1], run["target.velocity"][-1]
    off = [*(v1 - V1), *(v2 - V2), run["chaser.omega"][-1][2] - W1, run["target.omega"][-1][2] - W2]
    off = float(np.abs(off).max())
    lost = run["kinetic_energy"][0] - run["kinetic_energy"][-1]
    figures("docking", "V14(a) first impact: speeds", worst=f"{off:.1e}", asked="1e-09")
    figures("docking", "V14(a) energy lost [J]", worst=f"{abs(lost - 112.1681184542):.1e}", asked="1e-08")
    assert off < 1e-9  # the free turning for 0.05 s after the blow changes them by less than its own rounding
    assert abs(lost - 112.1681184542) < 1e-8  # printed to 1e-10


def traced_impact(model, start, first, second, point, normal, e, mu):
    """(v after, impulse, equivalent mass) as numbers."""
    system = lw.system(model)
    y = system.start(start)[0]
    q, v = ca.SX(ca.DM(y[: model.nq])), ca.SX(ca.DM(y[model.nq : model.nq + model.nv]))
    J = relative_jacobian(model, q, first, second, ca.SX(ca.DM(point)))
    after, impulse = impact(model, q, v, J, ca.SX(ca.DM(normal)), e, mu)
    mass = equivalent_mass(model, q, J, ca.SX(ca.DM(normal)))
    return [np.array(ca.evalf(x)).ravel() for x in (after, impulse, mass)]


def test_impulse_and_equivalent_mass_are_those_of_v14a():
    _, model = v14a()
    point, normal = (-6, 0.2, 0), (-C30, -S30, 0)
    _, impulse, mass = traced_impact(model, before(), "head", "seat", point, normal, 0.3, 0.0)
    assert np.linalg.norm(impulse) == pytest.approx(IMPULSE, rel=1e-12)
    assert mass[0] == pytest.approx(MASS, rel=1e-12)


def test_contact_law_and_impulse_agree_on_the_first_impact(figures):
    """The stiffer the wall, the shorter the blow and the less the vehicles turn in it: from 1 to 100 MN/m the
    difference falls about tenfold, as the duration does."""
    speed = 0.3 * C30 + 0.02 * S30
    off = []
    for stiffness in (1e6, 1e8):
        give = contacts.dissipation(0.3, speed)
        d, model = v14a(stiffness=stiffness, onset=5e-4 * 1e6 / stiffness, dissipation=give)
        seen = contact(d)
        apart_again = lw.Event("apart", lambda s, seen=seen: seen.touch(s).depth, "stop", -1)
        run = lw.simulate(model, start=before(1e-3), until=1, times=1, events=[apart_again], **TIGHT)
        end = run.end()
        assert run.statuses[0].text.endswith("'apart'")
        off.append(abs(end["station.omega_z"] / W2 - 1))
        figures("docking", f"law against impulse, {stiffness:.0e} N/m", worst=f"{off[-1]:.1e}", asked="2e-02")
    assert off[0] < 0.02 and off[1] < 0.2 * off[0]


def test_v11c_a_spinning_ball_sticks_or_slips():
    m = lw.Mechanism("ball", gravity=(0, 0, 0)).body("ball", shape="sphere", size=0.11, mass=0.45)
    model = m.joint("flight", "free", "world", "ball").build()
    start = {"flight.velocity": (3, 0, -5), "flight.omega": (0, -10, 4)}
    at = ("ball", "world", (0, 0, -0.11), (0, 0, 1), 0.8)
    sticks, _, _ = traced_impact(model, start, *at, 0.5)
    slips, _, _ = traced_impact(model, start, *at, 0.1)
    assert np.allclose(sticks, (1.82857142857143, 0, 4, 0, 16.6233766233766, 4), rtol=0, atol=1e-12)
    assert np.allclose(slips, (2.1, 0, 4, 0, 10.4545454545455, 4), rtol=0, atol=1e-12)


def test_v11d_a_rod_end_strikes_a_rough_floor():
    """In the x–z plane; the printed ω turns x towards z, which is −y."""
    m = lw.Mechanism("rod", gravity=(0, 0, 0)).body("rod", mass=1, inertia=(1 / 12, 1 / 12, 1 / 12))
    model = m.joint("flight", "free", "world", "rod").build()
    start = {"flight.velocity": (2, 0, -1.5), "flight.omega": (0, -0.5, 0)}
    after, impulse, _ = traced_impact(model, start, "rod", "world", (-C30 / 2, 0, -S30 / 2), (0, 0, 1), 0.6, 0.1)
    assert np.allclose(impulse, (-0.08125705095295, 0, 0.8125705095295), rtol=0, atol=1e-12)
    assert np.allclose(after, (1.918742949047, 0, -0.6874294904705, 0, 3.966011374571, 0), rtol=0, atol=1e-12)


def test_bodies_that_part_get_no_impulse():
    m = lw.Mechanism("ball", gravity=(0, 0, 0)).body("ball", shape="sphere", size=0.11, mass=0.45)
    model = m.joint("flight", "free", "world", "ball").build()
    after, impulse, _ = traced_impact(
        model, {"flight.velocity": (3, 0, 5)}, "ball", "world", (0, 0, -0.11), (0, 0, 1), 0.8, 0.5
    )
    assert list(after) == [3, 0, 5, 0, 0, 0] and not impulse.any()


# --- V14(b) ---
STROKES = {0.1: 0.01953267030177, 0.5: 0.08557279803101, 1: 0.1325933229243, 2: 0.1050678818774}
GREATEST, LOUDEST = 1.295179973565, 0.9096220797555


def test_captured_axial_motion_is_that_of_v14b(figures):
    """The captured tree with a massless rod: a linear oscillator in closed form, 13 digits."""
    chaser, target = Vehicle(7000, (5e3, 4e4, 4e4), 3.5), Vehicle(420000, (1e8, 1e8, 1e8), 6)
    light = replace(Probe(), sleeve_mass=0.0, rod_mass=0.0)
    model = joined(Design(chaser=chaser, target=target, probe=light))
    start = {"ship.v_x": 0.2, "slide.rate": 0.2}  # the rod and what hangs on it rest
    times = sorted([*STROKES, GREATEST, LOUDEST])
    run = lw.simulate(model, start=start, until=2, times=times, **TIGHT)
    x = dict(zip(run.time, run["slide"][:], strict=True))
    w = dict(zip(run.time, run["slide.rate"][:], strict=True))
    off = max(abs(x[float(t)] / e - 1) for t, e in STROKES.items())
    figures("docking", "V14(b) compression", worst=f"{off:.1e}", asked="1e-09")
    assert off < 1e-9
    assert x[GREATEST] == pytest.approx(0.1399272732339, rel=1e-9)
    assert 8000 * x[LOUDEST] + 3000 * w[LOUDEST] == pytest.approx(1217.507352027, rel=1e-9)


# --- V14(c) ---
GUIDE = {
    0.2: (0.2711866222463, 0.02398443591536, 0.342955856683),
    0.5: (0.2254188876469, 0.05966505024579, 0.3038921377779),
    1: (0.1381565359893, 0.1151518902192, 0.2505639134457),
    2: (-0.08299349106587, 0.1490182973864, 0.2412814039635),
}


def test_frictionless_guide_motion_is_that_of_v14c(figures):
    """The head as a sphere of 100 kg in the docking's cone, held fast and without seat, at 1 GN/m.

    Asked are 1e-4 with hard contact. The sphere starts as deep as its load there, 0.12² cot 45° / 0.3 N per kg, presses
    it; what is left is a small hop about that depth, so the force is checked to 1 %.
    """
    cone = Cone(half_angle=np.pi / 4, mouth=2.0, seat=0.0, stiffness=1e9, onset=1e-6, friction=0.0)
    d = Design(cone=cone, probe=Probe(head=0.05))
    m = lw.Mechanism("guide", gravity=(0, 0, 0)).body("head", mass=100, inertia=(0.1, 0.1, 0.1)).marker("seat", "world")
    seen = replace(contact(d), sphere="head")
    model = m.joint("flight", "free", "world", "head").law(seen, "contact").build()
    half, along = np.sin(np.pi / 4), 0.2 * np.sin(np.pi / 4)
    dip = np.sqrt(2 * 1e-6 * 100 * 0.12**2 / 0.3 * half / 1e9)
    start = {"flight.position": (0.3 + dip * half, 0, 0.05 / half + 0.3 - dip * half),
             "flight.velocity": (-along, 0.3 * 0.4, -along)}  # fmt: skip
    nearest = 1.559794370264
    times = np.unique([*np.linspace(0, 2, 401), *GUIDE, nearest])
    run = lw.simulate(model, start=start, until=2, times=times, rtol=1e-10, atol=1e-12, progress=False)
    x = dict(zip(run.time, run["head.position"][:], strict=True))
    off = max(float(np.abs(x[float(t)] - e).max()) for t, e in GUIDE.items())
    slant = float(np.linalg.norm(x[nearest] - (0, 0, 0.05 / half)))
    push = dict(zip(run.time, np.linalg.norm(run["head.acceleration"][:], axis=1), strict=True))
    place = run["head.position"][:]
    depth = 0.05 - half * (place[:, 2] - np.hypot(place[:, 0], place[:, 1]))
    figures("docking", "V14(c) place [m]", worst=f"{off:.1e}", asked="1e-04")
    figures("docking", "V14(c) deepest [m]", worst=f"{depth.max():.1e}", asked="1e-04")
    assert off < 2e-6 and np.abs(depth).max() < 1e-6
    assert slant == pytest.approx(0.2182820625327, abs=2e-6)
    assert push[nearest] == pytest.approx(0.2492188289262, rel=1e-2)
