"""Machine code means what CasADi computes, for every operation and lane count, however it is split."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from importlib import import_module

import casadi as ca
import mpmath
import numpy as np
import pytest

from linkwork.compiler import compile_function, lower
from linkwork.compiler.layout import Driver
from linkwork.compiler.machine import Code, compile_text, module_text
from linkwork.compiler.running import aligned
from linkwork.compiler.tape import LIBRARY, OPERATIONS
from linkwork.compiler.target import host
from linkwork.errors import CompileError

LANES = (1, 2, 4, 8)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 7.25, 1e-300, -1e300, np.inf, -np.inf, np.nan]

X, Y = ca.SX.sym("x"), ca.SX.sym("y")
EXACT = {
    "neg": -X,
    "sqrt": ca.sqrt(X),
    "sq": X**2,
    "twice": 2 * X,
    "inv": 1 / X,
    "floor": ca.floor(X),
    "ceil": ca.ceil(X),
    "fabs": ca.fabs(X),
    "sign": ca.sign(X),
    "not": ca.logic_not(X),
    "add": X + Y,
    "sub": X - Y,
    "mul": X * Y,
    "div": X / Y,
    "copysign": ca.copysign(X, Y),
    "fmin": ca.fmin(X, Y),
    "fmax": ca.fmax(X, Y),
    "lt": X < Y,
    "le": X <= Y,
    "eq": X == Y,
    "ne": X != Y,
    "and": ca.logic_and(X, Y),
    "or": ca.logic_or(X, Y),
    "if_else_zero": ca.if_else(X, Y, 0),
    "if_else": ca.if_else(X < Y, X, Y + 1),
    "masks": ca.logic_or(ca.logic_and(X < 1, ca.logic_not(Y > 0)), X == Y) + ca.if_else(X > Y, X, 0),
}
CLOSE = {
    "exp": ca.exp(X),
    "log": ca.log(X),
    "sin": ca.sin(X),
    "cos": ca.cos(X),
    "tan": ca.tan(X),
    "asin": ca.asin(X),
    "acos": ca.acos(X),
    "atan": ca.atan(X),
    "sinh": ca.sinh(X),
    "cosh": ca.cosh(X),
    "tanh": ca.tanh(X),
    "asinh": ca.asinh(X),
    "acosh": ca.acosh(X),
    "atanh": ca.atanh(X),
    "erf": ca.erf(X),
    "log1p": ca.log1p(X),
    "expm1": ca.expm1(X),
    "pow": X**Y,
    "atan2": ca.atan2(X, Y),
    "hypot": ca.hypot(X, Y),
    "fmod": ca.fmod(X, Y),
    "remainder": ca.remainder(X, Y),
}


def pairs(values) -> np.ndarray:
    return np.array([(x, y) for x in values for y in values])


def test_every_operation_is_tried():
    assert set(OPERATIONS.values()) <= {*EXACT, *CLOSE, "erfinv"}
    assert LIBRARY - {"sincos"} <= {*CLOSE, "erfinv"}


@pytest.mark.parametrize("lanes", LANES)
def test_arithmetic_and_logic_are_exact_on_special_values(lanes):
    fn = ca.Function("f", [X, Y], [ca.vertcat(*EXACT.values())], ["x", "y"], ["z"])
    samples = pairs(SPECIAL)
    got = compile_function(fn, lanes=lanes, cache=False)(x=samples[:, 0], y=samples[:, 1])
    for k, (x, y) in enumerate(samples):
        expected = np.array(fn(x, y)).ravel()
        for name, a, b in zip(EXACT, got[k], expected, strict=True):
            assert a == b or (np.isnan(a) and np.isnan(b)), (name, x, y, a, b)


@pytest.mark.parametrize("lanes", LANES)
def test_elementary_functions_agree_to_the_last_places(lanes):
    fn = ca.Function("f", [X, Y], [ca.vertcat(*CLOSE.values())], ["x", "y"], ["z"])
    rng = np.random.default_rng(1)
    samples = np.vstack([pairs(SPECIAL), rng.normal(size=(400, 2)), rng.uniform(-0.99, 0.99, (100, 2))])
    got = compile_function(fn, lanes=lanes, cache=False)(x=samples[:, 0], y=samples[:, 1])
    expected = np.array([np.array(fn(x, y)).ravel() for x, y in samples])
    for k, name in enumerate(CLOSE):
        a, b = got[:, k], expected[:, k]
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(invalid="ignore"):
            units = np.abs(a - b) / np.spacing(np.maximum(np.abs(b), 1e-300))
        wrong = ~same & ~(units <= 4)
        assert not wrong.any(), (name, samples[wrong][:3], a[wrong][:3], b[wrong][:3])


@pytest.mark.parametrize("lanes", LANES)
def test_inverse_error_function_agrees_with_mathematics(lanes):
    """CasADi's own is wrong in the sixth digit near 0.7, so it is no measure here."""
    x = np.concatenate([np.linspace(-0.999, 0.999, 101), [0.6993, 1e-8, 1 - 1e-12]])
    fn = ca.Function("f", [X], [ca.erfinv(X)], ["x"], ["y"])
    got = compile_function(fn, lanes=lanes, cache=False)(x=x)
    with mpmath.workdps(40):
        expected = np.array([float(mpmath.erfinv(mpmath.mpf(float(value)))) for value in x])
    assert (np.abs(got - expected) <= 3 * np.spacing(np.abs(expected))).all()
    assert abs(float(fn(0.6993)) / expected[101] - 1) > 1e-8


