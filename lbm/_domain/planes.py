"""Planes of populations that cross the faces between neighbouring parts after a step.

Axes are exchanged one after another, each with planes that include the halos of the others. So
populations that cross an edge or a corner travel by way of the parts beside it, and six neighbours
suffice for all directions. Which slots cross follows from the addresses of the streaming pattern
(Riesinger 2017, section 14.3, for A-A). A step stores some of them in the sender's halo, from where
they go into the receiver's cells; others are in the sender's cells, and the receiver's next step
will load them from its halo.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lbm._model.problem import Problem, row_position
from lbm._model.streaming_patterns import Pattern
from lbm._model.wall_links import INTO


class Planes(NamedTuple):
    """Planes of an array [slot, cell], each with the same numbers of elements along u and v.

    Attributes
    ----------
    slots : int64 [plane]
    offsets : int64 [plane], the first cell of each plane
    strides : cells from one element to the next along u and along v
    """

    slots: np.ndarray
    offsets: np.ndarray
    strides: tuple[int, int]


class Face(NamedTuple):
    """A face of the own cells of a block, across which messages travel.

    Attributes
    ----------
    problem : the block, with its halo
    axis : the axis across the face
    edge : coordinate of the own cells at the face
    outside : +1 if larger coordinates lie outside, otherwise -1
    """

    problem: Problem
    axis: int
    edge: int
    outside: int

    @property
    def size(self) -> tuple[int, int]:
        """Number of elements of a plane along u and v."""
        nx, ny, nz = self.problem.shape
        u, v = ((nz, ny), (nz, nx), (ny, nx))[self.axis]
        return u, v

    def planes(self, slots: np.ndarray, coordinates: np.ndarray) -> Planes:
        """Return planes of the block at these coordinates of the axis."""
        nx, ny, _ = self.problem.shape
        if self.axis == 0:
            offsets = row_position(coordinates, nx, self.problem.precision.lanes)
            return Planes(slots, offsets, (nx * ny, nx))
        if self.axis == 1:
            return Planes(slots, coordinates * nx, (nx * ny, 1))
        return Planes(slots, coordinates * (nx * ny), (nx, 1))

    def outgoing(self, odd: int) -> Planes:
        """Return the planes that leave through this face after an even or odd step."""
        slots, stored = crossing_slots(self.problem.pattern, odd, self.axis, self.outside)
        return self.planes(slots, np.where(stored, self.edge + self.outside, self.edge))

    def incoming(self, odd: int) -> tuple[Planes, np.ndarray]:
        """Return the planes that arrive through this face, and which elements may be written."""
        slots, stored = crossing_slots(self.problem.pattern, odd, self.axis, -self.outside)
        coordinates = np.where(stored, self.edge, self.edge + self.outside)
        return self.planes(slots, coordinates), self._writable(slots, coordinates)

    def _writable(self, slots: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """Return where planes hold nothing that walls have returned to the block's cells.

        bool [plane, u, v], or an array without elements if all of them may be written.
        """
        problem, along = self.problem, 2 - self.axis
        classes, into_wall = problem.links.classes, problem.links.masks[:, INTO]
        writable = np.ones((len(slots), *self.size), bool)
        opposite = problem.lattice.opposite
        for q in range(1, problem.lattice.size):
            slot, shift = problem.pattern.steps[0].wall[opposite[q]]
            in_plane = [shift[a] for a in (2, 1, 0) if a != self.axis]
            for k in np.flatnonzero(slots == slot):
                cell = int(coordinates[k]) - shift[self.axis]
                if 0 <= cell < problem.shape[self.axis]:
                    returned = into_wall[classes.take(cell, along)] >> np.uint32(q) & 1
                    writable[k] &= np.roll(returned, in_plane, (0, 1)) == 0
        if writable.all():
            return writable[:0]
        if self.axis == 0:
            return writable
        nx = problem.shape[0]
        x = np.argsort(row_position(np.arange(nx), nx, problem.precision.lanes))
        return np.ascontiguousarray(writable[:, :, x])


def buffer_planes(count: int, size: tuple[int, int]) -> Planes:
    """Return the rows of a buffer [plane, u v], which holds nothing but the planes of a message."""
    return Planes(np.arange(count), np.zeros(count, np.int64), (size[1], 1))


def crossing_slots(
    pattern: Pattern, odd: int, axis: int, sign: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the slots that cross a face towards +axis or -axis after an even or odd step.

    The second array says which of them the step has stored beyond the face.
    """
    now, after = pattern.steps[odd], pattern.steps[1 - odd]
    stored = {(a.slot, True) for a in now.store if a.shift[axis] == sign}
    loaded = {(a.slot, False) for a in after.load if a.shift[axis] == -sign}
    slots, is_stored = zip(*sorted(stored | loaded), strict=True)
    return np.array(slots, np.int64), np.array(is_stored)


class CopyTables(NamedTuple):
    """Tables with which `copy_planes` copies planes of one array to planes of another.

    Attributes
    ----------
    planes : int64 [plane, 4]: slot and offset in the source, slot and offset in the target
    layout : int64 [7]: strides along u and v in the source and in the target, the size along u and
        v, and whether there is a mask
    writable : bool [plane, u, v], the mask of the elements to copy
    """

    planes: np.ndarray
    layout: np.ndarray
    writable: np.ndarray


def copy_tables(
    source: Planes, target: Planes, size: tuple[int, int], writable: np.ndarray | None = None
) -> CopyTables:
    """Return the tables of a copy between planes, of all elements if there is no mask."""
    planes = np.stack([source.slots, source.offsets, target.slots, target.offsets], axis=1)
    masked = writable is not None and writable.size > 0
    layout = np.array([*source.strides, *target.strides, *size, masked], np.int64)
    mask = writable if writable is not None and masked else np.ones((1, 1, 1), bool)
    return CopyTables(np.ascontiguousarray(planes, np.int64), layout, mask)
