"""Copies of large arrays between host and GPU through page-locked buffers that are kept.

The driver copies other memory by way of a buffer of its own, at a fraction of the rate, and to lock
the array itself would take as long as that. So several threads fill or empty buffers, each of them
two in turns, while the GPU reads or writes others. They do not wait for each other: with a barrier
at the end of each buffer one late thread holds up all. Threads of several GPUs work side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple, TypeAlias

import numba
import numpy as np

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launch import device_id
from hetero.cuda.ready_arrays import check_call, stream_handle

COPIERS = min(8, numba.config.NUMBA_NUM_THREADS)
"""Most threads of a copy; there are no more than `hetero.threads()` of the caller. One copies some
6 GB/s, and half of that to memory whose pages are new."""

BUFFER_BYTES = 1 << 23
"""Bytes of a buffer. Four GPUs of a host with 64 cores, whose memory copies 45 GB/s, get 34 GB/s by
buffers of 4 MiB, 20 by 2 MiB and 11 by 1 MiB: threads wait for Python's lock at each buffer."""

SMALLEST_STAGED = 1 << (63 if SIMULATOR else 23)
"""Bytes from which arrays are staged (not tuned); the simulator has no driver."""


class _Buffer(NamedTuple):
    memory: np.ndarray  # page-locked bytes
    address: int
    stream: Any  # on which it is read and written
    handle: Any  # of the stream, as the driver takes it


CopyParts: TypeAlias = Callable[[range, int, tuple[_Buffer, _Buffer]], None]
"""Copies the parts of an array that begin at some bytes, of at most some length."""


class _Copiers(NamedTuple):
    """Threads with two buffers each, which belong to one GPU."""

    threads: ThreadPoolExecutor
    buffers: list[tuple[_Buffer, _Buffer]]


_idle: dict[int, list[_Copiers]] = {}
"""Copiers that no call uses, by the number of the GPU."""


def upload_staged(host: np.ndarray) -> Any:
    """Copy a flat contiguous array to the current GPU; the copy is complete."""
    from cuda.bindings import driver

    array = cuda.device_array(host.shape, host.dtype)
    source, target = host.view(np.uint8), array.device_ctypes_pointer.value

    def copy_parts(begins: range, length: int, buffers: tuple[_Buffer, _Buffer]) -> None:
        for number, begin in enumerate(begins):
            memory, address, _, handle = buffers[number % 2]
            check_call(driver.cuStreamSynchronize(handle))
            part = source[begin : begin + length]
            memory[: part.size] = part
            check_call(driver.cuMemcpyHtoDAsync(target + begin, address, part.size, handle))
        for buffer in buffers:
            check_call(driver.cuStreamSynchronize(buffer.handle))

    _run_copiers(copy_parts, source.size)
    return array


def download_staged(array: Any, host: np.ndarray) -> None:
    """Copy a flat array on the current GPU, which no kernel writes any more, to one of the host."""
    from cuda.bindings import driver

    target, source = host.view(np.uint8), array.device_ctypes_pointer.value

    def copy_parts(begins: range, length: int, buffers: tuple[_Buffer, _Buffer]) -> None:
        for number in range(len(begins) + 2):
            memory, address, _, handle = buffers[number % 2]
            if number >= 2:  # empty the buffer before it is filled again
                check_call(driver.cuStreamSynchronize(handle))
                part = target[begins[number - 2] :][:length]
                part[:] = memory[: part.size]
            if number < len(begins):
                size = min(length, target.size - begins[number])
                check_call(driver.cuMemcpyDtoHAsync(address, source + begins[number], size, handle))

    _run_copiers(copy_parts, target.size)


def _run_copiers(copy_parts: CopyParts, size: int) -> None:
    """Let the threads copy parts of an array in turns, two or more each; wait for all of them."""
    from cuda.bindings import driver

    error, context = driver.cuCtxGetCurrent()
    check_call((error,))
    free = _idle.setdefault(device_id(), [])
    try:
        copiers = free.pop()
    except IndexError:
        copiers = _Copiers(
            ThreadPoolExecutor(COPIERS, "heterokit-copier"),
            [(_new_buffer(), _new_buffer()) for _ in range(COPIERS)],
        )

    count = min(COPIERS, numba.get_num_threads())
    length = min(BUFFER_BYTES, -(-size // (2 * count)))

    def work(k: int) -> None:
        check_call(driver.cuCtxSetCurrent(context))
        copy_parts(range(k * length, size, count * length), length, copiers.buffers[k])

    parts = [copiers.threads.submit(work, k) for k in range(count)]
    try:
        wait(parts)
    finally:  # after an interrupt, too: the caller gives up the memory that they copy to
        wait(parts)
    for part in parts:
        part.result()
    free.append(copiers)


def _new_buffer() -> _Buffer:
    memory, stream = cuda.pinned_array(BUFFER_BYTES, np.uint8), cuda.stream()
    return _Buffer(memory, memory.ctypes.data, stream, stream_handle(stream))
