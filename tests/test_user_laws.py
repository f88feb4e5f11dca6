"""Laws written in Python: what they may return, and what is told of what they may not."""

import math

import casadi as ca
import numpy as np
import pytest

import linkwork as lw


def arm(law):
    m = lw.Mechanism("arm").body("rod", 1, (0, 0, 0.5), (1, 1, 0)).marker("tool", "rod", (0, 0, 1))
    m.joint("elbow", "revolute", "world", "rod", axis="y")
    return (m.law(law, "odd") if law else m).build()


@pytest.mark.parametrize(
    ("law", "says"),
    [
        (lambda s: {"elbow": 1 if s.q("elbow") > 0 else -1}, "law 'odd' branches on a value"),
        (lambda s: {"elbow": max(0, s.q("elbow"))}, "ca.fmax"),
        (lambda s: {"elbow": math.sin(s.q("elbow"))}, "ca.sin, not math.sin"),
        (lambda s: {"elbow": "3 N*m"}, "gives 'elbow' str"),
        (lambda s: {"tool": None}, "gives 'tool' NoneType"),
        (lambda s: {"tool": ca.MX.sym("x", 3)}, "gives 'tool' MX"),
    ],
)
def test_what_a_law_may_not_return_is_told(law, says):
    with pytest.raises(lw.ModelError) as error:
        lw.simulate(arm(law), until=0.1)
    assert says in str(error.value)
    with pytest.raises(lw.ModelError, match="event 'e' branches on a value"):
        lw.simulate(arm(None), until=0.1, events=[lw.Event("e", lambda s: max(0, s.q("elbow")))])


def test_a_force_may_be_a_row():
    def pushed(value):
        return lw.simulate(arm(lambda s: {"tool": value}), until=0.1, times=1)["q"][-1]

    assert np.array_equal(pushed(ca.SX([[1, 2, 3]])), pushed((1, 2, 3)))


def test_a_motion_without_a_rate_ends_its_sample_and_no_more():
    m = lw.Mechanism("m").body("b", 1)
    m.joint("lift", "prescribed", "world", "b", motion={"position": ["sqrt(t)", 0, 0]})
    run = lw.simulate(m.build(), until=0.1)
    assert run.statuses[0].text == "diverged" and not run.ok[0]
