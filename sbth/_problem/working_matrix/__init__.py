"""The band in the layout in which it is reduced, a working matrix.

It is a C-contiguous array (n, 2 d): row j holds column j of the matrix from the diagonal downward,
with space for the d - 1 rows of fill-in of a sweep (Riesinger 2017, eq. 5.3).
"""

import functools
from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Copies from and to a working matrix.

    `work` is a working matrix (n, 2 bandwidth); `ab` is LAPACK band
    storage with `d` subdiagonals. Both are float32 or float64.
    """

    def load_band(
        self,
        ab: Array,
        d: int,
        lower: bool,
        factor: float,
        width: int,
        work: Array,
        stream: Stream = 0,
    ) -> None:
        """Load `width` subdiagonals of `ab`, flattened by rows, times a factor, into `work`."""

    def truncate(self, work: Array, b: int, out: Array, stream: Stream = 0) -> None:
        """Copy the diagonal and b subdiagonals of a working matrix to a narrower one."""

    def extract_diagonals(
        self, work: Array, factor: float, main: Array, below: Array, stream: Stream = 0
    ) -> None:
        """Store the diagonal in `main` (n,), the subdiagonal in `below` (n - 1,), over `factor`."""

    def zeros(self, size: int, dtype: np.dtype, stream: Stream = 0) -> Array:
        """Allocate a vector of zeros."""

    def clear(self, values: Array, stream: Stream = 0) -> None:
        """Fill a vector, which is not empty, with zeros."""

    def inspect_band(
        self, ab: Array, lower: bool, width: int, stream: Stream = 0
    ) -> tuple[float, int]:
        """Find the largest magnitude in `ab` (d + 1, n), and an element that is not finite.

        Returns
        -------
        largest : float
        index : int
            diagonal * n + column of the first element that is not finite, or -1.
        """


@functools.cache
def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from sbth._problem.working_matrix import cpu

        return cpu
    from sbth._problem.working_matrix import cuda

    return cuda
