"""Eigenvectors of tridiagonal matrices by divide and conquer.

A matrix is torn into leaves of up to 32 rows, whose eigenvectors are computed by implicit QL. Then
pairs of blocks are merged, level by level: the eigenvectors of the two blocks turn the matrix into
a diagonal one plus one of rank 1, whose eigenvectors multiply those of the blocks (Cuppen 1981; Gu
and Eisenstat 1994, 1995). `layout.py` describes the arrays, `merge_tree.py` the order of the steps.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device
from sbth._tridiagonal.divide_and_conquer.layout import Arrays, Level, Tables, Torn


class Loops(Protocol):
    """The steps of divide and conquer; see `layout.py` for the arrays that they change.

    All eigenvectors are rows of (n, n) matrices of float64: `vectors` holds those of the blocks,
    with zeros outside, `packed` the same in another order, and `factors` those of the secular
    equations. `values` (n,) holds the eigenvalues, and row i of `vectors` belongs to values[i].
    """

    def load(self, torn: Torn, tables: Tables, stream: Stream = 0) -> Arrays:
        """Allocate the arrays of a matrix, and copy it and the tables of its tree to the device.

        `tables` must live on, because a GPU keeps a copy for later calls.
        """

    def upload_indices(self, indices: Sequence[np.ndarray], stream: Stream = 0) -> Sequence[Array]:
        """Copy arrays of int64 (k,) to the device."""

    def start_reading(self, array: Array, stream: Stream = 0) -> Callable[[], np.ndarray]:
        """Begin to copy an array to host memory; the result waits for the copy and returns it.

        On a GPU it does not wait for what is launched after this call.
        """

    def solve_leaves(self, arrays: Arrays, stream: Stream = 0) -> None:
        """Replace `values` by the eigenvalues of the leaves, and store their eigenvectors.

        Elements of `below` at the ends of leaves are ignored; it is destroyed. Eigenvalues that did
        not converge are NaN. `vectors` is 0 on entry.
        """

    def sort_values(self, arrays: Arrays, level: Level, stream: Stream = 0) -> None:
        """Store in ORDER the rows of the eigenvalues of each merge, in ascending order."""

    def deflate(
        self, arrays: Arrays, level: Level, stream: Stream = 0
    ) -> Callable[[], np.ndarray] | None:
        """Set up the secular equation of each merge, without what deflation removes from it.

        The rotations are applied to `vectors`. Returns what `multiply` takes as `read_merges`.
        """

    def solve_secular(self, arrays: Arrays, level: Level, stream: Stream = 0) -> None:
        """Compute the roots, in `values`, and the eigenvectors of the secular equations.

        The eigenvalues that deflation left follow the roots of their merge.
        """

    def multiply(
        self,
        arrays: Arrays,
        level: Level,
        roots: tuple[int, int],
        read_merges: Callable[[], np.ndarray] | None,
        stream: Stream = 0,
    ) -> None:
        """Replace the vectors of the blocks by their products with those of the equations.

        Of each merge, the vectors of the roots number roots[0], ..., roots[1] - 1 are needed.
        `read_merges` returns the rows of the table that belong to the level, in host memory; it is
        None if only the GPU needs them.
        """

    def place_vectors(
        self, vectors: Array, indices: Sequence[Array], out: Array, stream: Stream = 0
    ) -> None:
        """Store elements (sources[i], j) of `vectors` as (targets[i], columns[j]) of `out`.

        `indices` are sources, targets and columns, int64 arrays on the device.
        """


@functools.cache
def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from sbth._tridiagonal.divide_and_conquer import cpu

        return cpu
    from sbth._tridiagonal.divide_and_conquer import cuda

    return cuda
