"""Access of GPUs to each other's memory, within a process and between the processes of a host."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from hetero.devices import Device
from lbm._domain.exchange.messages import RemoteFace, message_shape


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
    neighbour to send into and two own ones to receive in. All ranks must call this at once, with
    faces of which both sides are on GPUs of one host.
    """
    own: dict[RemoteFace, list[Any]] = {}
    opened: dict[RemoteFace, list[Any]] = {}
    requests = []
    for face in faces:
        shape, dtype = message_shape(face.face), face.face.problem.precision.storage
        own[face] = [face.worker.allocate_on_device(shape, dtype) for _ in range(2)]
        requests.append(comm.isend(_make_handles(own[face]), face.rank, face.receive_tag))
    for face in faces:
        handles = comm.recv(source=face.rank, tag=face.send_tag)
        if handles is not None and (buffers := _open(handles, face.worker)) is not None:
            opened[face] = buffers
        requests.append(comm.isend(face in opened, face.rank, face.send_tag))
    both = {f for f in faces if comm.recv(source=f.rank, tag=f.receive_tag) and f in opened}
    for request in requests:
        request.wait()
    return {face: (opened[face], own[face]) for face in both}


def _make_handles(buffers: list[Any]) -> list[Any] | None:
    """Return handles by which other processes open buffers, or None if the system has none."""
    try:
        return [buffer.get_ipc_handle() for buffer in buffers]
    except Exception as error:
        warnings.warn(f"GPUs of this host exchange halos by MPI: {error}", stacklevel=2)
        return None


def _open(handles: list[Any], worker: Any) -> list[Any] | None:
    """Open the buffers of another process, or return None if the GPU cannot access them."""
    try:
        with worker.engine.device.active():
            buffers = [handle.open() for handle in handles]
    except Exception as error:
        warnings.warn(f"GPUs of this host exchange halos by MPI: {error}", stacklevel=2)
        return None
    worker.keep_open(handles)
    return buffers
