"""Counts and sums of normal numbers, from which `studies.rode.quality` computes its statistics."""

from typing import Protocol

import numpy as np

from hetero.arrays import Array
from hetero.devices import Device


class Loops(Protocol):
    """The functions that `cpu.py` and `cuda.py` of this folder both have."""

    def tally(self, x: Array, y: Array) -> tuple[np.ndarray, np.ndarray]:
        """Return (counts of BINS intervals, sums) of the numbers x and their products with y."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from studies.rode.normality import cpu

        return cpu
    from studies.rode.normality import cuda

    return cuda
