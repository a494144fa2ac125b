"""Copies between two parts of one process, straight from one block into the other.

A GPU stores into the memory of its neighbour: that of another GPU of the same host, or host memory
that it can access. Where that is impossible, the planes go through a buffer in host memory: between
two GPUs that cannot access each other, and for fields of a part on the CPU beside a GPU.
"""

from __future__ import annotations

from typing import Any

from lbm._parallel.exchange import End, Worker
from lbm._parallel.planes import copy_tables


class LocalCopy:
    """A copy from one part to a neighbour in the same process, done by one of their workers.

    Populations may arrive at once: no cell of the receiver touches them in the same step. For
    fields, `FieldExchange` lets all parts wait for each other before.
    """

    transport = "direct"

    def __init__(self, source: End, target: End):
        on_gpu = source.worker.on_gpu or target.worker.on_gpu
        executor = source.worker if source.worker.on_gpu == on_gpu else target.worker
        self._copies = []
        for odd in (0, 1):
            incoming, writable = target.face.incoming(odd)
            tables = copy_tables(source.face.outgoing(odd), incoming, source.face.size, writable)
            sent, there = source.array(odd, on_gpu), target.array(odd, on_gpu)
            self._copies.append(executor.prepare_copy(sent, there, tables))

    def start(self, t: int) -> None:
        """Copy the planes of step t."""
        self._copies[t % 2]()

    def finish(self, t: int) -> None:
        """Do nothing: `Exchange` lets the workers wait for each other."""


class StagedCopy:
    """A copy between two parts of one process by way of host memory that their GPUs can access."""

    transport = "staged"

    def __init__(self, source: End, target: End):
        self._source = source.worker
        owner = source.worker if source.worker.on_gpu else target.worker
        self._packs, self._unpacks = [], []
        for odd in (0, 1):
            count, (u, v) = len(source.face.outgoing(odd).slots), source.face.size
            buffer = owner.allocate((count, u * v), source.face.dtype)
            self._packs.append(source.prepare_pack(odd, _as_seen_by(source.worker, buffer)))
            self._unpacks.append(target.prepare_unpack(odd, _as_seen_by(target.worker, buffer)))

    def start(self, t: int) -> None:
        """Copy the planes of step t to host memory."""
        self._packs[t % 2]()
        self._source.mark_copied()

    def finish(self, t: int) -> None:
        """Copy the planes to their target once they have arrived."""
        self._source.wait_until_copied()
        self._unpacks[t % 2]()


def _as_seen_by(worker: Worker, buffer: tuple[Any, Any]) -> Any:
    """Return that of the two views of a buffer in host memory which a worker can access."""
    view, mapped = buffer
    return mapped if worker.on_gpu else view
