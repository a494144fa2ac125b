"""The results of several parts in one array."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

_THREADS = min(8, numba.config.NUMBA_NUM_THREADS)
"""Threads that copy. One copies some 3 GB/s to memory whose pages are new."""

_SMALLEST_SHARED = 1 << 24
"""Bytes from which several threads copy (not tuned)."""


def concatenate(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return `np.concatenate(arrays)` for arrays of one data type, by several threads if large."""
    if sum(array.nbytes for array in arrays) < _SMALLEST_SHARED:
        return np.concatenate(arrays)
    ends = list(itertools.accumulate(map(len, arrays)))
    whole = np.empty((ends[-1], *arrays[0].shape[1:]), arrays[0].dtype)
    with ThreadPoolExecutor(_THREADS) as threads:
        for array, end in zip(arrays, ends, strict=True):
            place = whole[end - len(array) : end]
            for source, target in zip(
                np.array_split(array, _THREADS), np.array_split(place, _THREADS), strict=True
            ):
                threads.submit(np.copyto, target, source)
    return whole
