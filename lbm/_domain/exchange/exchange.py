"""The exchange of halos between the parts of all ranks after a step."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from lbm._domain.exchange import Worker
from lbm._domain.exchange.local_copies import LocalCopy, StagedCopy
from lbm._domain.exchange.messages import Message, RemoteFace, make_message
from lbm._domain.exchange.transports import (
    TRANSPORT_VARIABLE,
    allowed_transports,
    takes_device_buffers,
)
from lbm._domain.partition import AXES, Partition
from lbm._domain.parts import Part
from lbm._domain.planes import Face
from lbm._domain.ranks.communication import Ranks
from lbm._model.extent import Triple

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
    ):
        self.axes = [axis for axis in AXES if partition.cut[axis]]
        self._parts, self._workers, self._partition, self._ranks = parts, workers, partition, ranks
        self._copies: dict[int, list[LocalCopy | StagedCopy]] = {
            axis: self._make_copies(axis) for axis in self.axes
        }
        self._messages: dict[int, list[Message]] = {axis: [] for axis in self.axes}
        if ranks.comm is not None:
            self._make_messages()
        on_gpu = any(worker.on_gpu for worker in workers.values())
        self._waits = on_gpu and any(self._copies.values())

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
        for copy in self._copies[axis]:
            copy.start(t)
        for message in self._messages[axis]:
            message.pack(t)
        for message in self._messages[axis]:
            message.post(t)

    def finish(self, t: int, axis: int) -> None:
        """Finish the exchange across an axis: the next one may send on what has arrived."""
        for copy in self._copies[axis]:
            copy.finish(t)
        for message in self._messages[axis]:
            message.finish(t)
        if self._waits:
            self._join_workers()

    def wait(self) -> None:
        """Wait until everything has arrived that this process copies by itself."""
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

    def first_face(self, axis: int) -> tuple[Face, Worker]:
        """Return the upper face of the first part across an axis, and the part's worker."""
        index = next(iter(self._workers))
        return self._face(index, axis, 1), self._workers[index]

    def _join_workers(self) -> None:
        """Let each worker wait for the copies of all others, which may have stored into its block.

        Between two axes all must wait for all: what a part sends on must not be overtaken.
        """
        workers = list(self._workers.values())
        for worker in workers:
            worker.mark_copied()
        for worker in workers:
            for other in workers:
                if other is not worker:
                    worker.wait_for(other)

    def _face(self, index: Triple, axis: int, outside: int) -> Face:
        part = self._parts[index]
        last = part.halo[axis] + part.extent.shape[axis] - 1
        edge = last if outside > 0 else part.halo[axis]
        return Face(part.engine.problem, axis, edge, outside)

    def _make_copies(self, axis: int) -> list[LocalCopy | StagedCopy]:
        """Create the copies between the parts of this process."""
        copies: list[LocalCopy | StagedCopy] = []
        for index, source in self._workers.items():
            for sign in SIGNS:
                neighbour = self._partition.neighbour(index, axis, sign)
                if neighbour is None or neighbour not in self._workers:
                    continue
                target = self._workers[neighbour]
                faces = self._face(index, axis, sign), self._face(neighbour, axis, -sign)
                kind = LocalCopy if _can_copy(source, target) else StagedCopy
                copies.append(kind(source, target, *faces))
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
            from lbm._domain.exchange.peers import open_peer_buffers

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
                faces.append(RemoteFace(worker, self._face(index, axis, sign), rank, *tags, shared))
        return faces

    def _tag(self, receiver: Triple, axis: int, sign: int) -> int:
        """Return the tag of a message, which is unique among those of the receiving rank."""
        owner = int(self._partition.owners[receiver])
        position = self._partition.parts_of(owner).index(receiver)
        return (position * len(AXES) + axis) * 2 + (sign > 0)


def _can_copy(source: Worker, target: Worker) -> bool:
    """Return whether a worker can copy straight from one block to the other."""
    if not (source.on_gpu and target.on_gpu):
        return True
    from lbm._domain.exchange.peers import can_store_into

    return can_store_into(source.engine.device, target.engine.device)
