"""Messages between the parts of a split domain: in host memory."""

from __future__ import annotations

import numpy as np
from numba import prange

from hetero.jit import parallel


def port(sends, receives, storage, memory=np.zeros) -> HostPort:
    """Buffers for the messages of even and of odd steps."""
    return HostPort(sends, receives, storage, memory)


class HostPort:
    """Buffers of messages in host memory, made by `memory(shape, dtype)`."""

    def __init__(self, sends, receives, storage, memory):
        self.sends, self.receives = sends, receives
        self.out = [memory(m.free.shape, storage) for m in sends]

    def arrived(self, t: int) -> np.ndarray:
        """The planes sent after step t."""
        return self.out[t % 2]


@parallel(cache=False)
def pack(memory, slots, rows, nx, ny, out):
    """out[plane, z, x] = memory[slots[plane], (z, rows[plane], x)]."""
    nz = out.shape[1]
    for row in prange(out.shape[0] * nz):
        k, z = row // nz, row % nz
        start = (z * ny + rows[k]) * nx
        for x in range(nx):
            out[k, z, x] = memory[slots[k], start + x]


@parallel(cache=False)
def unpack(planes, slots, into, free, nx, ny, memory):
    """The inverse, where `free` allows it."""
    nz = planes.shape[1]
    for row in prange(planes.shape[0] * nz):
        k, z = row // nz, row % nz
        start = (z * ny + into[k]) * nx
        for x in range(nx):
            if free[k, z, x]:
                memory[slots[k], start + x] = planes[k, z, x]
