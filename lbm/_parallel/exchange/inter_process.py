"""Memory of a GPU that processes share, by CUDA's inter-process communication."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from cuda.bindings import driver

from hetero.cuda.driver import cuda

Handle = tuple[bytes, int]
"""The handle of a block of memory, and the position of an array in it."""

_BLOCK = 1 << 21
"""The driver takes small arrays from blocks of 2 MiB, each of which a process can open only once.
So arrays to share fill whole blocks."""


def allocate_shareable(shape: tuple[int, ...], dtype: type) -> Any:
    """Return an array of the current GPU, whose memory it shares with no other array."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = cuda.device_array(-(-size // _BLOCK) * _BLOCK, np.uint8)
    strides = [np.dtype(dtype).itemsize]
    for n in reversed(shape[1:]):
        strides.insert(0, strides[0] * n)
    return cuda.devicearray.DeviceNDArray(shape, strides, dtype, gpu_data=memory.gpu_data)


def share(array: Any) -> Handle:
    """Return the handle of an array of the current GPU."""
    address = array.__cuda_array_interface__["data"][0]
    base, _ = _checked(driver.cuMemGetAddressRange(address))
    (handle,) = _checked(driver.cuIpcGetMemHandle(base))
    return bytes(handle.reserved), address - int(base)


def open_shared(handle: Handle, like: Any) -> Any:
    """Return the array of another process, with the shape and the dtype of `like`.

    The memory is closed when the array is deleted.
    """
    block, offset = handle
    opened = driver.CUipcMemHandle()
    opened.reserved = block
    flags = driver.CUipcMem_flags.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
    (address,) = _checked(driver.cuIpcOpenMemHandle(opened, flags))
    interface = dict(like.__cuda_array_interface__)
    interface["data"] = int(address) + offset, False
    array = cuda.from_cuda_array_interface(interface)
    weakref.finalize(array, driver.cuIpcCloseMemHandle, address).atexit = False
    return array


def _checked(result: tuple[Any, ...]) -> tuple[Any, ...]:
    error, *values = result
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA cannot share memory between processes ({error.name})")
    return tuple(values)
