"""Statistics over the paths of a solution."""

from __future__ import annotations

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Statistics of rows of numbers, one for each time and output; all numbers of one type."""

    def compute_moments(self, rows: Array, mean: Array, squares: Array, stream: Stream = 0) -> None:
        """Fill `mean` and `squares`, sums of squared distances from it, of float64 for each row."""

    def select_ranks(self, rows: Array, ranks: Array, result: Array, stream: Stream = 0) -> None:
        """Fill result[r, k] with the number of rank `ranks[k]` (int64, from 0) in row r.

        The ends of a row have a NaN if it has one: a CPU sorts them to the upper end, a GPU to
        either by their signs.
        """

    def count_between(
        self, rows: Array, lower: Array, upper: Array, below: Array, inside: Array
    ) -> None:
        """Fill below[k, r] and inside[k, r] (int64): how many numbers of row r are less than
        lower[k, r], and how many others are at most upper[k, r].
        """

    def collect_between(
        self, rows: Array, lower: Array, upper: Array, places: Array, values: Array
    ) -> None:
        """Write the numbers of row r from lower[k, r] to upper[k, r] into `values`, in any order.

        They begin at index places[k, r] (int64), which is moved behind them.
        """

    def count_nonfinite(
        self, o: Array, x: Array, failed: Array, stream: Stream = 0
    ) -> tuple[int, int]:
        """Return the number of paths that are infinite or NaN, and of others with such outputs.

        o has the shape (paths,), x (dimension, paths), failed (paths,): see
        `rode._solver.kernel_arguments.RunArrays`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._solver.reductions import cpu

        return cpu
    from rode._solver.reductions import cuda

    return cuda
