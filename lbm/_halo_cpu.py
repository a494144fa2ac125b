"""Planes between the parts of a split domain, when both are in host memory."""

from __future__ import annotations

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm.engine import row_sizes


def halo(device) -> Halo:
    """What moves planes between two blocks in host memory."""
    return Halo()


class Halo:
    """Moves planes between two blocks after every step."""

    def __init__(self):
        self._links: list = []

    def memory(self, shape, dtype) -> np.ndarray:
        """Zeros for a block's populations."""
        return np.zeros(shape, dtype)

    def connect(self, parts, messages) -> None:
        """`messages[k][odd]` go from part k to the other one after even and odd steps."""
        self._links = [(parts[k], parts[1 - k], messages[k]) for k in (0, 1)]

    def arrived(self) -> None:
        """Wait until all planes are where they belong."""

    def exchange(self, t: int) -> None:
        """Move the planes of step t, both ways; those beside the cut have been stepped."""
        for source, target, messages in self._links:
            tables, sizes = messages[t % 2].tables, row_sizes(source, target)
            carry(source.target(t), target.target(t), *tables, *sizes)


@parallel(cache=False)
def carry(source, target, slots, rows, into, free, nx, source_ny, target_ny):
    """target[slot, (z, into, x)] = source[slot, (z, row, x)], where `free` allows it."""
    nz = free.shape[1]
    for plane in prange(free.shape[0] * nz):
        k, z = plane // nz, plane % nz
        a, b = (z * source_ny + rows[k]) * nx, (z * target_ny + into[k]) * nx
        for x in range(nx):
            if free[k, z, x]:
                target[slots[k], b + x] = source[slots[k], a + x]
