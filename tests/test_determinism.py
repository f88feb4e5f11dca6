"""A sample's bits depend on that sample alone: not on the batch, the place in it, lanes, threads or cache."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mechanisms import random_mechanism, random_state

import linkwork as lw
from linkwork.simulation.run import integrate

SAMPLES = 37
"""Not a multiple of any number of lanes: the last block is partly empty."""


def robot(name):
    cmeel = pytest.importorskip("cmeel")
    robots = Path(next(iter(cmeel.__path__))).parent / "cmeel.prefix/share/example-robot-data/robots"
    return lw.read_urdf(next(robots.rglob(f"{name}.urdf")))


@cache
def z1():
    model = robot("z1")
    return lw.equations(model, lw.aba), *random_state(model, 1, SAMPLES)


@cache
def reference():
    eq, q, v, tau = z1()
    return lw.compile(eq, lanes=8)(q=q, v=v, tau=tau, threads=1)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_kernel_bits_do_not_depend_on_lanes_or_batch(lanes):
    eq, q, v, tau = z1()
    kernel = lw.compile(eq, lanes=lanes)
    for count in (1, 2, 3, 7, 8, 9, 16, SAMPLES):
        found = kernel(q=q[:count], v=v[:count], tau=tau[:count], threads=1)
        np.testing.assert_array_equal(found, reference()[:count])
    one = np.stack([kernel(q=q[k], v=v[k], tau=tau[k]) for k in range(SAMPLES)])
    np.testing.assert_array_equal(one, reference())


def test_kernel_bits_do_not_depend_on_the_place_in_the_batch():
    eq, q, v, tau = z1()
    kernel = lw.compile(eq)
    order = np.random.default_rng(0).permutation(SAMPLES)
    np.testing.assert_array_equal(kernel(q=q[order], v=v[order], tau=tau[order]), reference()[order])
    for shift in range(1, 9):
        turned = [np.roll(x, shift, axis=0) for x in (q, v, tau)]
        found = kernel(q=turned[0], v=turned[1], tau=turned[2])
        np.testing.assert_array_equal(np.roll(found, -shift, axis=0), reference())


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_kernel_bits_do_not_depend_on_threads(threads):
    eq, q, v, tau = z1()
    many = [np.tile(x, (50, 1)) for x in (q, v, tau)]
    found = lw.compile(eq)(q=many[0], v=many[1], tau=many[2], threads=threads)
    np.testing.assert_array_equal(found, np.tile(reference(), (50, 1)))


def test_kernel_bits_do_not_depend_on_the_memory_layout():
    """Rows far apart, columns first, a shared input, blocks, bound arrays."""
    eq, q, v, tau = z1()
    kernel = lw.compile(eq)
    wide = np.zeros((SAMPLES, 100))
    wide[:, 3 : 3 + q.shape[1]] = q
    far = kernel(q=wide[:, 3 : 3 + q.shape[1]], v=np.asfortranarray(v), tau=tau)
    np.testing.assert_array_equal(far, reference())
    blocks = kernel.blocks(**kernel.pack(q=q, v=v, tau=tau))
    np.testing.assert_array_equal(kernel.unpack(blocks, SAMPLES), reference())
    np.testing.assert_array_equal(kernel.bind(q=q, v=v, tau=tau)(), reference())
    shared = kernel(q=q[0], v=v, tau=tau)
    np.testing.assert_array_equal(shared, kernel(q=np.tile(q[0], (SAMPLES, 1)), v=v, tau=tau))


def test_kernel_bits_do_not_depend_on_the_cache(tmp_path, monkeypatch):
    """Built anew, built and stored, and read back."""
    eq, q, v, tau = z1()
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    for cached in (False, True, True):
        np.testing.assert_array_equal(lw.compile(eq, cache=cached)(q=q, v=v, tau=tau), reference())


# --- whole simulations ---
@cache
def swarm():
    """Samples of a floating mechanism with springs, damping, friction and an event: they take different steps."""
    model = random_mechanism(21, n=4, root="free", passive=True)
    q, v, _ = random_state(model, 3, SAMPLES)
    event = lw.Event("turn", lambda s: s.v(model.joint(1).name)[0], "record")
    return lw.system(model, events=[event]), q, v * np.linspace(0.2, 3, SAMPLES)[:, None]


def states(run):
    return np.concatenate([run["q"].values, run["v"].values, run["work"].values[..., None]], axis=2)


@cache
def whole():
    system, q, v = swarm()
    return lw.simulate(system, start={"q": q, "v": v}, until=0.5, times=11, threads=1)


def test_the_samples_differ_in_their_steps_and_events():
    run = whole()
    assert run.ok.all() and len({len(e) for e in run.events}) > 1
    assert len(np.unique(states(run)[:, -1, 0])) == SAMPLES


@pytest.mark.parametrize("threads", [2, 3])
def test_simulations_do_not_depend_on_threads(threads):
    system, q, v = swarm()
    run = lw.simulate(system, start={"q": q, "v": v}, until=0.5, times=11, threads=threads)
    np.testing.assert_array_equal(states(run), states(whole()))
    assert run.events == whole().events


def test_simulations_do_not_depend_on_the_batch_or_the_place_in_it():
    system, q, v = swarm()
    for k in (0, 5, SAMPLES - 1):
        run = lw.simulate(system, start={"q": q[k], "v": v[k]}, until=0.5, times=11)
        np.testing.assert_array_equal(states(run)[0], states(whole())[k])
        assert run.events[0] == whole().events[k] and run.end() == whole().end(k)
    order = np.random.default_rng(1).permutation(SAMPLES)
    run = lw.simulate(system, start={"q": q[order], "v": v[order]}, until=0.5, times=11, threads=2)
    np.testing.assert_array_equal(states(run), states(whole())[order])


@pytest.mark.parametrize("method", ["rk4", "dopri5", "dop853", "rodas5p"])
def test_every_integrator_gives_the_same_bits_in_any_number_of_lanes(method):
    model = random_mechanism(5, n=2, passive=True)
    q, v, _ = random_state(model, 1, 9)
    system = lw.system(model)
    y0 = system.start({"q": q, "v": v})
    options = {"step": 0.01} if method == "rk4" else {}
    found = [
        integrate(system.motion, y0, None, np.linspace(0, 0.2, 5), method, lanes=lanes, threads=threads, **options).y
        for lanes, threads in ((1, 1), (2, 2), (4, 1), (8, 1))
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


def test_a_built_run_and_one_from_the_cache_are_equal():
    system, q, v = swarm()
    y0 = system.start({"q": q[:3], "v": v[:3]})
    found = [
        integrate(system.motion, y0, None, np.linspace(0, 0.5, 12), cache=cached).y for cached in (False, True, True)
    ]
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_array_equal(found[0][:, :, : q.shape[1]], whole()["q"].values[:3])
