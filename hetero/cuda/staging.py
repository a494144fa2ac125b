"""Copies of large arrays between host and GPU through a ring of page-locked buffers that is kept.

The driver copies other memory by way of a buffer of its own, at a fraction of the rate, and to lock
the array itself would take as long as that. The CPU fills or empties a buffer while the others are
on their way, with several threads: one is slower than the link, most of all where it writes to
pages for the first time. Threads of several GPUs do so side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launch import device_id
from hetero.cuda.ready_arrays import check_call, stream_handle

BUFFER_BYTES = 1 << 22
"""Bytes of a buffer (not tuned)."""

BUFFERS = 4
"""Buffers of a ring: one is filled while the GPU reads from another, and two are spare."""

SMALLEST_STAGED = 1 << (63 if SIMULATOR else 23)
"""Bytes from which arrays are staged (not tuned); the simulator has no driver."""

CopyBytes: TypeAlias = Callable[[np.ndarray, np.ndarray], None]
"""Copies a flat array of bytes in host memory to another one: `intrinsics.copies.copy_bytes`."""


class _Buffer(NamedTuple):
    memory: np.ndarray  # page-locked bytes
    address: int
    stream: Any  # on which it is read and written
    handle: Any  # of the stream, as the driver takes it


_free_rings: dict[int, list[list[_Buffer]]] = {}
"""Rings that no thread uses, by the number of the GPU."""


def upload_staged(host: np.ndarray, copy_bytes: CopyBytes) -> Any:
    """Copy a flat contiguous array to the current GPU; the copy is complete."""
    from cuda.bindings import driver

    array = cuda.device_array(host.shape, host.dtype)
    ring, source, target = _take_ring(), host.view(np.uint8), array.device_ctypes_pointer.value
    # The driver is called directly: slices and copies of Numba's arrays take 0.2 ms with Python's
    # lock, for which the threads of other GPUs wait.
    for number, begin in enumerate(range(0, source.size, BUFFER_BYTES)):
        memory, address, _, handle = ring[number % BUFFERS]
        check_call(driver.cuStreamSynchronize(handle))
        part = source[begin : begin + BUFFER_BYTES]
        copy_bytes(part, memory[: part.size])
        check_call(driver.cuMemcpyHtoDAsync(target + begin, address, part.size, handle))
    for buffer in ring:
        check_call(driver.cuStreamSynchronize(buffer.handle))
    _free_rings[device_id()].append(ring)
    return array


def download_staged(array: Any, host: np.ndarray, copy_bytes: CopyBytes) -> None:
    """Copy a flat array on the current GPU, which no kernel writes any more, to one of the host."""
    from cuda.bindings import driver

    ring, target, source = _take_ring(), host.view(np.uint8), array.device_ctypes_pointer.value
    begins = range(0, target.size, BUFFER_BYTES)
    for number in range(len(begins) + BUFFERS):
        memory, address, _, handle = ring[number % BUFFERS]
        if number >= BUFFERS:  # empty the buffer before it is filled again
            check_call(driver.cuStreamSynchronize(handle))
            part = target[begins[number - BUFFERS] :][:BUFFER_BYTES]
            copy_bytes(memory[: part.size], part)
        if number < len(begins):
            size = min(BUFFER_BYTES, target.size - begins[number])
            check_call(driver.cuMemcpyDtoHAsync(address, source + begins[number], size, handle))
    _free_rings[device_id()].append(ring)


def _take_ring() -> list[_Buffer]:
    """Return a ring that no thread uses, or a new one."""
    free = _free_rings.setdefault(device_id(), [])
    try:
        return free.pop()
    except IndexError:
        return [_new_buffer() for _ in range(BUFFERS)]


def _new_buffer() -> _Buffer:
    memory, stream = cuda.pinned_array(BUFFER_BYTES, np.uint8), cuda.stream()
    return _Buffer(memory, memory.ctypes.data, stream, stream_handle(stream))
