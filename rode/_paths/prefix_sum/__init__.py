"""Paths from given noise by a prefix sum."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """The prefix sum by sweeps (Riesinger 2017, section 9.2)."""

    def fill(
        self,
        powers: np.ndarray,
        weights: np.ndarray,
        sigma: float,
        start: float,
        noise: Array,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `out` (steps,) with the path of `noise` from `start` by up-sweep and down-sweep.

        powers[l, d] is mu^(SWEEP^l 2^d) and weights[l, p] is mu^(SWEEP^l (p + 1)).
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._paths.prefix_sum import cpu

        return cpu
    from rode._paths.prefix_sum import cuda

    return cuda
