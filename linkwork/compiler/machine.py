"""IR text → object code → functions at addresses.

Object code is made in one step and loaded in another, so that it can be kept on disk between. All of LLVM is
used through one lock of llvmlite's; several kernels are built side by side in processes, not in threads.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import count

import llvmlite.binding as llvm
import numpy as np

from ..errors import CompileError
from .elementary import library
from .lower import Lowered
from .target import Target, host

_lock = threading.Lock()
_numbers = count()


def module_text(parts: Iterable[Lowered], definitions: str, declarations: Iterable[str] = ()) -> str:
    """One module of lowered functions, the elementary functions they call, and further definitions.

    Declarations are written once each, whoever asks for them.
    """
    parts = list(parts)
    lines = set(declarations)
    names: dict[int, set[str]] = {}
    for part in parts:
        lines |= part.declarations
        names.setdefault(part.lanes, set()).update(part.library)
    bodies = [part.text for part in parts] + [definitions]
    for lanes, wanted in sorted(names.items()):
        if wanted:
            bodies.append(library(lanes, sorted(wanted)))
    kept = []
    for line in "\n".join(bodies).splitlines():
        if line.startswith("declare "):
            lines.add(line)
        else:
            kept.append(line)
    return "\n".join([*sorted(lines), "", *kept, ""])


def compile_text(text: str, target: Target) -> bytes:
    """Object code of a module. The code generator alone does the work: see `Target.machine`."""
    with _lock:
        return target.machine().emit_object(_inlined(text, target))


def assembly_text(text: str, target: Target) -> str:
    """The same module as assembly, for reading."""
    with _lock:
        return target.machine().emit_assembly(_inlined(text, target))


def _inlined(text: str, target: Target) -> llvm.ModuleRef:
    """The module with its `alwaysinline` functions (sine and cosine) inlined: a call would spill every register."""
    module = _parsed(text, target)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.run(module, llvm.create_pass_builder(target.machine(), llvm.create_pipeline_tuning_options(speed_level=0)))
    return module


def _parsed(text: str, target: Target) -> llvm.ModuleRef:
    head = f'target triple = "{target.triple}"\ntarget datalayout = "{target.machine().target_data}"\n'
    try:
        module = llvm.parse_assembly(head + text)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"LLVM refuses the code: {error}", fix="this is a defect; please report it") from error
    return module


class Code:
    """Machine code in memory, there as long as this object is."""

    def __init__(self, image: bytes, symbols: Iterable[str]):
        """Link an object and find functions in it. The caller vouches for the bytes: damaged ones crash."""
        builder = llvm.JITLibraryBuilder().add_object_img(image).add_current_process()
        for symbol in symbols:
            builder.export_symbol(symbol)
        with _lock:
            self._tracker = builder.link(_session(), f"linkwork.{next(_numbers)}")
        self.size = len(image)

    def point(self, tables: Mapping[str, np.ndarray]) -> None:
        """Set global pointers of the module to arrays, which are kept alive."""
        self._tables = dict(tables)
        for symbol, array in tables.items():
            ctypes.c_void_p.from_address(self.address(symbol)).value = array.ctypes.data

    def address(self, symbol: str) -> int:
        """Where a function begins."""
        return self._tracker[symbol]


@cache
def _session() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(host().machine())
