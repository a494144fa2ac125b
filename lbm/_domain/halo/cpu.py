"""Halo exchange between the parts of a split domain, if all are in host memory."""

from __future__ import annotations

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._engines.engine import layer_heights


def create_halo(device) -> Halo:
    """Create the halo exchange between blocks in host memory."""
    return Halo()


class Halo:
    """Copies planes between blocks after every step."""

    def __init__(self):
        self._links: list = []

    def allocate(self, shape, dtype) -> np.ndarray:
        """Allocate zeros for the populations of a block."""
        return np.zeros(shape, dtype)

    def connect(self, links) -> None:
        """Connect the parts by `split_domain.Link`s."""
        self._links = links

    def wait(self) -> None:
        """Wait until all planes have arrived."""

    def exchange(self, t: int) -> None:
        """Copy the planes of step t, once the rows beside the cuts have been stepped."""
        for source, target, messages in self._links:
            tables, heights = messages[t % 2].tables, layer_heights(source, target)
            copy_planes(source.target(t), target.target(t), *tables, *heights)


@parallel
def copy_planes(source, target, slots, source_rows, target_rows, writable, source_ny, target_ny):
    """Copy xz planes of populations [slot, cell] from one block to another where it is `writable`.

    Plane k goes from row source_rows[k] to row target_rows[k] of the array slots[k] (int64 all).
    `writable` is bool [plane, z, position]; a layer has source_ny or target_ny rows.
    """
    nz, nx = writable.shape[1], writable.shape[2]
    for plane in prange(writable.shape[0] * nz):
        k, z = plane // nz, plane % nz
        a, b = (z * source_ny + source_rows[k]) * nx, (z * target_ny + target_rows[k]) * nx
        for x in range(nx):
            if writable[k, z, x]:
                target[slots[k], b + x] = source[slots[k], a + x]
