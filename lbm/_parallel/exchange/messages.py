"""Messages between the parts of two ranks.

The planes of a message are packed into a buffer and unpacked from one, in one of three transports:

- "peer": GPUs of one host; the sender packs straight into a buffer in the receiver's memory, which
  it has opened by CUDA's inter-process communication, and MPI carries only the news that it did;
- "device": GPUs, and an MPI that takes buffers in their memory;
- "host": all others; a GPU packs into host memory that it can access, and unpacks from there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lbm._parallel.exchange import End, is_on_gpu
from lbm._parallel.planes import Face


@dataclass(frozen=True, eq=False)
class RemoteFace:
    """A face of a part, beyond which there is a part of another rank.

    Attributes
    ----------
    end : the part's end of the copies
    rank : rank of the neighbour
    send_tag, receive_tag : tags of the messages that leave and enter through this face
    gpus_of_one_host : whether both parts are on GPUs of the same host
    """

    end: End
    rank: int
    send_tag: int
    receive_tag: int
    gpus_of_one_host: bool


class Message:
    """The messages through a face of a part in both directions.

    Parameters
    ----------
    comm : communicator
    face : RemoteFace
    transport : {"peer", "device", "host"}
    outgoing, incoming : list of arrays
        Buffers that the worker packs into and unpacks from, for even and for odd steps.
    carried : pair of lists, optional
        The same two buffers as MPI sees them; None if MPI carries only the news.
    """

    def __init__(
        self,
        comm: Any,
        face: RemoteFace,
        transport: str,
        outgoing: list[Any],
        incoming: list[Any],
        carried: tuple[list[Any], list[Any]] | None,
    ):
        self.transport, self.worker = transport, face.end.worker
        self._comm, self._face = comm, face
        self._sent, self._received = carried or (_news(), _news())
        self._packs = [face.end.prepare_pack(odd, outgoing[odd]) for odd in (0, 1)]
        self._unpacks = [face.end.prepare_unpack(odd, incoming[odd]) for odd in (0, 1)]
        self._requests: tuple[Any, Any] | None = None

    def pack(self, t: int) -> None:
        """Pack the planes of step t."""
        self._packs[t % 2]()
        self.worker.mark_copied()

    def post(self, t: int) -> None:
        """Send the message of step t once it is packed, and let MPI receive the neighbour's.

        The buffer to receive in is free: it was unpacked before this message was packed.
        """
        self.worker.wait_until_copied()
        f, comm = self._face, self._comm
        self._requests = (
            comm.Irecv(self._received[t % 2], f.rank, f.receive_tag),
            comm.Isend(self._sent[t % 2], f.rank, f.send_tag),
        )

    def finish(self, t: int) -> None:
        """Wait for the neighbour's message and unpack it."""
        assert self._requests is not None
        receive, send = self._requests
        receive.Wait()
        self._unpacks[t % 2]()
        send.Wait()


def _news() -> list[Any]:
    """Return buffers for the news that the planes of an even or odd step have arrived."""
    return [np.zeros(1, np.uint8)] * 2


def message_shape(face: Face) -> tuple[int, int]:
    """Return the shape [plane, u v] of the buffer for a message through a face."""
    counts = {len(face.outgoing(odd).slots) for odd in (0, 1)}
    if len(counts) != 1:
        raise RuntimeError("messages of even and odd steps must have the same size")
    return counts.pop(), face.size[0] * face.size[1]


def make_message(face: RemoteFace, comm: Any, peers: Any, device_aware: bool) -> Message:
    """Create the messages through a face.

    `peers` are the pairs of buffers of `open_peer_buffers`, or None; `device_aware` says whether
    MPI takes buffers in the memory of GPUs.
    """
    worker, shape, dtype = face.end.worker, message_shape(face.end.face), face.end.face.dtype
    if peers is not None:
        outgoing, incoming = peers
        return Message(comm, face, "peer", outgoing, incoming, None)
    if is_on_gpu(worker) and device_aware:
        out, into = (worker.allocate_on_device(shape, dtype) for _ in range(2))
        # MPI has no type for half-precision numbers: buffers travel as bytes.
        carried = [out.view(np.uint8)] * 2, [into.view(np.uint8)] * 2
        return Message(comm, face, "device", [out] * 2, [into] * 2, carried)
    (sent, out), (received, into) = (worker.allocate(shape, dtype) for _ in range(2))
    carried = [sent.view(np.uint8)] * 2, [received.view(np.uint8)] * 2
    return Message(comm, face, "host", [out] * 2, [into] * 2, carried)
