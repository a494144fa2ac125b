"""The mass that walls bring into each connected region of fluid, and regions that cannot keep it.

Two fluid cells are connected if they share a face: diagonal links are open only along such cells.
The walls of a region bring in a mass that does not depend on its density, so that without an outlet
nothing ever balances it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from lbm._parallel.neighbours import add_neighbours, clear_beyond_walls
from lbm._parallel.partition import AXES, Partition
from lbm._parallel.ranks.communication import Ranks
from lbm.geometry.wall_links import SOLID_CLASS, Links, has_outlet_link, mass_inflow_of_classes
from lbm.lattices.extent import Triple

BALANCED = 1e-9
"""Largest net mass that counts as rounding, as a share of the sum of all amounts."""


class _Inflow(NamedTuple):
    """Mass that the walls bring into a region per step at density 1.

    Attributes
    ----------
    net : mass
    gross : sum of the amounts of all cells and links
    is_open : whether the region has an outlet
    cell : (x, y, z) of the first cell into which walls bring mass
    """

    net: float
    gross: float
    is_open: bool
    cell: Triple


def require_balanced_mass(ranks: Ranks, partition: Partition, links: Links) -> None:
    """Raise ValueError if walls fill or empty a connected region of fluid that has no outlet.

    `links` are the walls around the cells of this rank.
    """
    net, gross = mass_inflow_of_classes(links)
    is_open = has_outlet_link(links)
    counts = np.zeros(len(gross), np.int64)
    for layer in links.classes:
        counts += np.bincount(layer.ravel(), minlength=len(counts))
    if not ranks.any((gross[counts > 0] > 0.0).any()):
        return
    has_solids = ranks.any(counts[SOLID_CLASS])
    matters = (gross > 0.0) | is_open
    z, y, x = np.nonzero(matters[links.classes])
    classes = links.classes[z, y, x]
    numbers = np.zeros(len(x), np.int64)
    if has_solids:
        labels, region_of_label = _label_regions(links, ranks, partition)
        numbers = region_of_label[labels[x, y, z]]
    totals: dict[int, _Inflow] = {}
    x0, y0, z0 = partition.region(ranks.rank).start
    for number in np.unique(numbers).tolist():
        of_region = numbers == number
        region_classes = classes[of_region]
        first = int(np.argmax(of_region & (gross[classes] > 0.0)))
        cell = int(x[first]) + x0, int(y[first]) + y0, int(z[first]) + z0
        sums = math.fsum(net[region_classes]), math.fsum(gross[region_classes])
        totals[number] = _Inflow(*sums, bool(is_open[region_classes].any()), cell)
    for region in _join(ranks.gather_all(totals)):
        if not region.is_open and abs(region.net) > BALANCED * region.gross:
            raise ValueError(_describe(region))


def _join(totals: list[dict[int, _Inflow]]) -> list[_Inflow]:
    """Return the inflows of whole regions from those of the ranks."""
    joined = []
    for number in sorted(set().union(*totals)):
        parts = [theirs[number] for theirs in totals if number in theirs]
        moved = [part.cell for part in parts if part.gross > 0.0] or [parts[0].cell]
        net, gross = (math.fsum(getattr(p, name) for p in parts) for name in ("net", "gross"))
        joined.append(_Inflow(net, gross, any(p.is_open for p in parts), min(moved)))
    return joined


def _describe(region: _Inflow) -> str:
    """Return a message that says what fills a region, and what to change."""
    verb, trend = ("bring in", "rising") if region.net > 0 else ("take out", "falling")
    return (
        f"inlets and moving walls {verb} a net mass of {abs(region.net):.3g} per step in the "
        f"region of fluid around cell {region.cell}, which has no outlet: its density would keep "
        f"{trend}. Give this region an lbm.PressureOutlet(), or inlets that balance each other. A "
        "moving solid keeps mass if all of it has one velocity and nothing at rest touches it on "
        "the sides towards which it moves"
    )


def _label_regions(
    links: Links, ranks: Ranks, partition: Partition
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels of this rank's fluid cells [x, y, z], and the region of each label.

    Labels are those of cells that are connected within a rank, 0 in solid cells. Cells of a region
    have the same number of it on all ranks.
    """
    from scipy.ndimage import label
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    fluid = links.classes != SOLID_CLASS  # [z, y, x] as in memory, which `label` runs along
    of_memory, count = label(fluid)
    everyone = ranks.gather_all(int(count))
    if ranks.rank:
        np.add(of_memory, sum(everyone[: ranks.rank]), out=of_memory, where=fluid)
    labels = of_memory.T
    total = sum(everyone) + 1
    pairs = np.concatenate(ranks.gather_all(_touching_labels(labels, ranks, partition)))
    graph = coo_array((np.ones(len(pairs), bool), (pairs[:, 0], pairs[:, 1])), (total, total))
    _, region_of_label = connected_components(graph, directed=False)
    return labels, region_of_label


def _touching_labels(labels: np.ndarray, ranks: Ranks, partition: Partition) -> np.ndarray:
    """Return pairs [i, 2] of labels that share a face at the sides of this rank's cells."""
    around = add_neighbours(labels, ranks, partition)
    clear_beyond_walls(around, partition.region(ranks.rank), partition)
    pairs = [np.zeros((0, 2), np.int64)]
    for axis in AXES:
        inner = tuple(slice(None) if a == axis else slice(1, -1) for a in AXES)
        along = np.moveaxis(around[inner], axis, 0)
        for inner_labels, there in ((along[1], along[0]), (along[-2], along[-1])):
            # In a domain with one layer of cells nearly all of them join a label to itself.
            both = (inner_labels > 0) & (there > 0) & (inner_labels != there)
            pairs.append(_distinct_pairs(inner_labels[both], there[both]))
    return np.concatenate(pairs)


def _distinct_pairs(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the distinct pairs of non-negative integers, int64 [i, 2]."""
    factor = int(b.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(a.astype(np.int64) * factor + b), factor), axis=1)
