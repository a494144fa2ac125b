"""Steps of a part on a GPU, in the order that a halo exchange needs, and copies of planes."""

from __future__ import annotations

import numpy as np

from hetero.cuda.driver import cuda, high_priority_stream, is_host_memory
from hetero.cuda.launch import MOST_BLOCKS, blocks_for
from hetero.cuda.launcher import Launcher
from hetero.devices import Device
from hetero.jit import kernel
from hetero.measurement.queue_timer import QueueTimer

THREADS = 128
"""Threads of a block along v; not tuned."""

HOST_BLOCKS = 128
"""Blocks that copy to or from host memory at once.

They wait for the bus most of the time. With a block for each row they would fill all
multiprocessors of the GPU, and keep the blocks that update cells from them.
"""


def create_worker(engine, edges, interior, mapped=None) -> Worker:
    """Create the worker of a block on a GPU."""
    return Worker(engine, edges, interior)


class Worker:
    """Steps the cells of a block, and copies planes of its arrays, on two streams of a GPU.

    The stream of the edges also does the copies and has priority; the other one steps the interior
    at the same time.
    """

    on_gpu = True

    def __init__(self, engine, edges, interior):
        self.engine, self._edges, self._interior = engine, edges, interior
        self._kept: list = []
        with engine.device.active():
            self._edge_stream, self._interior_stream = high_priority_stream(), cuda.stream()
            self._edges_done, self._interior_done = cuda.event(), cuda.event()
            self._copied = cuda.event()
        self.stream = self._edge_stream

    def begin(self, t: int) -> None:
        """Step the cells beside other parts, and start on the interior.

        No interior cell uses a population that a message of the same step carries, so the interior
        needs to wait for the edges of the step before, but not for messages.
        """
        with self.engine.device.active():
            self._interior_done.wait(self._edge_stream)
            self._edges_done.wait(self._interior_stream)
            for box in self._edges:
                self.engine.step(t, box, self._edge_stream)
            self._edges_done.record(self._edge_stream)
            for box in self._interior:
                self.engine.step(t, box, self._interior_stream)
            self._interior_done.record(self._interior_stream)

    def step_interior(self, t: int, piece: int) -> None:
        """Do nothing: the GPU works on the interior since `begin`."""

    def begin_inside(self, t: int) -> None:
        """Start on the interior; the stream of the edges goes on when that of the last step ends.

        The interior reads no halo, and waits only for the edges of the step before.
        """
        with self.engine.device.active():
            self._interior_done.wait(self._edge_stream)
            self._edges_done.wait(self._interior_stream)
            for box in self._interior:
                self.engine.step(t, box, self._interior_stream)
            self._interior_done.record(self._interior_stream)

    def end_outside(self, t: int) -> None:
        """Step the cells beside other parts, behind the copies in the stream of the edges."""
        with self.engine.device.active():
            for box in self._edges:
                self.engine.step(t, box, self._edge_stream)
            self._edges_done.record(self._edge_stream)

    def begin_links(self) -> None:
        """Let the stream of the edges, in which messages arrive, wait for the interior."""
        with self.engine.device.active():
            self._interior_done.wait(self._edge_stream)

    def end_links(self) -> None:
        """Let the interior of the next step wait for the stream of the edges."""
        with self.engine.device.active():
            self._edges_done.record(self._edge_stream)

    def populations_after(self, t: int, for_gpu: bool = True):
        """Return the populations [slot, cell] that step t writes."""
        return self.engine.cells(self.engine.target(t))

    def allocate(self, shape, dtype):
        """Return a buffer for messages in host memory, as MPI and as `copy_planes` see it."""
        with self.engine.device.active():
            buffer = cuda.mapped_array(shape, dtype, portable=True)
        view = np.asarray(buffer)
        view[...] = 0
        return view, buffer

    def keep(self, array) -> None:
        """Keep an array of another process as long as this worker lives."""
        self._kept.append(array)

    def allocate_on_device(self, shape, dtype):
        """Return a buffer for messages in the GPU's memory."""
        with self.engine.device.active():
            return cuda.device_array(shape, dtype)

    def prepare_copy(self, source, target, tables):
        """Return a function that copies planes between two arrays [slot, cell]."""
        with self.engine.device.active():
            count, (nu, nv) = len(tables.planes), tables.layout[4:6]
            threads = min(THREADS, -(-int(nv) // 32) * 32)
            columns = blocks_for(int(nv), threads)
            rows = min(int(nu), MOST_BLOCKS)
            if is_host_memory(source) or is_host_memory(target):
                rows = min(rows, max(1, HOST_BLOCKS // (columns * count)))
            grid = columns, rows, count
            arguments = (source, target, *map(cuda.to_device, tables))
            return Launcher(copy_planes, grid, (threads,), self._edge_stream, arguments)

    def mark_copied(self) -> None:
        """Note that the copies up to here have been started."""
        with self.engine.device.active():
            self._copied.record(self._edge_stream)

    def wait_for(self, other) -> None:
        """Wait, before the next operation, until the marked copies of another worker are done."""
        if other.on_gpu:
            with self.engine.device.active():
                other._copied.wait(self._edge_stream)

    def start_timer(self, launches: int) -> None:
        """Begin to time the copies that follow, in which the host starts kernels so many times."""
        with self.engine.device.active():
            self._timer = QueueTimer(launches, self._edge_stream)
            self._timer.start()

    def stop_timer(self) -> float:
        """Return the seconds of the copies since `start_timer`, when they are done."""
        with self.engine.device.active():
            return self._timer.stop()

    def wait_until_copied(self) -> None:
        """Return once the marked copies are done."""
        with self.engine.device.active():
            self._copied.synchronize()


class MappedMemory:
    """Host memory that GPUs can access, for the blocks of the CPU beside them."""

    def __init__(self, device: Device):
        self._device = device
        self.arrays: list = []

    def allocate(self, shape, dtype) -> np.ndarray:
        """Allocate zeros, and keep them as the GPU sees them in `arrays`."""
        with self._device.active():
            self.arrays.append(cuda.mapped_array(shape, dtype, portable=True))
        array = np.asarray(self.arrays[-1])
        array[...] = 0
        return array


@kernel
def copy_planes(source, target, planes, layout, writable):
    """Copy planes of arrays [slot, cell]; the tables are `planes.CopyTables`.

    The grid is (v, u, plane); if it has fewer rows than the planes, each block copies several.
    """
    v, k = cuda.grid(1), cuda.blockIdx.z
    if v < layout[5]:
        for u in range(cuda.blockIdx.y, layout[4], cuda.gridDim.y):
            if layout[6] == 0 or writable[k, u, v]:
                a = planes[k, 1] + u * layout[0] + v * layout[1]
                b = planes[k, 3] + u * layout[2] + v * layout[3]
                target[planes[k, 2], b] = source[planes[k, 0], a]
