"""The compliant contact against one impulse with restitution, on first contacts drawn from the whole box.

With a locked probe, which is what the impulse law knows: it has no absorber that gives way during the blow.
"""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import linkwork as lw
from linkwork.docking import BOX, Cone, Design, Docking, DockingStudy
from linkwork.impacts import independent, struck
from linkwork.model import contacts
from linkwork.phases import Phase, Study

SAMPLES = 48


def cup(s):
    return next(law.function for law in s._model.laws if law.name == "contact")


def until_apart(study):
    """Free flight up to the touch, then the blow until head and wall part."""
    touch = lw.Event("touch", lambda s: cup(s).touch(s).depth, "stop", +1)
    apart = lw.Event("apart", lambda s: cup(s).touch(s).depth, "stop", -1)
    model = study.docking.contact_model
    return Study([
        Phase("flight", lw.system(model, events=[touch]), {"touch": "blow"}, sharper=1e4, h_max=0.05),
        Phase("blow", lw.system(model, events=[apart]), sharper=1e4, h_max=1e-3),
    ])  # fmt: skip


def inwards(s):
    """Normal speed of the head into the wall."""
    touch = cup(s).touch(s)
    return -ca.dot(contacts.relative(s, "head", "seat", touch.point), touch.normal)


def differences(friction, restitution, stiffness):
    """|Δv of the law − Δv of the impulse| / |Δv of the impulse| of each sample, by the norm of kinetic energy."""
    onset = 500 / stiffness  # the same force everywhere: 250 N where the spring becomes linear
    cone = replace(Cone(), friction=friction, stiffness=stiffness, onset=onset, slip=1e-3)
    study = DockingStudy(Docking(Design(rigid=True, control=None, cone=cone), parameters=("contact.dissipation",)))
    rng = np.random.default_rng(5)
    start = study.starts({k: rng.uniform(a, b, SAMPLES) for k, (a, b) in BOX.items()})
    both = until_apart(study)
    speed = both.run(start, {"contact.dissipation": np.zeros(SAMPLES)}, 6.0).entering("blow", inwards)
    assert (speed > 1e-3).all()
    given = [contacts.dissipation(restitution, v) for v in speed]  # each leaves with this restitution at its own speed
    run = both.run(start, {"contact.dissipation": np.array(given)}, 6.0)
    assert set(run.outcome) == {"apart"}
    at, after = run.entering("blow", lambda s: independent(s)[1]), run.end(lambda s: independent(s)[1])
    told = run.entering("blow", lambda s: struck(s, cup(s), restitution, friction)[0])
    d = study.docking.design
    weights = np.sqrt([*[v for body in (d.chaser, d.target) for v in (*[body.mass] * 3, *body.inertia)]])
    return np.linalg.norm((after - told) * weights, axis=1) / np.linalg.norm((told - at) * weights, axis=1)


@pytest.mark.parametrize("restitution", [0.05, 0.3, 0.6])
def test_without_friction_the_stiffer_the_contact_the_more_it_is_an_impulse(restitution, figures):
    """The blow lasts as long as √(mass / stiffness), 0.02 s at 100 MN/m, and in it the vehicles turn and the head
    slides to another place; what that changes falls tenfold when the stiffness rises a hundredfold."""
    stiff, stiffer = differences(0.0, restitution, 1e8).max(), differences(0.0, restitution, 1e10).max()
    figures("docking", f"law against impulse, 1e10 N/m, e = {restitution}", worst=f"{stiffer:.1e}", asked="2e-03")
    assert stiffer < 0.2 * stiff and stiffer < 2e-3


def test_with_friction_the_two_laws_are_near_each_other(figures):
    """The impulse slides in the direction it had before the blow, or sticks; the contact turns and stops on its way.
    Where friction is 0.1 that is a few hundredths of the blow, and no more than a fifth of it in any start."""
    off = differences(0.1, 0.3, 1e8)
    figures("docking", "the same with friction 0.1: median", worst=f"{np.median(off):.1e}", asked="3e-02")
    assert np.median(off) < 0.03 and off.max() < 0.2
