"""Arrays in host memory that share one allocation, so that one copy takes them to a GPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike

ALIGNMENT = 16
"""Bytes to whose multiples arrays that share memory are aligned: the largest load on a GPU."""


def _padded(size: int) -> int:
    """Return the bytes that an array of `size` bytes takes in memory that arrays share."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def empty_as_one(
    shapes: Sequence[tuple[int, ...]], dtypes: Sequence[DTypeLike]
) -> list[np.ndarray]:
    """Return new arrays in host memory that share one allocation, so that one copy moves them.

    Each is a view of the same flat array of bytes, its `base`.
    """
    sizes = [math.prod(s) * np.dtype(d).itemsize for s, d in zip(shapes, dtypes, strict=True)]
    memory = np.empty(sum(map(_padded, sizes)), np.uint8)
    arrays, start = [], 0
    for shape, dtype, size in zip(shapes, dtypes, sizes, strict=True):
        arrays.append(np.ndarray(shape, dtype, memory, start))
        start += _padded(size)
    return arrays


def offsets_in_one(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, list[int]] | None:
    """Return the memory that arrays of one `empty_as_one` share, and where each begins in it.

    None for other arrays.
    """
    memory = arrays[0].base if arrays else None
    if not isinstance(memory, np.ndarray) or memory.dtype != np.uint8:
        return None
    if any(array.base is not memory or not array.flags.c_contiguous for array in arrays):
        return None
    begin = memory.ctypes.data
    return memory, [array.ctypes.data - begin for array in arrays]
