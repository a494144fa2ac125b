"""The exchange of halos between the parts of all ranks."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from lbm._parallel.exchange import End, Worker
from lbm._parallel.exchange.halo_data import HaloData
from lbm._parallel.exchange.local_copies import LocalCopy, StagedCopy
from lbm._parallel.exchange.messages import Message, RemoteFace, make_message
from lbm._parallel.exchange.transports import (
    TRANSPORT_VARIABLE,
    allowed_transports,
    takes_device_buffers,
)
from lbm._parallel.partition import AXES, Partition
from lbm._parallel.parts import Part
from lbm._parallel.ranks.communication import Ranks
from lbm.lattices.extent import Triple

SIGNS = 1, -1
"""Directions along an axis."""


class Exchange:
    """Copies and messages between neighbouring parts, axis by axis.

    Parameters
    ----------
    parts : the parts of this rank, by their index
    workers : their workers
    partition : all parts of all ranks
    ranks : the ranks
    data : what crosses the faces
    number : of the exchange among those of the ranks, for the tags of its messages

    Attributes
    ----------
    axes : the axes along which the domain is cut, in the order of the exchange
    """

    def __init__(
        self,
        parts: Mapping[Triple, Part],
        workers: Mapping[Triple, Worker],
        partition: Partition,
        ranks: Ranks,
        data: HaloData,
        number: int = 0,
    ):
        self.axes = [axis for axis in AXES if partition.cut[axis]]
        self._data = data
        self._first_tag = 2 * len(AXES) * number * int(np.bincount(partition.owners.flat).max())
        self._parts, self._workers, self._partition, self._ranks = parts, workers, partition, ranks
        self._copies: dict[int, list[LocalCopy | StagedCopy]] = {
            axis: self._make_copies(axis) for axis in self.axes
        }
        self._messages: dict[int, list[Message]] = {axis: [] for axis in self.axes}
        if ranks.comm is not None:
            self._make_messages()
        on_gpu = any(worker.on_gpu for worker in workers.values())
        self._waits = on_gpu and any(self._copies.values())
        self._has_streams_apart = on_gpu and _has_streams_of_threads()

    @property
    def transports(self) -> Counter[str]:
        """Number of faces of this rank's parts that use each transport."""
        kinds: Counter[str] = Counter()
        for axis in self.axes:
            kinds.update(copy.transport for copy in self._copies[axis])
            kinds.update(message.transport for message in self._messages[axis])
        return kinds

    def start(self, t: int, axis: int) -> None:
        """Start on the exchange across an axis: all cells beside other parts have been stepped."""
        self.pack(t, axis)
        self.post(t, axis)

    def pack(self, t: int, axis: int) -> None:
        """Start the copies across an axis and pack the messages; those of CPUs leave at once."""
        for copy in self._copies[axis]:
            copy.start(t)
        for message in self._messages[axis]:
            message.pack(t)
        for message in self._messages[axis]:
            if not message.worker.on_gpu:
                message.post(t)

    def post(self, t: int, axis: int) -> None:
        """Send the messages of GPUs across an axis once they are packed."""
        for message in self._messages[axis]:
            if message.worker.on_gpu:
                message.post(t)

    def finish(self, t: int, axis: int) -> None:
        """Finish the exchange across an axis: the next one may send on what has arrived."""
        self.unpack(t, axis)
        self.join()

    def unpack(self, t: int, axis: int) -> None:
        """Store what arrives across an axis; other parts do not wait for it yet."""
        for copy in self._copies[axis]:
            copy.finish(t)
        for message in self._messages[axis]:
            message.finish(t)

    def wait(self) -> None:
        """Wait until everything has arrived that this process copies by itself."""
        self.order_streams()
        if self._waits:
            for worker in self._workers.values():
                worker.wait_until_copied()

    def time_copies(self, axis: int, time_calls: Callable[..., float]) -> float:
        """Return the seconds of the copies across an axis; see `lbm._performance`.

        Two GPUs copy both ways at once. A single device does all copies itself: one is timed.
        """
        copiers = [worker for worker in self._workers.values() if worker.on_gpu]
        copiers = copiers or list(self._workers.values())
        devices = {str(worker.engine.device) for worker in copiers}
        copies = self._copies[axis] if len(devices) > 1 else self._copies[axis][:1]

        def start(t: int) -> None:
            for copy in copies:
                copy.start(t)

        return time_calls(copiers, start)

    def first_end(self, axis: int) -> End:
        """Return the end of the copies through the upper face of the first part across an axis."""
        return self._end(next(iter(self._workers)), axis, 1)

    def join(self) -> None:
        """Let each worker wait for the copies of all others, which may have stored into its block.

        Between two axes all must wait for all: what a part sends on must not be overtaken. GPUs
        wait for what has been started on them before, in the default stream, too; the host waits
        for GPUs only where a part is on a CPU beside them.
        """
        self.order_streams()
        if not self._waits:
            return
        workers = list(self._workers.values())
        for worker in workers:
            worker.mark_copied()
        for worker in workers:
            for other in workers:
                if other is not worker:
                    worker.wait_for(other)

    def order_streams(self) -> None:
        """Let the default stream of each GPU and its other streams wait for each other.

        They do so by themselves, unless the default stream is one of the host's thread.
        """
        if self._has_streams_apart:
            for worker in self._workers.values():
                worker.engine.synchronize()

    def _end(self, index: Triple, axis: int, outside: int) -> End:
        """Return the end of the copies through a face of a part."""
        part, worker = self._parts[index], self._workers[index]
        face = self._data.face(part, axis, outside)
        return End(worker, face, partial(self._data.array, worker, part))

    def _make_copies(self, axis: int) -> list[LocalCopy | StagedCopy]:
        """Create the copies between the parts of this process."""
        copies: list[LocalCopy | StagedCopy] = []
        for index, source in self._workers.items():
            for sign in SIGNS:
                neighbour = self._partition.neighbour(index, axis, sign)
                if neighbour is None or neighbour not in self._workers:
                    continue
                direct = _can_copy(source, self._workers[neighbour], self._data.is_mapped)
                ends = self._end(index, axis, sign), self._end(neighbour, axis, -sign)
                copies.append((LocalCopy if direct else StagedCopy)(*ends))
        return copies

    def _make_messages(self) -> None:
        """Create the messages to and from other ranks."""
        comm = self._ranks.communicator
        host_and_workers = socket.gethostname(), {i: w.on_gpu for i, w in self._workers.items()}
        everyone = self._ranks.gather_all(host_and_workers)
        faces = {axis: self._remote_faces(axis, everyone) for axis in self.axes}
        allowed = allowed_transports()
        shared = [f for axis in self.axes for f in faces[axis] if f.gpus_of_one_host]
        if "peer" not in allowed:
            shared = []
        peers: dict[RemoteFace, Any] = {}
        if self._ranks.any(shared):
            from lbm._parallel.exchange.peers import open_peer_buffers

            peers = open_peer_buffers(shared, comm)
        on_gpu = any(worker.on_gpu for worker in self._workers.values())
        device_aware = on_gpu and "device" in allowed and takes_device_buffers(comm)
        for axis in self.axes:
            self._messages[axis] = [
                make_message(face, comm, peers.get(face), device_aware) for face in faces[axis]
            ]
        used = {m.transport for axis in self.axes for m in self._messages[axis]}
        if on_gpu and "host" not in allowed and "host" in used:
            raise ValueError(
                f"{TRANSPORT_VARIABLE}={allowed[0]} cannot be used by all messages here"
            )

    def _remote_faces(self, axis: int, everyone: list[Any]) -> list[RemoteFace]:
        """Return the faces along an axis whose neighbours are parts of other ranks."""
        faces = []
        host = everyone[self._ranks.rank][0]
        for index, worker in self._workers.items():
            for sign in SIGNS:
                neighbour = self._partition.neighbour(index, axis, sign)
                if neighbour is None or neighbour in self._workers:
                    continue
                rank = int(self._partition.owners[neighbour])
                their_host, on_gpu = everyone[rank]
                tags = self._tag(neighbour, axis, sign), self._tag(index, axis, -sign)
                shared = worker.on_gpu and on_gpu[neighbour] and their_host == host
                faces.append(RemoteFace(self._end(index, axis, sign), rank, *tags, shared))
        return faces

    def _tag(self, receiver: Triple, axis: int, sign: int) -> int:
        """Return the tag of a message, which no other one to the receiving rank has.

        MPI takes tags up to 32,767 at least.
        """
        owner = int(self._partition.owners[receiver])
        position = self._partition.parts_of(owner).index(receiver)
        return self._first_tag + (position * len(AXES) + axis) * 2 + (sign > 0)


def _has_streams_of_threads() -> bool:
    """Return whether the default streams of GPUs are apart from others."""
    from hetero.cuda.driver import HAS_STREAMS_OF_THREADS

    return HAS_STREAMS_OF_THREADS


def _can_copy(source: Worker, target: Worker, is_mapped: bool) -> bool:
    """Return whether a worker can copy straight from one block to the other.

    `is_mapped` says whether GPUs can access the arrays of blocks on the CPU.
    """
    if source.on_gpu != target.on_gpu:
        return is_mapped
    if not source.on_gpu:
        return True
    from lbm._parallel.exchange.peers import can_store_into

    return can_store_into(source.engine.device, target.engine.device)
