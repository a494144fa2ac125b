"""Normal numbers by the Ziggurat method."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hetero.arrays import Array, Stream
from hetero.devices import Device
from rode._normals.launches import Words


class Loops(Protocol):
    """Fills by the Ziggurat."""

    def fill(
        self,
        words: Words,
        table: np.ndarray,
        in_shared: bool,
        out: Array,
        launch_stream: Stream = 0,
    ) -> None:
        """Fill `out`, a flat array of float32 or float64, with N(0, 1) numbers.

        `table` holds the strips' edges in float64, on the host; on a GPU it is read from shared
        memory with `in_shared`, else from global memory.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._normals.ziggurat import cpu

        return cpu
    from rode._normals.ziggurat import cuda

    return cuda
