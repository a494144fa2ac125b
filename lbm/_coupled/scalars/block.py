"""A scalar in a block of cells: its populations and walls in the memory of the block's device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lbm._coupled import scalars
from lbm._coupled.scalars.formulas import STREAMS, add_half_force, is_not_finite
from lbm._coupled.scalars.walls import OPPOSITE, Q7, ScalarLinks
from lbm._kernels.items.store import Store
from lbm._kernels.problem import Box
from lbm._parallel.domain.domain import Domain
from lbm._parallel.exchange.halo_data import Field
from lbm._parallel.parts import Part
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.extent import Triple


class ScalarBlock:
    """The populations of a scalar in the block of a part.

    Parameters
    ----------
    part : the part
    links : walls of the rank
    rates : relaxation rates of even and odd parts
    velocity : [3, z, y, x] in the block, on the device

    Attributes
    ----------
    classes : of the block's cells, in host memory; those of halos are not used
    device_classes, kinds : the same and the kinds of links [class, q], on the device
    box : (x0, x1, y0, y1, z0, z1), the part's cells in its block
    populations : [q, z, y, x] that even and that odd steps read
    steps : functions that do an even and an odd step
    """

    def __init__(self, part: Part, links: ScalarLinks, rates: tuple[float, float], velocity: Any):
        store = self.store = Store(part.engine)
        self.part, size = part, part.engine.problem.shape[::-1]
        (hx, hy, hz), (nx, ny, nz) = part.halo, part.extent.shape
        self.box = hx, hx + nx, hy, hy + ny, hz, hz + nz
        self.classes = np.full(size, SOLID_CLASS, links.classes.dtype)
        x, y, z = part.local.slices
        self.classes[hz : hz + nz, hy : hy + ny, hx : hx + nx] = links.classes[z, y, x]
        self.device_classes = store.put(self.classes)
        self.populations = g = store.zeros(Q7, *size), store.zeros(Q7, *size)
        self.kinds, numbers = store.put(links.kinds), store.put(links.numbers)
        constants = self.device_classes, self.kinds, numbers, tuple(map(store.T, rates)), self.box
        on = scalars.loops(part.engine.device)
        with part.engine.device.active():
            self.steps = [on.prepare_step(g[k], g[1 - k], velocity, *constants) for k in (0, 1)]
        self._bad = store.zeros(1, dtype=np.int64)
        cells = math.prod(part.extent.shape)
        self._count_bad = [
            store.prepare_sum(is_not_finite, cells, self._bad, g[k], self.device_classes, self.box)
            for k in (0, 1)
        ]

    def has_not_finite(self, t: int) -> bool:
        """Return whether a value in a fluid cell is not finite after t steps."""
        self._count_bad[t % 2]()
        return bool(self.store.get(self._bad)[0])

    def add_half_force(self, t: int, box: Box, fields: Any, numbers: tuple[Any, ...]) -> None:
        """Add half of the buoyancy's impulse to the velocities in fields [4, z, y, x] of a box."""
        g, bounds = self.populations[t % 2], tuple(box)
        constants = self.device_classes, numbers, bounds
        self.store.prepare(add_half_force, fields.size // 4, fields, g, *constants)()

    def read(self, t: int, first: int, last: int) -> np.ndarray:
        """Return the populations after t steps in layers of the part, [q, z, y, x].

        Layers are counted from the first one of the part.
        """
        g, z = self.populations[t % 2], self.part.halo[2]
        return np.stack([self.store.get(g[q, first + z : last + z]) for q in range(Q7)])

    def select(self, layers: np.ndarray) -> np.ndarray:
        """Return the part's cells in layers of the block, a view."""
        x0, x1, y0, y1, _, _ = self.box
        return layers[:, :, y0:y1, x0:x1]

    def write(self, t: int, first: int, layers: np.ndarray) -> None:
        """Set the populations after t steps in layers of the part from `first` on."""
        z = first + self.part.halo[2]
        for q in range(Q7):
            self.store.set(self.populations[t % 2][q, z : z + layers.shape[1]], layers[q])


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
