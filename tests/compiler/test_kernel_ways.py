"""The quick ways through a kernel give the bits of the plain one: matrices, single samples, bound blocks."""

from __future__ import annotations

import threading

import casadi as ca
import numpy as np
import pytest

from linkwork.compiler import Port, compile_function, lower
from linkwork.compiler.layout import MUCH
from linkwork.errors import RunError


def matrix(n: int = 9) -> ca.Function:
    """A symmetric matrix with zeros and a vector; the matrix also holds an input and a constant twice."""
    x, y = ca.SX.sym("x", n), ca.SX.sym("y")
    m = ca.SX(n, n)
    for i in range(n):
        for j in range(i % 3, i + 1, 2):
            m[i, j] = m[j, i] = ca.sin(x[i] * x[j]) + y
    m[0, 1] = m[1, 0] = x[3]
    m[0, 3] = m[2, 1] = 1.5
    return ca.Function("m", [x, y], [m, x * y, m[0:3, 0:3]], ["x", "y"], ["m", "v", "small"])


@pytest.fixture(scope="module")
def plain():
    return compile_function(matrix(), lanes=1, cache=False)


def given(samples: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(samples)
    return {"x": rng.normal(size=(samples, 9)), "y": rng.normal(size=samples)}


def test_equal_rows_are_lowered_once():
    rows = lower(matrix(), "m", 8, once=True).same
    assert rows[0] is not None and rows[1] is None and rows[2] is None
    full = np.asarray(matrix()(np.arange(9), 2.5)[0]).ravel(order="F")
    assert (full[list(rows[0])] == full).all() and all(first <= row for row, first in enumerate(rows[0]))
    assert len(set(rows[0])) < 0.75 * 81
    once, whole = lower(matrix(), "m", 8, once=True), lower(matrix(), "m", 8)
    assert once.text.count("store") < whole.text.count("store") and whole.same == () and once.counts == whole.counts


@pytest.mark.parametrize("lanes", (2, 4, 8))
def test_matrices_are_the_same_on_all_lanes(plain, lanes):
    kernel = compile_function(matrix(), lanes=lanes, cache=False)
    for samples in (2, 7, 8, 19, 45):
        x = given(samples)
        expected = plain(**x)
        out = {p.name: np.full((samples + 2, *p.sample), 7.0) for p in kernel.outputs}
        kernel(**x, out={name: array[1:-1] for name, array in out.items()})
        blocks = kernel.unpack(kernel.blocks(**kernel.pack(**x)), samples)
        for name, array in out.items():
            assert array[1:-1].tobytes() == expected[name].tobytes() == blocks[name].tobytes()
            assert (array[[0, -1]] == 7).all()
        assert np.shares_memory(kernel(**x).m, kernel(**x).m) is False


@pytest.mark.parametrize("rows", (16, 17, 20, 44, 64))
@pytest.mark.parametrize("lanes", (4, 8))
def test_large_results_are_the_same_wherever_they_begin(rows, lanes):
    x = ca.SX.sym("x", rows)
    fn = ca.Function("f", [x], [ca.vertcat(*(x[(k * k) % rows] + 1 for k in range(rows)))], ["x"], ["y"])
    kernel = compile_function(fn, lanes=lanes, cache=False)
    samples = MUCH // (8 * rows) + 5
    values = np.arange(samples * rows, dtype=float).reshape(samples, rows)
    expected = values[:, [(k * k) % rows for k in range(rows)]] + 1
    assert (kernel(x=values) == expected).all() and (kernel(x=values, threads=3) == expected).all()
    memory = np.empty(samples * (rows + 3) + 8)
    for start in range(5):
        flat = memory[start : start + samples * rows].reshape(samples, rows)
        wide = memory[start : start + samples * (rows + 3)].reshape(samples, rows + 3)
        for out in (flat, wide[:, :rows]):
            memory[:] = 7
            assert (kernel(x=values, out=out) == expected).all()
            assert memory[:start].tolist() == [7] * start
        assert (wide[:, rows:] == 7).all()


def test_a_single_sample_gives_a_new_array_each_time(plain):
    x, y = given(2)["x"], np.array(0.5)
    first, second = plain(x=x[0], y=y), plain(x=x[1], y=y)
    whole = plain(x=x, y=0.5)
    for name in whole:
        assert first[name].tobytes() == whole[name][0].tobytes()
        assert second[name].tobytes() == whole[name][1].tobytes()
    forms = {
        "list": list(x[1]),
        "strided": np.repeat(x[1], 2)[::2],
        "reversed": x[1][::-1].copy()[::-1],
        "read only": np.frombuffer(x[1].tobytes()),
        "other byte order": x[1].astype(">f8"),
    }
    for form, value in forms.items():
        assert plain(x=value, y=y).m.tobytes() == second.m.tobytes(), form
    whole_numbers = np.arange(9)
    for kind in (np.int64, np.float32, np.int8):
        expected = plain(x=whole_numbers * 1.0, y=y)
        assert plain(x=whole_numbers.astype(kind), y=y).m.tobytes() == expected.m.tobytes()
    with pytest.raises(RunError, match=r"input 'x' has shape \(8,\), expected \(9,\) or \(samples, 9\)"):
        plain(x=np.zeros(8), y=y)
    with pytest.raises(RunError, match="input 'x' holds complex128"):
        plain(x=np.zeros(9, complex), y=y)
    with pytest.raises(RunError, match="input 'x' is missing"):
        plain(y=y)
    with pytest.raises(RunError, match="there is no input 'z'"):
        plain(x=x[0], y=y, z=1)
    with pytest.raises(RunError, match="threads=0 is not possible"):
        plain(x=x[0], y=y, threads=0)


def test_single_samples_know_defaults_and_any_name():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 2)
    fn = ca.Function("f", [x, y], [x + y], ["x", "y"], ["z"])
    for name in ("y", "lambda", "_y", "y.z", "self", "type", "_local"):
        kernel = compile_function(fn, [Port("x"), Port(name, default=np.array([1.0, 2.0]))], cache=False)
        assert kernel(x=np.zeros(2)).tolist() == [1, 2]
        assert kernel(**{"x": np.zeros(2), name: np.ones(2)}).tolist() == [1, 1]
        assert kernel(x=np.zeros(2)).tolist() == [1, 2]
        assert kernel(x=np.zeros((3, 2))).tolist() == [[1, 2]] * 3
        assert kernel(**{"x": np.zeros((3, 2)), name: np.ones(2)}).tolist() == [[1, 1]] * 3
        assert hasattr(kernel._local, "single")


