"""Planes of further fields that parts send each other through host memory.

Populations have an exchange of their own (`lbm._domain.exchange`), which is faster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lbm._domain.domain import Domain
from lbm._domain.parts import Part
from lbm._model.extent import Triple

Read = Callable[[Part, int, int], np.ndarray]
"""read(part, axis, sign) returns what leaves a part through its face towards +axis or -axis."""

Write = Callable[[Part, int, int, np.ndarray], None]
"""write(part, axis, sign, planes) stores what arrives in a part, moving towards +axis or -axis."""


def faces_between_parts(domain: Domain) -> Iterator[tuple[Part, int, int]]:
    """Yield (part, axis, sign) for both faces of this rank's parts across each axis that is cut."""
    for part in domain.parts:
        for axis in range(3):
            if domain.partition.cut[axis]:
                yield part, axis, 1
                yield part, axis, -1


def edge_plane(part: Part, axis: int, sign: int) -> int:
    """Return the index in its block of a part's last plane towards +axis or -axis."""
    return part.halo[axis] + (part.extent.shape[axis] - 1 if sign > 0 else 0)


def exchange_planes(domain: Domain, read: Read, write: Write, count: int = 1) -> None:
    """Send what leaves each part to the part beside it; all ranks must call this.

    `read` and `write` handle arrays [count, u, v] of planes of a block, or [u, v] if the count is
    1, in the dtype of the arithmetic.
    """
    parts = {part.index: part for part in domain.parts}
    partition, ranks = domain.partition, domain.ranks
    received: list[tuple[Part, int, int, np.ndarray]] = []
    requests: list[Any] = []
    for part, axis, sign in faces_between_parts(domain):
        neighbour = partition.neighbour(part.index, axis, sign)
        if neighbour is not None:
            planes = read(part, axis, sign)
            if neighbour in parts:
                received.append((parts[neighbour], axis, sign, planes))
            else:
                tag, owner = _tag(domain, neighbour, axis, sign), int(partition.owners[neighbour])
                requests.append((ranks.communicator.Isend(planes, owner, tag), planes))
        sender = partition.neighbour(part.index, axis, -sign)
        if sender is not None and sender not in parts:
            shape = [n for a, n in enumerate(part.engine.problem.shape[::-1]) if a != 2 - axis]
            planes = np.empty(([count] if count > 1 else []) + shape,
                              part.engine.problem.precision.compute)  # fmt: skip
            tag, owner = _tag(domain, part.index, axis, sign), int(partition.owners[sender])
            requests.append((ranks.communicator.Irecv(planes, owner, tag), planes))
            received.append((part, axis, sign, planes))
    for request, _ in requests:
        request.Wait()
    for part, axis, sign, planes in received:
        write(part, axis, sign, planes)


def _tag(domain: Domain, receiver: Triple, axis: int, sign: int) -> int:
    """Return the tag of a message, which is unique among those of the receiving rank."""
    partition = domain.partition
    position = partition.parts_of(int(partition.owners[receiver])).index(receiver)
    return position * 6 + 2 * axis + (sign < 0)
