"""Second starts of a fit, from a rough profile of the likelihood over alpha."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The search for second starts."""

    def find_starts(
        self,
        x: Array,
        weights: Array,
        ends: Array,
        begins: Array,
        table: tuple,
        states: Array,
        stream: Stream = 0,
    ) -> None:
        """Find the peaks of every set's profile, to states[s, RESULT:]; see `formulas.find_peaks`.

        Set s is x[ends[s, 0]:ends[s, 1]], sorted. begins[s, CHOICES:] holds the first and the last
        number of alpha, and the number of beta or -1.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.second_starts import cpu

        return cpu
    from stablegpu._fit.second_starts import cuda

    return cuda
