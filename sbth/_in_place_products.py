"""Matrix products that are added to a matrix where it is: cuBLAS on CuPy arrays, or NumPy.

CuPy's operators would copy operands that are parts of a matrix, and write the product to new memory
before they add it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

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
    from cupy.cuda import cublas, device

    x, x_pitch, x_operation = _as_operand(xp, x, cublas)
    y, y_pitch, y_operation = _as_operand(xp, y, cublas)
    item, (count, m, n) = c.itemsize, c.shape
    c_pitch = max(c.strides[1] // item, n)
    if c.strides[2] != item:
        raise ValueError("the rows of c must be contiguous")
    factors = np.array([scale, keep], c.dtype)
    function = {"f": cublas.sgemmStridedBatched, "d": cublas.dgemmStridedBatched}[c.dtype.char]
    # cuBLAS stores matrices by columns: it computes the transposed product y^T x^T.
    function(
        *(device.get_cublas_handle(), y_operation, x_operation, n, m, x.shape[2]),
        *(factors.ctypes.data, y.data.ptr, y_pitch, y.strides[0] // item),
        *(x.data.ptr, x_pitch, x.strides[0] // item, factors.ctypes.data + item),
        *(c.data.ptr, c_pitch, c.strides[0] // item, count),
    )


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


def _as_operand(xp: ModuleType, x: Any, cublas: Any) -> tuple[Any, int, int]:
    """Return matrices, the distance of their rows or columns, and the operation on them."""
    item, (_, rows, columns) = x.itemsize, x.shape
    if x.strides[2] == item and x.strides[1] >= columns * item:
        return x, x.strides[1] // item, cublas.CUBLAS_OP_N
    if x.strides[1] == item and x.strides[2] >= rows * item:
        return x, x.strides[2] // item, cublas.CUBLAS_OP_T
    return xp.ascontiguousarray(x), columns, cublas.CUBLAS_OP_N
