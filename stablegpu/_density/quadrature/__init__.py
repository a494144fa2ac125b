"""Values by adaptive Gauss-Kronrod quadrature of Nolan's integrals."""

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from stablegpu._density.quadrature.kronrod import HalfRule


class Loops(Protocol):
    """Values of one distribution at points."""

    def evaluate(
        self,
        x: Array,
        frame: tuple,
        half_lines: tuple,
        rule: HalfRule,
        settings: tuple[int, float, bool],
        outputs: tuple,
        error: Array,
        stream: Stream = 0,
    ) -> None:
        """Write pdf, cdf, sf and their logarithms at points, with the estimated relative error.

        `half_lines` holds the right one first; `settings` the number of panels, the tolerance, and
        whether the panels with the mass are always evaluated again.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._density.quadrature import cpu

        return cpu
    from stablegpu._density.quadrature import cuda

    return cuda
