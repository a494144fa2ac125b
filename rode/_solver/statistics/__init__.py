"""Statistics over the paths of a solution."""

from __future__ import annotations

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Statistics of rows of numbers, one for each time and output; all numbers of one type."""

    def compute_moments(
        self,
        rows: Array,
        leaf: int,
        begins: Array,
        sizes: Array,
        mean: Array,
        squares: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill mean[r, k] and squares[r, k], the sum of squared distances from it, of nodes.

        Node k has 2^i = sizes[k] leaves of row r from number begins[k] on (int64), which have
        `leaf` numbers each, the last of the row perhaps fewer. Leaves are summed in a fixed order
        and joined in pairs, those of pairs again, and so on.
        """

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
        self, rows: Array, lower: Array, upper: Array, positions: Array, values: Array
    ) -> None:
        """Write the numbers of row r from lower[k, r] to upper[k, r] into `values`, in any order.

        They begin at index places[k, r] (int64), which is moved behind them.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._solver.statistics import cpu

        return cpu
    from rode._solver.statistics import cuda

    return cuda
