"""Free flight has no error that would shorten a step: a wall must be met all the same."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import cli
from linkwork.docking import Cone, Design, apart, contact
from linkwork.errors import RunError
from linkwork.impacts import bounce
from linkwork.model.contact_laws import BRIEF
from linkwork.simulation.run import STEPPED

START = {"ship.position": (-10.6, 0.2, 0), "ship.v_x": 0.2}


@pytest.fixture(scope="module")
def rigid():
    return Design(rigid=True, control=None, cone=Cone(friction=0.0))


def after_the_blow(run):
    """Speed 2.5 s after the start, which is after the one blow."""
    return run["ship.v_x"][int(np.argmin(np.abs(run.time - 2.5)))]


def test_a_blow_does_not_depend_on_when_the_run_ends(rigid, figures):
    model = apart(rigid)
    short, *others = [
        after_the_blow(lw.simulate(model, START, times=np.append(np.linspace(0, 2.5, 26), np.arange(3, end + 0.5))))
        for end in (3, 7, 20, 100)
    ]
    spread = np.ptp([short, *others])
    figures("docking", "speed after a blow, runs of 3 to 100 s", worst=f"{spread:.1e}", asked="1e-7")
    assert short < 0.16  # it would be 0.2 without the blow
    assert spread < 1e-7  # steps of other lengths, tolerance 1e-9, a contact of 1 MN/m


def test_impulses_do_not_depend_on_when_the_run_ends(rigid):
    model, wall = apart(rigid), contact(rigid)
    speeds = [
        after_the_blow(lw.simulate(model, START, end, times=np.linspace(0, 2.5, 26), events=[bounce(wall, 0.367)]))
        for end in (2.5, 4, 7, 10)
    ]
    assert np.ptp(speeds) < 1e-9 and speeds[0] < 0.16


def test_a_sweep_meets_the_wall_too(rigid):
    vary = {"ship.v_x": {"values": [0.2]}, "ship.y": {"values": [0.2]}, "ship.x": {"values": [-10.6]}}
    record = {"speed": "ship.v_x at 2.5 s"}
    found = lw.sweep(apart(rigid), vary, samples=2, until=50, record=record, times=100)
    assert np.all(found["speed"] < 0.16)


def test_a_bound_that_is_told_counts(rigid):
    free = lw.simulate(apart(rigid), START, until=1.0, times=1)
    assert free.trust.steps >= 1.0 / BRIEF
    assert lw.simulate(apart(rigid), START, until=1.0, times=1, h_max="1 ms").trust.steps >= 1000
    assert lw.simulate(apart(rigid), START, until=1.0, times=1, h_max=10).trust.steps < 20


@pytest.mark.parametrize("method", STEPPED)
def test_a_bound_on_steps_of_one_length_is_refused(method, rigid, tmp_path, capsys):
    with pytest.raises(RunError, match=f"{method} takes steps of one length"):
        lw.simulate(apart(rigid), START, until=1.0, method=method, step=0.01, h_max=0.1)
    file = tmp_path / "m.yaml"
    lw.write_yaml(apart(rigid), file)
    assert cli.main(["simulate", str(file), "--method", method, "--step", "10ms", "--h-max", "1ms"]) == 1
    assert "takes steps of one length" in capsys.readouterr().err


@pytest.mark.parametrize("h_max", [0, -1, "3 kg", np.nan])
def test_a_bound_that_is_no_time_is_refused(h_max, rigid):
    with pytest.raises(lw.LinkworkError, match="h_max"):
        lw.simulate(apart(rigid), START, until=1.0, h_max=h_max)


def test_momentum_is_told_of_two_free_bodies_that_push_each_other_only(rigid):
    run = lw.simulate(apart(rigid), START, until=2.5)
    assert run.trust.momentum_drift is not None and run.trust.momentum_drift < 1e-9
    pushed = apart(Design(rigid=True, control=None, thrust=100.0))
    assert lw.simulate(pushed, START, until=0.1).trust.momentum_drift is None
