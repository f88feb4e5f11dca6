"""How inputs vary, as said in a plan: `payload.mass: {uniform: [0, 5 kg]}` → a distribution in SI.

3 kg                                        the same in every sample
{uniform: [0, 5 kg]}                        {triangular: [low, peak, high]}
{normal: [mean, deviation], truncate: [low, high]}
{beta: [a, b, low, high]}                   {arcsine: [low, high]}: Beta(½, ½), most probable at the edges
{values: [1, 2, 5], weights: [3, 2, 1]}     {linspace: [first, last, count]}: values as well
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import LinkworkError, Place, RunError, nearest
from linkwork.model import csvfile
from linkwork.model.units import quantity, unit_factor
from linkwork.model.yamltree import Node
from linkwork.simulation.distributions import KINDS, Constant, Discrete, Distribution, Normal, Truncated, of_numbers
from linkwork.simulation.plan import Correlated, Input

IN_PYTHON = "plan"
WORDS = (*KINDS, "values", "discrete", "linspace", "weights", "truncate")
FIX = "write {uniform: [low, high]}, {normal: [mean, deviation]}, {values: [1, 2]} or a number"
Units = Mapping[str, str | None]


@contextmanager
def told_at(where: Place | None, what: str = "") -> Iterator[None]:
    """Errors within tell their place."""
    try:
        yield
    except LinkworkError as error:
        if error.where is not None:
            raise
        raise RunError(f"{what}{error.what}", where=where, fix=error.fix) from None


def node_of(given: Any) -> Node:
    """Plain data of Python in the form of a file's."""
    if isinstance(given, Node):
        return given
    if isinstance(given, np.ndarray):
        given = given.tolist()
    value: Any = given.item() if isinstance(given, np.generic) else given
    lines: dict[str, Any] = {}
    if isinstance(given, Mapping):
        value = {str(k): node_of(v) for k, v in given.items()}
        lines = dict.fromkeys(value)
    elif isinstance(given, (list, tuple)):
        value = [node_of(v) for v in given]
    text = "" if isinstance(value, (dict, list)) or value is None else str(value)
    return Node(IN_PYTHON, None, value, text, lines)  # type: ignore[arg-type]


def inputs_of(node: Node, known: Units, free: Mapping[str, Any]) -> tuple[list[Input], dict[str, tuple[float, ...]]]:
    """Inputs in the order of the plan, and columns of those that are listed one value a sample."""
    inputs: list[Input] = []
    columns: dict[str, tuple[float, ...]] = {}
    for name, one in node.mapping("vary").items():
        unit = known.get(name)
        with told_at(Place(node.file, node.key_lines[name]), f"'{name}': "):
            if name not in known and name not in free:
                joint, _, word = name.rpartition(".")
                turns = word in ("qw", "qx", "qy", "qz") and f"{joint}.yaw" in known
                fix = f"vary {joint}.roll, {joint}.pitch, {joint}.yaw" if turns else nearest(name, known)
                raise RunError("there is no such start or parameter", fix=fix)
            if isinstance(one.value, list):
                columns[name] = tuple(_number(x.value, unit, f"value {k}", True) for k, x in enumerate(one.value))
                inputs.append(Input(name, None, unit or ""))
            else:
                inputs.append(Input(name, distribution(one, unit), unit or ""))
    return inputs, columns


def _alike(numbers: Sequence[Any]) -> None:
    """`[20, 40 deg]` could be 20 rad or 20 deg: in one list all numbers have units that are not SI, or none."""
    bare = [x for x in numbers if _bare(x) and float(x) != 0 and math.isfinite(float(x))]
    scaled = [x for x in numbers if isinstance(x, str) and not _bare(x) and _scale(x) != 1]
    if bare and scaled:
        unit = scaled[0].strip().lstrip("+-−.0123456789eE").strip()
        raise RunError(f"{bare[0]} has no unit, but {scaled[0]} has", fix=f"write {bare[0]} {unit}, or all in SI")


def _bare(x: Any) -> bool:
    try:
        float(x)
    except (TypeError, ValueError):
        return False
    return not isinstance(x, bool)


def _scale(text: str) -> float:
    match = re.match(r"\s*[-+−]?[\d.]+(?:[eE][-+]?\d+)?\s*(.+)", text)
    try:
        return unit_factor(match[1], None) if match else 1.0
    except LinkworkError:
        return 1.0  # told better where the number is read


def _number(value: Any, unit: str | None, what: str, any_number: bool = False) -> float:
    """In SI. `any_number`: of a table even what is not a number is taken; its sample will say so."""
    if any_number and isinstance(value, str) and value.strip().lower() in ("nan", "inf", "-inf", ""):
        return float(value.strip() or "nan")
    if any_number and isinstance(value, float) and not math.isfinite(value):
        return value
    return quantity(value, unit, None, what)


def distribution(node: Node, unit: str | None) -> Distribution:
    """The distribution of one input."""
    if not isinstance(node.value, dict):
        return Constant(_number(node.value, unit, "the value"))
    given = {key: one.plain() for key, one in node.value.items()}
    for key in given:
        if key not in WORDS:
            raise RunError(f"there is no distribution '{key}'", fix=nearest(key, WORDS))
    kinds = [key for key in given if key not in ("weights", "truncate")]
    if len(kinds) != 1:
        raise RunError(f"{len(kinds)} distributions" if kinds else "there is no distribution", fix=FIX)
    (kind,) = kinds
    numbers = given[kind]
    if "weights" in given and kind not in ("values", "discrete"):
        raise RunError(f"{kind} takes no weights", fix="weights go with values")
    if not isinstance(numbers, (list, tuple)):
        raise RunError(f"{kind} is {numbers!r}, not a list", fix=FIX)
    if kind in ("values", "discrete", "linspace"):
        made: Distribution = _discrete(kind, numbers, given.get("weights"), unit)
    else:
        made = _continuous(kind, numbers, unit)
    if "truncate" not in given:
        return made
    limits = given["truncate"]
    if not isinstance(limits, (list, tuple)) or len(limits) != 2:
        raise RunError("truncate is not two limits", fix="truncate: [low, high]; .inf where there is none")
    _alike(limits)
    return Truncated(made, *(quantity(x, unit, None, "a limit of truncate", infinite=True) for x in limits))


