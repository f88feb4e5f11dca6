"""Elementary functions as LLVM IR text, for W lanes side by side: W = 1 (plain double), 2, 4 or 8.

A call reads `call VT @lw.exp.W(VT %x)`; sine and cosine come together, from `{VT, VT} @lw.sincos.W(VT %x)`.
The polynomials and their sources (fdlibm, Cephes, SLEEF as literature) stand in the `elementary_*` files
beside this one.

Each function computes all lanes by the same sequence of IEEE operations whatever W is. If any lane is
outside the domain of that sequence (a huge angle, an infinity, NaN, a subnormal number), a cold function
replaces those lanes, one by one, by what the C library says. So the bits of a lane depend neither on W nor
on the other lanes. Functions without a fast sequence of their own (erf) are the C library's, lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import elementary_exp, elementary_rest, elementary_trig
from .elementary_ir import Code, Shape

Writer = Callable[..., tuple[tuple[str, ...], str | None]]

FAST: dict[str, Writer] = {
    "sincos": elementary_trig.sincos,
    "tan": elementary_trig.tan,
    "asin": elementary_trig.asin,
    "acos": elementary_trig.acos,
    "atan": elementary_trig.atan,
    "atan2": elementary_trig.atan2,
    "exp": elementary_exp.exp,
    "expm1": elementary_exp.expm1,
    "log": elementary_exp.log,
    "log1p": elementary_exp.log1p,
    "pow": elementary_exp.power,
    "sinh": elementary_exp.sinh,
    "cosh": elementary_exp.cosh,
    "tanh": elementary_exp.tanh,
    "asinh": elementary_exp.asinh,
    "acosh": elementary_exp.acosh,
    "atanh": elementary_exp.atanh,
    "hypot": elementary_rest.hypot,
    "fmod": elementary_rest.fmod,
    "remainder": elementary_rest.remainder,
    "erfinv": elementary_rest.erfinv,
}
FROM_C = frozenset(("erf", "erfc"))
BINARY = frozenset(("atan2", "pow", "hypot", "fmod", "remainder"))
NAMES = frozenset(FAST) | FROM_C


def symbol(name: str, lanes: int) -> str:
    """The function's name in IR: `@lw.exp.8`."""
    return f"@lw.{name}.{lanes}"


def arity(name: str) -> int:
    return 2 if name in BINARY else 1


def library(lanes: int, names: Iterable[str]) -> str:
    """Definitions of the named functions and of what they call, with the declarations they need."""
    texts, declared = _text(lanes, names)
    return "\n".join([*sorted(declared), "", *texts])


def definitions(lanes: int, names: Iterable[str]) -> str:
    """The same without the declarations."""
    return "\n".join(_text(lanes, names)[0])


def declarations(names: Iterable[str], lanes: int) -> list[str]:
    """What `definitions` needs to have declared: intrinsics and functions of the C library."""
    return sorted(_text(lanes, names)[1])


def _text(lanes: int, names: Iterable[str]) -> tuple[list[str], set[str]]:
    """The texts of all functions needed, callers first, and their declarations."""
    shape = Shape(lanes)
    texts: list[str] = []
    declared: set[str] = set()
    from_c: set[str] = set()
    waiting, done = sorted(set(names)), set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in done:
            continue
        done.add(name)
        if name not in NAMES:
            raise KeyError(f"no elementary function is called '{name}'; there are {', '.join(sorted(NAMES))}")
        if name in FROM_C:
            texts.append(_all_from_c(shape, name))
            from_c.add(name)
            continue
        code = Code(shape)
        texts += _function(code, name)
        declared |= code.declared
        waiting += sorted(code.called)
        from_c |= {"sin", "cos"} if name == "sincos" else {name} - {"erfinv"}
    for name in sorted(from_c):
        declared.add(f"declare double @{name}({', '.join(['double'] * arity(name))})")
        texts.append(_lane_by_lane(shape, name))
    return texts, declared


def _parameters(shape: Shape, count: int) -> str:
    return ", ".join(f"{shape.value} %{'xy'[k]}" for k in range(count))


