"""Elementary functions: accuracy against mpmath, special values as in C, independence of lanes."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterable

import llvmlite.binding as llvm
import mpmath as mp
import numpy as np
import pytest

from linkwork.compiler.elementary import NAMES, arity, declarations, definitions, library, symbol
from linkwork.compiler.target import host

LANES = (1, 2, 4, 8)
BITS = 2200
"""Precision of references whose arguments may be as large as 1e300."""
worst: dict[str, float] = {}


def loop(name: str, lanes: int) -> str:
    """IR that applies one function to arrays of blocks of lanes."""
    v = "double" if lanes == 1 else f"<{lanes} x double>"
    result = f"{{{v}, {v}}}" if name == "sincos" else v
    inputs, outputs = "xy"[: arity(name)], "pq"[: 1 + (name == "sincos")]
    lines = [
        f"define void @run.{name}.{lanes}(ptr %x, ptr %y, ptr %p, ptr %q, i64 %n) {{",
        "a:",
        "  br label %b",
    ]
    lines += ["b:", "  %k = phi i64 [0, %a], [%next, %b]"]
    lines += [f"  %{a}.at = getelementptr {v}, ptr %{a}, i64 %k" for a in inputs + outputs]
    lines += [f"  %{a}.v = load {v}, ptr %{a}.at, align 8" for a in inputs]
    lines += [f"  %r = call {result} {symbol(name, lanes)}({', '.join(f'{v} %{a}.v' for a in inputs)})"]
    for k, a in enumerate(outputs):
        part = "%r"
        if name == "sincos":
            part = f"%r{k}"
            lines.append(f"  {part} = extractvalue {result} %r, {k}")
        lines.append(f"  store {v} {part}, ptr %{a}.at, align 8")
    lines += ["  %next = add i64 %k, 1", "  %more = icmp ult i64 %next, %n"]
    return "\n".join([*lines, "  br i1 %more, label %b, label %e", "e:", "  ret void", "}"])


def module(names: Iterable[str], lanes: Iterable[int]) -> str:
    names = sorted(names)
    declared = sorted({d for w in lanes for d in declarations(names, w)})
    texts = [t for w in lanes for t in (definitions(w, names), *(loop(n, w) for n in names))]
    return "\n".join([f'target triple = "{host().triple}"', *declared, *texts])


class Compiled:
    """All functions for all lane counts, as calls on arrays."""

    def __init__(self) -> None:
        builder = llvm.JITLibraryBuilder().add_ir(module(NAMES, LANES)).add_current_process()
        names = [f"run.{n}.{w}" for n in NAMES for w in LANES]
        for name in names:
            builder.export_symbol(name)
        self.jit = llvm.create_lljit_compiler(host().machine())
        self.tracker = builder.link(self.jit, "elementary")

    def __call__(self, name: str, lanes: int, *arguments: np.ndarray) -> list[np.ndarray]:
        size = len(arguments[0])
        padded = -(-size // lanes) * lanes
        arrays = np.full((4, padded), 0.5)
        arrays[: len(arguments), :size] = arguments
        run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, ctypes.c_int64)(self.tracker[f"run.{name}.{lanes}"])
        run(*[a.ctypes.data for a in arrays], padded // lanes)
        return [arrays[2, :size], arrays[3, :size]] if name == "sincos" else [arrays[2, :size]]


@pytest.fixture(scope="module")
def run() -> Iterable[Compiled]:
    yield Compiled()
    print("\n\nworst error found, in units of the last place")
    for name, value in sorted(worst.items()):
        print(f"  {name:10s} {value:6.3f}")


def error(got: np.ndarray, exact: list[mp.mpf]) -> float:
    """The largest distance in units of the last place of the exact value."""
    largest = 0.0
    for g, e in zip(got.tolist(), exact, strict=True):
        rounded = float(e)
        if rounded == 0.0 or math.isinf(rounded):
            assert g == rounded
        else:
            largest = max(largest, float(abs(mp.mpf(g) - e) / math.ulp(rounded)))
    return largest


def powers(rng: np.random.Generator, low: float, high: float, size: int = 500) -> np.ndarray:
    """Numbers of both signs, evenly spread by their logarithm."""
    return rng.choice([-1.0, 1.0], size) * 10.0 ** rng.uniform(low, high, size)


def near_quarter_turns(rng: np.random.Generator) -> np.ndarray:
    k = np.concatenate([np.arange(1.0, 200.0), np.floor(rng.uniform(200, 63661, 500))]) * (np.pi / 2)
    return np.concatenate([k, np.nextafter(k, 0.0), -np.nextafter(k, 1e9)])


def angles(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate(
        [
            rng.uniform(-7, 7, 1000),
            rng.uniform(0.7, 0.8, 500),
            powers(rng, -9, 5, 1000),
            powers(rng, -320, -9, 200),
            near_quarter_turns(rng),
            [99999.999, 1e5, np.nextafter(1e5, 2e5)],
            powers(rng, 5, 300, 200),
        ]
    )


def around_one(rng: np.random.Generator) -> np.ndarray:
    return 1.0 + powers(rng, -15, -0.5)


def points(name: str, rng: np.random.Generator) -> list[np.ndarray]:
    u = rng.uniform
    unit = np.concatenate([u(-1, 1, 1000), powers(rng, -320, 0), (1 - 10 ** u(-16, 0, 500)) * rng.choice([-1, 1], 500)])
    middle = np.concatenate([u(-3, 3, 1000), powers(rng, -320, 2.85, 800), u(-708, 708, 500)])
    wide = np.concatenate([powers(rng, -320, 308, 800), u(-4, 4, 1000)])
    sets: dict[str, Callable[[], list[np.ndarray]]] = {
        "sincos": lambda: [angles(rng)],
        "tan": lambda: [angles(rng)],
        "asin": lambda: [unit],
        "acos": lambda: [unit],
        "atanh": lambda: [unit],
        "erfinv": lambda: [unit[::4]],
        "erf": lambda: [powers(rng, -5, 0.7)],
        "erfc": lambda: [powers(rng, -5, 0.7)],
        "log": lambda: [np.concatenate([np.abs(wide), np.abs(around_one(rng)), [5e-324, 2.2e-308, 1.7e308]])],
        "log1p": lambda: [np.concatenate([np.abs(wide), unit[unit > -1], powers(rng, -18, -0.1)])],
        "acosh": lambda: [np.concatenate([1 + 10 ** u(-15, 3, 1000), 10 ** u(0, 300, 300), u(1, 4, 1000)])],
        "atan": lambda: [wide],
        "asinh": lambda: [wide],
        "pow": lambda: [
            np.concatenate([np.abs(powers(rng, -3, 3)), around_one(rng), powers(rng, -3, 3), u(0.1, 9, 500)]),
            np.concatenate([u(-90, 90, 500), powers(rng, 0, 2), np.floor(u(-20, 20, 500)), powers(rng, -9, 2)]),
        ],
    }
    if arity(name) == 2 and name != "pow":
        return [np.concatenate([powers(rng, -2, 2, 1500), powers(rng, -320, 308)]) for _ in "xy"]
    return sets[name]() if name in sets else [middle]


def references(name: str) -> list[Callable[..., mp.mpf]]:
    if name == "sincos":
        return [mp.sin, mp.cos]
    return [{"pow": mp.power}.get(name) or getattr(mp, name)]


@pytest.mark.parametrize("name", sorted(NAMES - {"fmod", "remainder"}))
def test_accuracy(run: Compiled, name: str) -> None:
    arguments = points(name, np.random.default_rng(7))
    with mp.workprec(BITS if name in ("sincos", "tan", "atan2", "hypot") else 200):
        exact = [
            [f(*map(mp.mpf, x)) for x in zip(*(a.tolist() for a in arguments), strict=True)] for f in references(name)
        ]
        with np.errstate(over="ignore"):
            worst[name] = max(error(g, e) for g, e in zip(run(name, 8, *arguments), exact, strict=True))
    assert worst[name] < {"sincos": 1.25, "acosh": 2.0, "erfinv": 2.0, "sinh": 1.5, "erfc": 3.0}.get(name, 1.1)


@pytest.mark.parametrize("limit", [1.0, 100.0, 1e5])
def test_sine_and_cosine_over_long_sweeps(run: Compiled, limit: float) -> None:
    """Extended precision resolves a thousandth of a last place."""
    x = np.random.default_rng(3).uniform(-limit, limit, 200_000)
    for got, function in zip(run("sincos", 8, x), (np.sin, np.cos), strict=True):
        exact = function(x.astype(np.longdouble))
        error = np.abs((got - exact) / np.spacing(np.abs(exact.astype(float)))).max()
        worst["sincos"] = max(worst.get("sincos", 0.0), float(error))
        assert error < 1.25


@pytest.mark.parametrize("name", ["fmod", "remainder"])
def test_remainders_are_exact(run: Compiled, name: str) -> None:
    rng = np.random.default_rng(5)
    whole = np.floor(rng.uniform(-60, 60, 4000))
    x = np.concatenate([powers(rng, -3, 14, 4000), whole * 0.1, whole * 0.25, powers(rng, -300, 300, 2000)])
    y = np.concatenate(
        [powers(rng, -2, 2, 4000), np.full(4000, 0.2), np.full(4000, -0.5), powers(rng, -300, 300, 2000)]
    )
    exact = np.array([getattr(math, name)(a, b) for a, b in zip(x, y, strict=True)])
    assert run(name, 8, x, y)[0].tobytes() == exact.tobytes()


SPECIALS = [
    0.0,
    5e-324,
    1e-310,
    2.0**-1022,
    1e-200,
    0.5,
    1.0,
    1.5,
    2.0,
    3.0,
    708.0,
    709.0,
    745.0,
    1e4,
    1e17,
    1e200,
]
SPECIALS = np.array([s * x for x in [*SPECIALS, np.finfo(float).max, np.inf, np.nan] for s in (1.0, -1.0)])


@pytest.mark.parametrize("name", sorted(NAMES - {"sincos", "erf", "erfc", "erfinv"}))
def test_special_values_are_those_of_c(run: Compiled, name: str) -> None:
    """Zeros and their signs, infinities, NaN, the ends of domains; NumPy calls C's functions."""
    other = {
        "asin": "arcsin",
        "acos": "arccos",
        "atan": "arctan",
        "atan2": "arctan2",
        "asinh": "arcsinh",
        "acosh": "arccosh",
        "atanh": "arctanh",
        "pow": "power",
    }
    arguments = [SPECIALS] if arity(name) == 1 else [a.ravel() for a in np.meshgrid(SPECIALS, SPECIALS)]
    with np.errstate(all="ignore"):
        if name == "remainder":
            expected = np.array([c_remainder(a, b) for a, b in zip(*arguments, strict=True)])
        else:
            expected = getattr(np, other.get(name, name))(*arguments)
    for lanes in LANES:
        same(run(name, lanes, *arguments)[0], expected)


