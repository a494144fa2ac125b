"""Fluid cells beside faces and solids, and the wall at the end of each of their links."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from lbm.boundaries import Condition, Enclosure
from lbm.geometry.wall_types import WallTypes
from lbm.lattices import Lattice
from lbm.lattices.extent import Extent, Triple


class BoundaryCells:
    """Fluid cells that may have walls beside them, and what is at the end of each of their links.

    Attributes
    ----------
    lattice : the lattice
    enclosure : the domain
    labels : those of its solids in and around the cells that are looked at
    z, y, x : int64 [cell], coordinates in the domain
    owner : uint8 [cell, q], the wall at the end of a link: 0 for none, 1 for a face, 2 + k for
        solid number k
    row : unsigned [cell, q], the row of the wall in `wall_types`
    wall_types : float64 [row, 5], the rows of `Links.wall_types` before the first step
    varying : rows that change with time
    slip : uint8 [cell, q], the axes (bits) in which free slip should mirror the link
    """

    def __init__(self, lattice: Lattice, enclosure: Enclosure, extent: Extent):
        self.lattice, self.enclosure, self.types = lattice, enclosure, WallTypes(lattice)
        solids = self._solids = list(enclosure.solids.values())
        labels = self.labels = label_solids(enclosure, extent)
        self.solid_numbers = np.array(
            [0, *(self.types.index_of(s.bounce) for s in solids)], np.uint16
        )
        self._by_rank = np.argsort([s.condition.rank for s in solids], kind="stable") + 1
        near = np.nonzero(near_walls(lattice.velocities, enclosure, labels, extent))
        self.z, self.y, self.x = (
            k + first for k, first in zip(near, reversed(extent.start), strict=True)
        )
        if labels is not None:
            self._places = labels.places_of(self.x, self.y, self.z)
        size = len(self.x), lattice.size
        self.owner, self.slip = np.zeros(size, np.uint8), np.zeros(size, np.uint8)
        self._number = np.zeros(size, np.uint16)  # of the wall in `types`: at most 254 solids
        for q in range(1, lattice.size):
            self._find_links(q)
        self.row, self.wall_types, self.varying = self.types.tabulate(
            self._number.astype(np.int64), self.owner > 0, np.stack([self.x, self.y, self.z], 1)
        )

    def links_of(self, condition: Condition) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells [link] and the populations [link] that end at a wall by a condition."""
        cell, q = np.nonzero((self._number == self.types.index_of(condition)) & (self.owner > 0))
        return cell, q

    def _find_links(self, q: int) -> None:
        """Fill column q of `owner`, of the numbers of walls, and of `slip`."""
        cells, ends, c = (self.x, self.y, self.z), [], self.lattice.velocities[q]
        through: list[tuple[int, Condition, np.ndarray]] = []
        shape, faces, _ = self.enclosure
        for axis in range(3):
            end = cells[axis] + c[axis]
            crossed = (end < 0) | (end >= shape[axis])
            ends.append(end)
            wall = None if c[axis] == 0 else faces[2 * axis + (c[axis] > 0)]
            if wall is not None and not wall.is_periodic:
                through.append((axis, wall, crossed))
        inside = np.ones(len(self.x), bool)
        for _, _, crossed in through:
            inside &= ~crossed
        if self.labels is not None:
            hit = np.where(inside, self._meet_solids(c, self.labels), 0)
            self.owner[:, q] = np.where(hit > 0, hit + 1, 0)
            self._number[:, q] = self.solid_numbers[hit]
        for choice in range(1, 1 << len(through)):
            selected = np.ones(len(inside), bool)
            for i, (_, _, crossed) in enumerate(through):
                selected &= crossed if choice >> i & 1 else ~crossed
            if not selected.any():
                continue
            walls = [(a, wall) for i, (a, wall, _) in enumerate(through) if choice >> i & 1]
            self.owner[selected, q] = 1
            self._number[selected, q], self.slip[selected, q] = self.types.of_link(walls)
            if self.labels is not None and len(walls) == 1:
                self._find_solids_behind_face(q, np.flatnonzero(selected), *walls[0], self.labels)

    def _meet_solids(
        self, c: Triple, labels: Labels, cells: slice | np.ndarray = slice(None)
    ) -> np.ndarray:
        """Return the labels of the solids at which links along c of some cells end, 0 for none.

        A diagonal link is open only where a path of steps through faces of fluid cells leads along
        it. Others end half-way, where solid cells touch in an edge or a corner: at the one whose
        condition has the lowest rank.
        """
        values, strides = labels.values.ravel(), labels.strides
        positions = self._places[cells]
        axes = [axis for axis in range(3) if c[axis]]
        label = np.zeros(len(positions), np.uint8)
        strongest = np.full(len(label), len(self._solids))
        solid_of_rank = np.append(len(self._solids), np.argsort(self._by_rank))
        is_open: dict[tuple[int, ...], np.ndarray] = {(): label == 0}
        for size in range(1, len(axes) + 1):
            for done in itertools.combinations(axes, size):
                label = values[positions + sum(c[a] * strides[a] for a in done)]
                before = [is_open[tuple(a for a in done if a != last)] for last in done]
                is_open[done] = (label == 0) & np.logical_or.reduce(before)
                strongest = np.minimum(strongest, solid_of_rank[label])
        closed = (label == 0) & ~is_open[tuple(axes)]
        label[closed] = self._by_rank[strongest[closed]]
        return label

    def _find_solids_behind_face(
        self, q: int, near: np.ndarray, axis: int, face: Condition, labels: Labels
    ) -> None:
        """Correct the links q of the cells `near` that leave through one face beside a solid."""
        cx, cy, cz = (0 if a == axis else k for a, k in enumerate(self.lattice.velocities[q]))
        hit = self._meet_solids((cx, cy, cz), labels, near)
        for k in np.unique(hit[hit > 0]):
            # Links that a slip face mirrors into an interpolated wall belong to that wall.
            mirrors, solid = face.mirrors, self._solids[k - 1]
            behind, condition = near[hit == k], solid.bounce if mirrors else solid.condition
            number, slip = self.types.of_link_behind_face(axis, face, condition)
            self._number[behind, q], self.slip[behind, q] = number, slip
            if mirrors:  # the face has no friction of its own
                self.owner[behind, q] = k + 1


