"""Diagonal blocks of a matrix that do not touch each other, and groups of blocks of one magnitude.

Each block has its own eigenvalues, with errors relative to its own norm: a matrix with elements
from 1e-200 to 1e200 would lose the small ones if all were scaled together. Blocks of about the same
norm are kept together, because one computation of many is faster than many of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sbth._problem.inspection import EPSILON, is_coupled, sizes_of
from sbth._problem.selection import Selection
from sbth._problem.storage import diagonals

_BINADES = 4
"""Blocks whose norms differ by less than a factor of 2^4 or so belong to one group (not tuned)."""


Block = tuple[np.ndarray, np.ndarray, Any]
"""The rows of a diagonal block, its eigenvalues, and eigenvectors as columns, or None."""


@dataclass(frozen=True)
class Partition:
    """Rows of a matrix, sorted by the blocks that they belong to.

    Attributes
    ----------
    single : array of int
        Rows that are blocks by themselves: the diagonal element is the eigenvalue.
    groups : list of arrays of int
        Rows of blocks of similar norms, in the order of the matrix.
    """

    single: np.ndarray
    groups: list[np.ndarray]

    @property
    def is_whole(self) -> bool:
        """Return whether nothing is gained by treating parts of the matrix separately."""
        return self.single.size == 0 and len(self.groups) <= 1


def partition_tridiagonal(d: np.ndarray, e: np.ndarray) -> Partition:
    """Split a tridiagonal matrix where a subdiagonal element has no influence on eigenvalues.

    The criterion is that of `starts_of_blocks`.
    """
    starts = starts_of_blocks(d, e)
    if starts.size == 1 and d.size > 1:
        return Partition(np.zeros(0, int), [np.arange(d.size)])  # without the arrays below
    radii = np.zeros(d.size)
    radii[:-1] = np.abs(e)
    radii[1:] = np.maximum(radii[1:], np.abs(e))
    return _partition(starts, np.maximum(np.abs(d), radii))


def starts_of_blocks(d: np.ndarray, e: np.ndarray) -> np.ndarray:
    """Return the first rows of the blocks into which a tridiagonal matrix falls.

    A block ends where the criterion of LAPACK's dstebz holds: e_i^2 <= eps^2 |d_i d_(i+1)|.
    """
    if is_coupled(sizes_of(d, e)):
        return np.zeros(1, int)  # without the arrays below
    root = np.sqrt(np.abs(d))
    ends = np.abs(e) <= EPSILON * root[:-1] * root[1:]
    return _starts(ends, d.size)


def partition_band(ab: np.ndarray, lower: bool) -> Partition:
    """Split a band matrix where all elements beside the diagonal blocks are 0."""
    n = ab.shape[1]
    columns = diagonals(ab, lower)
    reach = np.arange(n)  # the last row with which each column is coupled
    sizes = np.abs(columns[0]).astype(float)
    for k, values in enumerate(columns[1:], 1):
        magnitudes = np.abs(values)
        np.copyto(reach[: n - k], np.arange(k, n), where=magnitudes != 0)
        np.maximum(sizes[: n - k], magnitudes, out=sizes[: n - k])
    ends = np.maximum.accumulate(reach)[:-1] == np.arange(n - 1)
    return _partition(_starts(ends, n), sizes)


def _starts(ends: np.ndarray, n: int) -> np.ndarray:
    """Return the first rows of the blocks of a matrix that end where `ends` is true."""
    return np.concatenate([[0], np.flatnonzero(ends) + 1]) if n else np.zeros(0, int)


def _partition(starts: np.ndarray, sizes: np.ndarray) -> Partition:
    """Return the parts of a matrix with these first rows of blocks.

    `sizes` holds the magnitude of the largest element of each row.
    """
    n = sizes.size
    if starts.size <= 1:
        return Partition(np.flatnonzero(np.full(n, n == 1)), [np.arange(n)] if n > 1 else [])
    lengths = np.diff(np.append(starts, n))
    norms = np.maximum.reduceat(sizes, starts)
    classes = np.frexp(norms)[1] // _BINADES
    classes[lengths == 1] = np.iinfo(classes.dtype).min
    of_rows = np.repeat(classes, lengths)
    groups = [np.flatnonzero(of_rows == c) for c in np.unique(classes[lengths > 1])]
    return Partition(np.flatnonzero(np.repeat(lengths == 1, lengths)), groups)


def join_blocks(
    xp: ModuleType, selection: Selection, blocks: Sequence[Block], shape: tuple[int, DTypeLike]
) -> tuple[np.ndarray, Any]:
    """Return the selected eigenvalues (m,) of a matrix of blocks, and eigenvectors (n, m) or None.

    `shape` is the order n and the type of the eigenvectors, arrays of `xp`.
    """
    everything = np.concatenate([values for _, values, _ in blocks])
    order = np.argsort(everything, kind="stable")
    chosen = order[slice(*selection.bounds(everything[order]))]
    if blocks[0][2] is None:
        return everything[chosen], None
    targets = np.full(everything.size, -1)
    targets[chosen] = np.arange(chosen.size)
    columns = xp.zeros((shape[0], chosen.size), shape[1])
    begin = 0
    for rows, values, vectors in blocks:
        of_block = targets[begin : begin + values.size]
        begin += values.size
        selected = np.flatnonzero(of_block >= 0)
        elements = xp.asarray(rows)[:, None], xp.asarray(of_block[selected])[None, :]
        columns[elements] = vectors[:, xp.asarray(selected)]
    return everything[chosen], columns
