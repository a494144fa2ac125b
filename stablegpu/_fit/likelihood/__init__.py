"""The log-likelihood of many data sets and its maximization."""

from typing import NamedTuple, Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Observations(NamedTuple):
    """Sorted observations of all sets on a device, points or distinct intervals.

    Attributes
    ----------
    points, weights : (observations,) arrays
        Where observations are intervals, points that stand for them.
    bounds : (2, observations) array
        Ends of the intervals; it is empty if observations are points.
    ends : (sets, 2) array
        Set s has the observations ends[s, 0] to ends[s, 1] - 1.
    ranges : (sets, 6) array
        The least upper and the largest lower end, the least and the largest finite end, and 1 or 0
        for whether intervals are open to the left and to the right; empty for points.
    """

    points: Array
    weights: Array
    bounds: Array
    ends: Array
    ranges: Array


class Loops(Protocol):
    """The maximization of likelihoods."""

    def maximize(
        self,
        observations: Observations,
        starts: Array,
        free: int,
        table: Array,
        outcomes: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `outcomes`, one for each data set.

        `free` is a bit mask of the free parameters, with `LOC_IN_S1`. `starts` and `outcomes` are
        flat arrays of float64 with the records `START` and `OUTCOME` (`_fit/records.py`).
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.likelihood import cpu

        return cpu
    from stablegpu._fit.likelihood import cuda

    return cuda
