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
        begins: Array,
        free: int,
        table: Array,
        states: Array,
        stream: Stream = 0,
    ) -> None:
        """Write the results of the optimizer, one row per data set, to `states`.

        Set s is x[ends[s, 0]:ends[s, 1]], sorted; `formulas.py` describes begins[s]; `free` is a
        bit mask of the free parameters.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.likelihood import cpu

        return cpu
    from stablegpu._fit.likelihood import cuda

    return cuda
