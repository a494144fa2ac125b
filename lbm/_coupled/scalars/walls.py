"""Links of a scalar's lattice into walls: a class for each cell, and tables of the classes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lbm._coupled.scalars.formulas import FLUX, INFLOW, OUTFLOW, STREAMS, VALUE
from lbm._coupled.scalars.scalar import FixedValue, Scalar, boundary_at
from lbm.boundaries import FACES, Condition, Enclosure
from lbm.geometry.boundary_cells import Labels, label_solids, near_walls
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.extent import Extent

DIRECTIONS = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
"""Velocities (x, y, z) of the populations."""

Q7 = len(DIRECTIONS)
"""Number of populations of a cell."""

OPPOSITE = tuple(DIRECTIONS.index((-x, -y, -z)) for x, y, z in DIRECTIONS)
"""OPPOSITE[q] is the population with the opposite velocity."""

_FIRST_WALL_CLASS = 2


class Wall(NamedTuple):
    """A wall: kind of its links, and its value or flux."""

    kind: int
    number: float


class ScalarLinks(NamedTuple):
    """Walls around the cells of a rank.

    Attributes
    ----------
    classes : unsigned [z, y, x]: 0 without a wall near, 1 for cells that are not fluid
    kinds : int8 [class, 7]
    numbers : float64 [class, 7]
    links : by the name of a face or solid, its wall, cells [k, (z, y, x)] and directions q [k]
    """

    classes: np.ndarray
    kinds: np.ndarray
    numbers: np.ndarray
    links: dict[str, tuple[Wall, np.ndarray, np.ndarray]]


def make_wall(scalar: Scalar, name: str, condition: Condition) -> Wall:
    """Return the wall of a scalar at a face or a solid, whose condition for the flow is known."""
    boundary, is_open = boundary_at(scalar, name), condition.is_open
    if isinstance(boundary, FixedValue):
        return Wall(INFLOW if is_open else VALUE, boundary.value)
    if boundary is not None:
        return Wall(FLUX, boundary.flux)
    return Wall(OUTFLOW if is_open else FLUX, 0.0)


def classify_links(enclosure: Enclosure, scalar: Scalar, extent: Extent) -> ScalarLinks:
    """Find the walls around each cell of an extent of the domain, and number the combinations."""
    labels, conditions = label_solids(enclosure, extent), enclosure.conditions
    walls = [make_wall(scalar, name, condition) for name, condition in conditions.items()]
    # Only cells beside walls are looked at: arrays of links of all cells would take gigabytes.
    cells = np.stack(np.nonzero(near_walls(DIRECTIONS, enclosure, labels, extent)), axis=1)
    ends = np.stack([_walls_at_ends(cells, enclosure, labels, extent, q) for q in range(Q7)])
    beside = ends.any(axis=0)
    cells, ends = cells[beside], ends[:, beside]
    codes = _number_rows(ends, len(walls))
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    dtype = np.min_scalar_type(_FIRST_WALL_CLASS + len(first))
    classes = np.zeros(extent.shape[::-1], dtype)
    if labels is not None:
        classes[labels.inner > 0] = SOLID_CLASS
    classes[tuple(cells.T)] = _FIRST_WALL_CLASS + index
    kinds = np.full((_FIRST_WALL_CLASS + len(first), Q7), STREAMS, np.int8)
    numbers = np.zeros(kinds.shape)
    for c, row in enumerate(ends[:, first].T, _FIRST_WALL_CLASS):
        for q, number in enumerate(row):
            if number:
                kinds[c, q], numbers[c, q] = walls[number - 1]
    links: dict[str, tuple[Wall, np.ndarray, np.ndarray]] = {}
    for number, (name, condition) in enumerate(conditions.items(), 1):
        if not condition.is_periodic:
            direction, cell = np.nonzero(ends == number)
            links[name] = walls[number - 1], cells[cell], direction
    return ScalarLinks(classes, kinds, numbers, links)


def _number_rows(ends: np.ndarray, walls: int) -> np.ndarray:
    """Return a number for each combination of walls [q, cell], in the order of q.

    There are at most 254 solids and 6 faces, and 261^7 is below 2^57.
    """
    codes = np.zeros(ends.shape[1], np.int64)
    for row in ends:
        codes = codes * (walls + 1) + row
    return codes


def _walls_at_ends(
    cells: np.ndarray, enclosure: Enclosure, labels: Labels | None, extent: Extent, q: int
) -> np.ndarray:
    """Return for each cell (z, y, x) of an extent the number of the wall at the end of link q.

    Numbers count from 1, and 0 is no wall. Faces come first, in the order of their names, and then
    the solids.
    """
    c, (shape, faces, _) = DIRECTIONS[q], enclosure
    end = cells[:, ::-1] + np.array(extent.start) + np.array(c)
    numbers = np.zeros(len(cells), np.int16)
    if labels is not None:
        beside = labels.of_cells(*end.T)
        numbers = np.where(beside > 0, len(FACES) + beside.astype(np.int16), 0)
    for axis in range(3):
        face = 2 * axis + (c[axis] > 0)
        if c[axis] and not faces[face].is_periodic:
            numbers[(end[:, axis] < 0) | (end[:, axis] >= shape[axis])] = 1 + face
    return numbers
