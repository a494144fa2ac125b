"""The names of Numba's CUDA target that are not public; see `hetero.numba_internals`."""

from __future__ import annotations

import contextlib
import functools
import math
import pickle
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numba.cuda import dispatcher
from numba.cuda.serialize import dumps

from hetero.numba_internals.single_assignment import skip_blocks_without_the_variable


def to_bytes(kernel: Any) -> bytes:
    """Return a compiled kernel as bytes."""
    return dumps(kernel._reduce_states())


def from_bytes(data: bytes) -> Any:
    """Return a compiled kernel from what `to_bytes` returned."""
    return dispatcher._Kernel._rebuild(**pickle.loads(data))


def loaded_function(compiled: Any) -> Any:
    """Return the function of a compiled kernel in the present context of the driver."""
    return compiled._codelibrary.get_cufunc()


def shorten_compilation() -> None:
    """Let kernels compile as `hetero.numba_internals.single_assignment` says."""
    from numba.cuda.core import ssa  # the simulator has none

    skip_blocks_without_the_variable(ssa)


def load_one_at_a_time() -> None:
    """Let one thread after the other load kernels onto a GPU, whoever launches them.

    Two threads that launch a kernel for the first time on one GPU would load it twice, and Numba
    raises "key already in dictionary". The lock is that of the compiler: a thread that compiles a
    kernel holds it when it loads what it has compiled.
    """
    from numba.cuda import codegen  # the simulator has none
    from numba.cuda.core.compiler_lock import global_compiler_lock

    load = codegen.CUDACodeLibrary.get_cufunc

    @functools.wraps(load)
    def load_alone(library: Any) -> Any:
        if codegen.devices.get_context().device.id in library._cufunc_cache:
            return load(library)
        with global_compiler_lock:
            return load(library)

    codegen.CUDACodeLibrary.get_cufunc = load_alone


def numbers_of_arguments(
    compiled: Any, arguments: Sequence, stream: Any
) -> tuple[list[Any], list[int]]:
    """Return the numbers that a kernel gets for its arguments, and the first index of each."""
    numbers: list[Any] = []
    first = []
    for kind, value in zip(compiled.argument_types, arguments, strict=True):
        first.append(len(numbers))
        compiled._prepare_args(kind, value, stream, [], numbers)
    return numbers, first


def view_bytes_as(
    memory: Any, start: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype
) -> Any:
    """Return a C-contiguous array over a part of a flat array of bytes on the GPU.

    Numba's own slices with a change of type take three objects for each array.
    """
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    pointer = memory.gpu_data.view(start, start + math.prod(shape) * dtype.itemsize)
    return DeviceNDArray(shape, strides, dtype, gpu_data=pointer)


def has_memory_manager(driver: Any) -> bool:
    """Return whether a memory manager was set, by a user or by a library."""
    return driver._memory_manager is not None


@contextlib.contextmanager
def compile_for_absent_device(compute_capability: tuple[int, int]) -> Iterator[None]:
    """Let kernels be compiled for a GPU that is not there.

    Numba compiles the functions that a kernel calls for the current device, and would start the
    driver to ask for it.
    """
    original = dispatcher.get_current_device
    device = SimpleNamespace(compute_capability=compute_capability, id=0)
    dispatcher.get_current_device = lambda: device
    try:
        yield
    finally:
        dispatcher.get_current_device = original
