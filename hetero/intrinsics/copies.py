"""Copies of large arrays in host memory by several CPU threads."""

import numpy as np
from numba import prange

from hetero.cpu.threads import threads, use_threads
from hetero.jit import parallel

MOST_THREADS = 16
"""Threads of a copy. On a host of 64 cores 16 copy 4 MiB from and to caches in 22 us and 800 MB in
memory at 38 GB/s; 64 take 385 us, most of which they spend waking up, and reach 50 GB/s."""


def copy_bytes(source: np.ndarray, target: np.ndarray) -> None:
    """Copy a flat array of bytes to another one of its size.

    A thread copies some 10 GB/s, and a third of that to memory whose pages are new.
    """
    with use_threads(min(threads(), MOST_THREADS)):
        _copy_bytes(source, target)


@parallel
def _copy_bytes(source: np.ndarray, target: np.ndarray) -> None:
    for i in prange(source.size):
        target[i] = source[i]
