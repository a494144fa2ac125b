"""Access of GPUs to each other's memory, within a process and between the processes of a host."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from hetero.devices import Device
from lbm._parallel.exchange import is_on_gpu
from lbm._parallel.exchange.inter_process import allocate_shareable, open_shared, share
from lbm._parallel.exchange.messages import RemoteFace, message_shape


def can_store_into(device: Device, other: Device) -> bool:
    """Let a GPU of this process access the memory of another; return whether that is possible."""
    from hetero.cuda.driver import SIMULATOR, cuda

    if device == other or SIMULATOR:
        return True
    from cuda.bindings import driver

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
