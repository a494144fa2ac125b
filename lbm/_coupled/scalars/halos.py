"""The population of a scalar that crosses each face between the parts of all ranks after a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lbm._coupled.scalars.block import ScalarBlock
from lbm._coupled.scalars.formulas import STREAMS
from lbm._coupled.scalars.walls import OPPOSITE
from lbm._parallel.domain.domain import Domain
from lbm._parallel.exchange.halo_data import Field
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.extent import Triple


def crossing_populations(
    domain: Domain, blocks: Mapping[Triple, ScalarBlock], kinds: np.ndarray
) -> Field:
    """Return what an exchange sends of a scalar: the population towards each neighbour.

    `blocks` are the scalar in all parts by their indices, and `kinds` int8 [class, 7].
    """
    masks: dict[tuple[Triple, int, int], np.ndarray] = {}
    for part in domain.parts:
        for axis in np.flatnonzero(domain.partition.cut).tolist():
            for outside in (1, -1):
                along = np.moveaxis(blocks[part.index].classes, 2 - axis, 0)
                plane = along[part.edge_plane(axis, outside)]
                arriving = _moving_to(axis, -outside)
                is_open = (kinds[:, OPPOSITE[arriving]] == STREAMS)[plane]
                is_open &= plane != SOLID_CLASS
                masks[part.index, axis, outside] = np.ascontiguousarray(is_open)
    # Even steps write what odd steps read.
    written = {index: block.populations[::-1] for index, block in blocks.items()}
    return Field(written, _moving_along, beyond=True, masks=masks)


def _moving_along(axis: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return the numbers of the populations that move towards +axis and towards -axis."""
    return (_moving_to(axis, 1),), (_moving_to(axis, -1),)


def _moving_to(axis: int, sign: int) -> int:
    """Return the number of the population that moves towards +axis or -axis."""
    return 1 + 2 * axis + (sign < 0)
