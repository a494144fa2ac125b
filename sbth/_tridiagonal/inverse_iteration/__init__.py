"""Eigenvectors of a few eigenvalues of a tridiagonal matrix by inverse iteration.

T - x is factored for each eigenvalue x, and systems with the factors are solved for all of them at
once, from random vectors on (Peters and Wilkinson 1979; LAPACK's stein). After each solution all
vectors are made orthogonal to each other, whether their eigenvalues are close or not: that takes
matrix products only, and no decision about what a cluster is. `layout.py` describes the arrays,
`iteration.py` the order of the steps, `selected_pairs.py` when they are taken.
"""

import functools
from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from sbth._tridiagonal.inverse_iteration.layout import Factors, Matrix


class Loops(Protocol):
    """The steps of inverse iteration that are recurrences along the matrix; see `layout.py`."""

    def allocate(self, n: int, m: int, stream: Stream = 0) -> tuple[Factors, Array]:
        """Return memory for the factors of m matrices of order n, and for vectors (n, m)."""

    def factor(self, matrix: Matrix, smallest: float, factors: Factors, stream: Stream = 0) -> None:
        """Factor T - x for each shift x; pivots nearer to 0 than `smallest` are replaced by it."""

    def solve(self, factors: Factors, vectors: Array, is_first: bool, stream: Stream = 0) -> None:
        """Replace each vector y by (T - x)^-1 y, divided by its largest element.

        With `is_first` it is the product of U^-1 D^-1 and a random vector, whatever y is.
        """


@functools.cache
def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from sbth._tridiagonal.inverse_iteration import cpu

        return cpu
    from sbth._tridiagonal.inverse_iteration import cuda

    return cuda
