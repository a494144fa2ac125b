"""Compile a kernel for a real architecture on a machine without a GPU, and read the report."""

import importlib
import importlib.metadata
import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from numba import cuda
from numba.cuda import dispatcher

from hetero.compile_cache import store
from hetero.compile_cache.disk_cache import folder_of, package_of
from hetero.compile_cache.fingerprint import UnknownValueError, fingerprint

BUDGET_COMPILER = (13, 5)
"""Version of CUDA's assembler (nvJitLink) for which the budgets of registers were written down."""

COMPILERS = ("numba-cuda", "nvidia-nvvm")
"""Packages whose versions decide which code a kernel is compiled to."""

SPILLS_OF_OTHER_COMPILERS = 16
"""Bytes that another version may spill: that of CUDA 13.0 spills 8 where that of 13.5 does not."""


def allowed_spills() -> int:
    """Return the bytes that a kernel may spill: none with the assembler of the budgets."""
    from cuda.bindings import nvjitlink

    return 0 if nvjitlink.version() == BUDGET_COMPILER else SPILLS_OF_OTHER_COMPILERS


@dataclass(frozen=True)
class Report:
    """Resources of a kernel as the assembler reports them: registers, and bytes."""

    registers: int
    spills: int
    stack: int
    ptx: str

    def opcodes(self, kind: str) -> int:
        """Return the number of instructions of a type, such as ".f64", in the PTX."""
        return len(re.findall(rf"^\s+(?:@%p\d+\s+)?[a-z]\S*{re.escape(kind)}\b", self.ptx, re.M))


def find_kernel(name: str):
    """Return a kernel by its module and name: a global, or an item of the module's `KERNELS`.

    What follows in brackets is ignored: it tells argument types of one kernel apart.
    """
    module, _, member = name.partition("[")[0].rpartition(".")
    module = importlib.import_module(module)
    return (vars(module) | getattr(module, "KERNELS", {}))[member]


def compile_kernel(kernel, signature, arch="sm_90") -> Report:
    """Compile `kernel` for argument types `signature`, and return the assembler's report."""
    return _compute_once("report", _compile_kernel, kernel, signature, arch)


def compile_ptx(kernel, signature, arch="sm_90") -> str:
    """Return the PTX of `kernel` for argument types `signature`."""
    return _compute_once("ptx", compile_afresh, kernel, signature, arch)


def _compute_once(kind_of_result: str, compute, kernel, signature, arch: str):
    """Return what `compute` returns, from disk if it has been computed from the same sources."""
    from cuda.bindings import nvjitlink

    package = package_of(kernel.py_func.__module__)
    folder = folder_of(package)
    try:
        versions = nvjitlink.version(), *map(importlib.metadata.version, COMPILERS)
        key = fingerprint(
            *(kind_of_result, kernel, repr(signature), arch, versions),
            Path(__file__).read_text(),
        )
    except UnknownValueError:
        return compute(kernel, signature, arch)
    name = f"{kind_of_result}-{key[:24]}"
    data = store.read(folder, name) if store.is_enabled() else None
    if data is not None:
        return pickle.loads(data)
    result = compute(kernel, signature, arch)
    if store.is_enabled():
        store.write(folder, name, pickle.dumps(result))
    return result


def _compile_kernel(kernel, signature, arch) -> Report:
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


def compile_afresh(kernel, signature, arch="sm_90") -> str:
    """Return the PTX of `kernel`, compiled now."""
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
