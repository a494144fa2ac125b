"""Derivatives of the log-density."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from stablegpu._density.pointwise.points import Points


class Loops(Protocol):
    """The arguments of differences, and their combination."""

    def lay_out_arguments(
        self, points: tuple, s1: bool, first: int, arguments: Points, stream: Stream = 0
    ) -> None:
        """Lay out the arguments at which log pdf is needed for the points from `first` on.

        `points` holds arrays of x, alpha, beta, loc and scale; `s1` says whether they are in S1.
        Each point takes `formulas.VALUES` elements of x, alpha, beta and in_s0 of `arguments`.
        """

    def combine(
        self, points: tuple, s1: bool, first: int, values: Array, outputs: tuple, stream: Stream = 0
    ) -> None:
        """Write all five derivatives from the values of log pdf, which are overwritten."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._density.derivatives import cpu

        return cpu
    from stablegpu._density.derivatives import cuda

    return cuda
