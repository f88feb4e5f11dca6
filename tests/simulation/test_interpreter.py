"""The time loop in machine code is the program that the plain-Python interpreter runs."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from systems import ball, driven_pendulum

from linkwork.compiler.lower import lower
from linkwork.compiler.program import Call, Layout, Program
from linkwork.compiler.program_interpret import interpret
from linkwork.compiler.program_machine import compile_program
from linkwork.simulation import run as running
from linkwork.simulation.motion import Motion
from linkwork.simulation.run import METHODS, build, integrate
from linkwork.simulation.stepping import initialise

THREE = np.array([[1.0, 0.2], [0.3, -1.0], [0.1, 0.0]])
CASES = {
    "pendulum": (
        driven_pendulum(),
        np.array([[1.0, 0.2], [0.3, -1.0], [0.1, 0]]),
        np.array([[1.7], [2], [0.5]]),
    ),
    "ball": (ball(), np.array([[0.2, 0.0], [0.1, 1.0], [0.3, 0.0]]), np.array([[0.7], [0.8], [0.9]])),
}


def interpreted(system, y0, p, times, method, evaluate=None, **options):
    """`integrate` with the interpreter in place of machine code."""

    class State:
        def __init__(self, compiled):
            lanes = compiled.lanes
            self.program = compiled.program
            self.views = {name: np.zeros((rows, lanes)) for name, rows in self.program.buffers.items()}

        def run(self, arrays, turns):
            more = {} if evaluate is None else {"evaluate": evaluate}
            return interpret(self.program, self.views, arrays, turns, **more)

    @dataclass
    class Stand:
        program: Program
        lanes: int

        def state(self):
            return State(self)

    compiled = build(system, method, lanes=2)
    stand = running.Integrator(system, compiled.method, Stand(compiled.compiled.program, 2))
    return running.run(stand, y0, p, times, **options)


class MachineValues:
    """The value of each function by its own machine code, one lane."""

    def __init__(self):
        self.states = {}

    def __call__(self, function, inputs):
        if function.key() not in self.states:
            layout = Layout()
            once = layout.rows("once")
            views = [layout.rows(f"in{k}", rows) for k, rows in enumerate(function.rows_in())]
            outs = [layout.rows(f"out{k}", rows) for k, rows in enumerate(function.rows_out())]
            program = Program("value", layout.buffers, (), once, (Call(function, tuple(views), tuple(outs)),))
            state = compile_program(program, 1).state()
            state["once"][:] = 1
            self.states[function.key()] = state, len(outs)
        state, count = self.states[function.key()]
        for k, values in enumerate(inputs):
            state[f"in{k}"][:, 0] = values
        state.run({}, 1)
        return [state[f"out{k}"][:, 0].copy() for k in range(count)]


@pytest.mark.parametrize(
    ("case", "method"), [*(("pendulum", name) for name in METHODS), ("ball", "rk4"), ("ball", "dop853")]
)
def test_machine_code_has_the_bits_of_the_interpreted_program(case, method):
    """Bit by bit when the functions' values are the machine's; within rounding when they are CasADi's.

    CasADi's own values differ in the last digits: no fused multiply-adds, the C library's functions.
    """
    system, y0, p = CASES[case]
    options = {"step": 0.1} if method in ("euler", "rk4") else {"rtol": 1e-5, "atol": 1e-6}
    times = np.linspace(0, 0.5, 4)
    machine = integrate(system, y0, p, times, method, **options)
    same = interpreted(system, y0, p, times, method, MachineValues(), **options)
    close = interpreted(system, y0, p, times, method, **options)
    assert machine.ok.all()
    np.testing.assert_array_equal(machine.y, same.y)
    np.testing.assert_array_equal(machine.error_max, same.error_max)
    np.testing.assert_array_equal(machine.events.times, same.events.times)
    np.testing.assert_allclose(machine.y, close.y, rtol=1e-9, atol=1e-11)  # events: 1e-12 of a step
    np.testing.assert_array_equal(machine.steps, close.steps)
    np.testing.assert_array_equal(machine.events.counts, close.events.counts)


@dataclass(frozen=True)
class Decay:
    """y' = p y in a loop over the rows, lowered by hand: its code does not grow with its size."""

    n: int

    def key(self):
        return self

    def label(self):
        return "decay"

    def rows_in(self):
        return 1, self.n, 1

    def rows_out(self):
        return (self.n,)

    def lower(self, symbol, lanes):
        kind, size = ("double" if lanes == 1 else f"<{lanes} x double>"), 8 * lanes
        text = f"""define internal void @{symbol}(ptr %t, ptr %y, ptr %p, ptr %out, ptr %w) {{
entry:
  %rate = load {kind}, ptr %p, align {size}
  br label %next
next:
  %i = phi i64 [0, %entry], [%j, %next]
  %from = getelementptr {kind}, ptr %y, i64 %i
  %to = getelementptr {kind}, ptr %out, i64 %i
  %value = load {kind}, ptr %from, align {size}
  %product = fmul {kind} %rate, %value
  store {kind} %product, ptr %to, align {size}
  %j = add i64 %i, 1
  %more = icmp ult i64 %j, {self.n}
  br i1 %more, label %next, label %done
done:
  ret void
}}
"""
        empty = lower(ca.Function("nothing", [ca.SX.sym("x")], [ca.SX(0)]), symbol, lanes)
        return replace(empty, text=text)

    def evaluate(self, inputs):
        return [inputs[2] * inputs[1]]


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_right_hand_side_may_be_any_lowered_function_and_large(method):
    n = 40_000
    system = Motion(Decay(n), n // 2, n // 2, tuple(f"y{k}" for k in range(n)), ("rate",))
    y0 = np.random.default_rng(2).normal(size=(3, n))
    options = {"step": 0.05} if method == "rk4" else {"rtol": 1e-9, "atol": 1e-12}
    found = integrate(system, y0, [[-1.0], [-2.0], [0.5]], (0, 0.5, 1), method, **options)
    exact = y0 * np.exp([[-1.0], [-2.0], [0.5]])
    np.testing.assert_allclose(found.y[:, -1], exact, rtol=1e-5 if method == "rk4" else 1e-8)


def test_the_state_of_a_thread_is_filled_before_it_runs():
    state = build(driven_pendulum(), "rk4", lanes=2).compiled.state()
    initialise(state.views, {"start": 1.0, "until": 2.0}, np.array([1.0, np.inf]))
    assert state["alive"].all() and state["need"].all()
    assert np.isinf(state["atol"][1]).all()
