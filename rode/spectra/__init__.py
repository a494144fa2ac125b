"""Largest responses of linear oscillators to records of the ground's acceleration."""

from __future__ import annotations

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device


class Loops(Protocol):
    """Loops over samples for every oscillator and record."""

    def compute_peaks(
        self, records: Array, coefficients: Array, result: Array, stream: Stream = 0
    ) -> None:
        """Fill `result` with the largest |displacement|, |velocity| and |absolute acceleration|.

        Parameters
        ----------
        records : (records, samples) array, m/s^2
        coefficients : (10, oscillators) array, see `spectra.formulas.advance`
        result : (3, records, oscillators) array; all are of one float type
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode.spectra import cpu

        return cpu
    from rode.spectra import cuda

    return cuda