def random_function(seed: int, size: int = 300) -> ca.Function:
    """A random graph of bounded values, with shared values, comparisons and elementary functions."""
    rng = np.random.default_rng(seed)
    q, c = ca.SX.sym("q", 6), ca.SX.sym("c")
    known = [q[k] for k in range(6)] + [c, ca.SX(0.3), ca.SX(-1.75)]
    makers = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: 0.5 * a * b,
        lambda a, b: a * a - b,
        lambda a, b: a * b + a * known[2],
        lambda a, b: a / (1 + b * b),
        lambda a, b: ca.sin(a) * ca.cos(a) + b,
        lambda a, b: ca.if_else(a < b, a, 0.5 * b),
        lambda a, b: ca.fmax(a, b),
        lambda a, b: ca.fabs(a) - ca.fmin(a, b),
        lambda a, b: ca.sqrt(a * a + 1) * b,
        lambda a, b: ca.tanh(a) + ca.atan2(b, 2 + a * a),
    ]
    for _ in range(size):
        a, b = (known[k] for k in rng.integers(max(0, len(known) - 40), len(known), 2))
        value = makers[rng.integers(len(makers))](a, b)
        known.append(value / (1 + 0.1 * ca.fabs(value)))
    matrix = ca.SX(3, 2)
    matrix[0, 0], matrix[2, 1], matrix[1, 1] = known[-1], known[-2], 4.5
    return ca.Function("r", [q, c], [ca.vertcat(*known[-8:], q[0]), matrix], ["q", "c"], ["y", "m"])


