"""Koutrouvelis' regression on the empirical characteristic function."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The passes of the regression."""

    def improve(
        self,
        x: Array,
        starts: Array,
        stops: Array,
        parts: int,
        sums: Array,
        estimates: Array,
        stream: Stream = 0,
    ) -> None:
        """Compute new estimates from the last ones by one pass of the regression.

        Set s is x[starts[s]:stops[s]]. Estimates are rows of alpha, beta, S0 location and scale.
        The sums of a set are taken in `parts` parts.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.koutrouvelis import cpu

        return cpu
    from stablegpu._fit.koutrouvelis import cuda

    return cuda
