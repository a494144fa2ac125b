"""Normal numbers by each method: Box-Muller, inverse, rational functions, Ziggurat, Wallace."""

from __future__ import annotations

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from rode._normals.launches import Words


class Loops(Protocol):
    """Fills by the methods that make each block of words into numbers."""

    def fill(
        self,
        method: str,
        words: Words,
        out: Array,
        launch_stream: Stream = 0,
        threads: int = ...,
        per_sm: int | None = None,
    ) -> None:
        """Fill `out`, a flat array of float32 or float64, with N(0, 1) numbers.

        A GPU takes blocks of `threads` threads, `per_sm` of them for each multiprocessor.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._normals import cpu

        return cpu
    from rode._normals import cuda

    return cuda
