"""Matrix products that are added to a matrix where it is: cuBLAS on CuPy arrays, or NumPy.

CuPy's operators would copy operands that are parts of a matrix, and write the product to new memory
before they add it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


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
        """Return an array (rows, columns) of which the elements of a row follow each other."""
        (rows, columns), item = array.shape, array.itemsize
        if columns > 1 and array.strides[1] != item:
            raise ValueError("the rows of a matrix must be contiguous")
        pitch = max(array.strides[0] // item, columns)
        return cls(address_of(array), pitch, rows, columns, array.dtype.char, item)

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


def add_product(
    c: Any, x: Any, y: Any, scale: float, keep: float = 1.0, *, adjoint: str = ""
) -> None:
    """Do what `add_block_product` does with arrays, those of NumPy on the CPU.

    On a GPU the elements of a row must follow each other in memory.
    """
    if not isinstance(c, np.ndarray):
        add_block_product(Block.of(c), Block.of(x), Block.of(y), scale, keep, adjoint=adjoint)
        return
    x, y = x.conj().T if adjoint == "x" else x, y.conj().T if adjoint == "y" else y
    product = x @ y
    product *= scale
    if keep:
        product += c if keep == 1.0 else keep * c
    c[...] = product


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
