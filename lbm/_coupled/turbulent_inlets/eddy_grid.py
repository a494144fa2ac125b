"""The tiles of an inlet's plane, to which its eddies belong."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hetero import philox
from lbm._coupled.turbulent_inlets.inlet_plane import InletPlane
from lbm.boundaries.synthetic_eddies import SyntheticEddies

REACH = 4.0 / 3.0
"""Reach of an eddy, over the integral length: the correlation of tents of reach 1 has the integral
3/4."""

TENT_SQUARE = 2.0 / 3.0
"""Integral of the square of a tent of height 1 and reach 1."""

LEAST_TILES = {False: 1, True: 2}
"""Least number of tiles across the plane, by whether it is periodic: with two, an eddy and its
periodic image do not overlap."""


class EddyGrid(NamedTuple):
    """Tiles of the plane of an inlet, each with as many eddies, and one more tile at each end.

    A tile is at least as wide as an eddy reaches, so that only a point's own tile and the eight
    around it have eddies that act there. Those beyond the edges are the tiles of the other end
    where the domain is periodic, and tiles of their own elsewhere. The two axes of the plane are
    those of the domain in their order.

    Attributes
    ----------
    face : number of the face
    tiles : numbers of tiles along both axes, without those at the ends
    wraps : whether the plane is periodic along each axis
    width, reach : of a tile and of an eddy along each axis, in cells
    per_tile : eddies in each tile
    amplitude : height of an eddy that gives the sum of all of them variance 1
    key : of the random numbers
    """

    face: int
    tiles: tuple[int, ...]
    wraps: tuple[bool, bool]
    width: tuple[float, ...]
    reach: tuple[float, ...]
    per_tile: int
    amplitude: float
    key: tuple[np.uint32, np.uint32]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Whole numbers of the grid, as `formulas.place_eddy` takes them."""
        return (self.face, *self.tiles, *map(int, self.wraps), self.per_tile, *map(int, self.key))

    @property
    def lengths(self) -> tuple[float, ...]:
        """Other numbers of the grid, as `formulas.place_eddy` takes them."""
        return *self.width, *self.reach, self.amplitude

    @property
    def eddies(self) -> int:
        """Number of eddies of all tiles, with those at the ends."""
        return (self.tiles[0] + 2) * (self.tiles[1] + 2) * self.per_tile


def make_grid(eddies: SyntheticEddies, plane: InletPlane) -> EddyGrid:
    """Return the tiles of the plane of an inlet for its eddies.

    The box through which eddies pass is as deep as they are long, so that the share of their time
    in which they act does not depend on it. Raises ValueError if lengths are too large for the
    plane.
    """
    reach, tiles, width = list[float](), list[int](), list[float]()
    for axis, wraps in zip(plane.axes, plane.wraps, strict=True):
        cells, length = plane.shape[axis], eddies.lengths[axis]
        reach.append(REACH * length)
        tiles.append(math.floor(cells / reach[-1]))
        if tiles[-1] < (least := LEAST_TILES[wraps]):
            periodic = "is periodic" if wraps else "is not periodic"
            raise ValueError(
                f"length must be at most {1 / least / REACH:.4g} of the width of the inlet, which "
                f"{periodic} and has {cells} cells along {'xyz'[axis]}, got {length:g}"
            )
        width.append(cells / tiles[-1])
    area = width[0] * width[1]
    per_tile = max(1, round(eddies.count * area / (reach[0] * reach[1])))
    # One eddy brings in the square of its height times 1/2 (the integral over a depth of two
    # reaches, over this depth) times the integrals over the plane, over the area of a tile.
    share = 0.5 * TENT_SQUARE**3 * reach[0] * reach[1] / area
    amplitude, key = 1.0 / math.sqrt(per_tile * share), philox.key(eddies.seed)
    sizes = tuple(tiles), plane.wraps, tuple(width), tuple(reach)
    return EddyGrid(plane.face, *sizes, per_tile, amplitude, key)
