"""Halo exchange between a block in host memory and one on a GPU, done by the GPU.

The CPU's block lies in memory that the GPU can access, so that the CPU only steps its cells: it
packs and copies nothing.
"""

from __future__ import annotations

import numpy as np

from hetero.cuda.driver import cuda, high_priority_stream
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from lbm._engines.engine import layer_heights

THREADS = 128  # of a block along x; not tuned


def create_halo(device) -> Halo:
    """Create the halo exchange between a block in host memory and one on `device`."""
    return Halo(device)


class Halo:
    """Copies planes between two blocks after every step, on its own stream.

    Attributes
    ----------
    edge_stream : stream of the rows beside the cut and of the planes; it has priority
    interior_stream : stream of the other rows
    """

    def __init__(self, device):
        self.device = device
        self._mapped: list = []
        self._launches: list = []
        with device.active():
            self.edge_stream, self.interior_stream = high_priority_stream(), cuda.stream()
            self._planes_copied, self._interior_done = cuda.event(), cuda.event()

    def allocate(self, shape, dtype) -> np.ndarray:
        """Allocate zeros for the CPU's populations, in memory that the GPU can access."""
        with self.device.active():
            self._mapped.append(cuda.mapped_array(shape, dtype))
        array = np.asarray(self._mapped[-1])
        array[...] = 0
        return array

    def connect(self, links) -> None:
        """Connect the parts by `split_domain.Link`s."""
        with self.device.active():
            self._launches = [[self._prepare(*link, t) for link in links] for t in (0, 1)]

    def _prepare(self, source, target, messages, t):
        message = messages[t]
        tables, heights = map(cuda.to_device, message.tables), layer_heights(source, target)
        populations = self._written_by(source, t), self._written_by(target, t)
        count, nz, nx = message.writable.shape
        threads = min(THREADS, -(-nx // 32) * 32)
        grid = blocks_for(nx, threads), nz, count
        arguments = (*populations, *tables, *heights)
        return prepare_launch(copy_planes, grid, (threads,), self.edge_stream, arguments)

    def _written_by(self, engine, t):
        """Return the populations that step t of an engine has written, as the GPU sees them."""
        if engine.device.kind == "cuda":
            return engine.cells(engine.target(t))
        return self._mapped[(t + 1) % len(self._mapped)]

    def begin_step(self) -> None:
        """Let each stream wait for what the other did in the previous step."""
        self._interior_done.wait(self.edge_stream)
        self._planes_copied.wait(self.interior_stream)

    def end_step(self) -> None:
        """Note that all kernels of the step on the GPU have been launched."""
        self._interior_done.record(self.interior_stream)

    def wait(self) -> None:
        """Wait until all planes have arrived."""
        self._planes_copied.synchronize()

    def exchange(self, t: int) -> None:
        """Copy the planes of step t both ways, once the rows beside the cut have been stepped."""
        with self.device.active():
            for launch in self._launches[t % 2]:
                launch()
            self._planes_copied.record(self.edge_stream)


@kernel
def copy_planes(source, target, slots, source_rows, target_rows, writable, source_ny, target_ny):
    """Copy xz planes of populations; the arguments are those of `_domain.halo.cpu.copy_planes`.

    The grid is (x, z, plane).
    """
    x, z, k = cuda.grid(1), cuda.blockIdx.y, cuda.blockIdx.z
    nx = writable.shape[2]
    if x < nx and k < slots.size and writable[k, z, x]:
        a = (z * source_ny + source_rows[k]) * nx + x
        b = (z * target_ny + target_rows[k]) * nx + x
        target[slots[k], b] = source[slots[k], a]
