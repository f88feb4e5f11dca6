"""A kernel takes and gives NumPy arrays of every sensible form, and a sample's bits are its own."""

from __future__ import annotations

import subprocess
import sys
import threading

import casadi as ca
import numpy as np
import pytest

from linkwork.compiler import Port, compile_function
from linkwork.errors import RunError


def example(n: int = 7) -> ca.Function:
    """A vector, a number and a matrix in; a vector, a matrix and a number out."""
    q, mass, m = ca.SX.sym("q", n), ca.SX.sym("mass"), ca.SX.sym("m", 2, 3)
    y = ca.sin(q) * mass + ca.cumsum(q) * m[0, 2] / (2 + m[1, 0] ** 2)
    return ca.Function("e", [q, mass, m], [y, m.T * mass + q[0], ca.sumsqr(q)], ["q", "mass", "m"], ["y", "w", "s"])


@pytest.fixture(scope="module")
def kernel():
    return compile_function(example(), cache=False)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return {"q": rng.normal(size=(45, 7)), "mass": rng.normal(size=45), "m": rng.normal(size=(45, 2, 3))}


def one(fn: ca.Function, *values) -> list[np.ndarray]:
    return [np.array(v) for v in fn(*values)]


def test_batches_agree_with_casadi(kernel, data):
    result = kernel(**data)
    assert result.y.shape == (45, 7) and result.w.shape == (45, 3, 2) and result["s"].shape == (45,)
    for k in range(45):
        y, w, s = one(kernel.graph, data["q"][k], data["mass"][k], data["m"][k])
        np.testing.assert_allclose(result.y[k], y.ravel(), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(result.w[k], w, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(result.s[k], s.item(), rtol=1e-13)


@pytest.mark.parametrize("rows", (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 15, 16, 17, 31, 33, 40, 67))
@pytest.mark.parametrize("lanes", (2, 4, 8))
def test_every_number_of_rows_is_carried_and_nothing_beyond_is_written(rows, lanes):
    x = ca.SX.sym("x", rows)
    fn = ca.Function("f", [x], [x + 1], ["x"], ["y"])
    ports = [Port("x", shape=(rows,))], [Port("y", shape=(rows,))]
    kernel = compile_function(fn, *ports, lanes=lanes, cache=False)
    for samples in (2, 7, 8, 19):
        guarded = np.full((samples + 2, rows), np.nan)
        guarded[1:-1] = np.arange(samples * rows).reshape(samples, rows)
        out = np.full((samples + 2, rows), 7.0)
        result = kernel(x=guarded[1:-1], out=out[1:-1])
        assert (result == guarded[1:-1] + 1).all()
        assert (out[[0, -1]] == 7).all()


GUARDED = """
import ctypes, mmap
import casadi as ca, numpy as np
from linkwork.compiler import Port, compile_function

libc, page = ctypes.CDLL(None, use_errno=True), mmap.PAGESIZE
memory = [mmap.mmap(-1, 6 * page) for _ in range(2)]
arrays = []
for held in memory:
    start = ctypes.addressof(ctypes.c_char.from_buffer(held))
    for side in (start, start + 5 * page):
        assert libc.mprotect(ctypes.c_void_p(side), ctypes.c_size_t(page), 0) == 0
    arrays.append(np.frombuffer(held, dtype=float)[page // 8 : 5 * page // 8])
for rows in (1, 2, 3, 5, 6, 7, 8, 9, 12, 15, 43):
    x = ca.SX.sym("x", rows)
    fn = ca.Function("f", [x], [x + 1], ["x"], ["y"])
    ports = [Port("x", shape=(rows,))], [Port("y", shape=(rows,))]
    for lanes in (1, 2, 4, 8):
        kernel = compile_function(fn, *ports, lanes=lanes, cache=False)
        for samples in (1, 2, 7, 8, 13):
            count = rows * samples
            for low in (slice(0, count), slice(len(arrays[0]) - count, None)):
                given, out = (array[low].reshape(samples, rows) for array in arrays)
                given[:] = np.arange(count).reshape(samples, rows)
                assert (kernel(x=given, out=out) == given + 1).all()
print("untouched")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel to forbid pages")
def test_nothing_beyond_an_array_is_read():
    """The arrays lie at both ends of memory that may be touched; a step beyond ends the process."""
    done = subprocess.run([sys.executable, "-c", GUARDED], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "untouched", done.stderr


def test_bits_depend_on_the_sample_alone(kernel, data):
    whole = kernel(**data)
    for count in (1, 2, 7, 8, 9, 44):
        for start in (0, 1):
            part = kernel(**{name: value[start : start + count] for name, value in data.items()})
            for name in whole:
                assert part[name].tobytes() == whole[name][start : start + count].tobytes()
    for k in (0, 3, 44):
        single = kernel(**{name: np.array(value[k]) for name, value in data.items()})
        assert all(single[name].tobytes() == whole[name][k].tobytes() for name in whole)
    for lanes in (1, 2, 4):
        other = compile_function(kernel.graph, lanes=lanes, cache=False)(**data)
        assert all(other[name].tobytes() == whole[name].tobytes() for name in whole)
    large = {name: np.concatenate([value] * 50) for name, value in data.items()}
    reference = kernel(**large, threads=1)
    for threads in (2, 3, 16):
        result = kernel(**large, threads=threads)
        assert all(result[name].tobytes() == reference[name].tobytes() for name in whole)


def test_one_sample_is_shared_by_the_batch(kernel, data):
    result = kernel(q=data["q"], mass=2.0, m=data["m"][3])
    repeated = kernel(q=data["q"], mass=np.full(45, 2.0), m=np.repeat(data["m"][3:4], 45, axis=0))
    assert all(result[name].tobytes() == repeated[name].tobytes() for name in result)
    single = kernel(q=list(data["q"][0]), mass=2, m=data["m"][3])
    assert single.y.shape == (7,) and single.s.shape == ()
    assert (single.y == result.y[0]).all()


def test_arrays_of_any_layout_and_kind_of_number(kernel, data):
    expected = kernel(**data)
    wide = np.zeros((45, 20))
    wide[:, 5:12] = data["q"]
    forms = {
        "strided": wide[:, 5:12],
        "columns": np.asfortranarray(data["q"]),
        "reversed": data["q"][::-1].copy()[::-1],
        "read only": np.frombuffer(data["q"].tobytes()).reshape(45, 7),
        "other byte order": data["q"].astype(">f8"),
        "list": data["q"].tolist(),
    }
    for form, q in forms.items():
        assert (kernel(q=q, mass=data["mass"], m=data["m"]).y == expected.y).all(), form
    turned = np.ascontiguousarray(data["m"].swapaxes(1, 2)).swapaxes(1, 2)
    assert (kernel(q=data["q"], mass=data["mass"], m=turned).w == expected.w).all()
    whole = np.arange(14).reshape(2, 7)
    assert (kernel(q=whole, mass=1, m=data["m"][0]).y == kernel(q=whole * 1.0, mass=1.0, m=data["m"][0]).y).all()
    assert kernel(q=np.zeros((0, 7)), mass=1.0, m=data["m"][0]).w.shape == (0, 3, 2)


def test_results_go_where_they_are_wanted(kernel, data):
    out = {"y": np.empty((45, 9))[:, 1:8], "w": np.empty((45, 3, 2)), "s": np.empty(45)}
    result = kernel(**data, out=out)
    assert result.y is out["y"] and (result.y == kernel(**data).y).all()
    x = ca.SX.sym("x", 3)
    turn = compile_function(ca.Function("f", [x], [x[[2, 0, 1]]], ["x"], ["y"]), cache=False)
    for shape in ((3,), (20, 3)):
        place = np.random.default_rng(1).normal(size=shape)
        expected = place[..., [2, 0, 1]]
        assert turn(x=place, out=place) is place and (place == expected).all()


def test_results_by_name_are_read_only(kernel, data):
    result = kernel(**data)
    assert list(result) == ["y", "w", "s"] and len(result) == 3 and "y: (45, 7)" in repr(result)
    with pytest.raises(AttributeError, match="results are read-only"):
        result.y = 1
    with pytest.raises(AttributeError, match="no output 'z'; there are y, w, s"):
        _ = result.z


def test_bound_arrays_are_evaluated_as_they_are(kernel, data):
    held = {name: value.copy() for name, value in data.items()}
    bound = kernel.bind(**held)
    first = bound().y.copy()
    held["q"][:] += 1
    assert bound() is bound.output and (bound().y == kernel(**held).y).all() and (bound().y != first).any()
    one = kernel.bind(q=data["q"][0].copy(), mass=2.0, m=data["m"][0].copy())
    one.inputs["mass"][...] = data["mass"][0]
    assert (one().y == kernel(**data).y[0]).all()
    assert (kernel.bind(**data, threads=2)().y == kernel(**data).y).all()
    with pytest.raises(RunError, match=r"input 'q' cannot be bound: float32"):
        kernel.bind(q=data["q"].astype(np.float32), mass=1.0, m=data["m"])


def test_blocks_are_evaluated_in_place(kernel, data):
    packed = kernel.pack(q=data["q"], mass=data["mass"], m=data["m"][0])
    lanes = kernel.lanes
    assert packed["q"].shape == (-(-45 // lanes), 7, lanes) and packed["m"].shape == (6, lanes)
    assert all(array.ctypes.data % 64 == 0 for array in packed.values())
    blocks = kernel.blocks(**packed)
    result = kernel.unpack(blocks, 45)
    expected = kernel(q=data["q"], mass=data["mass"], m=data["m"][0])
    assert all(result[name].tobytes() == expected[name].tobytes() for name in expected)
    assert kernel.blocks(**packed, out=blocks, threads=2).y is blocks.y
    with pytest.raises(RunError, match=r"input 'q' is float64 \(45, 7\), expected float64 \(blocks, 7, "):
        kernel.blocks(**{**packed, "q": data["q"]})


def test_defaults_may_be_left_out():
    ports = [
        Port("q", components=tuple("abcdefg"), units=("rad",) * 7),
        Port("mass", default=np.array(2.0)),
        Port("m", default=np.ones((2, 3))),
    ]
    kernel = compile_function(example(), ports, cache=False)
    q = np.random.default_rng(5).normal(size=(10, 7))
    assert (kernel(q=q).w == kernel(q=q, mass=2.0, m=np.ones((2, 3))).w).all()
    assert (kernel(q=q[0]).y == kernel(q=q).y[0]).all()
    blocks = kernel.blocks(**kernel.pack(q=q))
    assert (kernel.unpack(blocks, 10).y == kernel(q=q).y).all()


def test_a_vector_of_one_is_not_a_number():
    x = ca.SX.sym("x")
    fn = ca.Function("f", [x], [2 * x], ["x"], ["y"])
    kernel = compile_function(fn, [Port("x", shape=(1,))], [Port("y", shape=(1,))], cache=False)
    assert kernel(x=np.ones((5, 1))).shape == (5, 1) and kernel(x=np.ones(1)).shape == (1,)
    with pytest.raises(RunError, match=r"input 'x' has shape \(5,\), expected \(1,\) or \(samples, 1\)"):
        kernel(x=np.ones(5))
    assert compile_function(fn, cache=False)(x=np.ones(5)).shape == (5,)


def test_nothing_in_and_constants_out():
    kernel = compile_function(ca.Function("f", [], [ca.SX([1.5, 0, 2])], [], ["y"]), cache=False)
    assert kernel().tolist() == [1.5, 0, 2]


def test_not_a_number_stays_in_its_sample(kernel, data):
    q = data["q"].copy()
    q[3, 2] = np.nan
    result = kernel(q=q, mass=data["mass"], m=data["m"])
    assert np.isnan(result.s[3]) and np.isfinite(np.delete(result.s, 3)).all()


def test_threads_may_call_at_once(data):
    kernel = compile_function(example(), cache=False)
    expected, wrong = kernel(**data), []
    barrier = threading.Barrier(4)

    def work(count: int) -> None:
        barrier.wait()
        for _ in range(100):
            part = kernel(**{name: value[:count] for name, value in data.items()}, threads=2)
            single = kernel(**{name: np.array(value[count]) for name, value in data.items()})
            if (part.y != expected.y[:count]).any() or (single.y != expected.y[count]).any():
                wrong.append(count)

    threads = [threading.Thread(target=work, args=(count,)) for count in (5, 17, 30, 44)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_kernel_can_be_looked_into(kernel, tmp_path):
    report = kernel.explain()
    assert "fused" in report and "operations" in report and "compiled" in report
    assert "define i32 @samples" in kernel.ir and "kernel:" in kernel.asm
    assert "casadi_int" in kernel.to_c(tmp_path / "e.c").read_text()
    assert kernel.name == compile_function(example(), cache=False).name != compile_function(example(6)).name
    assert "Kernel(e: q[7], mass[], m[2, 3] → y[7], w[3, 2], s[]" in repr(kernel)
