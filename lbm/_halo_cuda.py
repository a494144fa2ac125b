"""Messages between the parts of a split domain: on a GPU."""

from __future__ import annotations

import numpy as np

from hetero._driver import cuda
from hetero.jit import kernel
from hetero.launch import blocks


def port(sends, receives, storage, memory) -> GPUPort:
    """Buffers for the messages of even and of odd steps."""
    return GPUPort(sends, receives, storage, memory)


class GPUPort:
    """Buffers of messages on a GPU and in host memory, and the streams of a split step.

    The stream `edge` steps the rows beside the cut and moves messages, `inside` the others.
    """

    def __init__(self, sends, receives, storage, memory):
        self.sends, self.receives = sends, receives
        self.edge, self.inside = cuda.stream(), cuda.stream()
        self.copied, self.inner, self.edges = cuda.event(), cuda.event(), cuda.event()
        self.started = False
        self.out = [memory(m.free.shape, storage) for m in sends]
        self.sent = [cuda.device_array(m.free.shape, storage) for m in sends]
        self.came = [cuda.device_array(m.free.shape, storage) for m in receives]
        self.send_tables = [tuple(map(cuda.to_device, (m.slots, m.rows))) for m in sends]
        self.receive_tables = [
            tuple(map(cuda.to_device, (m.slots, m.into, m.free))) for m in receives
        ]

    @staticmethod
    def grid(planes):
        count, nz, nx = planes.shape
        return blocks(nx, 128), nz, max(count, 1)

    def wait(self) -> None:
        """Each stream waits for what the other did in the step before."""
        if self.started:
            self.inner.wait(self.edge)
            self.edges.wait(self.inside)
        self.started = True

    def arrived(self, t: int) -> np.ndarray:
        """The planes sent after step t."""
        self.copied.synchronize()
        return self.out[t % 2]


@kernel
def pack(memory, slots, rows, nx, ny, out):
    """out[plane, z, x] = memory[slots[plane], (z, rows[plane], x)]."""
    x, z, k = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if x < out.shape[2] and k < out.shape[0]:
        out[k, z, x] = memory[slots[k], (z * ny + rows[k]) * nx + x]


@kernel
def unpack(planes, slots, into, free, nx, ny, memory):
    """The inverse, where `free` allows it."""
    x, z, k = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if x < planes.shape[2] and k < planes.shape[0] and free[k, z, x]:
        memory[slots[k], (z * ny + into[k]) * nx + x] = planes[k, z, x]
