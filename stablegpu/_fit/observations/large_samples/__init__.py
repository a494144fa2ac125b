"""Order statistics and bins of samples that are too large to be sorted."""

from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Order statistics of a flat float64 array, and the weights in its bins with their moments."""

    def select(self, data: Array, ranks: np.ndarray, stream: Stream = 0) -> np.ndarray:
        """Return the values of given ranks (0 is the smallest, and NaN ranks above +inf)."""

    def count(self, data: Array, values: np.ndarray, stream: Stream = 0) -> np.ndarray:
        """Count the elements that equal each of `values`."""

    def start_table(self, table: Array, stream: Stream = 0) -> None:
        """Set a table of bins to zero."""

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
        """Add the weight of each bin and its first two moments about the middle to `table`."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.observations.large_samples import cpu

        return cpu
    from stablegpu._fit.observations.large_samples import cuda

    return cuda
