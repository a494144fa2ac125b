"""The one module that imports Numba's CUDA target.

Importing it touches no driver; `problem()` does, once.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import weakref

from numba import config, cuda

from hetero.errors import DeviceMemoryError

__all__ = [
    "SIMULATOR",
    "Launcher",
    "cuda",
    "is_out_of_memory",
    "memory_error",
    "prepared",
    "problem",
    "raise_shared_limit",
    "upload",
    "urgent_stream",
]

SIMULATOR = bool(config.ENABLE_CUDASIM)

# Small inputs give small grids, and that is no fault: Numba's warning would meet every user.
if "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS" not in os.environ:
    config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

INSTALL = (
    "pip install 'stablegpu[cuda13]' (driver 580 or newer) or 'stablegpu[cuda12]' (driver 525 up)"
)


_forked_after_start = False


def _after_fork_in_child() -> None:
    """Remember that the driver, which does not survive a fork, had been started."""
    global _forked_after_start
    if not SIMULATOR and problem.cache_info().currsize and problem() is None:
        _forked_after_start = True
        problem.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


@functools.cache
def problem() -> tuple[str, str] | None:
    """(cause, remedy) for why no GPU can be used here, or None when one can."""
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
            return _toolkit_problem()
    except Exception as error:
        return f"the CUDA driver failed to start ({error})", "check that nvidia-smi works"
    error = cuda.cuda_error()
    if error is None:
        return "the NVIDIA driver is present but lists no GPU", (
            "check CUDA_VISIBLE_DEVICES and that nvidia-smi lists a GPU"
        )
    cause = " ".join(str(error).split()).rstrip(".")
    if "be found" in cause or "libcuda" in cause or "not found" in cause:
        cause = "no NVIDIA driver was found (libcuda)"
    return cause, "run on a machine with an NVIDIA GPU and its driver; nvidia-smi must work there"


@functools.cache
def _report_exhausted_memory() -> None:
    """Let failed allocations raise DeviceMemoryError, unless the user has a memory manager."""
    from numba.cuda.cudadrv import driver

    if driver._memory_manager is not None or config.CUDA_MEMORY_MANAGER != "default":
        return

    class ReportingMemoryManager(driver.NumbaCUDAMemoryManager):
        """Numba's own memory manager, whose errors say what was needed and what there is."""

        def memalloc(self, size):
            try:
                return super().memalloc(size)
            except driver.CudaAPIError as error:
                if is_out_of_memory(error):
                    raise memory_error(size) from None
                raise

    cuda.set_memory_manager(ReportingMemoryManager)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Numba's, CuPy's or PyTorch's error says that the GPU's memory is exhausted."""
    if type(error).__name__ in ("OutOfMemoryError", "OutOfMemoryException"):
        return True
    return type(error).__name__ == "CudaAPIError" and "OUT_OF_MEMORY" in str(error)


def memory_error(needed: int | None) -> DeviceMemoryError:
    """The error for an allocation of `needed` bytes that failed on the current GPU."""
    context = cuda.current_context()
    free, total = context.get_memory_info()
    return DeviceMemoryError(f"cuda:{context.device.id}", needed, free, total)


def _toolkit_problem() -> tuple[str, str] | None:
    if importlib.util.find_spec("cuda.pathfinder") is None:
        return "the CUDA toolkit's wheels are not installed", INSTALL
    from cuda.pathfinder import load_nvidia_dynamic_lib

    for library in ("nvrtc", "nvJitLink"):
        try:
            load_nvidia_dynamic_lib(library)
        except Exception:
            return f"the CUDA library {library} was not found", INSTALL
    return None


def upload(host, stream):
    """A contiguous array's copy on the current GPU. Numba's own way slices both: 50 us a copy."""
    if SIMULATOR or not host.size:
        return cuda.to_device(host, stream=stream)
    from numba.cuda.cudadrv import driver

    array = cuda.device_array(host.shape, host.dtype, stream=stream)
    driver.host_to_device(array, host, host.nbytes, stream)
    return array


_raised: dict = {}


def _kind(value):
    """What Numba's type of an argument depends on, as far as kernels here are called."""
    if hasattr(value, "is_c_contiguous"):
        return value.dtype, value.ndim, value.is_c_contiguous()
    return type(value)


