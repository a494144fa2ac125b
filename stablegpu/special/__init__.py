"""Special functions: log_ndtr, ndtr, expn, logsumexp."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device

if TYPE_CHECKING:
    from stablegpu.special.expn_coefficients import Expansion


class Loops(Protocol):
    """Elementwise functions, and sums of exponentials; arrays are float32 or float64."""

    def log_ndtr(self, x: Array, out: Array, stream: Stream = 0) -> None:
        """Fill `out` with the logarithm of the normal distribution function."""

    def ndtr(self, x: Array, out: Array, stream: Stream = 0) -> None:
        """Fill `out` with the normal distribution function."""

    def expn(
        self,
        x: Array,
        near: np.ndarray,
        far: np.ndarray,
        expansion: Expansion,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `out` with an exponential integral; the others are of `expn_coefficients.table`."""

    def fold(
        self,
        tops: Array,
        rests: Array,
        bare: bool,
        row: int,
        lanes: int,
        top_out: Array,
        rest_out: Array,
        stream: Stream = 0,
    ) -> None:
        """Add up sums of exponentials: number j of every row goes to lane j % lanes of the row.

        A sum is exp(top) (1 + rest). The rows of `row` sums lie one after another. Outputs have
        `lanes` numbers a row. With `bare` all rests are 0.
        """

    def finish(self, tops: Array, rests: Array, out: Array, stream: Stream = 0) -> None:
        """Fill `out` with the logarithms of sums."""

    def lanes_wanted(self, rows: int) -> int:
        """Return the number of lanes in a row that keeps every thread busy."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from stablegpu.special import cpu

        return cpu
    from stablegpu.special import cuda

    return cuda
