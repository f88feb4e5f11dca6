"""The call with one sample of every input as it is wanted: written out for a kernel's own names, to be quick.

What a general call does with loops and mappings takes several times as long as the machine code of a small
function. Here a method is generated with the kernel's inputs as its parameters; whatever is not simply one
sample of each goes on to the general call.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .arguments import Signature
from .ports import FLOAT, Outputs

MISSING: Any = type("Missing", (), {"__repr__": lambda self: "…"})()
"""Stands for an input that a call does not give."""

Kind = TypeVar("Kind", bound=type)


def quickened(kind: Kind, signature: Signature) -> Kind:
    """The class of kernels with a call of its own for one signature; the class itself if that has no inputs.

    The class has `_evaluate(given, out, threads)`, the general call, and `_single(given)`, this thread's
    memory if one sample of each is given: for each input a view of memory if it is a vector, else an array,
    then a callable, and an array for each output. It keeps that as `_local.single`.
    """
    if not signature.inputs:
        return kind
    call = _written(signature)
    call.__doc__, call.__qualname__ = kind.__call__.__doc__, kind.__call__.__qualname__
    members = {"__call__": call, "__module__": kind.__module__, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind,), members)  # pyright: ignore[reportReturnType]


def _usable(name: str) -> bool:
    """Whether an input can be a parameter; what the generated code calls its own begins with an underscore."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")


def _written(signature: Signature) -> Callable[..., Any]:
    ports = dict(enumerate(signature.inputs))
    odd = {k: port.name for k, port in ports.items() if not _usable(port.name)}
    names = [f"_odd{k}" if k in odd else port.name for k, port in ports.items()]
    known: dict[str, Any] = {"_type": type, "_array": np.ndarray, "_float": FLOAT, "_Outputs": Outputs}
    known |= {"_missing": MISSING, "_Error": AttributeError, "_whole": slice(None)}
    known |= {"_unfit": (TypeError, ValueError, BufferError, NotImplementedError)}
    for k, port in enumerate(signature.inputs):
        known |= {f"_shape{k}": port.sample, f"_default{k}": MISSING if port.default is None else port.default}
    results = [f"_result{k}.copy()" for k in range(len(signature.outputs))]
    held = [f"_input{k}" for k in range(len(names))] + ["_run"] + [f"_result{k}" for k in range(len(results))]
    answer = ", ".join(f"{port.name!r}: {text}" for port, text in zip(signature.outputs, results, strict=True))
    given = f"{{{', '.join(f'{port.name!r}: {names[k]}' for k, port in ports.items())}}}"
    parameters = "".join(f"{name}=_default{k}, " for k, name in enumerate(names) if k not in odd)
    # A vector is checked by copying it: views of memory take only the same kind of number in the same shape.
    fits = [
        f" and _type({n}) is _array and {n}.dtype is _float and {n}.shape == _shape{k}"
        for k, n in enumerate(names)
        if signature.inner[k] != 1
    ]
    whole = ["_whole" if inner == 1 else "..." for inner in signature.inner]
    lines = [
        f"def __call__(_self, *, {parameters}out=None, threads=None, **_rest):",
        *[f" _odd{k} = _rest.pop({name!r}, _default{k})" for k, name in odd.items()],
        f" if out is None and (threads is None or threads == 1) and not _rest{''.join(fits)}:",
        "  try:",
        "   _held = _self._local.single",
        "  except _Error:",
        f"   _held = _self._single({given})",
        "  if _held is not None:",
        f"   {', '.join(held)} = _held",
        "   try:",
        *[f"    _input{k}[{whole[k]}] = {name}" for k, name in enumerate(names)],
        "   except _unfit:",
        "    pass",
        "   else:",
        "    _run()",
        f"    return {results[0] if len(results) == 1 else f'_Outputs({{{answer}}})'}",
        f" _given = {{_name: _value for _name, _value in {given}.items() if _value is not _missing}}",
        " return _self._evaluate(_given | _rest, out, threads)",
    ]
    exec("\n".join(lines), known)
    return known["__call__"]