def _function(code: Code, name: str) -> list[str]:
    """One function: its fast sequence, and a branch to the cold function if a lane needs it."""
    shape = code.shape
    results, outside = FAST[name](code, *["%x", "%y"][: arity(name)])
    pair = len(results) == 2
    result_type = f"{{{shape.value}, {shape.value}}}" if pair else shape.value
    attribute = "alwaysinline" if name == "sincos" else "noinline"
    head = f"define internal {result_type} {symbol(name, shape.lanes)}({_parameters(shape, arity(name))})"
    lines = [f"{head} {attribute} nounwind {{", "start:", *code.lines]
    if outside is None:
        return ["\n".join([*lines, f"  ret {result_type} {results[0]}", "}", ""])]

    arguments = ", ".join([_parameters(shape, arity(name)), f"{shape.flags} %flags"])
    kept = "".join(f", {shape.value} {r}" for r in results)
    lines += [
        f"  %flags = bitcast {shape.mask} {outside} to {shape.flags}",
        f"  %any = icmp ne {shape.flags} %flags, 0",
        "  br i1 %any, label %slow, label %end",
        "slow:",
        f"  %other = call {result_type} @lw.{name}.cold.{shape.lanes}({arguments}{kept})",
    ]
    lines += [f"  %other{k} = extractvalue {result_type} %other, {k}" for k in range(len(results)) if pair]
    others = [f"%other{k}" for k in range(2)] if pair else ["%other"]
    lines += ["  br label %end", "end:"]
    for k, (r, o) in enumerate(zip(results, others, strict=True)):
        lines.append(f"  %result{k} = phi {shape.value} [ {r}, %start ], [ {o}, %slow ]")
    lines += _returned(shape, pair)
    return ["\n".join([*lines, "}", ""]), *([_cold_pair(shape)] if pair else [])]


def _returned(shape: Shape, pair: bool) -> list[str]:
    if not pair:
        return [f"  ret {shape.value} %result0"]
    both = f"{{{shape.value}, {shape.value}}}"
    return [
        f"  %both0 = insertvalue {both} poison, {shape.value} %result0, 0",
        f"  %both1 = insertvalue {both} %both0, {shape.value} %result1, 1",
        f"  ret {both} %both1",
    ]


def _cold_pair(shape: Shape) -> str:
    """Sine and cosine of the flagged lanes from the C library, the others as they are."""
    v, w = shape.value, shape.lanes
    lines = [
        f"define internal {{{v}, {v}}} @lw.sincos.cold.{w}({v} %x, {shape.flags} %flags, {v} %s, {v} %c)"
        " noinline cold nounwind {",
        f"  %result0 = call {v} @lw.sin.cold.{w}({v} %x, {shape.flags} %flags, {v} %s)",
        f"  %result1 = call {v} @lw.cos.cold.{w}({v} %x, {shape.flags} %flags, {v} %c)",
        *_returned(shape, pair=True),
    ]
    return "\n".join([*lines, "}", ""])


def _all_from_c(shape: Shape, name: str) -> str:
    """A function without a fast sequence: every lane is flagged."""
    v, parameters = shape.value, _parameters(shape, arity(name))
    lines = [
        f"define internal {v} {symbol(name, shape.lanes)}({parameters}) noinline nounwind {{",
        f"  %r = call {v} @lw.{name}.cold.{shape.lanes}({parameters}, {shape.flags} -1, {v} %x)",
        f"  ret {v} %r",
    ]
    return "\n".join([*lines, "}", ""])


def _lane_by_lane(shape: Shape, name: str) -> str:
    """The C library's value in the flagged lanes, the value given in the others."""
    v, w, count = shape.value, shape.lanes, arity(name)
    parameters = f"{_parameters(shape, count)}, {shape.flags} %flags, {v} %kept"
    head = f"define internal {v} @lw.{name}.cold.{w}({parameters}) noinline cold nounwind {{"
    if w == 1:
        inner = ", ".join(f"double %{'xy'[k]}" for k in range(count))
        return "\n".join([head, f"  %r = call double @{name}({inner}) nobuiltin", "  ret double %r", "}", ""])
    size = 8 * w
    arrays = ["x", "y"][:count]
    lines = [head, "start:"]
    for a in [*arrays, "kept"]:
        lines += [f"  %{a}.at = alloca {v}, align {size}", f"  store {v} %{a}, ptr %{a}.at, align {size}"]
    lines += [
        "  br label %lane",
        "lane:",
        "  %k = phi i64 [ 0, %start ], [ %next, %step ]",
        f"  %k.bit = trunc i64 %k to {shape.flags}",
        f"  %shifted = lshr {shape.flags} %flags, %k.bit",
        f"  %flag = trunc {shape.flags} %shifted to i1",
        "  br i1 %flag, label %replace, label %step",
        "replace:",
    ]
    for a in [*arrays, "kept"]:
        lines.append(f"  %{a}.lane = getelementptr double, ptr %{a}.at, i64 %k")
    lines += [f"  %{a}.value = load double, ptr %{a}.lane, align 8" for a in arrays]
    inner = ", ".join(f"double %{a}.value" for a in arrays)
    lines += [
        f"  %value = call double @{name}({inner}) nobuiltin",
        "  store double %value, ptr %kept.lane, align 8",
        "  br label %step",
        "step:",
        "  %next = add i64 %k, 1",
        f"  %more = icmp ult i64 %next, {w}",
        "  br i1 %more, label %lane, label %end",
        "end:",
        f"  %r = load {v}, ptr %kept.at, align {size}",
        f"  ret {v} %r",
        "}",
        "",
    ]
    return "\n".join(lines)
