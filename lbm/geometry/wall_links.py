"""Links from fluid cells into walls: a class for each cell, and tables of the classes.

Every cell has a class: 0 without a wall near, 1 for cells that are not fluid, and one number for
each combination of walls around a cell. A cubic cavity has 26 combinations, so that one byte per
cell is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lbm.boundaries import Enclosure
from lbm.boundaries.free_stream import EQUILIBRIUM
from lbm.geometry.boundary_cells import BoundaryCells
from lbm.geometry.cut_links import CutLinks, find_cut_links
from lbm.geometry.wall_types import HALF_STEP, VaryingRows
from lbm.lattices import Lattice
from lbm.lattices.extent import Extent

SOLID_CLASS = 1
"""Class of cells that are not fluid."""

INTO, SPECIAL, FROM = 0, 1, 2
"""Columns of `Links.masks`: links into walls, those whose return is more than a bounce, and
populations that come out of walls."""

RETURN = 3
"""Column of `Links.masks_with_returns`."""

SLIP, MOVING, MIXED = 0xFFFFFFF0, 0xFFFFFFF8, 0xFFFFFFFF
"""Values of the column RETURN that are not rows of `wall_types`: SLIP + axis for a face with free
slip, MOVING and MIXED."""

_FIRST_WALL_CLASS = 2
_MAX_SOLIDS = 254  # their labels are bytes, of which 0 and 1 have other meanings


@dataclass(frozen=True, eq=False)
class Links:
    """Walls of a domain.

    Attributes
    ----------
    lattice : the lattice, whose populations the links belong to
    classes : [z, y, x], the class of each cell, in the smallest unsigned dtype that holds them all
    masks : uint32 [class, column], bit q for population q; the columns are INTO, SPECIAL and FROM
    wall_rows : unsigned [class, q, 2]: the row of `wall_types` of the wall at the end of link q,
        and the population whose value it sends back, q itself except for free slip
    wall_types : float64 [type, 5], rows of parameters for `wall_formulas.wall_return` in step 0
    varying : rows of `wall_types` that change from step to step
    solid_sizes : number of cells that each named solid covers
    bodies : for each named solid the cells beside it [k, (z, y, x)], their links q [k], and the
        rows of `wall_types` there [k]
    cut : links that end at interpolated walls, or None
    """

    lattice: Lattice
    classes: np.ndarray
    masks: np.ndarray
    wall_rows: np.ndarray
    wall_types: np.ndarray
    varying: tuple[VaryingRows, ...]
    solid_sizes: dict[str, int]
    bodies: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
    cut: CutLinks | None = None

    @property
    def any(self) -> bool:
        """Return whether there is any wall at all."""
        return len(self.masks) > _FIRST_WALL_CLASS

    def wall_types_in(self, step: int, varying: Sequence[VaryingRows] | None = None) -> np.ndarray:
        """Return `wall_types` for a step, counted from 0.

        Rows that change are those of step 0, but for `varying`, by default all of them.
        """
        varying = self.varying if varying is None else varying
        if not varying:
            return self.wall_types
        table = self.wall_types.copy()
        for rows in varying:
            rows.write(table, step + HALF_STEP)
        return table

    def bits(self, column: int) -> np.ndarray:
        """Return whether each bit of a column of `masks` is set, bool [class, q]."""
        q = np.arange(self.lattice.size, dtype=np.uint32)
        bits: np.ndarray = self.masks[:, column, None] >> q & np.uint32(1)
        return bits.astype(bool)

    def masks_with_returns(self) -> np.ndarray:
        """Return `masks` with one more column, RETURN: what the special links of a class end at.

        It is MOVING if all of them end at moving walls; the row of `wall_types` if all end at one
        outlet; SLIP + axis if all end at a face with free slip across one axis; and else MIXED.
        """
        q = np.arange(self.lattice.size)
        special = self.bits(SPECIAL)
        row, image = self.wall_rows[:, :, 0], self.wall_rows[:, :, 1]
        is_outlet = self.wall_types[row, 0] != 0.0
        outlet = np.where(special & is_outlet, row, 0).max(axis=1)

        def all_special(condition: np.ndarray) -> np.ndarray:
            return (condition | ~special).all(axis=1)

        returns = np.full(len(row), MIXED, np.uint32)
        returns[all_special((image == q) & ~is_outlet)] = MOVING
        at_outlet = all_special((image == q) & is_outlet & (row == outlet[:, None]))
        returns = np.where(at_outlet & special.any(axis=1), outlet.astype(np.uint32), returns)
        for axis in range(3):
            slip = np.array(slip_images(self.lattice, 1 << axis))
            at_slip = all_special((image == slip) & (image != q))
            returns[at_slip & special.any(axis=1)] = SLIP + axis
        return np.column_stack([self.masks, returns])

    def find_varying_classes(self) -> np.ndarray:
        """Return the numbers of the classes with links into walls that change with time."""
        return np.flatnonzero(self.is_varying[self.wall_rows[:, :, 0]].any(axis=1))

    def added_by_walls(self) -> np.ndarray:
        """Return what moving walls add to the populations of each class, float64 [class, q].

        It is -6 w_q (c_q . U) on each link, whatever the density of the cell is (Ladd 1994).
        """
        velocity = self.wall_types[self.wall_rows[:, :, 0], 2:]  # [class, q, component]
        c, w = np.array(self.lattice.velocities), np.array(self.lattice.weights)
        return -6.0 * w * (velocity * c).sum(axis=2)

    def into_streams(self) -> np.ndarray:
        """Return which links end at free streams, bool [class, q]."""
        is_stream: np.ndarray = self.wall_types[self.wall_rows[:, :, 0], 0] == EQUILIBRIUM
        is_stream &= self.bits(INTO)
        is_stream &= self.wall_rows[:, :, 1] == np.arange(self.lattice.size)
        return is_stream

    def returned_by_streams(self) -> np.ndarray:
        """Return what free streams with the velocities of all walls would return, less the weights,
        float64 [class, q]: the equilibrium of density 1 with the velocity -c_q."""
        velocity = self.wall_types[self.wall_rows[:, :, 0], 2:]
        c, w = np.array(self.lattice.velocities), np.array(self.lattice.weights)
        cu, square = (velocity * c).sum(axis=2), (velocity**2).sum(axis=2)
        return w * (4.5 * cu**2 - 3.0 * cu - 1.5 * square)

    @property
    def is_varying(self) -> np.ndarray:
        """Return whether rows of `wall_types` change from step to step, bool [type]."""
        return _find_varying(len(self.wall_types), self.varying)


def classify_cells(lattice: Lattice, enclosure: Enclosure, extent: Extent | None = None) -> Links:
    """Find the walls around each cell of a domain and number the combinations.

    With `extent` only these cells are looked at, and the arrays of the result hold nothing else.
    """
    shape, faces, solids = enclosure
    extent = Extent.of_domain(shape) if extent is None else extent
    if not solids and all(face.is_periodic for face in faces):
        classes = np.zeros(extent.shape[::-1], np.uint8)
        masks, rows = np.zeros((2, 3), np.uint32), np.zeros((2, lattice.size, 2), np.uint8)
        return Links(lattice, classes, masks, rows, np.zeros((1, 5)), (), {}, {})
    if len(solids) > _MAX_SOLIDS:
        raise ValueError(
            f"at most {_MAX_SOLIDS} solids, got {len(solids)}: join those with one condition"
        )
    cells = BoundaryCells(lattice, enclosure, extent)
    labels = cells.labels
    partner = mirror_images(lattice, cells.slip, cells.owner, cells.row)
    has_walls, number, first = _number_combinations(cells.owner > 0, cells.row, partner)
    dtype = np.min_scalar_type(_FIRST_WALL_CLASS + len(first))
    classes = np.zeros(extent.shape[::-1], dtype)
    if labels is not None:
        classes[labels.inner > 0] = SOLID_CLASS
    x0, y0, z0 = extent.start
    position = cells.z - z0, cells.y - y0, cells.x - x0
    classes[position] = np.where(has_walls, number + _FIRST_WALL_CLASS, 0)
    wall_types, varying = cells.wall_types, cells.varying
    is_special = np.any(wall_types != 0, axis=1) | _find_varying(len(wall_types), varying)
    masks, wall_rows = _class_tables(
        lattice, cells.owner[first] > 0, cells.row[first], partner[first], is_special
    )
    counts = np.zeros(0, int) if labels is None else np.bincount(labels.inner.ravel())
    sizes = {name: int(counts[k]) if k < len(counts) else 0 for k, name in enumerate(solids, 1)}
    bodies = {}
    for k, name in enumerate(solids):
        cell, q = np.nonzero(cells.owner == k + 2)
        bodies[name] = np.stack(position, axis=1)[cell], q, cells.row[cell, q]
    cut = find_cut_links(cells, extent)
    return Links(lattice, classes, masks, wall_rows, wall_types, varying, sizes, bodies, cut)


def _find_varying(count: int, varying: Sequence[VaryingRows]) -> np.ndarray:
    """Return a mask of `count` rows that tells those which change with time."""
    mask = np.zeros(count, bool)
    for rows in varying:
        mask[rows.first : rows.first + len(rows.points)] = True
    return mask


def mass_inflow_of_classes(links: Links) -> tuple[np.ndarray, np.ndarray]:
    """Return the mass that walls bring into a cell of each class per step, and its amounts' sum.

    Both are arrays [class] in float64.
    """
    inflow = links.bits(INTO) * links.added_by_walls()
    return inflow.sum(axis=1), np.abs(inflow).sum(axis=1)


def has_outlet_link(links: Links) -> np.ndarray:
    """Return whether cells of each class have a link that ends at an outlet, bool [class].

    Walls that change with time count as outlets: what they bring in now they may take out later.
    """
    lets_out = (links.wall_types[:, 0] != 0.0) | links.is_varying
    return (links.bits(INTO) & lets_out[links.wall_rows[:, :, 0]]).any(axis=1)


def slip_images(lattice: Lattice, axes: int) -> list[int]:
    """Return for each population the one that free slip sends back against it.

    It runs into the same faces, which are across the axes of a bit mask, and along them the other
    way.
    """
    along = (tuple(x if axes >> a & 1 else -x for a, x in enumerate(c)) for c in lattice.velocities)
    return [lattice.velocities.index(c) for c in along]


def mirror_images(
    lattice: Lattice, slip: np.ndarray, owner: np.ndarray, row: np.ndarray
) -> np.ndarray:
    """Return the population whose value the wall sends back against q; set its owner and row.

    That is q itself where it bounces, and its mirror image where it meets a slip face. q runs into
    the face and its mirror image along the face too: the two swap. Where the mirror image meets
    another wall, at a corner, q bounces back, so that no mass is lost.
    """
    partner = np.broadcast_to(np.arange(lattice.size, dtype=np.uint8), slip.shape).copy()
    for q in range(lattice.size):
        for axes in np.unique(slip[:, q][slip[:, q] > 0]):
            image = slip_images(lattice, int(axes))[q]
            both = (slip[:, q] == axes) & (slip[:, image] == axes)
            partner[both, q] = image
            owner[both, q], row[both, q] = 1, 0
    return partner


def _number_combinations(
    walls: np.ndarray, row: np.ndarray, partner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (mask of cells with walls, number of each cell's combination, a cell of each)."""
    size = walls.shape[1]
    codes = np.where(walls, (row.astype(np.uint64) + np.uint64(1)) * np.uint64(size) + partner, 0)
    key = np.zeros(len(codes), np.uint64)
    for q in range(size):  # a hash: sorting rows would take minutes for millions of cells
        key = (key ^ codes[:, q]) * np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio
        key ^= key >> np.uint64(29)
    has_walls = np.asarray(walls.any(axis=1))
    _, first, inverse = np.unique(key[has_walls], return_index=True, return_inverse=True)
    first = np.flatnonzero(has_walls)[first]
    number = np.zeros(len(codes), np.int64)
    number[has_walls] = inverse
    if not np.array_equal(codes[first[number]][has_walls], codes[has_walls]):
        raise RuntimeError("two combinations of walls have the same hash: please report this bug")
    return has_walls, number, first


def _class_tables(
    lattice: Lattice,
    walls: np.ndarray,
    row: np.ndarray,
    partner: np.ndarray,
    is_special: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return `Links.masks` and `Links.wall_rows` for these combinations of walls.

    `is_special` says for each row of `wall_types` whether such walls do more than bounce.
    """
    q = np.arange(lattice.size, dtype=np.uint32)
    bits = np.uint32(1) << q
    special = (is_special[row] | (partner != q)) & walls
    masks = np.zeros((len(walls) + _FIRST_WALL_CLASS, 3), np.uint32)
    arriving = walls[:, list(lattice.opposite)]
    for column, links in ((INTO, walls), (SPECIAL, special), (FROM, arriving)):
        masks[_FIRST_WALL_CLASS:, column] = (links * bits).sum(axis=1, dtype=np.uint32)
    wall_rows = np.zeros((len(walls) + _FIRST_WALL_CLASS, lattice.size, 2), row.dtype)
    wall_rows[_FIRST_WALL_CLASS:] = np.stack([row, partner], axis=2)
    return masks, wall_rows
