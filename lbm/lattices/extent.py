"""Extents: boxes of cells in a domain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Triple = tuple[int, int, int]
"""Three integers, in the order x, y, z."""


class Extent(NamedTuple):
    """The cells of a domain from `start` up to, but without, `stop`; both are (x, y, z)."""

    start: Triple
    stop: Triple

    @classmethod
    def of_domain(cls, shape: Triple) -> Extent:
        """Return the extent of all cells of a domain."""
        return cls((0, 0, 0), shape)

    @classmethod
    def of_layers(cls, shape: Triple, axis: int, first: int, last: int) -> Extent:
        """Return the extent of the layers from `first` up to, but without, `last` of a domain."""
        start, stop = [0, 0, 0], list(shape)
        start[axis], stop[axis] = first, last
        return cls((start[0], start[1], start[2]), (stop[0], stop[1], stop[2]))

    @property
    def shape(self) -> Triple:
        """Number of cells along x, y and z."""
        (x0, y0, z0), (x1, y1, z1) = self
        return x1 - x0, y1 - y0, z1 - z0

    @property
    def slices(self) -> tuple[slice, slice, slice]:
        """Slices that cut this extent out of an array [x, y, z] of the whole domain."""
        x, y, z = (slice(a, b) for a, b in zip(self.start, self.stop, strict=True))
        return x, y, z

    @property
    def centres(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates of the centres of the cells, ready to broadcast to [x, y, z]."""
        x, y, z = np.ogrid[
            tuple(slice(a + 0.5, b) for a, b in zip(self.start, self.stop, strict=True))
        ]
        return x, y, z

    def contains(self, cell: tuple[int, ...]) -> bool:
        """Return whether the cell (x, y, z) is one of these."""
        return all(a <= c < b for c, a, b in zip(cell, self.start, self.stop, strict=True))

    def overlap(self, other: Extent) -> Extent | None:
        """Return the cells that are in both extents; None if there are none."""
        x0, y0, z0 = map(max, self.start, other.start)
        x1, y1, z1 = map(min, self.stop, other.stop)
        return Extent((x0, y0, z0), (x1, y1, z1)) if x0 < x1 and y0 < y1 and z0 < z1 else None

    def relative_to(self, other: Extent) -> Extent:
        """Return this extent in coordinates that begin at the first cell of another one."""
        ox, oy, oz = other.start
        (x0, y0, z0), (x1, y1, z1) = self
        return Extent((x0 - ox, y0 - oy, z0 - oz), (x1 - ox, y1 - oy, z1 - oz))
