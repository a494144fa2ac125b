"""Compile a kernel for a real architecture on a machine without a GPU, and read the report."""

import importlib
import importlib.metadata
import pickle
from pathlib import Path

from hetero.compile_cache import frozen, store
from hetero.compile_cache.disk_cache import folder_of, package_of
from hetero.compile_cache.fingerprint import Fingerprints, UnknownValueError, fingerprint
from hetero.cuda import numba_internals, resources
from hetero.cuda.resources import Resources

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


def find_kernel(name: str):
    """Return a kernel by its module and name: a global, or an item of the module's `KERNELS`.

    What follows in brackets is ignored: it tells argument types of one kernel apart.
    """
    module, _, member = name.partition("[")[0].rpartition(".")
    module = importlib.import_module(module)
    return (vars(module) | getattr(module, "KERNELS", {}))[member]


def compile_kernel(kernel, signature, arch="sm_90") -> Resources:
    """Compile `kernel` for argument types `signature`, and return the assembler's report."""
    return _compute_once("report", resources.compile_resources, kernel, signature, arch)


def compile_ptx(kernel, signature, arch="sm_90") -> str:
    """Return the PTX of `kernel` for argument types `signature`."""
    return _compute_once("ptx", resources.compile_ptx, kernel, signature, arch)


def _compute_once(kind_of_result: str, compute, kernel, signature, arch: str):
    """Return what `compute` returns, from disk if it has been computed from the same sources."""
    from cuda.bindings import nvjitlink

    package = package_of(kernel.py_func.__module__)
    folder = folder_of(package)
    try:
        versions = nvjitlink.version(), *map(importlib.metadata.version, COMPILERS)
        key = fingerprint(
            *(kind_of_result, kernel, repr(signature), arch, versions),
            *(Path(module.__file__).read_text() for module in (resources, numba_internals)),
        )
    except UnknownValueError:
        return compute(kernel, signature, arch)
    name = f"{kind_of_result}-{key[:24]}"
    data = store.read(folder, name) if store.is_enabled() else None
    if data is not None:
        return pickle.loads(data)
    result = compute(kernel, signature, arch)
    after = Fingerprints(allow_new=True)
    after.of(kernel)
    for function, state in after.dispatchers:  # or later kernels with them would not be kept
        frozen.record_new_versions(function, state)
    if store.is_enabled():
        store.write(folder, name, pickle.dumps(result))
    return result
