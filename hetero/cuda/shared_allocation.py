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
    begin = _address(memory)
    return memory, [_address(array) - begin for array in arrays]


def pack_as_one(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    """Return the bytes of several arrays in one piece of memory, and where each begins in it.

    Those of `empty_as_one` lie in one piece already, others are copied.
    """
    shared = offsets_in_one(arrays)
    if shared is not None:
        return shared
    packed = empty_as_one([a.shape for a in arrays], [a.dtype for a in arrays])
    for target, array in zip(packed, arrays, strict=True):
        target[...] = array
    return offsets_in_one(packed) or (np.empty(0, np.uint8), [])


def _address(array: np.ndarray) -> int:
    """Return the address of an array; its attribute `ctypes` takes three times as long."""
    address: int = array.__array_interface__["data"][0]
    return address