def test_special_values_of_sine_and_cosine(run: Compiled) -> None:
    with np.errstate(invalid="ignore"):
        for got, f in zip(run("sincos", 8, SPECIALS), (np.sin, np.cos), strict=True):
            same(got, f(SPECIALS))


def test_inverse_error_function_at_its_ends(run: Compiled) -> None:
    got = run("erfinv", 4, np.array([1.0, -1.0, 1.5, -2.0, np.nan, 0.0, -0.0]))[0]
    same(got, np.array([np.inf, -np.inf, np.nan, np.nan, np.nan, 0.0, -0.0]))


def c_remainder(a: float, b: float) -> float:
    try:
        return math.remainder(a, b)
    except ValueError:
        return math.nan


def same(got: np.ndarray, expected: np.ndarray) -> None:
    """Equal but for two units of the last place, signs of zeros included."""
    number = ~np.isnan(expected)
    assert np.array_equal(np.isnan(got), ~number)
    assert np.array_equal(np.signbit(got[number]), np.signbit(expected[number]))
    np.testing.assert_array_max_ulp(got[number], expected[number], 2)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_bits_depend_on_no_other_lane(run: Compiled, name: str) -> None:
    """Every lane count and every place among fast and slow neighbours gives the same bits."""
    rng = np.random.default_rng(11)
    arguments = [np.concatenate([a[:400], SPECIALS]) for a in points(name, rng)]
    order = rng.permutation(len(arguments[0]))
    arguments = [a[order] for a in arguments]
    expected = run(name, 1, *arguments)
    for lanes in LANES[1:]:
        for shift in range(lanes):
            for got, e in zip(run(name, lanes, *(np.roll(a, shift) for a in arguments)), expected, strict=True):
                back = np.roll(got, -shift)
                number = ~np.isnan(e)
                assert np.array_equal(np.isnan(back), ~number)
                assert back[number].tobytes() == e[number].tobytes()


