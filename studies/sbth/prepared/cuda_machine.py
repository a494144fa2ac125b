"""A GPU for prepared launches: memory, streams, kernels, CUDA graphs, and the vendor's BLAS."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.bindings import driver
from numba import types

from hetero.cuda.driver import cuda
from hetero.cuda.numba_internals import loaded_function
from studies.sbth.blas.cuda import KERNELS
from studies.sbth.prepared.signatures import NO_FUNCTION, functions_at
from studies.sbth.task_program import PROGRAMS, task_program

_DRIVER = {"launch": "cuLaunchKernel", "record": "cuEventRecord", "wait": "cuStreamWaitEvent"}
_POINTERS_ON_DEVICE = 1  # CUBLAS_POINTER_MODE_DEVICE
_NON_BLOCKING = driver.CUstream_flags.CU_STREAM_NON_BLOCKING.value
_WITHOUT_TIME = driver.CUevent_flags.CU_EVENT_DISABLE_TIMING.value
_VECTOR = types.Array(types.float64, 1, "C")


class LibraryNotInstalledError(RuntimeError):
    """Error for a library of the GPU's vendor that is not on this machine."""


class CudaMachine:
    """The current GPU, and the vendor's BLAS on it where `with_library`.

    Raises
    ------
    LibraryNotInstalledError : cuBLAS is not there
    RuntimeError : cuBLAS refuses to start
    """

    def __init__(self, *, with_library: bool) -> None:
        cuda.current_context()
        name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
        self._driver = ctypes.CDLL(name)
        self._library = load_cublas() if with_library else None
        self.functions = functions_at(self._address_of)
        self._handles: dict[str, tuple[int, int]] = {}
        self._queues: list[tuple[int, int, int]] = []

    def _address_of(self, name: str) -> int:
        """Return the address of a C function, or `NO_FUNCTION` where there is no library."""
        if name in _DRIVER:
            function = self._driver[_DRIVER[name]]
        elif self._library is not None:
            function = self._library[f"cublasD{name}_v2"]
        else:
            return NO_FUNCTION
        return int(ctypes.cast(function, ctypes.c_void_p).value or 0)

    def upload(self, array: np.ndarray) -> Any:
        """Copy an array to the device."""
        memory = cuda.to_device(array)
        cuda.synchronize()
        return memory

    def download(self, memory: Any) -> np.ndarray:
        """Copy an array to the host."""
        return memory.copy_to_host()

    def address(self, memory: Any) -> int:
        """Return where an array on the device begins."""
        return int(memory.device_ctypes_pointer.value)

    def kernel(self, name: str) -> tuple[int, int]:
        """Return the handle of an operation's kernel and the threads of its block."""
        if name not in self._handles:
            function, threads = KERNELS[name]
            compiled = function.compile(_argument_types(name))
            self._handles[name] = int(loaded_function(compiled).handle), threads
        return self._handles[name]

    def queues(self, length: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return handles of streams, of their events, and of the vendor's BLAS on them.

        They live as long as the process, and all pipelines share them.
        """
        while len(self._queues) < length:
            stream = int(_call(driver.cuStreamCreate, _NON_BLOCKING))
            event = int(_call(driver.cuEventCreate, _WITHOUT_TIME))
            library = 0 if self._library is None else self._start_library(stream)
            self._queues.append((stream, event, library))
        streams, events, libraries = np.array(self._queues[:length], np.int64).T.copy()
        return streams, events, libraries

    def _start_library(self, stream: int) -> int:
        """Return a handle of the vendor's BLAS that takes numbers from the device's memory."""
        assert self._library is not None
        handle = ctypes.c_void_p()
        _check_status("cublasCreate_v2", self._library.cublasCreate_v2(ctypes.byref(handle)))
        for name, value in (
            ("cublasSetStream_v2", ctypes.c_void_p(stream)),
            ("cublasSetPointerMode_v2", _POINTERS_ON_DEVICE),
        ):
            _check_status(name, self._library[name](handle, value))
        return int(handle.value or 0)

    def wait(self) -> None:
        """Wait until all queues are empty."""
        cuda.synchronize()

    def capture(self, stream: int, issue: Callable[[], None]) -> Graph:
        """Return what `issue` issues, beginning and ending on a stream, as a graph."""
        handle = driver.CUstream(stream)
        # The vendor's BLAS loads its kernels at their first use, which other modes forbid.
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        _call(driver.cuStreamBeginCapture, handle, mode)
        try:
            issue()
        finally:
            graph = _call(driver.cuStreamEndCapture, handle)
        try:
            return Graph(graph, handle)
        finally:
            _call(driver.cuGraphDestroy, graph)


class Graph:
    """An executable CUDA graph."""

    def __init__(self, graph: Any, stream: Any) -> None:
        self._stream = stream
        self._executable = _call(driver.cuGraphInstantiate, graph, 0)
        _call(driver.cuGraphUpload, self._executable, stream)
        _call(driver.cuStreamSynchronize, stream)

    def run(self) -> float:
        """Run the graph and return the seconds it took."""
        start = time.perf_counter()
        _call(driver.cuGraphLaunch, self._executable, self._stream)
        _call(driver.cuStreamSynchronize, self._stream)
        return time.perf_counter() - start

    def close(self) -> None:
        """Free the graph's memory."""
        _call(driver.cuGraphExecDestroy, self._executable)


def load_cublas() -> Any:
    """Return the library cuBLAS.

    Raises
    ------
    LibraryNotInstalledError
    """
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    try:
        path = load_nvidia_dynamic_lib("cublas").abs_path
    except DynamicLibNotFoundError as error:
        raise LibraryNotInstalledError(
            "cuBLAS is not installed: pip install nvidia-cublas"
        ) from error
    return ctypes.CDLL(path)


def _argument_types(name: str) -> tuple[Any, ...]:
    """Return Numba's types of the operands of an operation."""
    for first, lower in PROGRAMS:
        for instruction in task_program(first=first, lower=lower):
            if instruction.name == name:
                return tuple(
                    _VECTOR
                    if operand in ("work", "vectors", "scalars")
                    else types.float64
                    if isinstance(operand, float)
                    else types.int64
                    for operand in instruction.operands
                )
    raise LookupError(f"no program has the operation {name!r}")


def _call(function: Any, *arguments: Any) -> Any:
    """Call a function of the driver and return its result; raise an error where it fails."""
    error, *results = function(*arguments)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{function.__name__} failed: {error.name}")
    return results[0] if results else None


def _check_status(name: str, status: int) -> None:
    """Raise an error unless a function of cuBLAS succeeded."""
    if status:
        raise RuntimeError(f"{name} of cuBLAS failed with status {status}")
