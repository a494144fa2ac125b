"""Bins for large data sets."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The weights in bins, and their moments."""

    def accumulate(
        self,
        x: Array,
        weights: Array,
        centre: float,
        width: float,
        low: float,
        per_unit: float,
        table: Array,
        stream: Stream = 0,
    ) -> None:
        """Write the weight of each bin and its first two moments about the middle to `table`."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.binning import cpu

        return cpu
    from stablegpu._fit.binning import cuda

    return cuda
