"""Density, velocity and forces from populations."""

from typing import Any, Protocol

from hetero.devices import Device


class Loops(Protocol):
    """The functions that `cpu.py` and `cuda.py` of this folder both have.

    Arrays are float32 or float64 of the shape [4, cell], in the memory of the device; the rows of
    `fields` are rho - 1, ux, uy and uz.
    """

    def find_worst_cell(self, fields: Any) -> tuple[float, int]:
        """Return (largest badness, its cell); see `formulas.badness`."""

    def accumulate(self, fields: Any, mean: Any, squares: Any, count: int) -> None:
        """Add sample number `count` (from 1) to the mean and the sum of squared deviations
        (Welford), both in place."""


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._post import cpu

        return cpu
    from lbm._post import cuda

    return cuda
