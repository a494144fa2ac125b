"""A warning of interpolated walls in gaps of a few cells, which their rule does not resolve.

Between flat walls d beyond the outermost centres a force drives the following share of the exact
flow rate (TRT, magic number 3/16, tau = 0.8):

    cells    d = 0.01    0.1     0.25    0.5     0.75    0.99
    1        5440        49      6.4     1       0.71    0.56
    2        55          5.4     2.1     1       0.88    0.78
    4        1.53        1.37    1.19    1       0.96    0.91
    8        1.08        1.06    1.04    1       0.99    0.97
"""

from __future__ import annotations

import warnings

import numpy as np

from lbm._parallel.neighbours import add_neighbours
from lbm._parallel.partition import Partition
from lbm._parallel.ranks.communication import Ranks
from lbm.boundaries import Enclosure
from lbm.geometry.cut_links import CutLinks
from lbm.geometry.wall_links import SOLID_CLASS, Links

NARROW = 4
"""Cells across a gap up to which the flow rate may be wrong by 10 % and more."""

HALFWAY = 0.05
"""Share of a link by which a wall may stand beside its middle, where the flow rate is exact."""

FACING = 0.8
"""Smallest cosine between a link and the normal of its wall for links that measure a gap: chords of
a round wall are short beside it, however wide the channel is."""


def warn_of_narrow_gaps(
    links: Links, enclosure: Enclosure, ranks: Ranks, partition: Partition
) -> None:
    """Warn of interpolated walls that have another wall in front of them within NARROW cells.

    `links` are the walls around the cells of this rank. All ranks must call this. Modelled walls
    stand half-way.
    """
    if links.cut is None:
        return
    fluid = add_neighbours((links.classes != SOLID_CLASS).T, ranks, partition, NARROW)
    region = partition.region(ranks.rank)
    for axis in range(3):
        along = np.moveaxis(fluid, axis, 0)
        low, high = enclosure.faces[2 * axis : 2 * axis + 2]
        if not low.is_periodic and region.start[axis] == 0:
            along[:NARROW] = not low.has_friction
        if not high.is_periodic and region.stop[axis] == partition.shape[axis]:
            along[-NARROW:] = not high.has_friction
    halfway = [k for k, name in enumerate(links.cut.names) if enclosure.solids[name].is_modelled]
    is_narrow = _find_narrow(links.cut, fluid) & ~np.isin(links.cut.body, halfway)
    narrow, total = ranks.sum(np.array([is_narrow.sum(), len(links.cut)])).tolist()
    bodies = [name for k, name in enumerate(links.cut.names)
              if ranks.any((links.cut.body[is_narrow] == k).any())]  # fmt: skip
    if narrow and ranks.rank == 0:
        warnings.warn(
            f"{narrow} of {total} links into interpolated walls ({', '.join(bodies)}) lie in gaps "
            f"of at most {NARROW} cells, where linear interpolation does not resolve the flow: "
            "with 4 cells the flow rate is 0.9 to 1.5 times the right one, with 2 cells 0.8 to 50 "
            "times, as walls stand farther from or nearer to the last centres. Use 8 cells or more "
            "across such gaps, or wall='halfway', which is exact where walls are half-way",
            stacklevel=4,
        )


def _find_narrow(cut: CutLinks, fluid: np.ndarray) -> np.ndarray:
    """Return which links have a wall before them, bool [link].

    `fluid` [x, y, z] has NARROW more cells at both ends of each axis than the cells of links.
    """
    c, cells = cut.directions, cut.cells[:, ::-1] + NARROW
    _, cell = np.unique(np.ravel_multi_index(tuple(cells.T), fluid.shape), return_inverse=True)
    normal = np.stack([np.bincount(cell, cut.weights * along) for along in c.T], axis=1)[cell]
    product = (c * normal).sum(axis=1)
    lengths = np.linalg.norm(c, axis=1) * np.linalg.norm(normal, axis=1)
    is_open = np.ones(len(c), bool)
    for k in range(1, NARROW + 1):
        is_open &= fluid[tuple((cells - k * c.astype(np.int64)).T)]
    is_shifted = np.abs(cut.distance - 0.5) > HALFWAY
    return ~is_open & is_shifted & (product >= FACING * lengths - 1e-12)
