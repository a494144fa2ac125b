"""McCulloch's quantile estimates, the starting values of a fit."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Sorted data sets, and their estimates."""

    def sort(
        self,
        unsorted: tuple[Array, Array],
        sources: Array,
        ends: Array,
        longest: int,
        in_order: tuple[Array, Array],
        estimates: Array,
        stream: Stream = 0,
    ) -> None:
        """Write set s, which starts at data[sources[s, 0]], sorted to x[ends[s, 0]:ends[s, 1]].

        `unsorted` holds data and their weights (empty: none), `in_order` x and w: the weights are
        written to w in the order of x. `longest` is the size of the largest set. The largest
        weight of equal data goes to estimates[s, TIES], that of all data to estimates[s, TOTAL].
        """

    def start(
        self, x: Array, w: Array, ends: Array, surfaces: tuple, estimates: Array, stream: Stream = 0
    ) -> None:
        """Write alpha, beta, S0 location and scale of each sorted set x[ends[s, 0]:ends[s, 1]]."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.estimators.mcculloch import cpu

        return cpu
    from stablegpu._fit.estimators.mcculloch import cuda

    return cuda
