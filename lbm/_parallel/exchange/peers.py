"""Access of GPUs to each other's memory, within a process and between the processes of a host."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cuda.bindings import driver

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.devices import Device
from lbm._parallel.exchange import is_on_gpu
from lbm._parallel.exchange.messages import RemoteFace, message_shape


def can_store_into(device: Device, other: Device) -> bool:
    """Let a GPU of this process access the memory of another; return whether that is possible."""
    if device == other or SIMULATOR:
        return True
    with other.active():
        peer = cuda.current_context().handle
    with device.active():
        if not cuda.current_context().can_access_peer(other.index):
            return False
        (error,) = driver.cuCtxEnablePeerAccess(driver.CUcontext(int(peer)), 0)
    results = driver.CUresult
    return error in (results.CUDA_SUCCESS, results.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)


def open_peer_buffers(
    faces: Sequence[RemoteFace], comm: Any
) -> dict[RemoteFace, tuple[list[Any], list[Any]]]:
    """Let GPUs of different processes of this host store into each other's memory.

    Returns for each face, where both sides could open the other's memory, two buffers of the
    neighbour to send into and two of its own to receive in. All ranks must call this at once, with
    faces of which both sides are on GPUs of one host.
    """
    buffers: dict[RemoteFace, Any] = {}
    opened: dict[RemoteFace, Any] = {}
    requests = []
    for face in faces:
        count, size = message_shape(face.end.face)
        dtype = face.end.face.dtype
        with face.end.worker.engine.device.active():
            buffers[face] = allocate_shareable((2, count, size), dtype)
        handle = _attempt(share, face, buffers[face])
        requests.append(comm.isend(handle, face.rank, face.receive_tag))
    for face in faces:
        handle = comm.recv(source=face.rank, tag=face.send_tag)
        buffer = None if handle is None else _attempt(open_shared, face, handle, buffers[face])
        if buffer is not None:
            opened[face] = buffer
        requests.append(comm.isend(face in opened, face.rank, face.send_tag))
    both = {f for f in faces if comm.recv(source=f.rank, tag=f.receive_tag) and f in opened}
    for request in requests:
        request.wait()
    for face in both:  # memory is closed with the array that stands for all of it
        if is_on_gpu(face.end.worker):
            face.end.worker.keep(opened[face])
    return {face: (list(opened[face]), list(buffers[face])) for face in both}


def _attempt(function: Callable[..., Any], face: RemoteFace, *arguments: Any) -> Any:
    """Return what a function returns on the GPU of a face, or None where that fails."""
    try:
        with face.end.worker.engine.device.active():
            return function(*arguments)
    except Exception as error:
        warnings.warn(f"GPUs of this host exchange halos by MPI: {error}", stacklevel=2)
        return None


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
