"""Steps of a part on the CPU, in the order that a halo exchange needs, and copies of planes."""

from __future__ import annotations

import time

import numpy as np
from numba import prange

from hetero.jit import parallel


def create_worker(engine, edges, interior, mapped=None) -> Worker:
    """Create the worker of a block in host memory."""
    return Worker(engine, edges, interior, mapped)


class Worker:
    """Steps the cells of a block in host memory, and copies planes of its arrays [slot, cell]."""

    on_gpu = False
    stream = None

    def __init__(self, engine, edges, interior, mapped):
        self.engine, self._edges, self._interior = engine, edges, interior
        self._mapped = mapped

    def begin(self, t: int) -> None:
        """Step the cells beside other parts."""
        for box in self._edges:
            self.engine.step(t, box)

    def step_interior(self, t: int, piece: int) -> None:
        """Step a piece of the interior."""
        if piece < len(self._interior):
            self.engine.step(t, self._interior[piece])

    def begin_inside(self, t: int) -> None:
        """Step the interior, before the cells beside other parts."""
        for box in self._interior:
            self.engine.step(t, box)

    def end_outside(self, t: int) -> None:
        """Step the cells beside other parts."""
        self.begin(t)

    def begin_links(self) -> None:
        """Let the loops over links wait for the step: it is done."""

    def end_links(self) -> None:
        """Let the next step wait for the loops over links: they are done."""

    def populations_after(self, t: int, for_gpu: bool = False):
        """Return the populations [slot, cell] that step t writes, as the CPU or a GPU sees them."""
        return self._mapped[(t + 1) % len(self._mapped)] if for_gpu else self.engine.target(t)

    def allocate(self, shape, dtype):
        """Return a buffer for messages, twice."""
        buffer = np.zeros(shape, dtype)
        return buffer, buffer

    def prepare_copy(self, source, target, tables):
        """Return a function that copies planes between two arrays [slot, cell]."""
        return lambda: copy_planes(source, target, *tables)

    def mark_copied(self) -> None:
        """Note that the copies up to here have been started: here they are done already."""

    def wait_for(self, other) -> None:
        """Wait, before the next operation, until the marked copies of another worker are done."""
        other.wait_until_copied()

    def start_timer(self, launches: int) -> None:
        """Begin to time the copies that follow."""
        self._started = time.perf_counter()

    def stop_timer(self) -> float:
        """Return the seconds of the copies since `start_timer`."""
        return time.perf_counter() - self._started

    def wait_until_copied(self) -> None:
        """Return once the marked copies are done."""


@parallel
def copy_planes(source, target, planes, layout, writable):
    """Copy planes of arrays [slot, cell]; the tables are `planes.CopyTables`."""
    nu, nv, masked = layout[4], layout[5], layout[6]
    for row in prange(planes.shape[0] * nu):
        k, u = row // nu, row % nu
        a, b = planes[k, 1] + u * layout[0], planes[k, 3] + u * layout[2]
        for v in range(nv):
            if masked == 0 or writable[k, u, v]:
                target[planes[k, 2], b + v * layout[3]] = source[planes[k, 0], a + v * layout[1]]