def _continuous(kind: str, numbers: Sequence[Any], unit: str | None) -> Distribution:
    if len(numbers) not in KINDS[kind]:
        wanted = " or ".join(map(str, KINDS[kind]))
        raise RunError(f"{kind} has {len(numbers)} numbers", fix=f"give {wanted}; see docs/sweep.md")
    plain = 2 if kind == "beta" else 0  # a and b have no unit
    _alike(numbers[plain:])
    found = [_number(x, "1" if k < plain else unit, f"number {k + 1} of {kind}") for k, x in enumerate(numbers)]
    return of_numbers(kind, found)


def _discrete(kind: str, numbers: Sequence[Any], weights: Any, unit: str | None) -> Discrete:
    if kind == "linspace":
        if len(numbers) != 3 or type(numbers[2]) is not int or numbers[2] < 1:
            raise RunError("linspace is not first, last, count", fix="linspace: [0, 1 kg, 11]")
        _alike(numbers[:2])
        first, last = (_number(x, unit, "an end of linspace") for x in numbers[:2])
        count = numbers[2]
        steps = [k / (count - 1) for k in range(count)] if count > 1 else [0.0]
        return Discrete(tuple(first * (1 - s) + last * s for s in steps))
    _alike(numbers)
    values = tuple(_number(x, unit, f"value {k + 1}") for k, x in enumerate(numbers))
    return Discrete(values, tuple(_number(x, "1", "a weight") for x in weights or ()))


def groups_of(node: Node, inputs: list[Input]) -> tuple[Correlated, ...]:
    """Groups of inputs that vary together."""
    found = []
    for one in node.value if isinstance(node.value, list) else [node]:
        given = one.mapping("correlate", ("names", "covariance", "correlation"))
        with told_at(one.place, "correlate: "):
            names = tuple(n.text for n in given["names"].items("names")) if "names" in given else ()
            kinds = [k for k in ("covariance", "correlation") if k in given]
            if len(names) < 2 or len(kinds) != 1:
                fix = "{names: [a, b], correlation: [[1, 0.5], [0.5, 1]]}, or covariance in SI units"
                raise RunError("it wants names and either covariance or correlation", fix=fix)
            matrix = _matrix(given[kinds[0]].plain(), len(names))
            deviations = [1.0] * len(names)
            if kinds[0] == "covariance":
                deviations = _deviations(names, matrix, inputs)
            elif any(abs(matrix[k][k] - 1) > 1e-12 for k in range(len(names))):
                raise RunError("the diagonal of a correlation is 1", fix="or say covariance")
            scaled = [[c / (deviations[i] * deviations[j]) for j, c in enumerate(row)] for i, row in enumerate(matrix)]
            found.append(Correlated(names, tuple(tuple(row) for row in scaled)))
    return tuple(found)


def _matrix(given: Any, n: int) -> list[list[float]]:
    square = isinstance(given, list) and len(given) == n and all(isinstance(r, list) and len(r) == n for r in given)
    if not square:
        raise RunError(f"the matrix is not {n} × {n}", fix=f"give {n} rows of {n} numbers")
    matrix = [[_number(x, None, "an entry") for x in row] for row in given]
    if any(abs(matrix[i][j] - matrix[j][i]) > 1e-12 * max(1.0, abs(matrix[i][j])) for i in range(n) for j in range(n)):
        raise RunError("the matrix is not symmetric", fix="give the same number above and below the diagonal")
    if any(matrix[k][k] <= 0 for k in range(n)):
        raise RunError("the matrix has a diagonal entry that is not above zero", fix="these are squared deviations")
    return matrix


def _deviations(names: tuple[str, ...], matrix: list[list[float]], inputs: list[Input]) -> list[float]:
    """Square roots of the diagonal, which are the deviations of these inputs."""
    deviations = [math.sqrt(matrix[k][k]) for k in range(len(names))]
    for name, deviation in zip(names, deviations, strict=True):
        x = next((x.distribution for x in inputs if x.name == name), None)
        if not isinstance(x, Normal):
            fix = "give it {normal: [mean, deviation]}, or say correlation"
            raise RunError(f"a covariance needs normal inputs, and '{name}' is none", fix=fix)
        if abs(x.deviation - deviation) > 1e-6 * deviation:
            fix = f"the covariance says {deviation:g} (the root of its diagonal); make both the same"
            raise RunError(f"'{name}' has the deviation {x.deviation:g}", fix=fix)
    return deviations


def table_of(path: Path, known: Units) -> tuple[list[Input], dict[str, tuple[float, ...]]]:
    """The columns of a CSV file whose header names inputs, with units in brackets; a row is a sample."""
    rows = csvfile.table(path, tuple(known))
    if not rows:
        raise RunError("the table has no rows", where=Place(str(path)), fix="give one row for each sample")
    columns = {}
    for name in rows[0].cells:
        cells = []
        for row in rows:
            with told_at(row.place):
                cells.append(_number(row.told(name), known[name], f"column '{name}'", True))
        columns[name] = tuple(cells)
    return [Input(name, None, known[name] or "") for name in columns], columns
