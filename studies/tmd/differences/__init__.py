"""Values of many polynomials at successive integers by tabulated differences, in fixed point.

The method is that of Fortin, Gouicem and Graillat (2016, sections 5.2 and 5.3): a polynomial in the
binomial basis is moved on by 1 with one addition for each coefficient but the last.
"""

from typing import Protocol

import numpy as np

from hetero.arrays import Array
from hetero.devices import Device


class Loops(Protocol):
    """The functions that `cpu.py` and `cuda.py` of this folder both have."""

    def upload(self, coefficients: np.ndarray) -> Array:
        """Copy coefficients to the device."""

    def advance(self, coefficients: Array, out: Array) -> None:
        """Fill `out` with the values of all polynomials.

        Parameters
        ----------
        coefficients : uint64 (degree + 1, words, polynomials)
            Differences at 0 by growing order, the lowest word first, modulo 2^(64 words).
        out : uint64 (2, steps, polynomials)
            The two highest words of each value at 0, 1, .., steps - 1: the highest at out[0].
        """

    def wait(self) -> None:
        """Wait until all values are there."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from studies.tmd.differences import cpu

        return cpu
    from studies.tmd.differences import cuda

    return cuda
