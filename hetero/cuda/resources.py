"""Registers and memory of a kernel, compiled for an architecture that need not be present."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hetero.cuda.driver import cuda
from hetero.cuda.numba_internals import compile_for_absent_device


@dataclass(frozen=True)
class Resources:
    """Resources of a compiled kernel, as CUDA's assembler reports them.

    Attributes
    ----------
    registers : 32-bit registers of a thread
    shared_memory : static shared memory of a block in bytes, without gaps for alignment
    spills : bytes that a thread stores to and loads from memory for want of registers
    stack : bytes of a thread's stack
    ptx : the kernel in NVIDIA's intermediate language
    """

    registers: int
    shared_memory: int
    spills: int
    stack: int
    ptx: str

    def opcodes(self, kind: str) -> int:
        """Return the number of instructions of a type, such as ".f64", in the PTX."""
        return len(re.findall(rf"^\s+(?:@%p\d+\s+)?[a-z]\S*{re.escape(kind)}\b", self.ptx, re.M))


def compile_ptx(kernel: Any, signature: tuple, arch: str = "sm_90") -> str:
    """Compile a kernel for argument types and an architecture, and return its PTX.

    Neither a GPU nor its driver is needed.
    """
    capability = divmod(int(arch.removeprefix("sm_")), 10)
    with compile_for_absent_device(capability):
        ptx, _ = cuda.compile_ptx(
            kernel.py_func,
            signature,
            cc=capability,
            launch_bounds=kernel.targetoptions.get("launch_bounds"),
            fastmath=kernel.targetoptions.get("fastmath", False),
        )
    return str(ptx)


def assemble(ptx: str, arch: str = "sm_90") -> Resources:
    """Assemble PTX for an architecture, and return what the assembler reports."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    options = LinkerOptions(arch=arch, ptxas_options=["-v"])
    linker = Linker(ObjectCode.from_ptx(ptx.encode()), options=options)
    linker.link("cubin")
    log = linker.get_info_log()
    return Resources(
        registers=_first_number(r"Used (\d+) registers", log),
        shared_memory=sum(map(int, re.findall(r"\.shared\b.*\.b8 \w+\[(\d+)\];", ptx))),
        spills=sum(map(int, re.findall(r"(\d+) bytes spill", log))),
        stack=_first_number(r"(\d+) bytes stack frame", log),
        ptx=ptx,
    )


def compile_resources(kernel: Any, signature: tuple, arch: str = "sm_90") -> Resources:
    """Compile a kernel for argument types and an architecture, and return its resources."""
    return assemble(compile_ptx(kernel, signature, arch), arch)


def _first_number(pattern: str, log: str) -> int:
    """Return the number that a pattern captures in the assembler's log."""
    match = re.search(pattern, log)
    if match is None:
        raise RuntimeError(f"the assembler's log has no line like {pattern!r}: {log!r}")
    return int(match.group(1))
