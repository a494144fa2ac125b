"""Eigenvectors of a full matrix from those of the tridiagonal one, by blocks of reflections."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

from sbth._back.compact_wy import triangular_factors
from sbth._reduction.one_stage.reduction import RunningReduction
from sbth._vendor.products import Operand, address_of, multiply_at

_BLOCK = 64
"""Reflections that are applied together (not tuned)."""


class Blocks(NamedTuple):
    """Products of consecutive reflections in compact WY form, 1 - V T V^T.

    They are those of Schreiber and Van Loan (1989). Both arrays are C-contiguous. The first
    i `_BLOCK` + 1 rows of V and V T of block i are 0.

    Attributes
    ----------
    vectors : array (count, _BLOCK, n)
        The transposed matrices V.
    products : array (count, _BLOCK, n)
        The transposed matrices V T.
    """

    vectors: Any
    products: Any


def form_blocks(xp: ModuleType, reduction: RunningReduction) -> Blocks:
    """Form the blocks of a reduction that keeps its vectors, without waiting for it."""
    n, dtype = len(reduction.vectors), reduction.vectors.dtype
    count = -(-(n - 1) // _BLOCK)
    # The last block is filled up with reflections that change nothing.
    rows = xp.zeros((count * _BLOCK, n), dtype)
    taus = xp.zeros(count * _BLOCK, dtype)
    blocks = rows.reshape(count, _BLOCK, n)
    if count == 0:
        return Blocks(blocks, blocks)
    rows[: n - 1] = reduction.vectors[: n - 1]
    taus[: n - 1] = reduction.taus
    rows *= (taus != 0.0)[:, None]
    factors = triangular_factors(xp, blocks.transpose(0, 2, 1), taus.reshape(count, _BLOCK))
    return Blocks(blocks, factors.transpose(0, 2, 1) @ blocks)


def apply_reflections(xp: ModuleType, blocks: Blocks, vectors: Any) -> None:
    """Multiply `vectors` (n, m), a C-contiguous array of `xp`, by Q in place.

    The host adds up addresses, because slices of arrays take it longer than the GPU needs for the
    products of small matrices.
    """
    (n, m), item, kind = vectors.shape, vectors.itemsize, vectors.dtype.char
    product = xp.empty((_BLOCK, m), vectors.dtype)
    right = Operand(address_of(product), m)
    begin, *begins = map(address_of, (vectors, *blocks))
    for i in reversed(range(len(blocks.vectors))):
        first = i * _BLOCK + 1
        rows = Operand(begin + first * m * item, m)
        offset = (i * _BLOCK * n + first) * item
        v, u = (Operand(address + offset, n) for address in begins)
        multiply_at(kind, (_BLOCK, n - first, m), right, v, rows, 1.0, keep=0.0)
        multiply_at(kind, (n - first, _BLOCK, m), rows, u.transposed(), right, -1.0)
