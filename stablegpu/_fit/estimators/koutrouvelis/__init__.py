"""Koutrouvelis' regression on the empirical characteristic function."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The passes of the regression."""

    def add_up(
        self,
        x: Array,
        starts: Array,
        stops: Array,
        parts: int,
        sums: Array,
        estimates: Array,
        stream: Stream = 0,
    ) -> None:
        """Write the sums of the empirical characteristic function of each part of each set.

        Set s is x[starts[s]:stops[s]], in units of its estimate. Estimates are rows of alpha, beta,
        S0 location and scale. Row s * parts + part of `sums` has the cosines and sines of a part.
        """

    def regress(
        self,
        starts: Array,
        stops: Array,
        parts: int,
        sums: Array,
        estimates: Array,
        is_last: bool,
        stream: Stream = 0,
    ) -> None:
        """Compute new estimates from the last ones and the sums of their sets.

        Those of the last pass are not rounded to the grid of `formulas.regress`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._fit.estimators.koutrouvelis import cpu

        return cpu
    from stablegpu._fit.estimators.koutrouvelis import cuda

    return cuda
