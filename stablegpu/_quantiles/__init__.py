"""Quantiles by a safeguarded Newton method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from stablegpu._parameters import Restoration

if TYPE_CHECKING:
    from stablegpu._quantiles.formulas import Centre, Search, Values


class Loops(Protocol):
    """The search for quantiles, in one call or by its elementwise steps."""

    def invert_by_nodes(
        self,
        p: Array,
        upper: bool,
        centre: Centre,
        restoration: Restoration,
        distribution: tuple,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Write the quantiles of probabilities `p`.

        `distribution` has its frame, and its half-lines, ranges and nodes as `nodes_of` returns
        them, of the standard distribution.
        """

    def begin(
        self, p: Array, upper: bool, centre: Centre, search: Search, x: Array, stream: Stream = 0
    ) -> None:
        """Write the first trial points `x` for probabilities `p`, and the state of the search."""

    def step(
        self,
        p: Array,
        upper: bool,
        centre: Centre,
        values: Values,
        search: Search,
        x: Array,
        stream: Stream = 0,
    ) -> int:
        """Write the next trial points, from the values at the last; count those not converged."""

    def finish(
        self, restoration: Restoration, s: Array, x: Array, out: Array, stream: Stream = 0
    ) -> None:
        """Write quantiles from standardized variables `x` and their logarithms `s`."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu._quantiles import cpu

        return cpu
    from stablegpu._quantiles import cuda

    return cuda
