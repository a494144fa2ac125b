"""GPU memory of the batches that are searched, which is reused from batch to batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda


class Buffers:
    """GPU memory for one batch.

    Buffers are reused and never freed, because freeing memory synchronizes the GPU.
    """

    def __init__(self, subdomains: int, pieces: int, candidates: int) -> None:
        self.capacity = [subdomains, pieces, candidates]
        self.subdomains = cuda.device_array(subdomains, np.uint64)
        self.pieces = cuda.device_array(pieces, np.uint64)
        self.numbers = cuda.device_array(candidates, np.uint64)
        self.words = cuda.device_array(candidates, np.uint64)
        self.counters = cuda.device_array(4, np.int64)
        self.host_counters = cuda.pinned_array(4, np.int64)
        self.stream = cuda.stream()
        self._inputs: dict = {}

    def upload(self, name: str, array: np.ndarray) -> Any:
        """Copy `array` into the buffer for its name, shape and type, and return the buffer."""
        key = name, array.shape, array.dtype
        if key not in self._inputs:
            self._inputs[key] = cuda.device_array(array.shape, array.dtype)
        self._inputs[key].copy_to_device(array, stream=self.stream)
        return self._inputs[key]


_free_buffers: dict[int, list[Buffers]] = {}
"""Buffers that no batch uses, by the number of the GPU."""

_capacity = [1 << 24, 1 << 22, 1 << 20]
"""Failing sub-domains, failing pieces and candidates that new buffers can hold.

It grows when a batch has more.
"""


def take_buffers() -> Buffers:
    """Return free buffers of the present capacity, or new ones."""
    free = _free_buffers.setdefault(launch.device_id(), [])
    while free:
        buffers = free.pop()
        if buffers.capacity == _capacity:
            return buffers
    return Buffers(*_capacity)


def return_buffers(buffers: Buffers) -> None:
    """Let the next batches use the buffers of a finished one."""
    _free_buffers[launch.device_id()].append(buffers)


def enlarge_capacity(counts: list[int]) -> None:
    """Let new buffers hold at least so many sub-domains, pieces and candidates."""
    for i, n in enumerate(counts):
        while _capacity[i] < n:
            _capacity[i] *= 2