def test_threads_have_their_own_single_sample(plain):
    x = given(4)["x"]
    expected = [plain(x=row, y=np.array(1.0)).m for row in x]
    wrong = []

    def work(k: int) -> None:
        for _ in range(300):
            if (plain(x=x[k], y=np.array(1.0)).m != expected[k]).any():
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_bound_blocks_are_evaluated_as_they_are():
    kernel = compile_function(matrix(), cache=False)
    x = given(45)
    packed = kernel.pack(**x)
    bound = kernel.bind_blocks(**packed)
    expected = kernel(**x)
    assert bound() is bound.output and (kernel.unpack(bound(), 45).m == expected.m).all()
    assert bound.inputs["x"] is packed["x"] and bound.results[0] is bound.output.m and "x: (" in repr(bound)
    packed["x"][:] += 1
    assert (kernel.unpack(bound(), 45).m == kernel(x=x["x"] + 1, y=x["y"]).m).all()
    assert (kernel.unpack(kernel.bind_blocks(**packed, threads=2)(), 45).m == kernel.unpack(bound(), 45).m).all()
    doubled = ca.SX.sym("x", 3)
    kernel = compile_function(ca.Function("f", [doubled], [2 * doubled], ["x"], ["y"]), cache=False)
    place = kernel.pack(x=np.ones((40, 3)))["x"]
    for call in (kernel.blocks, kernel.bind_blocks):
        with pytest.raises(RunError, match="output 'y' overlaps an input"):
            call(x=place[:2], out=place[1:3])
        with pytest.raises(RunError, match=r"does not lie as blocks"):
            call(x=place.ravel()[1 : 1 + place[0].size].reshape(1, 3, -1))


def long_function() -> ca.Function:
    """Too many operations for one piece of code: its parts run on groups of blocks, values crossing in scratch."""
    x, y = ca.SX.sym("x", 6), ca.SX.sym("y", 3)
    first, z = ca.cos(x), ca.sin(ca.vertcat(x, y))
    for k in range(160):
        z = z + 0.01 * ca.vertcat(z[1:], z[0]) * z[k % 9] + first[k % 6]
        z = z / (2 + z[0] * z[0])
    return ca.Function("long", [x, y], [z @ z.T, first], ["x", "y"], ["m", "v"])


def test_parts_of_a_long_function_run_on_groups_of_blocks_with_the_same_bits():
    fn = long_function()
    kernel, one = compile_function(fn, lanes=8, cache=False), compile_function(fn, lanes=1, cache=False)
    driver = kernel.variant(8).driver
    assert driver.parts > 2 and driver.group == 4 and one.variant(1).driver.parts == 1
    rng = np.random.default_rng(0)
    for samples in (2, 31, 32, 33, 100):
        x, y = rng.normal(size=(samples, 6)), rng.normal(size=(samples, 3))
        for given in ({"x": x, "y": y}, {"x": x, "y": y[0]}, {"x": x[1], "y": y}):
            expected = one(**given)
            blocks = kernel.unpack(kernel.blocks(**kernel.pack(**given)), samples)
            for threads in (1, 2):
                found = kernel(**given, threads=threads)
                for name in ("m", "v"):
                    assert found[name].tobytes() == expected[name].tobytes() == blocks[name].tobytes()
    reference = np.asarray(fn(x[1], y[0])[0])
    assert np.abs(kernel(x=x[1], y=y[0]).m - reference).max() <= 1e-13 * np.abs(reference).max()  # fused products
