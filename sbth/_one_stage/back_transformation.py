"""Eigenvectors of a full matrix from those of the tridiagonal one, by blocks of reflections."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from sbth._compact_wy import triangular_factors
from sbth._in_place_products import add_product
from sbth._one_stage.reduction import Reduced

_BLOCK = 64
"""Reflections that are applied together (not tuned)."""


def apply_reflections(xp: ModuleType, reduced: Reduced, vectors: Any) -> None:
    """Multiply `vectors` (n, m), an array of `xp`, by Q in place.

    They are applied in blocks in compact WY form, 1 - V T V^T (Schreiber and Van Loan 1989).
    """
    n = len(vectors)
    count = -(-(n - 1) // _BLOCK)
    if count <= 0:
        return
    # The last block is filled up with reflections that change nothing.
    rows = xp.zeros((count * _BLOCK, n), vectors.dtype)
    rows[: n - 1] = reduced.vectors[: n - 1]
    taus = xp.zeros(count * _BLOCK, vectors.dtype)
    taus[: n - 1] = xp.asarray(reduced.taus)
    rows *= (taus != 0.0)[:, None]
    blocks = rows.reshape(count, _BLOCK, n)
    factors = triangular_factors(xp, blocks.transpose(0, 2, 1), taus.reshape(count, _BLOCK))
    products = factors.transpose(0, 2, 1) @ blocks  # the transposed matrices V T
    product = xp.empty((_BLOCK, vectors.shape[1]), vectors.dtype)
    for i in reversed(range(count)):
        first = i * _BLOCK + 1
        part = vectors[first:]
        add_product(xp, product, blocks[i, :, first:], part, 1.0, keep=0.0)
        add_product(xp, part, products[i, :, first:].T, product, -1.0)
