"""Every option that Numba is given, in one place.

`scalar` marks formulas (called from loops on both targets), `parallel` CPU loops, `kernel` GPU
kernels. Modules that use them are imported at the first call of a routine, never by
`import <package>`: that is when the environment variable HETERO_CACHE is read.
"""

from __future__ import annotations

import functools
import importlib
import os
import warnings
from pathlib import Path
from types import ModuleType

import numba
from numba.core.caching import FunctionCache

from hetero.cpu.threading_layer import load_tbb, protect_loop
from hetero.cuda import driver
from hetero.devices import Device

load_tbb()

FUSED = {"contract"}
"""`fastmath=FUSED`: a * b + c may be one instruction on the CPU too, as it always is on the GPU."""

SUMS = FUSED | {"reassoc", "nsz"}
"""`fastmath=SUMS`: sums may be taken in any order, so that the CPU's vector units can."""

# What the CUDA simulator does not know.
_HARDWARE_ONLY = ("launch_bounds", "max_registers", "lineinfo", "lto", "opt")


def caching() -> bool:
    """Return whether compiled code is kept on disk.

    Numba's cache looks only at the file of the function itself, so an edit in an inlined helper
    elsewhere would go unseen: on for an installed package, off for a source tree. HETERO_CACHE=0
    or 1 overrides.
    """
    override = os.environ.get("HETERO_CACHE")
    if override is not None:
        return override.strip().lower() in ("1", "true", "yes", "on")
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(__file__).parts)


def _can_cache(function) -> bool:
    """Return whether the compiled code of this function is kept on disk.

    The code of a closure over compiled functions is not: Numba names these anew in every process,
    so it would never be found again, and files would pile up.
    """
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    if not caching() or any(hasattr(value, "py_func") for value in cells):
        return False
    try:
        FunctionCache(function)  # looks for a folder that can be written to
    except RuntimeError:
        _warn_that_nothing_is_cached()
        return False
    return True


@functools.cache
def _warn_that_nothing_is_cached() -> None:
    warnings.warn(
        "compiled code cannot be kept: neither the package's folder nor the user's cache can be "
        "written to, so every process compiles anew. Set NUMBA_CACHE_DIR to a folder for it",
        stacklevel=4,
    )


def _with_cache(options: dict, function) -> dict:
    return options if "cache" in options else options | {"cache": _can_cache(function)}


def scalar(function=None, **options):
    """A formula of scalars and tuples, for both targets. Division follows IEEE, as on the GPU."""
    if function is None:
        return lambda f: scalar(f, **options)
    return numba.njit(error_model="numpy", **_with_cache(options, function))(function)


def scalar_internal(function=None, **options):
    """A `scalar` that only compiled code calls: what Python would need takes a seventh of the time
    to compile."""
    return scalar(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def parallel(function=None, **options):
    """A CPU loop over `numba.prange`; the GIL is released.

    Python calls it, other compiled code does not: `protect_loop` says what a call may raise.
    """
    if function is None:
        return lambda f: parallel(f, **options)
    options = _with_cache(options, function)
    loop = numba.njit(parallel=True, error_model="numpy", nogil=True, **options)(function)
    return protect_loop(loop)


def serial(function=None, **options):
    """A CPU loop that does not spread over threads; the GIL is released."""
    if function is None:
        return lambda f: serial(f, **options)
    return numba.njit(error_model="numpy", nogil=True, **_with_cache(options, function))(function)


def kernel(function=None, **options):
    """A GPU kernel. Compiled at its first launch, so that importing needs no GPU."""
    if function is None:
        return lambda f: kernel(f, **options)
    if driver.SIMULATOR:
        options = {k: v for k, v in options.items() if k not in _HARDWARE_ONLY}
    else:
        options = _with_cache(options, function)
    return driver.cuda.jit(**options)(function)


def loops_for(topic: str, device: Device) -> ModuleType:
    """Return the module with the loops of a topic folder for `device`.

    For "stablegpu._density.nodes" that is `stablegpu._density.nodes.cpu` or `.cuda`, which have the
    same functions with the same arguments.
    """
    return importlib.import_module(f"{topic}.{device.kind}")
