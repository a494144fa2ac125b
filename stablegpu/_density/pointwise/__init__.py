"""Values at points with individual parameters."""

from typing import Protocol

from hetero.arrays import Stream
from hetero.devices import Device
from stablegpu._density.pointwise.points import Points
from stablegpu._density.quadrature.kronrod import HalfRule


class Loops(Protocol):
    """Values of a distribution of its own at each point."""

    def evaluate(
        self,
        points: Points,
        rule: HalfRule,
        panels: int,
        tolerance: float,
        outputs: tuple,
        stream: Stream = 0,
    ) -> None:
        """Write pdf, cdf, sf and their logarithms at points."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._density.pointwise import cpu

        return cpu
    from stablegpu._density.pointwise import cuda

    return cuda
