"""Compiles a kernel for a real architecture on a machine without a GPU, and reads the report."""

import re
from dataclasses import dataclass
from types import SimpleNamespace
from unittest import mock

from numba import cuda
from numba.cuda import dispatcher

BUDGET_COMPILER = (13, 5)
"""Version of CUDA's assembler (nvJitLink) for which the budgets of registers were written down."""

SPILLS_OF_OTHER_COMPILERS = 16
"""Bytes that another version may spill: CUDA 13.0's spills 8 where 13.5's spills none."""


def allowed_spills() -> int:
    """Bytes that a kernel may spill: none with the assembler that the budgets are for."""
    from cuda.bindings import nvjitlink

    return 0 if nvjitlink.version() == BUDGET_COMPILER else SPILLS_OF_OTHER_COMPILERS


@dataclass(frozen=True)
class Report:
    """What the assembler says of a kernel."""

    registers: int
    spills: int
    stack: int
    ptx: str

    def opcodes(self, kind: str) -> int:
        """Instructions of a type, say ".f64", in the PTX."""
        return len(re.findall(rf"^\s+(?:@%p\d+\s+)?[a-z]\S*{re.escape(kind)}\b", self.ptx, re.M))


def compile_kernel(kernel, signature, arch="sm_90") -> Report:
    """Registers, spilled bytes, stack and PTX of `kernel` for argument types `signature`."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    ptx = compile_ptx(kernel, signature, arch)
    code = ObjectCode.from_ptx(ptx.encode())
    options = LinkerOptions(arch=arch, ptxas_options=["-v"])
    linker = Linker(code, options=options)
    linker.link("cubin")
    log = linker.get_info_log()
    return Report(
        registers=int(re.search(r"Used (\d+) registers", log).group(1)),
        spills=sum(map(int, re.findall(r"(\d+) bytes spill", log))),
        stack=int(re.search(r"(\d+) bytes stack frame", log).group(1)),
        ptx=ptx,
    )


def compile_ptx(kernel, signature, arch="sm_90") -> str:
    """PTX of `kernel` for argument types `signature`."""
    major, minor = divmod(int(arch.removeprefix("sm_")), 10)
    bounds = kernel.targetoptions.get("launch_bounds")
    # The functions that a kernel calls are compiled for "the current device" (private API of
    # numba-cuda, which pyproject.toml pins): give it one.
    device = SimpleNamespace(compute_capability=(major, minor), id=0)
    with mock.patch.object(dispatcher, "get_current_device", return_value=device):
        ptx, _ = cuda.compile_ptx(
            kernel.py_func,
            signature,
            cc=(major, minor),
            launch_bounds=bounds,
            fastmath=kernel.targetoptions.get("fastmath", False),
        )
    return ptx
