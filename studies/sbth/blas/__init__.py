"""BLAS routines of the host-driven reduction that the study compares with."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hetero.arrays import Array
from hetero.devices import Device


class Loops(Protocol):
    """Functions of both targets."""

    def call(self, name: str, operands: Sequence[Any], stream: Any) -> None:
        """Issue an operation on a stream."""

    def streams(self, count: int) -> list:
        """Return streams of the device; on a CPU stand-ins for them."""

    def wait(self, streams: Sequence[Any]) -> None:
        """Wait until all operations on these streams have finished."""

    def upload(self, array: Array) -> Array:
        """Copy an array to the device."""

    def download(self, array: Array) -> Array:
        """Copy an array to the host."""

    def seconds(self, call: Callable[[], object], repeats: int) -> float:
        """Return the mean time of an operation."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from studies.sbth.blas import cpu

        return cpu
    from studies.sbth.blas import cuda

    return cuda
