"""The processor that is compiled for: how many lanes it has and how LLVM is to write for it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm


@dataclass(frozen=True)
class Target:
    """A processor as LLVM names it. One lane is one sample; `lanes` doubles fill its widest register."""

    triple: str
    cpu: str
    features: str
    lanes: int

    def machine(self) -> llvm.TargetMachine:
        """A code generator. Not shared: LLVM's are not safe to use from several threads at once."""
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, reloc="pic", codemodel="small"
        )

    def __str__(self) -> str:
        return f"{self.cpu} ({self.triple}), {self.lanes} lanes"


OPTIONS = ("-misched=ilpmin", "-pre-RA-sched=list-burr")
"""Schedulers that keep fewer values alive: in blocks of thousands of operations LLVM's usual ones spill a fifth more
(Talos' articulated bodies: 382 ns instead of 496 ns a sample). Order alone; no bit of a result depends on them."""
NEWEST = 22
"""Of LLVM, whose option names are known; an unknown one would end the process."""


@cache
def _set_up() -> None:
    if llvm.llvm_version_info[0] <= NEWEST:
        for option in OPTIONS:
            llvm.set_option("", option)


@cache
def host() -> Target:
    """This machine. On AVX-512 LLVM must be told not to prefer 256 bits, else it splits the vectors."""
    _set_up()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    found = llvm.get_host_cpu_features()
    features = found.flatten()
    lanes = 2
    if found.get("avx512f") and found.get("avx512vl") and found.get("avx512dq"):
        lanes, features = 8, features + ",-prefer-256-bit"
    elif found.get("avx2") and found.get("fma"):
        lanes = 4
    triple = llvm.get_process_triple()
    if platform.system() == "Windows":
        triple += "-elf"  # the linker inside the process reads ELF everywhere but on macOS
    return Target(triple, llvm.get_host_cpu_name(), features, lanes)