class Labels:
    """Labels of cells: 0 for fluid, k + 1 for solid number k.

    Parameters
    ----------
    values : uint8 [z, y, x], with a ghost cell at both ends of each axis. Those beyond a periodic
        face repeat the cells at the other end of the domain; beyond other faces they are 0.
    start : (x, y, z) of the first cell that is not a ghost
    """

    def __init__(self, values: np.ndarray, start: Triple):
        self.values, self.start = values, start

    @property
    def inner(self) -> np.ndarray:
        """Labels without the ghost cells."""
        return self.values[1:-1, 1:-1, 1:-1]

    def of_cells(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the labels of cells, which may be ghosts, by their coordinates in the domain."""
        return self.values.ravel()[self.places_of(x, y, z)]

    @property
    def strides(self) -> Triple:
        """Distances of neighbours along x, y and z in the flat array of values."""
        _, ny, nx = self.values.shape
        return 1, nx, nx * ny

    def places_of(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return where cells are in the flat array of values, by their coordinates."""
        (x0, y0, z0), (_, row, layer) = self.start, self.strides
        return (z - z0 + 1) * layer + (y - y0 + 1) * row + (x - x0 + 1)


def label_solids(enclosure: Enclosure, extent: Extent) -> Labels | None:
    """Return the labels of the cells of an extent and around it; None without solids."""
    shape, faces, solids = enclosure
    if not solids:
        return None
    labels = np.zeros([n + 2 for n in reversed(extent.shape)], np.uint8)
    for k, (name, solid) in enumerate(solids.items()):
        cells = solid.cells_around(name, shape, extent).T
        if (other := int(labels[cells].max(initial=0))) > 0:
            both = cells & (labels == other)  # of parts, those around may have all of them
            shared = int(both[1:-1, 1:-1, 1:-1].sum() or both.sum())
            raise ValueError(
                f"boundaries[{name!r}] overlaps the solid {list(solids)[other - 1]!r} in {shared} "
                "cells: a cell belongs to one solid. Take it out of one of them, or join both if "
                "they have the same condition"
            )
        labels[cells] = k + 1
    for axis in range(3):
        along = np.moveaxis(labels, 2 - axis, 0)
        if not faces[2 * axis].is_periodic:
            if extent.start[axis] == 0:
                along[0] = 0
            if extent.stop[axis] == shape[axis]:
                along[-1] = 0
    return Labels(labels, extent.start)


def near_walls(
    velocities: Sequence[Triple], enclosure: Enclosure, labels: Labels | None, extent: Extent
) -> np.ndarray:
    """Return a mask [z, y, x] of the fluid cells of an extent that may have a wall beside them.

    A cell is beside what one of the velocities of a lattice reaches from it.
    """
    near = np.zeros(extent.shape[::-1], bool)
    for axis in range(3):
        if not enclosure.faces[2 * axis].is_periodic:
            ends = np.moveaxis(near, 2 - axis, 0)
            if extent.start[axis] == 0:
                ends[0] = True
            if extent.stop[axis] == enclosure.shape[axis]:
                ends[-1] = True
    if labels is not None:
        solid = labels.values > 0
        nx, ny, nz = extent.shape
        for cx, cy, cz in velocities:
            near |= solid[1 + cz : 1 + cz + nz, 1 + cy : 1 + cy + ny, 1 + cx : 1 + cx + nx]
        near &= labels.inner == 0
    return near
