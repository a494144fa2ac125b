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
from lbm._domain.plane_messages import edge_plane, exchange_planes, faces_between_parts
from lbm._model.extent import Triple
from lbm._model.wall_links import SOLID_CLASS
from lbm._scalars.formulas import STREAMS
from lbm._scalars.walls import OPPOSITE


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
        self._masks: dict[tuple[Triple, int, int], np.ndarray] = {}
        for part, axis, sign in faces_between_parts(domain):
            along = np.moveaxis(classes[part.index], 2 - axis, 0)
            plane = along[edge_plane(part, axis, -sign)]
            is_open = (kinds[:, OPPOSITE[_crossing(axis, sign)]] == STREAMS)[plane]
            is_open &= plane != SOLID_CLASS
            self._masks[part.index, axis, sign] = np.ascontiguousarray(is_open)

    def exchange(self, populations: Mapping[Triple, Any]) -> None:
        """Send what has left each part to the part beside it; g [q, z, y, x] of all parts."""

        def read(part: Part, axis: int, sign: int) -> np.ndarray:
            outside = edge_plane(part, axis, sign) + sign
            with part.engine.device.active():
                return _scalars.loops(part.engine.device).read_plane(
                    populations[part.index], _crossing(axis, sign), axis, outside
                )

        def write(part: Part, axis: int, sign: int, plane: np.ndarray) -> None:
            with part.engine.device.active():
                _scalars.loops(part.engine.device).write_plane(
                    populations[part.index], _crossing(axis, sign), axis,
                    edge_plane(part, axis, -sign), plane, self._masks[part.index, axis, sign],
                )  # fmt: skip

        exchange_planes(self._domain, read, write)


def _crossing(axis: int, sign: int) -> int:
    """Return the number of the population that moves towards +axis or -axis."""
    return 1 + 2 * axis + (sign < 0)
