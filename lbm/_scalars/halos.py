"""The exchange of a scalar's populations between the parts of all ranks after a step.

Only one population crosses a face between two parts. It travels through host memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lbm import _scalars
from lbm._domain.domain import Domain
from lbm._domain.parts import Part
from lbm._model.extent import Triple
from lbm._model.wall_links import SOLID_CLASS
from lbm._scalars.formulas import STREAMS
from lbm._scalars.walls import OPPOSITE, Q7


class Halos:
    """The planes that parts send each other.

    Parameters
    ----------
    domain : the parts
    classes : of the cells of each part's block, in host memory, by the index of the part
    kinds : int8 [class, 7]
    """

    def __init__(self, domain: Domain, classes: Mapping[Triple, np.ndarray], kinds: np.ndarray):
        self._domain = domain
        self._parts = {part.index: part for part in domain.parts}
        cut = [axis for axis in range(3) if domain.partition.cut[axis]]
        self._faces = [(part, axis, sign) for part in domain.parts for axis in cut
                       for sign in (1, -1)]  # fmt: skip
        self._masks: dict[tuple[Triple, int, int], np.ndarray] = {}
        for part, axis, sign in self._faces:
            q = 1 + 2 * axis + (sign < 0)  # it arrives at the face towards -sign
            plane = np.moveaxis(classes[part.index], 2 - axis, 0)[_edge(part, axis, -sign)]
            is_open = (kinds[:, OPPOSITE[q]] == STREAMS)[plane] & (plane != SOLID_CLASS)
            self._masks[part.index, axis, sign] = np.ascontiguousarray(is_open)

    def exchange(self, populations: Mapping[Triple, Any]) -> None:
        """Send what has left each part to the part beside it; g [q, z, y, x] of all parts."""
        partition, ranks = self._domain.partition, self._domain.ranks
        received: list[tuple[Part, int, int, np.ndarray]] = []
        requests: list[Any] = []
        for part, axis, sign in self._faces:
            neighbour = partition.neighbour(part.index, axis, sign)
            if neighbour is not None:
                outside = _edge(part, axis, sign) + sign
                with part.engine.device.active():
                    plane = _scalars.loops(part.engine.device).read_plane(
                        populations[part.index], 1 + 2 * axis + (sign < 0), axis, outside
                    )
                if neighbour in self._parts:
                    received.append((self._parts[neighbour], axis, sign, plane))
                else:
                    tag = self._tag(neighbour, axis, sign)
                    owner = int(partition.owners[neighbour])
                    requests.append((ranks.communicator.Isend(plane, owner, tag), plane))
            sender = partition.neighbour(part.index, axis, -sign)
            if sender is not None and sender not in self._parts:
                plane = np.empty(self._masks[part.index, axis, sign].shape,
                                 part.engine.problem.precision.compute)  # fmt: skip
                tag = self._tag(part.index, axis, sign)
                owner = int(partition.owners[sender])
                requests.append((ranks.communicator.Irecv(plane, owner, tag), plane))
                received.append((part, axis, sign, plane))
        for request, _ in requests:
            request.Wait()
        for part, axis, sign, plane in received:
            with part.engine.device.active():
                _scalars.loops(part.engine.device).write_plane(
                    populations[part.index], 1 + 2 * axis + (sign < 0), axis,
                    _edge(part, axis, -sign), plane, self._masks[part.index, axis, sign],
                )  # fmt: skip

    def _tag(self, receiver: Triple, axis: int, sign: int) -> int:
        """Return the tag of a message, which is unique among those of the receiving rank."""
        partition = self._domain.partition
        position = partition.parts_of(int(partition.owners[receiver])).index(receiver)
        return position * Q7 + 1 + 2 * axis + (sign < 0)


def _edge(part: Part, axis: int, sign: int) -> int:
    """Return the index in its block of a part's last plane towards +axis or -axis."""
    return part.halo[axis] + (part.extent.shape[axis] - 1 if sign > 0 else 0)
