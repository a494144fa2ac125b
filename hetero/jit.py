"""The decorators for formulas, CPU loops and GPU kernels, with every option of Numba in one place.

`scalar` marks formulas (called from loops on both targets), `parallel` CPU loops, `kernel` GPU
kernels. Modules that use them are imported at the first call of a routine, never by
`import <package>`: that is when HETERO_CACHE is read, which says whether code is kept on disk.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from typing import Any

import numba
from numba.core import ssa

from hetero.compile_cache.disk_cache import attach
from hetero.cpu.threading_layer import load_tbb, protect_loop, require_compiler
from hetero.deferred_signals import DeferredSignals, run_whole
from hetero.numba_internals import dispatchers
from hetero.numba_internals.libraries import SelfContainedCompiler
from hetero.numba_internals.single_assignment import skip_blocks_without_the_variable

require_compiler()
load_tbb()
skip_blocks_without_the_variable(ssa)


def _count_from_random_number() -> None:
    """Let Numba number the functions that it compiles from a random number.

    The number is in the names of symbols. Numba would count from 1 in every process, and a forked
    child goes on with its parent's numbers, so that code on disk from two processes could use one
    name twice.
    """
    dispatchers.number_functions_from(secrets.randbits(48))


_count_from_random_number()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_from_random_number)

FUSED = {"contract"}
"""`fastmath=FUSED`: a * b + c may be one instruction on the CPU too, as it always is on the GPU."""

SUMS = FUSED | {"reassoc", "nsz"}
"""`fastmath=SUMS`: sums may be taken in any order, so that the CPU's vector units can."""

# The CUDA simulator does not know these options.
_HARDWARE_ONLY = ("launch_bounds", "max_registers", "lineinfo", "lto", "opt")


def scalar(function: Any = None, **options: Any) -> Any:
    """Compile a formula of scalars and tuples, for both targets. Division is IEEE's everywhere."""
    if function is None:
        return lambda f: scalar(f, **options)
    return attach(_compile(function, options))


def float_scalar(function: Any, **options: Any) -> Any:
    """Compile a `scalar` of floating-point numbers that plain Python computes up to rounding.

    The CUDA simulator runs it as it is written: compiling it for a few threads would take seconds.
    """
    compiled = scalar(function, **options)
    if numba.config.ENABLE_CUDASIM:
        dispatchers.call_as_written(compiled)
    return compiled


def scalar_internal(function: Any = None, **options: Any) -> Any:
    """Compile a `scalar` that only compiled code calls.

    What Python would need to call it takes a seventh of the time to compile.
    """
    return scalar(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def parallel(function: Any = None, **options: Any) -> Any:
    """Compile a CPU loop over `numba.prange`, which releases the GIL.

    Python calls it, other compiled code does not: `protect_loop` says what a call may raise.
    """
    if function is None:
        return lambda f: parallel(f, **options)
    loop = _compile(function, {"parallel": True, "nogil": True} | options)
    return protect_loop(attach(loop))


def serial(function: Any = None, **options: Any) -> Any:
    """Compile a CPU loop that does not spread over threads; it releases the GIL."""
    if function is None:
        return lambda f: serial(f, **options)
    return attach(_compile(function, {"nogil": True} | options))


def _compile(function: Any, options: dict[str, Any]) -> Any:
    """Return Numba's dispatcher for a function.

    Options that are not set would be inherited from the first caller: the same function would then
    be compiled in different ways, depending on what a process has called before.
    """
    options = {"fastmath": False, "forceinline": False, "no_cfunc_wrapper": True} | options
    compiler = numba.njit(error_model="numpy", pipeline_class=SelfContainedCompiler, **options)
    return _defer_signals(lambda: compiler(function))


def kernel(function: Any = None, **options: Any) -> Any:
    """Make a GPU kernel. It is compiled at its first launch, so that importing needs no GPU."""
    if function is None:
        return lambda f: kernel(f, **options)
    from hetero.cuda import driver

    if driver.SIMULATOR:
        options = {k: v for k, v in options.items() if k not in _HARDWARE_ONLY}
        return driver.cuda.jit(**options)(function)
    from hetero.cuda.kernel_cache import KernelDiskCache

    dispatcher = _defer_signals(lambda: driver.cuda.jit(**options)(function))
    return attach(dispatcher, KernelDiskCache)


def _defer_signals(make_dispatcher: Callable[[], Any]) -> Any:
    """Return a new dispatcher that finishes what it compiles before Ctrl-C counts.

    What is compiled for one call, with the functions inlined there, is one compilation: a routine
    that calls several is interrupted between them.
    """
    with DeferredSignals():  # the first dispatcher fills the tables of all types
        dispatcher = make_dispatcher()
        dispatchers.wrap_compilations(dispatcher, run_whole)
        return dispatcher
