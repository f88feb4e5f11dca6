"""What does not fit a kernel is told with its name, what was expected and what to do."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from linkwork.compiler import Port, compile_function
from linkwork.errors import CompileError, RunError


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


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"qq": 1}, "there is no input 'qq'; did you mean 'q'?"),
        ({"q": np.zeros(3)}, r"input 'q' has shape \(3,\), expected \(7,\) or \(samples, 7\)"),
        ({"q": np.zeros((2, 2, 7))}, r"input 'q' has shape \(2, 2, 7\), expected"),
        ({"m": np.zeros((45, 3, 2))}, r"expected \(2, 3\) or \(samples, 2, 3\)"),
        ({"mass": np.zeros((45, 1))}, r"input 'mass' has shape \(45, 1\), expected a number or \(samples,\)"),
        ({"q": np.zeros((45, 7), complex)}, "input 'q' holds complex128, expected real numbers"),
        ({"q": ["a"] * 7}, "input 'q' holds <U1, expected real numbers"),
        ({"q": [[1, 2], [3]]}, "input 'q' is not an array of numbers: its rows differ in length"),
        (
            {"mass": np.zeros(44)},
            "input 'mass' has 44 samples, input 'q' has 45\n  fix: give all the same number",
        ),
        ({"threads": 0}, "threads=0 is not possible"),
        ({"out": np.zeros(3)}, "expected a mapping with y, w, s, got ndarray"),
        ({"out": {"y": np.zeros((45, 7))}}, "output 'w' is missing"),
        ({"out": {"yy": 1}}, "there is no output 'yy'; did you mean 'y'?"),
        (
            {"out": {"y": np.zeros((44, 7)), "w": np.zeros((45, 3, 2)), "s": np.zeros(45)}},
            r"out for 'y' is float64 \(44, 7\), expected float64 \(45, 7\)",
        ),
    ],
)
def test_what_does_not_fit_is_told(kernel, data, change, text):
    with pytest.raises(RunError, match=text):
        kernel(**{**data, **change})


def test_what_is_missing_is_told(kernel, data):
    with pytest.raises(RunError, match=r"input 'm' is missing\n  fix: give m= \(2, 3\) or \(samples, 2, 3\)"):
        kernel(q=data["q"], mass=1.0)


def test_functions_that_do_not_fit_are_refused():
    fn, m = example(), ca.MX.sym("m")
    with pytest.raises(CompileError, match="lanes=3 is not possible"):
        compile_function(fn, lanes=3)
    with pytest.raises(CompileError, match=r"use fn\.expand"):
        compile_function(ca.Function("g", [m], [m]))
    with pytest.raises(CompileError, match=r"expected a casadi\.Function, got int"):
        compile_function(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(CompileError, match="has 3 inputs, but 1 ports are given"):
        compile_function(fn, [Port("q")])
    with pytest.raises(CompileError, match=r"port 'q' has shape \(2,\), but the function has 7 × 1"):
        compile_function(fn, [Port("q", components=("a", "b")), Port("mass"), Port("m")])
    with pytest.raises(CompileError, match="an input cannot be called 'out'"):
        compile_function(fn, [Port("out"), Port("mass"), Port("m")])
    with pytest.raises(CompileError, match=r"the default of port 'mass' has shape \(2,\), not \(\)"):
        compile_function(fn, [Port("q"), Port("mass", default=np.ones(2)), Port("m")])
