"""Steps of the reduction of a full matrix to a band on a GPU: a panel, and what it changes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero.cuda import launch
from hetero.cuda.ready_arrays import ready
from sbth._back.triangular_factors import COLUMNS, THREADS
from sbth._gpu.flags import require_meeting
from sbth._reduction.dense_to_band import panel_kernels, update_kernels
from sbth._vendor.products import Block, add_block_product

_LEAST_ROWS = 32
"""Rows of a block at least: more blocks would wait longer for each other (not tuned)."""

_PANELS_OF_GROUP = 8
"""Panels after which a large matrix is changed. On an H100 all eigenvalues for n = 10,000 take 233,
202, 193 and 191 ms with 1, 2, 4 and 8 (in float32 191, 174, 169 and 165)."""

_LEAST_ROWS_OF_GROUP = {"f": 6000, "c": 3000}
"""Least number of rows for which changing the matrix once a group is faster than after every panel,
for real and complex matrices; the launches of more products take longer than what they save for
smaller ones (between measurements at 5000 and 10,000, and at 3000 and 5000)."""

_STATIC = 1024
"""Bytes of shared memory that a block has besides what it asks for, at most."""


def suits_panels(rows: int, bandwidth: int, dtype: np.dtype) -> bool:
    """Return whether the kernel factors panels of this size on the current GPU."""
    if bandwidth > COLUMNS:
        return False
    return _shared_bytes(_rows_of_block(rows), dtype) + _STATIC <= launch.max_shared_memory()


class PanelReduction:
    """Reduction of a matrix (n, n) of which both triangles are stored, panel after panel.

    Q^H A Q = A - L R^H for the transformation 1 - U V^H of a panel, with L = (W, V), R = (V, W)
    and W = A U - V (U^H A U) / 2. Each element of A would be read and written for every panel.
    Large matrices are changed after a group of panels instead, whose L and R stand side by side:
    until then their products correct the columns of the next panel, and A U.

    Parameters
    ----------
    xp : module
        CuPy.
    a : array (n, n) of `xp`, C-contiguous
    bandwidth : int
    keeps_factors : bool
        Whether V and U of all panels are kept.
    """

    def __init__(self, xp: ModuleType, a: Any, bandwidth: int, *, keeps_factors: bool) -> None:
        self._a, self._b = a, bandwidth
        n, dtype = len(a), a.dtype
        most = max(n - bandwidth, 1)
        rows = range(most, 1, -bandwidth) if keeps_factors else (most,)
        size = sum(rows) * bandwidth
        self._keeps_factors = keeps_factors
        self._end = 0  # of the factors that are kept
        self._group = range(0)  # the first columns of the panels of this group
        self._pitch = 2 * bandwidth * _panels_of_group(most, dtype)
        self._left, self._right = (xp.empty(self._pitch * most, dtype) for _ in range(2))
        self._v, self._u = (xp.empty(size, dtype) for _ in range(2))
        self._product = xp.empty((self._pitch, bandwidth), dtype)
        self._control = xp.zeros(2, np.int32)
        sums = xp.empty(2 * COLUMNS * panel_kernels.MOST_BLOCKS, dtype)
        exchanged = sums, xp.empty(2 * COLUMNS, dtype), self._control
        self._exchange = panel_kernels.Exchange(*map(ready, exchanged))
        factors = self._left, self._right, self._v, self._u
        self._factors = panel_kernels.Factors(*map(ready, factors))
        self._matrix = ready(a.reshape(-1))
        # What is the same for all panels: looking it up takes longer than a launch.
        self._stream = xp.cuda.get_current_stream().ptr
        self._factor_kernel = panel_kernels.KERNELS[f"factor_{dtype}"]
        self._finish_kernel = update_kernels.KERNELS[f"finish_{dtype}"]
        self._small = ready(self._product.reshape(-1))
        self._arrivals = 0
        self._of_a, self._of_u = Block.of(a), Block.of(self._u.reshape(-1, bandwidth))
        sides = (x.reshape(-1, self._pitch) for x in (self._left, self._right))
        self._of_left, self._of_right = map(Block.of, sides)
        self._of_product = Block.of(self._product)

    def reduce(self, start: int) -> tuple[Any, Any]:
        """Eliminate what is below the band in columns start, ..., start + b - 1, in place.

        Elements farther from the diagonal than the band keep what they were. Returns (v, u) of the
        transformation 1 - u v^H of the rows from start + b on; without `keeps_factors` they hold
        until the next call.
        """
        b = self._b
        below = start + b
        m = len(self._a) - below
        if start not in self._group:
            self._group = range(start, start + _panels_of_group(m, self._a.dtype) * b, b)
        number = (start - self._group.start) // b
        earlier = 2 * number * b  # columns of L and R that earlier panels of the group have
        if number:
            columns = self._of_a.part(start, start, m + b, b)
            left, right = self._pending(start, m + b, 0, earlier)
            add_block_product(columns, left, right.part(0, 0, b, earlier), -1.0, adjoint="y")
        begin = self._end
        self._factor(start, m, begin, number)
        if self._keeps_factors:
            self._end += m * b
        u = self._of_u.part(begin // b, 0, m, b)
        trailing = self._of_a.part(below, below, m, m)
        w, _ = self._pending(below, m, earlier, b)
        # A = A^H, and cuBLAS computes A^H U in five sixths of the time of A U.
        add_block_product(w, trailing, u, 1.0, keep=0.0, adjoint="x")
        if number:
            left, right = self._pending(below, m, 0, earlier)
            product = self._of_product.part(0, 0, earlier, b)
            add_block_product(product, right, u, 1.0, keep=0.0, adjoint="x")
            add_block_product(w, left, product, -1.0)
        product = self._of_product.part(0, 0, b, b)
        add_block_product(product, w, u, 1.0, keep=0.0, adjoint="x")
        self._finish_w(m, begin, number)
        is_last = m - b <= 1  # too few rows are left for another panel
        if is_last or start == self._group[-1]:
            left, right = self._pending(below, m, 0, earlier + 2 * b)
            add_block_product(trailing, left, right, -1.0, adjoint="y")
            self._group = range(0)
        elements = slice(begin, begin + m * b)
        return self._v[elements].reshape(m, b), self._u[elements].reshape(m, b)

    def finish(self) -> None:
        """Raise RuntimeError if blocks of a kernel did not wait for each other."""
        require_meeting(self._control)

    def _pending(self, row: int, rows: int, column: int, columns: int) -> tuple[Block, Block]:
        """Return some columns of L and of R, from a row of the matrix on."""
        first = row - (self._group.start + self._b)
        part = first, column, rows, columns
        return self._of_left.part(*part), self._of_right.part(*part)

    def _first_element(self, number: int) -> int:
        """Return the place in L and in R of the part of a panel, by its number in the group."""
        return number * self._b * self._pitch + 2 * number * self._b

    def _finish_w(self, m: int, begin: int, number: int) -> None:
        """Turn X = A U of a panel of m rows in L into W = X - V P / 2, and copy it to R.

        `begin` is the place of V among the factors that are kept, P the product X^H U.
        """
        b, first = self._b, self._first_element(number)
        position = m, b, self._pitch, first, first + b, begin
        arguments = *self._factors[:3], self._small, position
        kernel, size = self._finish_kernel, b * b * self._a.itemsize
        blocks = min(-(-m * b // update_kernels.THREADS), 4 * launch.multiprocessors())
        launch.launch(kernel, blocks, update_kernels.THREADS, self._stream, arguments, size)

    def _factor(self, start: int, m: int, offset: int, number: int) -> None:
        """Launch the kernel for the panel of m rows that begins in column `start`.

        `offset` is the place of V and U among those that are kept, `number` that of the panel in
        its group.
        """
        n, b, dtype = len(self._a), self._b, self._a.dtype
        chunk = _rows_of_block(m)
        blocks = -(-m // chunk)
        first = self._first_element(number)
        position = (start + b) * n + start, n, m, b, chunk, first + b, first, self._pitch
        kernel, size = self._factor_kernel, _shared_bytes(chunk, dtype)
        arguments = self._matrix, position, offset, self._factors, self._exchange, self._arrivals
        launch.launch(kernel, blocks, THREADS, self._stream, arguments, size, cooperative=True)
        self._arrivals += min(m, b) * blocks


def _panels_of_group(rows: int, dtype: np.dtype) -> int:
    """Return after how many panels a matrix with so many rows below the first one is changed."""
    return _PANELS_OF_GROUP if rows >= _LEAST_ROWS_OF_GROUP[dtype.kind] else 1


def _rows_of_block(rows: int) -> int:
    """Return how many rows of a panel a block holds."""
    most_blocks = min(launch.multiprocessors(), panel_kernels.MOST_BLOCKS)
    return max(-(-rows // most_blocks), min(_LEAST_ROWS, rows))


def _shared_bytes(chunk: int, dtype: np.dtype) -> int:
    """Return the shared memory of a block that holds `chunk` rows."""
    return panel_kernels.shared_size(chunk) * dtype.itemsize
