"""Planes of populations and of fields that cross the faces between neighbouring parts.

Populations are exchanged along one axis after another, with planes that include the halos of the
others. So those that cross an edge or a corner travel by way of the parts beside it, and six
neighbours suffice for all directions. Which slots cross follows from the addresses of the streaming
pattern (Riesinger 2017, section 14.3, for A-A). A step stores some of them in the sender's halo,
from where they go into the receiver's cells; others are in the sender's cells, and the receiver's
next step will load them from its halo.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lbm._kernels.problem import row_position
from lbm._parallel.parts import Part
from lbm.geometry.wall_links import INTO
from lbm.lattices.streaming_patterns import Pattern


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


class Face(abc.ABC):
    """A face of the own cells of a block, across which planes of an array [slot, cell] travel.

    Parameters
    ----------
    part : the part that has the block
    axis : the axis across the face
    outside : +1 if larger coordinates lie outside, otherwise -1

    Attributes
    ----------
    shape : cells of the block along x, y and z, with its halo
    dtype : type of the array's elements
    edge : coordinate of the own cells at the face
    """

    def __init__(self, part: Part, axis: int, outside: int):
        self.problem, self.shape = part.engine.problem, part.engine.problem.shape
        self.dtype: type = self.problem.precision.storage
        self.axis, self.edge, self.outside = axis, part.edge_plane(axis, outside), outside

    @abc.abstractmethod
    def crossing(self, odd: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the slots that move towards `sign` across the face after an even or odd step.

        The second array, bool [slot], says which of them are beyond the face already, in the halo
        of the sender: they go into the cells of the receiver. The others go from cells into the
        halo of the receiver.
        """

    def writable(self, slots: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """Return which elements of planes that arrive may be written, bool [plane, u, v].

        An array without elements stands for all of them.
        """
        return np.ones((0, *self.size), bool)

    def x_positions(self, coordinates: np.ndarray) -> np.ndarray:
        """Return where the array has the cells with these coordinates along x, in a row."""
        return coordinates

    @property
    def size(self) -> tuple[int, int]:
        """Number of elements of a plane along u and v."""
        nx, ny, nz = self.shape
        u, v = ((nz, ny), (nz, nx), (ny, nx))[self.axis]
        return u, v

    def planes(self, slots: np.ndarray, coordinates: np.ndarray) -> Planes:
        """Return planes of the block at these coordinates of the axis."""
        nx, ny, _ = self.shape
        if self.axis == 0:
            return Planes(slots, self.x_positions(coordinates), (nx * ny, nx))
        if self.axis == 1:
            return Planes(slots, coordinates * nx, (nx * ny, 1))
        return Planes(slots, coordinates * (nx * ny), (nx, 1))

    def outgoing(self, odd: int) -> Planes:
        """Return the planes that leave through this face after an even or odd step."""
        slots, beyond = self.crossing(odd, self.outside)
        return self.planes(slots, np.where(beyond, self.edge + self.outside, self.edge))

    def incoming(self, odd: int) -> tuple[Planes, np.ndarray]:
        """Return the planes that arrive through this face, and which elements may be written."""
        slots, beyond = self.crossing(odd, -self.outside)
        coordinates = np.where(beyond, self.edge, self.edge + self.outside)
        return self.planes(slots, coordinates), self.writable(slots, coordinates)


class PopulationFace(Face):
    """A face across which populations travel, those that cross it in a step."""

    def crossing(self, odd: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the slots of the streaming pattern that cross the face."""
        return crossing_slots(self.problem.pattern, odd, self.axis, sign)

    def x_positions(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the places of cells in a row, whose words may hold two cells."""
        return row_position(coordinates, self.shape[0], self.problem.precision.lanes)

    def writable(self, slots: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """Return where planes hold nothing that walls have returned to the block's cells."""
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
        x = np.argsort(self.x_positions(np.arange(self.shape[0])))
        return np.ascontiguousarray(writable[:, :, x])


class MomentsFace(Face):
    """A face across z of a block whose state is moments: whole layers of cells travel.

    Layers consist of whole groups of cells.
    """

    def crossing(self, odd: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the only slot; its layer goes from the cells into the halo of the receiver."""
        return np.zeros(1, np.int64), np.zeros(1, bool)

    @property
    def size(self) -> tuple[int, int]:
        """Rows of a layer, and words of a row."""
        nx, ny, _ = self.shape
        return ny, nx * self.problem.precision.moments

    def planes(self, slots: np.ndarray, coordinates: np.ndarray) -> Planes:
        """Return the layers with these coordinates in the flat array of the block."""
        u, v = self.size
        return Planes(slots, coordinates * (u * v), (v, 1))


class FieldFace(Face):
    """A face across which planes of a field [row, z, y, x] travel, the same rows after every step.

    Parameters
    ----------
    part, axis, outside : those of `Face`
    rows : the rows that move towards +axis and those that move towards -axis
    beyond : whether these are beyond the face already, as populations are that have streamed
    mask : bool [u, v], the elements that may be written at this face; None for all
    """

    def __init__(
        self, part: Part, axis: int, outside: int, rows: tuple[Sequence[int], Sequence[int]],
        beyond: bool, mask: np.ndarray | None,
    ):  # fmt: skip
        super().__init__(part, axis, outside)
        self.dtype = self.problem.precision.compute
        self._rows, self._beyond, self._mask = rows, beyond, mask

    def crossing(self, odd: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of the field that move towards `sign`."""
        rows = np.array(self._rows[0 if sign > 0 else 1], np.int64)
        return rows, np.full(len(rows), self._beyond)

    def writable(self, slots: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
        """Return the mask of the face for each row."""
        if self._mask is None:
            return super().writable(slots, coordinates)
        return np.ascontiguousarray(np.broadcast_to(self._mask, (len(slots), *self.size)))


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
