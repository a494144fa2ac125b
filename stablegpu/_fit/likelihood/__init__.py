"""The log-likelihood of many data sets and its maximization."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The maximization of likelihoods."""

    def maximize(
        self,
        x: Array,
        weights: Array,
        ends: Array,
        starts: Array,
        free: int,
        table: Array,
        outcomes: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `outcomes`, one for each data set.

        Set s is x[ends[s, 0]:ends[s, 1]], sorted; `free` is a bit mask of the free parameters, with
        `LOC_IN_S1`. `starts` and `outcomes` are flat arrays of float64 with the records `START` and
        `OUTCOME` (`_fit/records.py`).
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.likelihood import cpu

        return cpu
    from stablegpu._fit.likelihood import cuda

    return cuda