def test_symmetry_is_exact(run: Compiled) -> None:
    x = np.random.default_rng(13).uniform(0, 700, 1000)
    for name in ("tan", "atan", "asinh", "sinh", "tanh", "sincos"):
        assert np.array_equal(run(name, 8, -x)[0], -run(name, 8, x)[0])


def test_only_what_is_named_is_written() -> None:
    assert set(re.findall(r"define internal .* (@lw\.\w+\.4)\(", library(4, ["exp"]))) == {"@lw.exp.4"}
    assert "@lw.exp.2" in library(2, ["erfinv"])
    with pytest.raises(KeyError, match="'sine'"):
        library(8, ["sine"])


@pytest.mark.skipif(host().lanes != 8, reason="needs AVX-512")
def test_machine_code_fills_the_widest_registers() -> None:
    """The fast path calls nothing; the cold one, of the same function, lies elsewhere."""
    names = NAMES - {"erf", "erfc", "erfinv"}
    parsed = llvm.parse_assembly(module(names, [8]))
    assembly = host().machine().emit_assembly(parsed)
    for name in names:
        body = re.search(rf"^lw\.{name}\.8:\n(.*?)^\.Lfunc_end", assembly, re.M | re.S)
        assert body is not None
        assert len(re.findall(r"^\s+v\w+pd\s.*%zmm", body[1], re.M)) > 5
        assert "%ymm" not in body[1]
        assert re.findall(r"call\w*\s+(\S+)", body[1]) == [f"lw.{name}.cold.8"]
