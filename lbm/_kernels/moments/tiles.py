"""Tiles over which the blocks of a GPU's step march."""

from __future__ import annotations

from hetero.cuda.driver import SIMULATOR
from lbm.lattices import Lattice

TILES = (64, 12), (64, 8), (32, 12), (32, 8), (32, 4)
"""Tiles of blocks. More cells are faster, as long as the registers of the threads suffice."""

_FIRST_TILE = {(19, 4): 0, (27, 4): 1, (19, 8): 2, (27, 8): 3}
"""Largest tile without spilled registers for populations of a cell and bytes of a number. The first
from there on is used whose populations of two layers fit in the shared memory of a block."""


def shared_bytes(lattice: Lattice, itemsize: int, tile: tuple[int, int]) -> int:
    """Return the shared memory of a block: two layers of populations that move across the tile."""
    return 2 * itemsize * count_moving(lattice) * (tile[0] + 2) * (tile[1] + 2)


def count_moving(lattice: Lattice) -> int:
    """Return how many populations of a cell move along x or y."""
    return sum(any(c[:2]) for c in lattice.velocities)


def choose_tile(lattice: Lattice, itemsize: int, limit: int) -> tuple[int, int]:
    """Return the tile of a block that has `limit` bytes of shared memory."""
    if SIMULATOR:
        return 4, 2
    tiles = TILES[_FIRST_TILE[lattice.size, itemsize] :]
    return next(tile for tile in tiles if shared_bytes(lattice, itemsize, tile) <= limit)


def threads_of(tile: tuple[int, int]) -> int:
    """Return the threads of a block, in whole warps."""
    return -(-(tile[0] + 2) * (tile[1] + 2) // 32) * 32
