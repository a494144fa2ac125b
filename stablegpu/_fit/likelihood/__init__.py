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
        bounds: Array,
        ends: Array,
        ranges: Array,
        starts: Array,
        free: int,
        table: Array,
        outcomes: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `outcomes`, one for each data set.

        Set s is x[ends[s, 0]:ends[s, 1]], sorted. If its observations are intervals, `bounds` has
        their ends in two rows, where `x` are points that stand for them, and `ranges` a row of
        each set: the least upper and the largest lower end, the least and the largest finite end,
        and 1 or 0 for whether intervals are open to the left and to the right. Both are empty
        arrays of two axes if observations are points. `free` is a bit mask of the free parameters,
        with `LOC_IN_S1`. `starts` and `outcomes` are flat arrays of float64 with the records
        `START` and `OUTCOME` (`_fit/records.py`).
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.likelihood import cpu

        return cpu
    from stablegpu._fit.likelihood import cuda

    return cuda
