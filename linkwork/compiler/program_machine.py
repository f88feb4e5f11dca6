"""A program in machine code: build (or find on disk), lay out memory, run for so many turns.

The loop itself and the short functions it calls go through LLVM's optimiser, which inlines them and keeps
what it can in registers; long functions gain nothing from it and are linked in as they are. No fast-math flag
is set anywhere, so this changes no bit.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping
from dataclasses import dataclass

import llvmlite.binding as llvm
import numpy as np

from ..errors import CompileError
from . import cache as store
from .lower import Lowered
from .machine import Code, compile_text, module_text
from .program import Program
from .program_llvm import LoweredProgram, lower_program
from .rolled import RolledFunction
from .target import Target, host

SHORT = 400
"""Lines of a function that still goes through the optimiser."""


@dataclass(frozen=True)
class CompiledProgram:
    """Machine code of a program. `run` may be called from several threads, each with a state of its own."""

    program: Program
    lanes: int
    lowered: LoweredProgram
    code: Code
    from_cache: bool

    def state(self) -> State:
        """Memory for one thread, all zero."""
        return State(self)


class State:
    """The buffers of one thread in one block of memory: `self["y"]` is an array of rows × lanes."""

    def __init__(self, compiled: CompiledProgram):
        lanes, lowered = compiled.lanes, compiled.lowered
        self._memory = mmap.mmap(-1, max(lowered.rows, 1) * lanes * 8)
        block = np.frombuffer(self._memory, dtype=np.float64).reshape(-1, lanes)
        self._block = block
        self._views = {
            name: block[lowered.offsets[name] : lowered.offsets[name] + rows]
            for name, rows in compiled.program.buffers.items()
        }
        self._compiled = compiled
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            compiled.code.address(lowered.symbol)
        )

    def __getitem__(self, name: str) -> np.ndarray:
        return self._views[name]

    @property
    def views(self) -> Mapping[str, np.ndarray]:
        """Every buffer."""
        return self._views

    def run(self, arrays: Mapping[str, np.ndarray], turns: int) -> bool:
        """Go on for at most so many turns; whether a lane is still active. Other threads run meanwhile."""
        names = self._compiled.program.arrays
        pointers = (ctypes.c_void_p * max(len(names), 1))()
        for k, name in enumerate(names):
            pointers[k] = _address(name, arrays[name])
        return bool(self._call(self._block.ctypes.data, ctypes.addressof(pointers), turns))


def _address(name: str, array: np.ndarray) -> int:
    """Where the array's numbers are."""
    if not array.flags.c_contiguous or array.dtype not in (np.dtype(np.float64), np.dtype(np.int64)):
        raise CompileError(f"array '{name}' is not a contiguous array of doubles or int64")
    return array.ctypes.data


def compile_program(
    program: Program, lanes: int | None = None, *, target: Target | None = None, cache: bool = True
) -> CompiledProgram:
    """Machine code for so many lanes (as many as the processor's registers hold)."""
    target = target or host()
    lowered = lower_program(program, lanes or target.lanes)
    short = [f for f in lowered.callees if f.text.count("\n") <= SHORT]
    long = [f for f in lowered.callees if f.text.count("\n") > SHORT]
    texts = module_text(short, lowered.text, [_declaration(f) for f in long]), module_text(long, "")
    name = store.key("program", *texts, target.triple, target.cpu, target.features)
    entry = store.fetch(name) if cache else None
    found = entry is not None
    if entry is None:
        entry = store.Entry(compile_text(_joined(*texts, long, target), target), {"program": program.name})
        if cache:
            store.store(name, entry)
    tables: dict[str, np.ndarray] = {}
    for function, low in lowered.functions:
        if isinstance(function, RolledFunction):
            tables |= function.data(low.symbol, lowered.lanes)
    code = Code(entry.image, [lowered.symbol, *tables])
    code.point(tables)
    return CompiledProgram(program, lowered.lanes, lowered, code, found)


def _head(function: Lowered) -> tuple[str, str]:
    """The line a function's text begins with, without its linkage, and its parameters."""
    start = function.text.index(f"void @{function.symbol}(")
    return function.text[start : function.text.index(")", start) + 1], f"define internal void @{function.symbol}("


def _declaration(function: Lowered) -> str:
    head, _ = _head(function)
    pointers = ", ".join(["ptr"] * (head.count(",") + 1))
    return f"declare void @{function.symbol}({pointers})"


def _joined(text: str, rest: str, long: list[Lowered], target: Target) -> str:
    """The optimised text with the long functions linked in."""
    machine = target.machine()
    top = f'target triple = "{target.triple}"\ntarget datalayout = "{machine.target_data}"\n'
    for function in long:
        rest = rest.replace(f"define internal void @{function.symbol}(", f"define void @{function.symbol}(")
    try:
        module = llvm.parse_assembly(top + text)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=1)  # 2 takes half as long again for no gain
        options.slp_vectorization = options.loop_vectorization = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        if long:
            module.link_in(llvm.parse_assembly(top + rest))
    except RuntimeError as error:
        raise CompileError(f"LLVM refuses the program: {error}", fix="this is a defect; please report it") from error
    for function in long:
        module.get_function(function.symbol).linkage = "internal"
    lines = str(module).splitlines()
    return "\n".join(line for line in lines if not line.startswith(("target ", "source_filename", "; ModuleID")))
