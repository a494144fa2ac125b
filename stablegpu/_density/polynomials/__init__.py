"""Values and quantiles of one distribution by piecewise polynomials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from stablegpu._parameters import Restoration

if TYPE_CHECKING:
    from stablegpu._density.polynomials.formulas import Centring


class Loops(Protocol):
    """Values and quantiles of one distribution; `halves` holds the right half first."""

    def evaluate(
        self,
        x: Array,
        centring: Centring,
        halves: tuple,
        segments: Array,
        outputs: tuple,
        stream: Stream = 0,
    ) -> None:
        """Write pdf, cdf and sf at points."""

    def invert(
        self,
        p: Array,
        upper: bool,
        restoration: Restoration,
        halves: tuple,
        segments: Array,
        x: Array,
        stream: Stream = 0,
    ) -> None:
        """Write x with P(X <= x) = p, or P(X > x) = p if `upper`."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._density.polynomials import cpu

        return cpu
    from stablegpu._density.polynomials import cuda

    return cuda
