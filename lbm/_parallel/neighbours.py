"""Fields with one more cell around those of a rank, from the other ranks or the other end."""

from __future__ import annotations

import numpy as np

from lbm._parallel.partition import AXES, Partition
from lbm._parallel.ranks.communication import Ranks
from lbm.lattices.extent import Extent, Triple


def add_neighbours(
    values: np.ndarray, ranks: Ranks, partition: Partition, width: int = 1
) -> np.ndarray:
    """Return a field [..., x, y, z] of this rank with `width` more cells at both ends of each axis.

    These belong to other ranks, or to the other end of the domain, whether it is periodic or not.
    All ranks must call this.
    """
    regions = [partition.region(rank) for rank in range(ranks.size)]
    region, shape = regions[ranks.rank], partition.shape
    lead = values.shape[:-3]
    out = np.zeros((*lead, *(n + 2 * width for n in region.shape)), values.dtype)
    pieces = []
    for theirs in regions:
        halo = _halo_positions(theirs, region, shape, width)
        x, y, z = (cells - first for (_, cells), first in zip(halo, region.start, strict=True))
        pieces.append(values[..., x[:, None, None], y[:, None], z])
    for owner, piece in zip(regions, ranks.exchange(pieces), strict=True):
        x, y, z = (position for position, _ in _halo_positions(region, owner, shape, width))
        out[..., x[:, None, None], y[:, None], z] = piece
    return out


def clear_beyond_walls(
    values: np.ndarray, region: Extent, partition: Partition, width: int = 1
) -> None:
    """Set what `add_neighbours` has put beyond faces that are not periodic to 0 (False)."""
    for axis in AXES:
        if partition.periodic[axis]:
            continue
        along = np.moveaxis(values, values.ndim - 3 + axis, 0)
        if region.start[axis] == 0:
            along[:width] = 0
        if region.stop[axis] == partition.shape[axis]:
            along[-width:] = 0


def _halo_positions(
    reader: Extent, owner: Extent, shape: Triple, width: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return along each axis (positions in the reader's array with neighbours, cells there).

    Only cells that belong to the owner are returned.
    """
    positions = []
    for axis in AXES:
        cells = np.arange(reader.start[axis] - width, reader.stop[axis] + width) % shape[axis]
        (position,) = np.nonzero((owner.start[axis] <= cells) & (cells < owner.stop[axis]))
        positions.append((position, cells[position]))
    return positions
