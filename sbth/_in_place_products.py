"""Matrix products that are added to a matrix where it is: cuBLAS on CuPy arrays, or NumPy.

CuPy's operators would copy operands that are parts of a matrix, and write the product to new memory
before they add it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


def add_product(xp: ModuleType, c: Any, x: Any, y: Any, scale: float, keep: float = 1.0) -> None:
    """Replace c (m, n) by keep c + scale x y, for x (m, k) and y (k, n) of the same real type.

    The elements of a row of c, or those of a column, must follow each other in memory. With
    keep = 0 the old elements are not read.
    """
    if isinstance(c, np.ndarray):
        _add_on_host(c, x, y, scale, keep)
        return
    if c.strides[1] != c.itemsize and c.strides[0] == c.itemsize:
        add_product(xp, c.T, y.T, x.T, scale, keep)
        return
    add_products(xp, c[None], x[None], y[None], scale, keep)


def add_products(xp: ModuleType, c: Any, x: Any, y: Any, scale: float, keep: float = 1.0) -> None:
    """Replace each c[i] by keep c[i] + scale x[i] y[i]; the c[i] must not overlap.

    The elements of a row of each c[i] must follow each other in memory.
    """
    if isinstance(c, np.ndarray):
        _add_on_host(c, x, y, scale, keep)
        return
    if 0 in (*c.shape, x.shape[2]):
        return
    product, handle, operations = _cublas(c.dtype.char)
    x, x_pitch, x_operation = _as_operand(xp, x, operations)
    y, y_pitch, y_operation = _as_operand(xp, y, operations)
    item, (count, m, n) = c.itemsize, c.shape
    if c.strides[2] != item:
        raise ValueError("the rows of c must be contiguous")
    factors = _in_memory(scale, keep, c.dtype.char)
    # cuBLAS stores matrices by columns: it computes the transposed product y^T x^T.
    product(
        *(handle(), y_operation, x_operation, n, m, x.shape[2]),
        *(factors.address, y.data.ptr, y_pitch, y.strides[0] // item),
        *(x.data.ptr, x_pitch, x.strides[0] // item, factors.address + item),
        *(c.data.ptr, max(c.strides[1] // item, n), c.strides[0] // item, count),
    )


class _Numbers(NamedTuple):
    """Numbers in host memory, and where they are."""

    array: np.ndarray
    address: int


@functools.cache
def _in_memory(scale: float, keep: float, dtype: str) -> _Numbers:
    """Return two factors as cuBLAS takes them; there are few pairs, in thousands of products."""
    array = np.array([scale, keep], dtype)
    return _Numbers(array, array.ctypes.data)


@functools.cache
def _cublas(dtype: str) -> tuple[Callable, Callable, tuple[int, int]]:
    """Return cuBLAS's batched product for a type, CuPy's handle, and the codes of operations."""
    from cupy.cuda import cublas, device

    products = {"f": cublas.sgemmStridedBatched, "d": cublas.dgemmStridedBatched}
    operations = cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T
    return products[dtype], device.get_cublas_handle, operations


def _add_on_host(c: np.ndarray, x: np.ndarray, y: np.ndarray, scale: float, keep: float) -> None:
    """Do the same with arrays of NumPy."""
    product = x @ y
    product *= scale
    if keep == 0.0:
        c[...] = product
        return
    if keep != 1.0:
        c *= keep
    c += product


def _as_operand(xp: ModuleType, x: Any, operations: tuple[int, int]) -> tuple[Any, int, int]:
    """Return matrices, the distance of their rows or columns, and the operation on them."""
    item, (_, rows, columns), (_, pitch, step) = x.itemsize, x.shape, x.strides
    plain, transposed = operations
    if step == item and pitch >= columns * item:
        return x, pitch // item, plain
    if pitch == item and step >= rows * item:
        return x, step // item, transposed
    return xp.ascontiguousarray(x), columns, plain
