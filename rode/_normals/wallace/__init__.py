"""Normal numbers by Wallace's method: rotations of a pool of earlier numbers."""

from __future__ import annotations

from typing import Protocol

from hetero.arrays import Array, Stream
from hetero.devices import Device
from rode._normals.launches import Words
from rode._normals.wallace.pool_shape import POOL_SHAPE, PoolShape


class Loops(Protocol):
    """Fills by Wallace's pools."""

    def fill(
        self,
        words: Words,
        corrected: bool,
        out: Array,
        launch_stream: Stream = 0,
        shape: PoolShape = POOL_SHAPE,
    ) -> None:
        """Fill `out`, a flat array of float32 or float64, with N(0, 1) numbers.

        Every `shape.numbers` numbers come from a pool of their own. With `corrected` the sum of
        squares of a pool varies as it should.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._normals.wallace import cpu

        return cpu
    from rode._normals.wallace import cuda

    return cuda
