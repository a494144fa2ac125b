"""The partition of a domain: a grid of parts, each on one device of one rank."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lbm._parallel.decomposition import Decomposition
from lbm.boundaries import Condition
from lbm.lattices.extent import Extent, Triple

AXES = 0, 1, 2
"""Numbers of the axes x, y and z, in the order in which halos are exchanged."""


@dataclass(frozen=True, eq=False)
class Partition:
    """A grid of parts.

    Attributes
    ----------
    bounds : for each axis, where the parts begin, and where the last one ends
    owners : int [x, y, z], the rank of each part
    periodic : for each axis, whether its ends are neighbours
    """

    bounds: tuple[tuple[int, ...], ...]
    owners: np.ndarray
    periodic: tuple[bool, ...]

    @property
    def cut(self) -> tuple[bool, ...]:
        """Return for each axis whether there are several parts along it, which then have halos."""
        return tuple(len(bounds) > 2 for bounds in self.bounds)

    @property
    def shape(self) -> Triple:
        """Number of cells of the whole domain along x, y and z."""
        x, y, z = (bounds[-1] for bounds in self.bounds)
        return x, y, z

    def extent(self, part: Triple) -> Extent:
        """Return the cells of a part."""
        (x0, x1), (y0, y1), (z0, z1) = (
            self.bounds[axis][part[axis] : part[axis] + 2] for axis in AXES
        )
        return Extent((x0, y0, z0), (x1, y1, z1))

    def neighbour(self, part: Triple, axis: int, sign: int) -> Triple | None:
        """Return the part beside another one, towards +axis or -axis, or None at a wall."""
        count = self.owners.shape[axis]
        k = part[axis] + sign
        if not self.periodic[axis] and not 0 <= k < count:
            return None
        x, y, z = (k % count if a == axis else part[a] for a in AXES)
        return x, y, z

    def parts_of(self, rank: int) -> list[Triple]:
        """Return the parts of a rank."""
        return [(int(x), int(y), int(z)) for x, y, z in np.argwhere(self.owners == rank)]

    def region(self, rank: int) -> Extent:
        """Return the box of all cells of a rank."""
        extents = [self.extent(part) for part in self.parts_of(rank)]
        x0, y0, z0 = np.min([e.start for e in extents], axis=0)
        x1, y1, z1 = np.max([e.stop for e in extents], axis=0)
        return Extent((int(x0), int(y0), int(z0)), (int(x1), int(y1), int(z1)))

    def split_rows(self, ratio: float) -> Partition:
        """Cut each part in two across y; the first gets the share `ratio` of its rows, in (0, 1).

        Raises
        ------
        ValueError
            If a part has only one row.
        """
        rows = self.bounds[1]
        fine = [0]
        for y0, y1 in itertools.pairwise(rows):
            if y1 - y0 < 2:
                raise ValueError(
                    f"ratio={ratio!r} cuts boxes between two rows y, but one has a single row: "
                    "use ratio=0 or ratio=1, or fewer boxes along y"
                )
            fine += [y0 + cut_rows(y1 - y0, ratio), y1]
        bounds = self.bounds[0], tuple(fine), self.bounds[2]
        return Partition(bounds, np.repeat(self.owners, 2, axis=1), self.periodic)


def cut_rows(rows: int, ratio: float) -> int:
    """Return how many of `rows` rows the share `ratio` stands for.

    It is none or all of them only if the share is 0 or 1, or if there is one row.
    """
    if ratio in (0.0, 1.0):
        return int(ratio) * rows
    return min(max(1, round(ratio * rows)), rows - 1)


def make_partition(
    shape: Triple,
    faces: Sequence[Condition],
    decomposition: Decomposition,
    lanes: int = 1,
    one_rank: bool = False,
) -> Partition:
    """Cut a domain; box number r belongs to rank r, or all of them to rank 0."""
    periodic = tuple(faces[2 * axis].is_periodic for axis in AXES)
    numbers = np.arange(decomposition.count) * (not one_rank)
    owners = numbers.reshape(decomposition.grid, order="F")
    return Partition(decomposition.bounds(shape, lanes), owners, periodic)
