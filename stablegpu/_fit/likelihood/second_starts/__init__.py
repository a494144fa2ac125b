"""Second starts of a fit, from a rough profile of the likelihood over alpha."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The search for second starts."""

    def find_peaks(
        self,
        x: Array,
        weights: Array,
        ends: Array,
        starts: Array,
        table: tuple,
        outcomes: Array,
        stream: Stream = 0,
    ) -> None:
        """Write the peaks of the profile of each data set to its outcome.

        Set s is x[ends[s, 0]:ends[s, 1]], sorted. `starts` and `outcomes` are flat arrays of
        float64 with the records `START` and `OUTCOME` (`_fit/records.py`).
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.likelihood.second_starts import cpu

        return cpu
    from stablegpu._fit.likelihood.second_starts import cuda

    return cuda
