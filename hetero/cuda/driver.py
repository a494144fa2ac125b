"""Numba's CUDA target, which this module alone imports, and the check whether it can be used.

Importing it touches no driver; `why_unavailable()` does, once.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import weakref
from typing import Any

import numpy as np
from numba import config, cuda

from hetero.errors import DeviceMemoryError

__all__ = [
    "HAS_STREAMS_OF_THREADS",
    "INSTALL",
    "SIMULATOR",
    "copy_from_gpu",
    "copy_to_gpu",
    "cuda",
    "device_id",
    "high_priority_stream",
    "is_out_of_memory",
    "launch_error",
    "memory_error",
    "upload",
    "why_unavailable",
]

SIMULATOR = bool(config.ENABLE_CUDASIM)

# Small inputs give small grids. That is not a mistake, so users should not see Numba's warning.
if "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" not in os.environ:
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

HAS_STREAMS_OF_THREADS = (
    not SIMULATOR and "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM" in os.environ
)
"""Whether the default stream may be one of the host's thread. Then no other stream waits for it,
and it for none. NVIDIA's bindings read the variable; some releases do not look at its value."""

INSTALL = (
    "pip install 'heterokit[cuda13]' (driver 580 or newer) or 'heterokit[cuda12]' (driver 525 up)"
)


if not SIMULATOR and getattr(cuda, "implementation", None) == "NVIDIA":
    from hetero.cuda.numba_internals import load_one_at_a_time, shorten_compilation

    load_one_at_a_time()
    shorten_compilation()


_forked_after_start = False


def _after_fork_in_child() -> None:
    """Remember that the driver, which does not survive a fork, had been started."""
    global _forked_after_start
    if not SIMULATOR and why_unavailable.cache_info().currsize and why_unavailable() is None:
        _forked_after_start = True
        why_unavailable.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


@functools.cache
def why_unavailable() -> tuple[str, str] | None:
    """Return (cause, remedy) if no GPU can be used here, None if one can."""
    if SIMULATOR:
        return None
    if _forked_after_start:
        return "this process was forked after its parent had started the GPU's driver", (
            "start processes by multiprocessing.get_context('spawn') or 'forkserver'"
        )
    if getattr(cuda, "implementation", None) != "NVIDIA":
        return "the package numba-cuda is not installed in this environment", INSTALL
    try:
        if cuda.is_available():
            _report_exhausted_memory()
            # Functions run in reverse order: this one before the finalizers of Numba's modules,
            # whose own function was registered when Numba was imported.
            atexit.register(_leave_kernels_to_the_driver)
            return _why_toolkit_unavailable()
    except Exception as error:
        return f"the CUDA driver failed to start ({error})", "check that nvidia-smi works"
    reason = cuda.cuda_error()
    if reason is None:
        return "the NVIDIA driver is present but lists no GPU", (
            "check CUDA_VISIBLE_DEVICES and that nvidia-smi lists a GPU"
        )
    cause = " ".join(str(reason).split()).rstrip(".")
    if "be found" in cause or "libcuda" in cause or "not found" in cause:
        cause = "no NVIDIA driver was found (libcuda)"
    return cause, "run on a machine with an NVIDIA GPU and its driver; nvidia-smi must work there"


@functools.cache
def _report_exhausted_memory() -> None:
    """Let failed allocations raise DeviceMemoryError, unless the user has a memory manager."""
    from numba.cuda.cudadrv import driver

    from hetero.cuda.numba_internals import has_memory_manager

    if has_memory_manager(driver) or config.CUDA_MEMORY_MANAGER != "default":
        return

    class ReportingMemoryManager(driver.NumbaCUDAMemoryManager):  # type: ignore[misc]  # untyped base
        """Numba's memory manager, with errors that say how much memory was needed and is free."""

        def memalloc(self, size: int) -> Any:
            """Return `size` bytes of GPU memory, or raise DeviceMemoryError."""
            try:
                return super().memalloc(size)
            except driver.CudaAPIError as error:
                if is_out_of_memory(error):
                    raise memory_error(size) from None
                raise

    cuda.set_memory_manager(ReportingMemoryManager)


_disabled_deallocations = contextlib.ExitStack()


