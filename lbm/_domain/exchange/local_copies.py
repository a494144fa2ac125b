"""Copies between two parts of one process, straight from one block into the other.

A GPU stores into the memory of its neighbour: that of another GPU of the same host, or host memory
that it can access. If two GPUs cannot access each other, the planes go through host memory.
"""

from __future__ import annotations

from lbm._domain.exchange import Worker
from lbm._domain.planes import Face, buffer_planes, copy_tables


class LocalCopy:
    """A copy from one part to a neighbour in the same process, done by one of their workers.

    A message of a step may arrive at once: no cell of the receiver touches these populations in
    the same step.
    """

    transport = "direct"

    def __init__(self, source: Worker, target: Worker, leaving: Face, entering: Face):
        executor = source if source.on_gpu or not target.on_gpu else target
        self._copies = []
        for odd in (0, 1):
            incoming, writable = entering.incoming(odd)
            tables = copy_tables(leaving.outgoing(odd), incoming, leaving.size, writable)
            here = source.populations_after(odd, executor.on_gpu)
            there = target.populations_after(odd, executor.on_gpu)
            self._copies.append(executor.prepare_copy(here, there, tables))

    def start(self, t: int) -> None:
        """Copy the planes of step t."""
        self._copies[t % 2]()

    def finish(self, t: int) -> None:
        """Do nothing: `Exchange` lets the workers wait for each other."""


class StagedCopy:
    """A copy between two GPUs of one process by way of host memory."""

    transport = "staged"

    def __init__(self, source: Worker, target: Worker, leaving: Face, entering: Face):
        problem, self._source = leaving.problem, source
        self._packs, self._unpacks = [], []
        for odd in (0, 1):
            planes, (incoming, writable) = leaving.outgoing(odd), entering.incoming(odd)
            count, size = len(planes.slots), leaving.size
            _, buffer = source.allocate((count, size[0] * size[1]), problem.precision.storage)
            rows = buffer_planes(count, size)
            self._packs.append(
                source.prepare_copy(
                    source.populations_after(odd), buffer, copy_tables(planes, rows, size)
                )
            )
            self._unpacks.append(
                target.prepare_copy(
                    buffer,
                    target.populations_after(odd),
                    copy_tables(rows, incoming, size, writable),
                )
            )

    def start(self, t: int) -> None:
        """Copy the planes of step t to host memory."""
        self._packs[t % 2]()
        self._source.mark_copied()

    def finish(self, t: int) -> None:
        """Copy the planes to their target once they have arrived."""
        self._source.wait_until_copied()
        self._unpacks[t % 2]()
