"""Eigenvalues of tridiagonal matrices by bisection."""

import functools
from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Bisection by Sturm counts.

    `d` (n,) is the diagonal and `e2` (n,) holds the squares of the subdiagonal, after a 0; `tiny`
    is the smallest pivot, `tolerance` the length of an interval that has converged, and (low, high]
    an interval with all eigenvalues that are asked for. All are float64.
    """

    def bisect(
        self,
        d: Array,
        e2: Array,
        limits: tuple[float, float, float, float],
        first: int,
        values: Array,
        stream: Stream = 0,
    ) -> None:
        """Store the eigenvalues number first, first + 1, ... in `values`.

        `limits` is (tiny, tolerance, low, high).
        """

    def count_below(
        self, d: Array, e2: Array, tiny: float, x: Array, counts: Array, stream: Stream = 0
    ) -> None:
        """Count the eigenvalues below each x, into `counts` (int64)."""


@functools.cache
def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from sbth._tridiagonal.bisection import cpu

        return cpu
    from sbth._tridiagonal.bisection import cuda

    return cuda