def _leave_kernels_to_the_driver() -> None:
    """Keep Numba from unloading kernels while Python exits; the driver frees them anyway.

    Numba (numba-cuda 0.30.4) loads a kernel once for all GPUs of one compute capability, but
    unloads it once for each, which aborts processes that have used several.
    """
    from numba.cuda.cudadrv.driver import driver

    for device in driver.devices.values():
        if device.primary_context is not None:
            _disabled_deallocations.enter_context(device.primary_context.deallocations.disable())


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error of Numba, CuPy or PyTorch says that the GPU's memory is exhausted."""
    if type(error).__name__ in ("OutOfMemoryError", "OutOfMemoryException"):
        return True
    return type(error).__name__ == "CudaAPIError" and "OUT_OF_MEMORY" in str(error)


def memory_error(needed: int | None) -> DeviceMemoryError:
    """Return the error for an allocation of `needed` bytes that failed on the current GPU."""
    context = cuda.current_context()
    free, total = context.get_memory_info()
    return DeviceMemoryError(f"cuda:{context.device.id}", needed, free, total)


def launch_error(error: Any) -> Exception:
    """Return the exception for an error code of the driver (`CUresult`) at a launch."""
    from cuda.bindings import driver

    if error == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        return memory_error(None)
    return RuntimeError(f"the launch of a kernel failed: {error.name}")


def _why_toolkit_unavailable() -> tuple[str, str] | None:
    if importlib.util.find_spec("cuda.pathfinder") is None:
        return "the CUDA toolkit's wheels are not installed", INSTALL
    from cuda.pathfinder import load_nvidia_dynamic_lib

    for library in ("nvrtc", "nvJitLink"):
        try:
            load_nvidia_dynamic_lib(library)
        except Exception:
            return f"the CUDA library {library} was not found", INSTALL
    return None


def upload(host: np.ndarray, stream: Any) -> Any:
    """Copy a contiguous array to the current GPU.

    Numba's own way slices both arrays, which takes 50 us a copy.
    """
    if SIMULATOR or not host.size:
        return cuda.to_device(host, stream=stream)
    array = cuda.device_array(host.shape, host.dtype, stream=stream)
    copy_to_gpu(array, host, stream)
    return array


def copy_to_gpu(array: Any, host: np.ndarray, stream: Any) -> None:
    """Copy a contiguous array of the host to one of its size and type on the current GPU."""
    if SIMULATOR:
        array.copy_to_device(host, stream=stream)
    elif host.size:
        from numba.cuda.cudadrv import driver

        driver.host_to_device(array, host, host.nbytes, stream)


def copy_from_gpu(array: Any, stream: Any) -> np.ndarray:
    """Return a copy of a contiguous array on the current GPU in host memory.

    Numba's own way takes twice as long for a thousand numbers. A `ReadyArray` has its own.
    """
    if SIMULATOR or not array.size or not hasattr(array, "__cuda_ndarray__"):
        return array.copy_to_host(stream=stream)

    from numba.cuda.cudadrv import driver

    device_id()  # makes a GPU current in a thread that has none
    host = np.empty(array.shape, array.dtype)
    # The driver returns once the numbers are here, also on a stream: this memory is pageable.
    driver.device_to_host(host, array, host.nbytes, stream)
    return host


def is_host_memory(array: Any) -> bool:
    """Return whether an array lies in host memory, where a GPU and NumPy can both access it."""
    return isinstance(array, np.ndarray)


def device_id() -> int:
    """Return the number of the current GPU: the key of what is cached on it.

    The first GPU becomes the current one of a thread that has none, and stays it.
    """
    if SIMULATOR:
        return 0
    from cuda.bindings import driver

    error, device = driver.cuCtxGetDevice()  # 10 times faster than asking Numba
    if error != driver.CUresult.CUDA_SUCCESS:  # this thread has no context yet
        return int(cuda.get_current_device().id)
    return int(device)


def high_priority_stream() -> Any:
    """Return a stream whose kernels get free multiprocessors before those of other streams.

    Numba makes streams of one priority only.
    """
    if SIMULATOR:
        return cuda.stream()
    from cuda.bindings import driver

    cuda.current_context()
    _, _, greatest = driver.cuCtxGetStreamPriorityRange()
    error, handle = driver.cuStreamCreateWithPriority(0, greatest)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"no stream could be created: {error.name}")
    stream = cuda.external_stream(int(handle))
    weakref.finalize(stream, driver.cuStreamDestroy, handle).atexit = False
    return stream
