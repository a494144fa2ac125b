"""Values at many points of one distribution, from quadrature nodes laid out once."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Values of one distribution at points."""

    def evaluate(
        self,
        x: Array,
        frame: tuple,
        half_lines: tuple,
        node_ranges: tuple,
        nodes: tuple,
        outputs: tuple,
        stream: Stream = 0,
    ) -> None:
        """Write pdf, cdf, sf and their logarithms at points; pairs hold the right side first."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._density.nodes import cpu

        return cpu
    from stablegpu._density.nodes import cuda

    return cuda
