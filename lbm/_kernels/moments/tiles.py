"""Tiles over which the blocks of a GPU's step march."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero.cuda.driver import SIMULATOR
from lbm.lattices import Lattice
from lbm.lattices.precision import Precision


class Tile(NamedTuple):
    """Cells of a block across z.

    Attributes
    ----------
    x, y : cells
    blocks : so many blocks of a multiprocessor must have enough registers
    """

    x: int
    y: int
    blocks: int = 1

    @property
    def threads(self) -> int:
        """The threads of a block, in whole warps."""
        return -(-(self.x + 2) * (self.y + 2) // 32) * 32


TILES = Tile(64, 12), Tile(64, 8), Tile(32, 12), Tile(32, 8), Tile(32, 4)
"""Tiles of blocks. More cells are faster, as long as the registers of the threads suffice."""

_FIRST_TILE = {(19, 4): 0, (27, 4): 1, (19, 8): 2, (27, 8): 3}
"""Largest tile without spilled registers for populations of a cell and bytes of a number. The first
from there on is used whose populations of two layers fit in the shared memory of a block."""


def shared_bytes(lattice: Lattice, itemsize: int, tile: Tile) -> int:
    """Return the shared memory of a block: two layers of populations that move across the tile."""
    return 2 * itemsize * count_moving(lattice) * (tile.x + 2) * (tile.y + 2)


def count_moving(lattice: Lattice) -> int:
    """Return how many populations of a cell move along x or y."""
    return sum(any(c[:2]) for c in lattice.velocities)


def choose_tile(lattice: Lattice, form: Precision, limit: int) -> Tile:
    """Return the tile of a block that has `limit` bytes of shared memory."""
    if SIMULATOR:
        return Tile(4, 2)
    itemsize = np.dtype(form.compute).itemsize
    tiles = TILES[_FIRST_TILE[lattice.size, itemsize] :]
    if form.storage is np.uint32 and not lattice.has_corners:
        # Memory does not limit words of two numbers: while one block waits, the other one computes.
        tiles = Tile(32, 12, 2), *tiles
    return next(tile for tile in tiles if shared_bytes(lattice, itemsize, tile) <= limit)