@pytest.mark.parametrize("seed", range(6))
def test_random_graphs_agree_with_casadi(seed):
    fn = random_function(seed)
    rng = np.random.default_rng(seed)
    q, c = rng.normal(size=(21, 6)), rng.normal(size=21)
    results = {lanes: compile_function(fn, lanes=lanes, cache=False)(q=q, c=c) for lanes in LANES}
    for k in range(len(q)):
        y, m = fn(q[k], c[k])
        np.testing.assert_allclose(results[8].y[k], np.array(y).ravel(), rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(results[8].m[k], np.array(ca.densify(m)), rtol=1e-11, atol=1e-11)
    for lanes in LANES[:-1]:
        assert results[lanes].y.tobytes() == results[8].y.tobytes()
        assert results[lanes].m.tobytes() == results[8].m.tobytes()


def on_blocks(fn: ca.Function, lanes: int, inputs: list[np.ndarray], **options) -> tuple[list[np.ndarray], int]:
    """Run a lowered function once on `[row][lane]` arrays."""
    lowered = lower(fn, "fn", lanes, **options)
    rows_in = tuple(fn.numel_in(k) for k in range(fn.n_in()))
    rows_out = tuple(fn.numel_out(k) for k in range(fn.n_out()))
    driver = Driver("fn", lanes, rows_in, rows_out, lowered.scratch)
    text = module_text([lowered], driver.text(), driver.declarations())
    code = Code(compile_text(text, host()), ["blocks"])
    arrays = []
    for rows, given in zip(rows_in, inputs, strict=True):
        arrays.append(aligned((rows, lanes)))
        arrays[-1][...] = given
    outputs = [aligned((rows, lanes)) for rows in rows_out]
    scratch = aligned((driver.bytes_of_scratch // 8 + 8,))
    words = [0, 1, lanes, scratch.ctypes.data]
    for array in (*arrays, *outputs):
        words += [array.ctypes.data, 0]
    context = (ctypes.c_int64 * len(words))(*words)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("blocks"))(ctypes.addressof(context))
    return outputs, lowered.parts


@pytest.mark.parametrize("lanes", (1, 8))
def test_splitting_changes_no_bit(lanes):
    fn = random_function(11, 400)
    rng = np.random.default_rng(2)
    inputs = [rng.normal(size=(6, lanes)), rng.normal(size=(1, lanes))]
    whole, parts = on_blocks(fn, lanes, inputs)
    assert parts == 1
    for chunk in (40, 171, 500):
        split, parts = on_blocks(fn, lanes, inputs, chunk=chunk)
        assert parts > 2
        for a, b in zip(whole, split, strict=True):
            assert a.tobytes() == b.tobytes()


def test_scratch_rows_are_used_again():
    x = ca.SX.sym("x", 10)
    values = x
    for _ in range(60):
        values = ca.sin(values[[*range(1, 10), 0]]) + 0.5 * values * x
    fn = ca.Function("f", [x], [values])
    assert lower(fn, "f", 8, chunk=100).scratch < 60


def test_matrices_are_column_major_or_c_order():
    a = ca.SX.sym("a", 2, 3)
    fn = ca.Function("f", [a], [2 * a])
    rows = np.arange(6.0)[:, None] * np.ones((1, 2))
    (plain,), _ = on_blocks(fn, 2, [rows])
    (c_order,), _ = on_blocks(fn, 2, [rows], c_order=True)
    assert plain[:, 0].tolist() == c_order[:, 0].tolist() == [0, 2, 4, 6, 8, 10]
    picked = ca.Function("g", [a], [a[0, 1]])
    assert on_blocks(picked, 1, [rows[:, :1]])[0][0][0, 0] == 2
    assert on_blocks(picked, 1, [rows[:, :1]], c_order=True)[0][0][0, 0] == 1


def test_sparse_inputs_have_dense_rows():
    a = ca.SX.sym("a", ca.Sparsity.lower(2))
    (result,), _ = on_blocks(ca.Function("f", [a], [a]), 1, [np.array([[1.0], [2.0], [99.0], [3.0]])])
    assert result.ravel().tolist() == [1, 2, 0, 3]


def test_products_used_once_are_fused_and_rounded_once():
    a, b, c, d = (ca.SX.sym(n) for n in "abcd")
    fn = ca.Function("f", [a, b, c, d], [a * b + c, c - a * d, b * d - c, a * c + b * b], [*"abcd"], [*"wxyz"])
    values = np.random.default_rng(3).normal(size=(4, 50))
    result = compile_function(fn, cache=False)(**dict(zip("abcd", values, strict=True)))
    for k, (p, q, r, s) in enumerate(values.T):
        P, Q, R, S = map(Fraction, (p, q, r, s))
        assert result.w[k] == float(P * Q + R)
        assert result.x[k] == float(R - P * S)
        assert result.y[k] == float(Q * S - R)
        assert result.z[k] == float(Q * Q + Fraction(p * r))
    lowered = lower(fn, "f", 8)
    assert lowered.counts == {"fma": 2, "fnma": 1, "fms": 1, "mul": 1}


def test_products_used_twice_are_not_fused():
    p = X * Y
    assert lower(ca.Function("f", [X, Y], [p + 1, p - 2]), "f", 4).counts == {"mul": 1, "add": 1, "sub": 1}


def test_sine_and_cosine_share_a_call_and_choices_are_selections():
    fn = ca.Function("f", [X, Y], [ca.sin(X) * ca.cos(X), ca.if_else(X > Y, X, Y)])
    lowered = lower(fn, "f", 8)
    assert lowered.counts["sincos"] == 1 and lowered.library == {"sincos"}
    assert lowered.counts["select"] == 1 and "if_else_zero" not in lowered.counts


def test_no_fast_math_and_no_duplicate_declarations():
    parts = [lower(random_function(seed, 60), f"f{seed}", 8) for seed in (1, 2)]
    text = module_text(parts, "")
    declared = [line for line in text.splitlines() if line.startswith("declare")]
    assert len(declared) == len(set(declared)) > 0
    for flag in (" fast ", " contract ", " reassoc ", " nnan ", " arcp "):
        assert flag not in text


@pytest.mark.parametrize("lanes", LANES)
def test_text_does_not_change_from_run_to_run(lanes):
    assert lower(random_function(4), "f", lanes).text == lower(random_function(4), "f", lanes).text


def test_what_cannot_be_compiled_is_refused_by_name():
    with pytest.raises(CompileError, match="function 'f' uses OP_PRINTME, which cannot be compiled"):
        lower(ca.Function("f", [X, Y], [X.printme(Y)]), "f", 8)
    m = ca.MX.sym("m", 2)
    with pytest.raises(CompileError, match=r"'g' is a MXFunction, not an SX function\n  fix: use fn.expand"):
        lower(ca.Function("g", [m], [m + 1]), "g", 8)
    free = ca.Function("h", [X], [X * Y], {"allow_free": True})
    with pytest.raises(CompileError, match="function 'h' has free symbols: 'y'"):
        lower(free, "h", 8)


def test_all_scalar_operations_of_casadi_are_known_or_refused():
    tape = import_module("linkwork.compiler.tape")
    scalar = {name for name in dir(ca) if name.startswith("OP_") and ca.OP_ASSIGN <= getattr(ca, name) < ca.OP_CONST}
    scalar |= {"OP_ERFINV", "OP_LIFT", "OP_LOG1P", "OP_EXPM1", "OP_HYPOT", "OP_REMAINDER"}
    handled = {*tape.OPERATIONS, *tape._COPIES}
    assert {name for name in scalar if getattr(ca, name) not in handled} == set()
