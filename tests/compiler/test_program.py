"""Programs: machine code does what the interpreter says, for every statement and any number of lanes."""

import casadi as ca
import numpy as np
import pytest

from linkwork.compiler.program import (
    Assign,
    ForRows,
    Gather,
    Layout,
    Program,
    Scatter,
    Take,
    View,
    While,
    call,
    for_rows,
    when,
)
from linkwork.compiler.program_interpret import interpret
from linkwork.compiler.program_machine import compile_program
from linkwork.errors import CompileError

LANES = [1, 2, 4, 8]


def traced(name, rows, formula):
    inputs = [ca.SX.sym(f"x{k}", r) for k, r in enumerate(rows)]
    return ca.Function(name, inputs, [ca.SX(x) for x in formula(*inputs)])


def collatz():
    """Counts the steps of the Collatz sequence from numbers off a queue: all statements, exact numbers."""
    layout = Layout()
    rows = layout.rows
    alive, need, index, n, data, count, total, done, k = (rows(x, 3 if x == "data" else 1) for x in (
        "alive", "need", "index", "n", "data", "count", "total", "done", "k"))  # fmt: skip
    got = rows("got")
    take = traced("take", (1, 1, 1, 1), lambda need, index, total, alive: [
        ca.logic_and(need, index < total), ca.if_else(ca.logic_and(need, index >= total), 0, alive),
        ca.fmin(index, total - 1), 0])  # fmt: skip
    add = traced("add", (1, 1), lambda a, b: [a + b])
    half = traced("half", (1,), lambda n: [
        ca.if_else(n == 1, 1, ca.if_else(2 * ca.floor(n / 2) == n, n / 2, 3 * n + 1))])  # fmt: skip
    more = traced("more", (1, 1, 1), lambda alive, n, count: [ca.logic_and(alive, n != 1), count + (n != 1)])
    body = (
        when(
            need,
            Take(need, index, "queue"),
            call(take, (need, index, total, alive), (got, alive, index, need)),
            Gather(got, data, "data", index),
            call(traced("zero", (), lambda: [0, 0]), (), (n, k)),
            ForRows(3, (call(add, (n, data.each()), (n,)),)),
            call(traced("reset", (1, 1), lambda got, c: [ca.if_else(got, 0, c)]), (got, count), (count,)),
        ),
        call(more, (alive, n, count), (done, count)),
        While(done, (call(half, (n,), (n,)), call(more, (alive, n, count), (done, count))), 500),
        call(traced("next", (1,), lambda alive: [alive]), (alive,), (need,)),
        Assign(need, k, count),
        Scatter(need, k, "counts", index),
    )
    return Program("collatz", layout.buffers, ("queue", "data", "counts"), alive, body)


def collatz_length(n):
    steps = 0
    while n != 1:
        n, steps = n // 2 if n % 2 == 0 else 3 * n + 1, steps + 1
    return steps


@pytest.mark.parametrize("lanes", LANES)
def test_every_statement_does_the_same_in_machine_code_and_in_python(lanes):
    program = collatz()
    rng = np.random.default_rng(5)
    data = rng.integers(1, 40, (19, 3)).astype(float)
    found = []
    compiled = compile_program(program, lanes)
    for machine in (True, False):
        arrays = {"queue": np.zeros(1, np.int64), "data": data, "counts": np.full((19, 1), np.nan)}
        state = compiled.state().views if not machine else compiled.state()
        state["alive"][:] = state["need"][:] = 1.0
        state["total"][:] = 19.0
        if machine:
            for _ in range(100):  # two turns at a time: the loop goes on where it was
                if not state.run(arrays, 2):
                    break
        else:
            while interpret(program, state, arrays, 3):
                pass
        found.append(arrays["counts"])
    expected = [[collatz_length(int(s))] for s in data.sum(axis=1)]
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], expected)


@pytest.mark.parametrize("lanes", LANES)
def test_an_output_may_be_an_input_and_long_functions_are_linked(lanes):
    layout = Layout()
    on, x = layout.rows("on"), layout.rows("x", 40)

    def mix(x):
        for k in range(30):
            x = ca.vertcat(x[1:], x[0]) * x + 1 / (2 + k + x * x)
        return [x]

    swap = traced("swap", (1, 1), lambda a, b: [b, a])
    off = traced("off", (1,), lambda on: [on - 1])
    body = (
        call(traced("mix", (40,), mix), (x,), (x,)),
        call(swap, (x[0], x[39]), (x[0], x[39])),
        for_rows(20, swap, (x.each(), View("x", 20, 1, 1)), (x.each(), View("x", 20, 1, 1))),
        call(off, (on,), (on,)),
    )
    program = Program("mix", layout.buffers, (), on, body)
    compiled = compile_program(program, lanes)
    assert any(f.text.count("\n") > 400 for f in compiled.lowered.callees)
    state, other = compiled.state(), compiled.state().views
    start = np.random.default_rng(1).uniform(0.1, 0.9, (40, 1))
    for s in (state, other):
        s["on"][:] = 3
        s["x"][:] = start
    assert not state.run({}, 100)
    interpret(program, other, {})
    np.testing.assert_allclose(state["x"], other["x"], rtol=1e-12)
    one = compile_program(program, 1).state()
    one["on"][:], one["x"][:] = 3, start
    one.run({}, 100)
    np.testing.assert_array_equal(state["x"], np.repeat(one["x"], lanes, axis=1))


def test_code_from_the_cache_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))
    first, second = compile_program(collatz(), 2), compile_program(collatz(), 2)
    assert not first.from_cache
    assert second.from_cache


def test_a_view_that_does_not_fit_is_refused():
    layout = Layout()
    on, x = layout.rows("on"), layout.rows("x", 4)
    add = traced("add", (1, 1), lambda a, b: [a + b])

    def program(*body):
        return Program("bad", layout.buffers, ("memory",), on, body)

    with pytest.raises(CompileError, match="does not fit"):
        program(ForRows(5, (call(add, (x.each(), on), (x.each(),)),)))
    with pytest.raises(CompileError, match="1 inputs for 2"):
        program(call(add, (on,), (on,)))
    with pytest.raises(CompileError, match="no buffer 'z'"):
        program(Assign(View("z", 0, 1), on, on))
    with pytest.raises(CompileError, match="no array 'elsewhere'"):
        program(Gather(on, x, "elsewhere", on))
    with pytest.raises(CompileError, match="declared twice"):
        layout.rows("x")
    with pytest.raises(IndexError):
        x[4]
