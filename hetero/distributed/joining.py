"""The results of several parts in one array."""

from __future__ import annotations

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
    lengths = [len(array) for array in arrays]
    whole = np.empty((sum(lengths), *arrays[0].shape[1:]), arrays[0].dtype)
    places = np.split(whole, np.cumsum(lengths)[:-1])
    sources, targets = (
        [piece for array in several for piece in np.array_split(array, _THREADS)]
        for several in (arrays, places)
    )
    with ThreadPoolExecutor(_THREADS) as threads:
        list(threads.map(np.copyto, targets, sources))  # raises what a copy raises
    return whole
