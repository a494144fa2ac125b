"""Copies of large arrays in host memory by several threads, for which NumPy releases the lock."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

COPIERS = min(8, numba.config.NUMBA_NUM_THREADS)
"""Threads of a copy. One copies some 10 GB/s, and a third of that to memory whose pages are new."""

_SMALLEST_SHARED = 1 << 24
"""Bytes from which several threads join arrays (not tuned)."""


def concatenate(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return `np.concatenate(arrays)` for arrays of one data type, by several threads if large."""
    if sum(array.nbytes for array in arrays) < _SMALLEST_SHARED:
        return np.concatenate(arrays)
    ends = list(itertools.accumulate(map(len, arrays)))
    whole = np.empty((ends[-1], *arrays[0].shape[1:]), arrays[0].dtype)
    with ThreadPoolExecutor(COPIERS) as threads:
        for array, end in zip(arrays, ends, strict=True):
            place = whole[end - len(array) : end]
            for source, target in zip(
                np.array_split(array, COPIERS), np.array_split(place, COPIERS), strict=True
            ):
                threads.submit(np.copyto, target, source)
    return whole
