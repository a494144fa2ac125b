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
    item, (count, m, n), k = c.itemsize, c.shape, x.shape[2]
    if c.strides[2] != item:
        raise ValueError("the rows of c must be contiguous")
    # Copies of operands must live until the product is launched.
    x, x_operand = _as_operand(xp, x)
    y, y_operand = _as_operand(xp, y)
    target = Operand(address_of(c), max(c.strides[1] // item, n), c.strides[0] // item)
    multiply_at(c.dtype.char, (m, k, n), target, x_operand, y_operand, scale, keep, count)


class Operand(NamedTuple):
    """Matrices on a GPU as operands of a product.

    Attributes
    ----------
    address : int
        That of the first element.
    pitch : int
        Elements from a row to the next one, or from a column if `is_transposed`.
    step : int
        Elements from a matrix to the next one.
    is_transposed : bool
        Whether the elements of a column follow each other in memory, not those of a row.
    """

    address: int
    pitch: int
    step: int = 0
    is_transposed: bool = False

    def transposed(self) -> Operand:
        """Return the transposed matrices."""
        return Operand(self.address, self.pitch, self.step, not self.is_transposed)


def multiply_at(
    dtype: str,
    sizes: tuple[int, int, int],
    c: Operand,
    x: Operand,
    y: Operand,
    scale: float,
    keep: float = 1.0,
    count: int = 1,
) -> None:
    """Replace each c[i] (m, n) by keep c[i] + scale x[i] y[i], for x[i] (m, k) and y[i] (k, n).

    `sizes` are (m, k, n), none of them 0; `dtype` is "f" or "d"; `c` is not transposed.
    """
    product, handle, operations = _cublas(dtype)
    factors, (m, k, n) = _in_memory(scale, keep, dtype), sizes
    # cuBLAS stores matrices by columns: it computes the transposed product y^T x^T.
    product(
        *(handle(), operations[y.is_transposed], operations[x.is_transposed], n, m, k),
        *(factors.address, y.address, y.pitch, y.step, x.address, x.pitch, x.step),
        *(factors.address + factors.array.itemsize, c.address, c.pitch, c.step, count),
    )


def address_of(array: Any) -> int:
    """Return the address of the first element of an array of CuPy, or of NumPy."""
    address: int = array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr
    return address


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


def _as_operand(xp: ModuleType, x: Any) -> tuple[Any, Operand]:
    """Return matrices as an operand, and the array that holds them: a copy if that is needed."""
    item, (_, rows, columns), (_, pitch, step) = x.itemsize, x.shape, x.strides
    if not (step == item and pitch >= columns * item):
        if pitch == item and step >= rows * item:
            return x, Operand(address_of(x), step // item, x.strides[0] // item, True)
        x, pitch = xp.ascontiguousarray(x), columns * item
    return x, Operand(address_of(x), pitch // item, x.strides[0] // item)
