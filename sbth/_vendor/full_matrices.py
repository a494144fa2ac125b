"""Full matrices in host memory by LAPACK, block by block where they have to be scaled.

Scaling a matrix whose elements nearly over- or underflow makes small ones 0. Diagonal blocks that
do not touch each other are therefore scaled one by one.
"""

from __future__ import annotations

import numpy as np

from hetero import region
from sbth._problem import inspection
from sbth._problem.blocks import join_blocks
from sbth._problem.selection import Selection
from sbth._vendor import drivers


def solve_full(
    a: np.ndarray, lower: bool, selection: Selection, *, vectors: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the selected eigenvalues (m,) of a matrix, and with `vectors` eigenvectors (n, m).

    Only one triangle is read. Eigenvalues of a matrix that was scaled are float64, and infinite if
    they overflow.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    """
    scaled, factor = _scale_triangle(a, lower)
    if factor != 1.0 and len(blocks := _find_blocks(a, lower)) > 1:
        everything = Selection("a", 0, 0)
        pairs = [solve_full(a[np.ix_(r, r)], lower, everything, vectors=vectors) for r in blocks]
        solved = [(r, w.astype(float), v) for r, (w, v) in zip(blocks, pairs, strict=True)]
        return join_blocks(np, selection, solved, (len(a), a.dtype))
    with region("LAPACK"):
        if vectors:
            values, columns = drivers.full_vectors(scaled, lower, selection, factor)
            return inspection.unscale(values, factor), columns
        values = drivers.full_values(scaled, lower)
    return selection.select_sorted(inspection.unscale(values, factor)), None


def _find_blocks(a: np.ndarray, lower: bool) -> list[np.ndarray]:
    """Return the rows of the diagonal blocks of a matrix, after a permutation."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    triangle = np.tril(a) if lower else np.triu(a)
    count, block_of_row = connected_components(csr_matrix(triangle != 0), directed=False)
    order = np.argsort(block_of_row, kind="stable")
    return np.split(order, np.searchsorted(block_of_row[order], np.arange(1, count)))


def _scale_triangle(a: np.ndarray, lower: bool) -> tuple[np.ndarray, float]:
    """Scale a matrix in host memory by a power of two, so that squares stay within range.

    Returns the matrix, itself if the power is 1, and the power.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle that `lower` chooses.
    """
    if a.size:
        inside = a.item(0).real or np.abs((a[:, 0] if lower else a[0]).real).max()
        if inspection.is_plainly_safe(a, inside):
            return a, 1.0
    triangle = np.tril(a) if lower else np.triu(a)
    largest = float(np.max(np.abs(inspection.magnitudes(triangle)), initial=0.0))
    inspection.require_finite_triangle(largest, lower)
    factor = inspection.safe_scale(largest, a.dtype)
    return (a, 1.0) if factor == 1.0 else (triangle * a.real.dtype.type(factor), factor)
