"""Eigenvectors of diagonal blocks, and their places among those of the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from hetero.arrays import Array, Workspace
from sbth._problem import working_matrix
from sbth._tridiagonal import divide_and_conquer


class Part(NamedTuple):
    """Eigenvectors of a diagonal block.

    Attributes
    ----------
    rows : int64 (k,)
        The rows of the matrix that belong to the block, in host memory.
    vectors : (j, k)
        Eigenvectors as rows, on the device.
    order : int64 (k,), or None
        On the device: row order[i] belongs to the i-th eigenvalue. If it is None, the vectors are
        in the order of their eigenvalues, and those of a whole matrix belong to selected ones only.
    size : int
        Number of eigenvalues of the block that `EigenPairs.targets` has.
    """

    rows: np.ndarray
    vectors: Array
    order: Array | None
    size: int


class EigenPairs(NamedTuple):
    """Selected eigenvalues and eigenvectors of a matrix, block by block.

    Attributes
    ----------
    selected : int
        Number m of selected eigenvalues.
    read_values : function
        Returns the selected eigenvalues: float64 (m,), ascending, in host memory. It waits for the
        GPU; what depends on the vectors alone is launched before.
    single : int64 (s,)
        Rows that are blocks by themselves.
    parts : list of Part
    order : int
        Order n of the matrix.
    targets : int64 (s + the sizes of all parts,)
        Positions among the selected eigenvalues of the eigenvalues of all blocks, those of `single`
        first; negative or too large for those that are not selected.
    space : Workspace
        The workspace of the computation, whose results are NumPy arrays.
    """

    selected: int
    read_values: Callable[[], np.ndarray]
    single: np.ndarray
    parts: list[Part]
    order: int
    targets: np.ndarray
    space: Workspace

    def place_rows(self, space: Workspace, dtype: DTypeLike, out: Any = None) -> Any:
        """Return the eigenvectors as rows, in a flat array (m n) of the kind of `space`, or `out`.

        `out` is a flat array on the device.
        """
        m, n, stream = self.selected, self.order, self.space.stream
        if m == 0:
            return space.output((0,), dtype)
        is_whole = len(self.parts) == 1 and self.parts[0].rows.size == n
        if is_whole and self.parts[0].order is None and self.space.device.kind == "cpu":
            return self.parts[0].vectors.astype(dtype, copy=False)
        loops = divide_and_conquer.loops(self.space.device)
        out = space.output((m, n), dtype) if out is None else out
        if not is_whole:
            working_matrix.loops(self.space.device).clear(out, stream)

        s = self.single.size
        chosen = np.flatnonzero((self.targets[:s] >= 0) & (self.targets[:s] < m))
        if chosen.size:
            elements = self.targets[chosen] * n + self.single[chosen]
            one, zero = self.space.input("one", np.ones(1)).reshape((1, 1)), np.zeros(1, np.int64)
            indices = np.zeros_like(elements), elements, zero
            uploaded = loops.upload_indices(indices, stream)
            loops.place_vectors(one, uploaded, out.reshape((m * n, 1)), stream)
        begin = s
        for part in self.parts:
            targets = self.targets[begin : begin + part.size]
            begin += part.size
            first, stop = map(int, np.searchsorted(targets, (0, m)))
            if first < stop:
                indices = np.arange(first, stop), targets[first:stop], part.rows
                numbers, positions, rows = loops.upload_indices(indices, stream)
                sources = numbers if part.order is None else part.order[first:stop]
                placed = sources, positions, rows
                loops.place_vectors(part.vectors, placed, out.reshape((m, n)), stream)
        return out
