"""Copies of large arrays between host and GPU through a ring of page-locked buffers that is kept.

The driver copies other memory by way of a buffer of its own, at a fraction of the rate, and to lock
the array itself would take as long as that. A thread fills or empties a buffer while the others are
on their way; threads of several GPUs do so side by side, because NumPy copies without Python's
lock.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.cuda.driver import cuda
from hetero.cuda.launch import device_id

BUFFER_BYTES = 1 << 22
"""Bytes of a buffer (not tuned): small enough for the cache of a core."""

BUFFERS = 4
"""Buffers of a ring: one is filled while the GPU reads from another, and two are spare."""

SMALLEST_STAGED = 1 << 24
"""Bytes from which arrays are staged (not tuned)."""


class _Buffer(NamedTuple):
    memory: np.ndarray  # page-locked
    stream: Any  # on which it is read and written


_free_rings: dict[int, list[list[_Buffer]]] = {}
"""Rings that no thread uses, by the number of the GPU."""


def upload_staged(host: np.ndarray) -> Any:
    """Copy a flat contiguous array to the current GPU; the copy is complete."""
    array = cuda.device_array(host.shape, host.dtype)
    ring = _take_ring()
    step = BUFFER_BYTES // host.itemsize
    for number, begin in enumerate(range(0, host.size, step)):
        memory, stream = ring[number % BUFFERS]
        stream.synchronize()
        part = host[begin : begin + step]
        filled = memory[: part.nbytes].view(host.dtype)
        filled[:] = part
        array[begin : begin + part.size].copy_to_device(filled, stream=stream)
    for _, stream in ring:
        stream.synchronize()
    _free_rings[device_id()].append(ring)
    return array


def download_staged(array: Any, host: np.ndarray) -> None:
    """Copy a flat array on the current GPU, which no kernel writes any more, to one of the host."""
    ring = _take_ring()
    step = BUFFER_BYTES // host.itemsize
    begins = range(0, host.size, step)
    for number in range(len(begins) + BUFFERS):
        memory, stream = ring[number % BUFFERS]
        if number >= BUFFERS:  # empty the buffer before it is filled again
            stream.synchronize()
            target = host[begins[number - BUFFERS] :][:step]
            target[:] = memory[: target.nbytes].view(host.dtype)
        if number < len(begins):
            source = array[begins[number] : min(begins[number] + step, host.size)]
            filled = memory[: source.size * host.itemsize].view(host.dtype)
            source.copy_to_host(filled, stream=stream)
    _free_rings[device_id()].append(ring)


def _take_ring() -> list[_Buffer]:
    """Return a ring that no thread uses, or a new one."""
    free = _free_rings.setdefault(device_id(), [])
    try:
        return free.pop()
    except IndexError:
        return [
            _Buffer(cuda.pinned_array(BUFFER_BYTES, np.uint8), cuda.stream())
            for _ in range(BUFFERS)
        ]
