"""Planes between a block in host memory and one on a GPU, moved by the GPU.

The CPU's block lies in memory that the GPU reads and writes too, so that the CPU does nothing but
its cells: no packing, no copies.
"""

from __future__ import annotations

import numpy as np

from hetero._driver import cuda, prepared, urgent_stream
from hetero.jit import kernel
from hetero.launch import blocks
from lbm.engine import row_sizes

THREADS = 128


def halo(device) -> Halo:
    """What moves planes between a block in host memory and one on `device`."""
    return Halo(device)


class Halo:
    """Moves planes between the blocks after every step, on a stream of its own.

    Attributes
    ----------
    urgent : stream of the rows beside the cut and of the planes; its kernels go first
    inside : stream of the other rows
    """

    def __init__(self, device):
        self.device = device
        self._mapped: list = []
        self._launches: list = []
        with device.active():
            self.urgent, self.inside = urgent_stream(), cuda.stream()
            self._moved, self._inner = cuda.event(), cuda.event()

    def memory(self, shape, dtype) -> np.ndarray:
        """Zeros for the CPU's populations, which the GPU reaches too."""
        with self.device.active():
            self._mapped.append(cuda.mapped_array(shape, dtype))
        array = np.asarray(self._mapped[-1])
        array[...] = 0
        return array

    def connect(self, parts, messages) -> None:
        """`messages[k][odd]` go from part k to the other one after even and odd steps."""
        with self.device.active():
            self._launches = [
                [self._launch(parts[k], parts[1 - k], messages[k], t) for k in (0, 1)]
                for t in (0, 1)
            ]

    def _launch(self, source, target, messages, t):
        message = messages[t]
        tables, sizes = map(cuda.to_device, message.tables), row_sizes(source, target)
        arguments = self._block(source, t), self._block(target, t), *tables, *sizes
        count, nz, nx = message.free.shape
        threads = min(THREADS, -(-nx // 32) * 32)
        grid = blocks(nx, threads), nz, count
        return prepared(carry, grid, (threads,), self.urgent, arguments)

    def _block(self, engine, t):
        """What step t has written, as the GPU sees it."""
        if engine.device.kind == "cuda":
            return engine.cells(engine.target(t))
        return self._mapped[(t + 1) % len(self._mapped)]

    def begin(self) -> None:
        """Let each stream wait for what the other did in the step before."""
        self._inner.wait(self.urgent)
        self._moved.wait(self.inside)

    def end(self) -> None:
        """The step's cells on the GPU are on their way."""
        self._inner.record(self.inside)

    def arrived(self) -> None:
        """Wait until all planes are where they belong."""
        self._moved.synchronize()

    def exchange(self, t: int) -> None:
        """Move the planes of step t, both ways; those beside the cut have been stepped."""
        with self.device.active():
            for launch in self._launches[t % 2]:
                launch()
            self._moved.record(self.urgent)


@kernel
def carry(source, target, slots, rows, into, free, nx, source_ny, target_ny):
    """target[slot, (z, into, x)] = source[slot, (z, row, x)], where `free` allows it."""
    x, z, k = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    if x < nx and k < slots.size and free[k, z, x]:
        a, b = (z * source_ny + rows[k]) * nx + x, (z * target_ny + into[k]) * nx + x
        target[slots[k], b] = source[slots[k], a]
