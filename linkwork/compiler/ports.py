"""What goes in and out of a kernel, by name: ports, results, and the checks of arrays against ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import CompileError, RunError

FLOAT = np.dtype(np.float64)
RESERVED = ("out", "threads")


@dataclass(frozen=True)
class Port:
    """One named input or output: its components, their units, the shape of a sample, a default of an input.

    Without `shape` it is one value per component, or where there are no components what the CasADi function
    says: a number, a column as a vector, else a matrix.
    """

    name: str
    components: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    default: np.ndarray | None = field(default=None, compare=False)
    shape: tuple[int, ...] | None = None

    @property
    def sample(self) -> tuple[int, ...]:
        """The shape of one sample, once it is known."""
        return self.shape or ()

    @cached_property
    def rows(self) -> int:
        """Numbers in one sample."""
        rows = 1
        for length in self.sample:
            rows *= length
        return rows

    def expects(self) -> str:
        """Its accepted shapes, in words."""
        inner = ", ".join(str(length) for length in self.sample)
        if not self.sample:
            return "a number or (samples,)"
        return f"({inner}{',' if len(self.sample) == 1 else ''}) or (samples, {inner})"


def ports_of(fn: Any, given: Sequence[Port] | None, inward: bool) -> tuple[Port, ...]:
    """The ports of a function's inputs or outputs, checked against it and completed from it."""
    count = fn.n_in() if inward else fn.n_out()
    what = "inputs" if inward else "outputs"
    if given is None:
        given = [Port(fn.name_in(k) if inward else fn.name_out(k)) for k in range(count)]
    if len(given) != count:
        raise CompileError(f"function '{fn.name()}' has {count} {what}, but {len(given)} ports are given")
    names = [port.name for port in given]
    for name in names:
        if inward and name in RESERVED:
            raise CompileError(f"an input cannot be called '{name}'", fix="that word is an option of the call")
        if names.count(name) > 1:
            raise CompileError(f"function '{fn.name()}' has two {what} called '{name}'")
    shapes = [fn.size_in(k) if inward else fn.size_out(k) for k in range(count)]
    return tuple(_completed(port, shape) for port, shape in zip(given, shapes, strict=True))


def _completed(port: Port, shape: tuple[int, int]) -> Port:
    """A port with its shape and default settled, agreeing with the CasADi shape."""
    rows, columns = shape
    sample = port.shape
    if sample is None and port.components and columns == 1:
        sample = (len(port.components),)
    elif sample is None:
        sample = () if shape == (1, 1) else (rows,) if columns == 1 else (rows, columns)
    wanted = {(): (1, 1), **({(rows,): shape} if columns == 1 else {})}.get(sample, sample)
    if tuple(wanted) != tuple(shape):
        raise CompileError(f"port '{port.name}' has shape {sample}, but the function has {rows} × {columns}")
    default = port.default
    if default is not None:
        default = np.array(default, dtype=float)
        if default.shape != sample:
            raise CompileError(f"the default of port '{port.name}' has shape {default.shape}, not {sample}")
        default.setflags(write=False)
    return replace(port, shape=sample, default=default)


class Outputs(Mapping[str, np.ndarray]):
    """Several results, by name: `result["M"]` or `result.M`."""

    __slots__ = ("_arrays",)

    def __init__(self, arrays: dict[str, np.ndarray]):
        object.__setattr__(self, "_arrays", arrays)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self._arrays[name]
        except KeyError:
            raise AttributeError(f"no output '{name}'; there are {', '.join(self._arrays)}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("results are read-only; the arrays in them are not")

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}: {array.shape}" for name, array in self._arrays.items())
        return f"Outputs({inner})"


def numbers(port: Port, value: Any) -> np.ndarray:
    """A value as an array of doubles; integers and single precision are converted, nothing else is."""
    if isinstance(value, np.ndarray) and value.dtype == FLOAT:
        return value
    try:
        array = np.asarray(value)
    except ValueError:
        raise RunError(f"input '{port.name}' is not an array of numbers: its rows differ in length") from None
    if array.dtype.kind not in "fiub":
        raise RunError(f"input '{port.name}' holds {array.dtype}, expected real numbers of shape {port.expects()}")
    return array.astype(FLOAT)


def fitted(port: Port, value: Any) -> tuple[np.ndarray, int | None]:
    """A value as machine code can read it, and its number of samples: None when it is one for all.

    The numbers of one sample lie side by side; samples may lie at any distance.
    """
    array = numbers(port, value)
    sample = port.sample
    extra = array.ndim - len(sample)
    if extra not in (0, 1) or array.shape[extra:] != sample:
        raise RunError(f"input '{port.name}' has shape {array.shape}, expected {port.expects()}")
    if not (array.flags.carray or dense(array, extra)):
        array = np.ascontiguousarray(array)
    return array, array.shape[0] if extra else None


def dense(array: np.ndarray, extra: int) -> bool:
    """Whether the numbers of each sample lie side by side in C order, at aligned addresses."""
    if not array.size:
        return True
    step = 8
    for length, stride in zip(reversed(array.shape[extra:]), reversed(array.strides[extra:]), strict=True):
        if length != 1 and stride != step:
            return False
        step *= length
    return bool(array.flags.aligned) and (not extra or array.strides[0] % 8 == 0)
