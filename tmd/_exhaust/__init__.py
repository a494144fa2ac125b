"""Every argument of binary32: segments with proven results, and loops that compare with them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hetero.arrays import Array
from hetero.devices import Device
from tmd._exhaust.chunks import Chunks, Judged
from tmd._exhaust.segments import Table


class Loops(Protocol):
    """The comparison of results with proven ones."""

    def upload(self, table: Table) -> tuple[Array, ...]:
        """Return rules, numbers, phases, frequencies and quarters of a table on the device."""

    def make_arguments(self, starts: np.ndarray) -> Array:
        """Return CHUNK numbers with consecutive bits from each start on, as one flat array."""

    def judge_returned(
        self, table: tuple[Array, ...], chunks: Chunks, returned: Array, columns: np.ndarray
    ) -> Judged:
        """Compare float32 results (modes, CHUNK times the chunks) with the proven ones.

        `columns` (int32) are the numbers of the modes in `MODES`.
        """


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from tmd._exhaust import cpu

        return cpu
    from tmd._exhaust import cuda

    return cuda