def raise_shared_limit(kernel, arguments, size: int) -> None:
    """Let a kernel have `size` bytes of dynamic shared memory, more than the usual 48 KB.

    Numba has no switch for it: the attribute is set at the driver, for the types of `arguments`,
    once for each of them.
    """
    from numba.cuda.cudadrv import driver

    key = kernel, cuda.get_current_device().id, tuple(map(_kind, arguments))
    if _raised.get(key, 0) >= size:
        return
    function = kernel.compile(tuple(kernel.typeof_pyval(a) for a in arguments))
    function = function._codelibrary.get_cufunc()
    limit = driver.binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    driver.driver.cuKernelSetAttribute(limit, size, function.handle, function.device.id)
    _raised[key] = size


class Launcher:
    """Launches a kernel with arguments that are converted once; numbers among them may change.

    Numba converts at every launch: 50 us for eight arguments, 100 us for twenty.

    Parameters
    ----------
    block : sizes of a block
    shared : bytes of dynamic shared memory a block
    """

    def __init__(self, kernel, block, stream, arguments, shared: int = 0):
        self._kernel, self._arguments = kernel, list(arguments)
        self._configuration = block, stream, shared
        if SIMULATOR:
            return
        from cuda.bindings import driver

        compiled = kernel.compile(tuple(kernel.typeof_pyval(a) for a in arguments))
        values: list = []
        self._first = []  # of each argument's values
        for kind, value in zip(compiled.argument_types, arguments, strict=True):
            self._first.append(len(values))
            compiled._prepare_args(kind, value, stream, [], values)
        plain = ctypes.sizeof(ctypes.c_void_p)
        values = [v if hasattr(v, "_type_") else ctypes.c_int64(int(v)) for v in values]
        assert all(ctypes.sizeof(v) <= plain for v in values)
        self._values = values
        self._pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        self._function = driver.CUfunction(int(compiled._codelibrary.get_cufunc().handle))
        handle = driver.CUstream(int(stream) if stream else 0)
        self._after = (*block, *(1,) * (3 - len(block)), shared, handle)
        self._address = ctypes.addressof(self._pointers)
        self._launch, self._success = driver.cuLaunchKernel, driver.CUresult.CUDA_SUCCESS

    def __call__(self, grid, changes=()) -> None:
        """`changes` are pairs of an argument's place and its number, which then stays."""
        if SIMULATOR:
            for place, number in changes:
                self._arguments[place] = number
            self._kernel[(grid, *self._configuration)](*self._arguments)
            return
        for place, number in changes:
            self._values[self._first[place]].value = number
        size = (*grid, *(1,) * (3 - len(grid)))
        (error,) = self._launch(self._function, *size, *self._after, self._address, 0)
        if error != self._success:
            raise RuntimeError(f"the launch of a kernel failed: {error.name}")


def prepared(kernel, grid, block, stream, arguments):
    """A function that launches `kernel` with these arguments, which are converted once."""
    launch = Launcher(kernel, block, stream, arguments)
    return lambda: launch(grid)


def urgent_stream():
    """A stream whose kernels get free multiprocessors before those of other streams.

    Numba makes streams of one priority only.
    """
    if SIMULATOR:
        return cuda.stream()
    from cuda.bindings import driver

    cuda.current_context()
    _, _, greatest = driver.cuCtxGetStreamPriorityRange()
    error, handle = driver.cuStreamCreateWithPriority(0, greatest)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"no stream could be made: {error.name}")
    stream = cuda.external_stream(int(handle))
    weakref.finalize(stream, driver.cuStreamDestroy, handle).atexit = False
    return stream
