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


class Adjoint(NamedTuple):
    """The conjugate transpose of a matrix as an operand.

    Attributes
    ----------
    of : array (k, m)
        The matrix, which is read as one of m rows and k columns.
    """

    of: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the conjugate transpose."""
        rows, columns = self.of.shape
        return columns, rows


def add_product(xp: ModuleType, c: Any, x: Any, y: Any, scale: float, keep: float = 1.0) -> None:
    """Replace c (m, n) by keep c + scale x y, for x (m, k) and y (k, n) of the same type.

    `x` and `y` are arrays, or `Adjoint`. The elements of a row of c, or those of a column if c is
    real, must follow each other in memory. With keep = 0 the old elements are not read; if k = 0, c
    is left as it is.
    """
    if isinstance(c, np.ndarray):
        _add_on_host(c, x, y, scale, keep)
        return
    item, (m, n), k = c.itemsize, c.shape, x.shape[1]
    if c.dtype.kind != "c" and c.strides[1] != item and c.strides[0] == item:
        add_product(xp, c.T, Adjoint(y), Adjoint(x), scale, keep)
        return
    if 0 in (m, n, k):
        return
    if c.strides[1] != item:
        raise ValueError("the rows of c must be contiguous")
    # Copies of operands must live until the product is launched.
    x, left = _as_operand(xp, x)
    y, right = _as_operand(xp, y)
    target = Operand(address_of(c), max(c.strides[0] // item, n))
    multiply_at(c.dtype.char, (m, k, n), target, left, right, scale, keep)


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
    is_conjugated : bool
        Whether these are the conjugates of what is in memory, for transposed matrices.
    """

    address: int
    pitch: int
    step: int = 0
    is_transposed: bool = False
    is_conjugated: bool = False

    def transposed(self) -> Operand:
        """Return the transposed matrices."""
        return self._replace(is_transposed=not self.is_transposed)

    def adjoint(self, dtype: str) -> Operand:
        """Return the conjugate transposes of matrices that are stored by rows.

        `dtype` is the character of their type, of which "F" and "D" are complex.
        """
        return Operand(self.address, self.pitch, self.step, True, dtype in "FD")


class Block(NamedTuple):
    """A block of a matrix that is stored by rows on a GPU, for products of many blocks.

    The host computes an address in a tenth of the time that a slice of an array takes it, which is
    as long as the product of small matrices.

    Attributes
    ----------
    address : int
        That of the first element.
    pitch : int
        Elements from a row to the next one.
    rows, columns : int
    dtype : str
        The character of the type.
    item : int
        Bytes of an element.
    """

    address: int
    pitch: int
    rows: int
    columns: int
    dtype: str
    item: int

    @classmethod
    def of(cls, array: Any) -> Block:
        """Return a whole C-contiguous array (rows, columns)."""
        rows, columns = array.shape
        return cls(address_of(array), columns, rows, columns, array.dtype.char, array.itemsize)

    def part(self, row: int, column: int, rows: int, columns: int) -> Block:
        """Return the part that begins with an element."""
        address = self.address + (row * self.pitch + column) * self.item
        return Block(address, self.pitch, rows, columns, self.dtype, self.item)


def add_block_product(
    c: Block, x: Block, y: Block, scale: float, keep: float = 1.0, *, adjoint: str = ""
) -> None:
    """Replace c by keep c + scale x y, where `adjoint` = "x" or "y" takes x^H or y^H instead."""
    k = x.rows if adjoint == "x" else x.columns
    if 0 in (c.rows, c.columns, k):
        return
    target, first, second = (Operand(z.address, z.pitch) for z in (c, x, y))
    if adjoint == "x":
        first = first.adjoint(c.dtype)
    elif adjoint == "y":
        second = second.adjoint(c.dtype)
    multiply_at(c.dtype, (c.rows, k, c.columns), target, first, second, scale, keep)


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

    `sizes` are (m, k, n), none of them 0; `dtype` is "f", "d", "F" or "D"; `c` is not transposed.
    """
    product, handle, operations = _cublas(dtype)
    factors, (m, k, n) = _in_memory(scale, keep, dtype), sizes
    # cuBLAS stores matrices by columns: it computes the transposed product y^T x^T.
    of_y = operations[y.is_transposed + y.is_conjugated]
    of_x = operations[x.is_transposed + x.is_conjugated]
    product(
        *(handle(), of_y, of_x, n, m, k),
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
def _cublas(dtype: str) -> tuple[Callable, Callable, tuple[int, int, int]]:
    """Return cuBLAS's batched product for a type, CuPy's handle, and the codes of operations.

    The operations are none, transposition and conjugate transposition.
    """
    from cupy.cuda import cublas, device

    products = {
        **{"f": cublas.sgemmStridedBatched, "d": cublas.dgemmStridedBatched},
        **{"F": cublas.cgemmStridedBatched, "D": cublas.zgemmStridedBatched},
    }
    operations = cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T, cublas.CUBLAS_OP_C
    return products[dtype], device.get_cublas_handle, operations


def _add_on_host(c: np.ndarray, x: Any, y: Any, scale: float, keep: float) -> None:
    """Do the same with arrays of NumPy."""
    first, second = (z.of.conj().T if isinstance(z, Adjoint) else z for z in (x, y))
    product = first @ second
    product *= scale
    if keep == 0.0:
        c[...] = product
        return
    if keep != 1.0:
        c *= keep
    c += product


def _as_operand(xp: ModuleType, x: Any) -> tuple[Any, Operand]:
    """Return a matrix as an operand, and the array that holds it: a copy if that is needed."""
    if isinstance(x, Adjoint):
        stored, operand = _as_operand(xp, x.of)
        is_complex = stored.dtype.kind == "c"
        if is_complex and operand.is_transposed:  # cuBLAS does not only conjugate
            stored, operand = _as_operand(xp, xp.ascontiguousarray(stored))
        return stored, operand.transposed()._replace(is_conjugated=is_complex)
    item, (rows, columns), (pitch, step) = x.itemsize, x.shape, x.strides
    if not (step == item and pitch >= columns * item):
        if pitch == item and step >= rows * item:
            return x, Operand(address_of(x), step // item, is_transposed=True)
        x, pitch = xp.ascontiguousarray(x), columns * item
    return x, Operand(address_of(x), pitch // item)
