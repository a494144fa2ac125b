"""Pieces of a sample that a thread reads while the piece before is computed with."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from hetero.devices import Device
from stablegpu._fit.observations.streams.pieces import Observations, open_array


def read_ahead(observations: Observations, device: Device) -> Generator[np.ndarray, None, None]:
    """Yield the pieces of a sample; the memory of each is used again for the next but one.

    A thread reads a file, or copies from a memory map, while the caller computes. It fills two
    buffers in turn, which are page-locked for a GPU: the driver copies from such memory without a
    detour. Arrays in memory, and what a function yields, are passed on as they are; functions run
    in the calling thread, because what they use may belong to it.

    Raises
    ------
    OSError, ValueError : a file cannot be read, or has become shorter
    """
    if observations.end is None or not _is_on_disk(observations.source):
        yield from observations
        return
    array = observations.source
    if isinstance(array, Path):
        array = open_array(array)
    size = min(observations.piece, observations.end - observations.begin)
    ranges = [
        (begin, min(begin + observations.piece, observations.end))
        for begin in range(observations.begin, observations.end, observations.piece)
    ]
    with contextlib.ExitStack() as stack:
        fill = _filler(observations.source, array, size, stack)
        buffers = [_new_buffer(size, device) for _ in range(min(2, len(ranges)))]
        # The thread ends before the file is closed, because it was entered last.
        thread = stack.enter_context(ThreadPoolExecutor(1, "heterokit-reader"))
        filled = thread.submit(fill, buffers[0], *ranges[0])
        for number, (begin, end) in enumerate(ranges):
            filled.result()
            if number + 1 < len(ranges):
                filled = thread.submit(fill, buffers[(number + 1) % 2], *ranges[number + 1])
            yield observations.without_nan(buffers[number % 2][: end - begin])


def _is_on_disk(source: Any) -> bool:
    """Return whether a sample is in a file: the path of one, or a memory map."""
    return isinstance(source, Path | np.memmap)


def _new_buffer(size: int, device: Device) -> np.ndarray:
    """Return memory for float64 numbers, page-locked for a GPU, which must be the current one."""
    if device.kind == "cpu":
        return np.empty(size)
    from hetero.cuda.driver import cuda

    buffer: np.ndarray = cuda.pinned_array(size, np.float64)
    return buffer


def _filler(
    source: Any, array: np.ndarray, size: int, stack: contextlib.ExitStack
) -> Callable[[np.ndarray, int, int], None]:
    """Return a function that writes a range of the sample to a buffer as float64.

    `stack` closes what the function has opened.
    """
    if not isinstance(source, Path):

        def copy(buffer: np.ndarray, begin: int, end: int) -> None:
            buffer[: end - begin] = array[begin:end]

        return copy
    file = stack.enter_context(source.open("rb", buffering=0))
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
    assert isinstance(array, np.memmap)
    offset, itemsize = int(array.offset), array.dtype.itemsize
    is_float64 = array.dtype == np.float64 and array.dtype.isnative
    raw = None if is_float64 else np.empty(size, array.dtype)

    def read(buffer: np.ndarray, begin: int, end: int) -> None:
        target = (buffer if raw is None else raw)[: end - begin]
        file.seek(offset + begin * itemsize)
        left = target.view(np.uint8).data
        while left:
            count = file.readinto(left)
            if not count:
                raise ValueError(f"{source} has become shorter while it was read")
            left = left[count:]
        if raw is not None:
            buffer[: end - begin] = target

    return read
