"""Links from fluid cells into walls: a class for each cell, and tables of the classes.

Every cell has a class: 0 without a wall near, 1 for cells that are not fluid, and one number for
each combination of walls around a cell. A cubic cavity has 26 combinations, so that one byte per
cell is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lbm._model.extent import Extent, Triple
from lbm._model.lattice import OPPOSITE, C, Q, W
from lbm.boundaries import (
    Condition,
    FreeSlip,
    MovingWall,
    NoSlip,
    Periodic,
    PressureOutlet,
    Solid,
    VelocityInlet,
    WallCondition,
)

SOLID_CLASS = 1
"""Class of cells that are not fluid."""

INTO, SPECIAL, FROM = 0, 1, 2
"""Columns of `Links.masks`: links into walls, those whose return is more than a bounce, and
populations that come out of walls."""

_FIRST_WALL_CLASS = 2
_MAX_WALL_TYPES = 256  # their indices are bytes
_MAX_SOLIDS = 254  # their labels are bytes, of which 0 and 1 have other meanings


@dataclass(frozen=True, eq=False)
class Links:
    """Walls of a domain.

    Attributes
    ----------
    classes : [z, y, x], the class of each cell, in the smallest unsigned dtype that holds them all
    masks : uint32 [class, column], bit q for population q; the columns are INTO, SPECIAL and FROM
    wall_rows : uint8 [class, q, 2]: the row of `wall_types` of the wall at the end of link q, and
        the population whose value it sends back, q itself except for free slip
    wall_types : float64 [type, 5], rows of parameters for `_engines.cell_formulas.wall_return`
    bodies : for each named solid the cells beside it [k, (z, y, x)], their links q [k], and the
        velocity of the wall there [k, 3]
    """

    classes: np.ndarray
    masks: np.ndarray
    wall_rows: np.ndarray
    wall_types: np.ndarray
    bodies: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]

    @property
    def any(self) -> bool:
        """Return whether there is any wall at all."""
        return len(self.masks) > _FIRST_WALL_CLASS


class _WallTypes:
    """Rows of `Links.wall_types`, numbered in the order in which they occur; row 0 is at rest."""

    def __init__(self) -> None:
        self.rows = [NoSlip().parameters()]

    def index_of(self, row: tuple[float, ...]) -> int:
        """Return the index of a row, which is added if it is new."""
        if row not in self.rows:
            if len(self.rows) == _MAX_WALL_TYPES:
                raise ValueError(
                    f"boundaries hold more than {_MAX_WALL_TYPES} different velocities and "
                    "densities: give some walls the same"
                )
            self.rows.append(row)
        return self.rows.index(row)

    def of_link(self, crossed: Sequence[tuple[int, WallCondition]]) -> tuple[int, int]:
        """Return (row, slip axes as bits) of a link that meets one or more conditions.

        `crossed` holds (axis, condition) pairs. If the second number is not 0, the link should be
        mirrored in these axes, and the row applies only if that is impossible.
        """
        conditions = [wall for _, wall in crossed]
        slip = sum(1 << axis for axis, wall in crossed if isinstance(wall, FreeSlip))
        strongest = min(conditions, key=lambda wall: wall.rank)
        # Fluid slides along slip faces and passes inlets and outlets: nothing turns the tangential
        # velocity around where these meet, so only the component across the slip faces is mirrored.
        if slip and all(isinstance(w, FreeSlip) or not is_impermeable(w) for w in conditions):
            return self.index_of(strongest.parameters()), slip
        # Two impermeable faces: a velocity of one along the other's normal would push mass through
        # the edge, and across itself a face has none.
        if len(conditions) > 1 and all(map(is_impermeable, conditions)):
            return 0, 0
        return self.index_of(strongest.parameters()), 0

    def of_link_behind_face(
        self, axis: int, face: WallCondition, condition: WallCondition
    ) -> tuple[int, int]:
        """Return the same for a link through one face, beside a solid that reaches this face.

        The link ends where the solid would continue behind the face. Two faces with the conditions
        of the face and of the solid would meet in an edge there.
        """
        if not (is_impermeable(face) and is_impermeable(condition)):
            return self.of_link([(axis, face), (-1, condition)])
        # Each of the two blocks the fluid in one direction, and only its velocity along the other
        # counts: that of the face is 0 across it.
        row = list(condition.parameters())
        row[2 + axis] = 0.0
        return self.index_of(tuple(row)), 0


def is_impermeable(condition: Condition) -> bool:
    """Return whether no fluid passes a face or a solid with this condition."""
    if isinstance(condition, VelocityInlet | PressureOutlet):
        return False
    return isinstance(condition, NoSlip | MovingWall | FreeSlip)


class _BoundaryCells:
    """Fluid cells that may have walls beside them, and what is at the end of each of their links.

    Attributes
    ----------
    z, y, x : int64 [cell], coordinates in the domain
    owner : uint8 [cell, q], the wall at the end of a link: 0 for none, 1 for a face, 2 + k for
        solid number k
    row : uint8 [cell, q], the row of the wall in the table of wall types
    slip : uint8 [cell, q], the axes (bits) in which free slip should mirror the link
    """

    def __init__(
        self,
        shape: Triple,
        faces: Sequence[Condition],
        solids: Sequence[Solid],
        labels: _Labels | None,
        extent: Extent,
    ):
        self.shape, self.faces, self.solids, self.labels = shape, faces, solids, labels
        self.types = _WallTypes()
        self.solid_rows = np.array(
            [0, *(self.types.index_of(s.condition.parameters()) for s in solids)]
        )
        near = np.nonzero(_near_walls(shape, faces, labels, extent))
        self.z, self.y, self.x = (
            k + first for k, first in zip(near, reversed(extent.start), strict=True)
        )
        size = len(self.x), Q
        self.owner, self.row, self.slip = (np.zeros(size, np.uint8) for _ in range(3))
        for q in range(1, Q):
            self._find_links(q)

    def _find_links(self, q: int) -> None:
        """Fill column q of `owner`, `row` and `slip`."""
        cells, ends = (self.x, self.y, self.z), []
        through: list[tuple[int, WallCondition, np.ndarray]] = []
        for axis in range(3):
            end = cells[axis] + C[q][axis]
            crossed = (end < 0) | (end >= self.shape[axis])
            ends.append(end)
            wall = None if C[q][axis] == 0 else self.faces[2 * axis + (C[q][axis] > 0)]
            if wall is not None and not isinstance(wall, Periodic):
                through.append((axis, wall, crossed))
        inside = np.ones(len(self.x), bool)
        for _, _, crossed in through:
            inside &= ~crossed
        if self.labels is not None:
            hit = np.where(inside, self.labels.of_cells(*ends), 0)
            self.owner[:, q] = np.where(hit > 0, hit + 1, 0)
            self.row[:, q] = self.solid_rows[hit]
        for choice in range(1, 1 << len(through)):
            selected = np.ones(len(inside), bool)
            for i, (_, _, crossed) in enumerate(through):
                selected &= crossed if choice >> i & 1 else ~crossed
            if not selected.any():
                continue
            walls = [(a, wall) for i, (a, wall, _) in enumerate(through) if choice >> i & 1]
            self.owner[selected, q] = 1
            self.row[selected, q], self.slip[selected, q] = self.types.of_link(walls)
            if self.labels is not None and len(walls) == 1:
                self._find_solids_behind_face(
                    q, np.flatnonzero(selected), *walls[0], ends, self.labels
                )

    def _find_solids_behind_face(
        self,
        q: int,
        near: np.ndarray,
        axis: int,
        face: WallCondition,
        ends: Sequence[np.ndarray],
        labels: _Labels,
    ) -> None:
        """Correct the links q of the cells `near` that leave through one face beside a solid."""
        cells = self.x, self.y, self.z
        foot = [(cells[a] if a == axis else ends[a])[near] for a in range(3)]
        hit = labels.of_cells(*foot)
        for k in np.unique(hit[hit > 0]):
            behind, condition = near[hit == k], self.solids[k - 1].condition
            row, slip = self.types.of_link_behind_face(axis, face, condition)
            self.row[behind, q], self.slip[behind, q] = row, slip
            if isinstance(face, FreeSlip):  # it mirrors the solid, and has no friction of its own
                self.owner[behind, q] = k + 1


class _Labels:
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
    def own(self) -> np.ndarray:
        """Labels without the ghost cells."""
        return self.values[1:-1, 1:-1, 1:-1]

    def of_cells(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the labels of cells, which may be ghosts, by their coordinates in the domain."""
        x0, y0, z0 = self.start
        labels: np.ndarray = self.values[z - z0 + 1, y - y0 + 1, x - x0 + 1]
        return labels


def classify_cells(
    shape: Triple,
    faces: Sequence[Condition],
    solids: Mapping[str, Solid],
    extent: Extent | None = None,
) -> Links:
    """Find the walls around each cell of a domain (nx, ny, nz) and number the combinations.

    With `extent` only these cells are looked at, and the arrays of the result hold nothing else.
    """
    extent = Extent.of_domain(shape) if extent is None else extent
    if len(solids) > _MAX_SOLIDS:
        raise ValueError(
            f"at most {_MAX_SOLIDS} solids, got {len(solids)}: join those with one condition"
        )
    labels = _label_solids(shape, faces, solids, extent)
    cells = _BoundaryCells(shape, faces, list(solids.values()), labels, extent)
    partner = _mirror_images(cells.slip, cells.owner, cells.row)
    has_walls, number, first = _number_combinations(cells.owner > 0, cells.row, partner)
    dtype = np.min_scalar_type(_FIRST_WALL_CLASS + len(first))
    classes = np.zeros(extent.shape[::-1], dtype)
    if labels is not None:
        classes[labels.own > 0] = SOLID_CLASS
    x0, y0, z0 = extent.start
    position = cells.z - z0, cells.y - y0, cells.x - x0
    classes[position] = np.where(has_walls, number + _FIRST_WALL_CLASS, 0)
    wall_types = np.array(cells.types.rows)
    masks, wall_rows = _class_tables(
        cells.owner[first] > 0, cells.row[first], partner[first], wall_types
    )
    bodies = {}
    for k, name in enumerate(solids):
        cell, q = np.nonzero(cells.owner == k + 2)
        bodies[name] = np.stack(position, axis=1)[cell], q, wall_types[cells.row[cell, q], 2:]
    return Links(classes, masks, wall_rows, wall_types, bodies)


def mass_inflow(links: Links) -> tuple[float, float]:
    """Return the mass that walls bring in per step at density 1, and the sum of all amounts."""
    counts = np.zeros(len(links.masks), np.int64)
    for layer in links.classes:
        counts += np.bincount(layer.ravel(), minlength=len(counts))
    velocity = links.wall_types[links.wall_rows[:, :, 0], 2:]  # [class, q, component]
    into_wall = links.masks[:, INTO, None] >> np.arange(Q, dtype=np.uint32) & 1
    inflow = -6.0 * into_wall * np.array(W) * (velocity * np.array(C)).sum(axis=2)
    return float(counts @ inflow.sum(axis=1)), float(counts @ np.abs(inflow).sum(axis=1))


def _label_solids(
    shape: Triple, faces: Sequence[Condition], solids: Mapping[str, Solid], extent: Extent
) -> _Labels | None:
    """Return the labels of the cells of an extent and around it; None without solids."""
    if not solids:
        return None
    labels = np.zeros([n + 2 for n in reversed(extent.shape)], np.uint8)
    for k, (name, solid) in enumerate(solids.items()):
        cells = solid.cells_around(name, shape, extent).T
        if (labels[cells] > 0).any():
            raise ValueError(f"boundaries[{name!r}] overlaps another solid")
        labels[cells] = k + 1
    for axis in range(3):
        along = np.moveaxis(labels, 2 - axis, 0)
        if not isinstance(faces[2 * axis], Periodic):
            if extent.start[axis] == 0:
                along[0] = 0
            if extent.stop[axis] == shape[axis]:
                along[-1] = 0
    return _Labels(labels, extent.start)


def _near_walls(
    shape: Triple, faces: Sequence[Condition], labels: _Labels | None, extent: Extent
) -> np.ndarray:
    """Return a mask [z, y, x] of the fluid cells of an extent that may have a wall beside them."""
    near = np.zeros(extent.shape[::-1], bool)
    for axis in range(3):
        if not isinstance(faces[2 * axis], Periodic):
            ends = np.moveaxis(near, 2 - axis, 0)
            if extent.start[axis] == 0:
                ends[0] = True
            if extent.stop[axis] == shape[axis]:
                ends[-1] = True
    if labels is not None:
        solid = labels.values > 0
        nx, ny, nz = extent.shape
        for cx, cy, cz in C[1:]:
            near |= solid[1 + cz : 1 + cz + nz, 1 + cy : 1 + cy + ny, 1 + cx : 1 + cx + nx]
        near &= labels.own == 0
    return near


def _mirror_images(slip: np.ndarray, owner: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Return the population whose value the wall sends back against q; set its owner and row.

    That is q itself where it bounces, and its mirror image where it meets a slip face. q runs into
    the face and its mirror image along the face too: the two swap. Where the mirror image meets
    another wall, at a corner, q bounces back, so that no mass is lost.
    """
    partner = np.broadcast_to(np.arange(Q, dtype=np.uint8), slip.shape).copy()
    for q in range(1, Q):
        for axes in np.unique(slip[:, q][slip[:, q] > 0]):
            image = C.index(tuple(c if axes >> a & 1 else -c for a, c in enumerate(C[q])))
            both = (slip[:, q] == axes) & (slip[:, image] == axes)
            partner[both, q] = image
            owner[both, q], row[both, q] = 1, 0
    return partner


def _number_combinations(
    walls: np.ndarray, row: np.ndarray, partner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (mask of cells with walls, number of each cell's combination, a cell of each)."""
    codes = np.where(walls, (row.astype(np.uint64) + np.uint64(1)) * np.uint64(Q) + partner, 0)
    key = np.zeros(len(codes), np.uint64)
    for q in range(Q):  # a hash: sorting rows of 19 would take minutes for millions of cells
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
    walls: np.ndarray, row: np.ndarray, partner: np.ndarray, wall_types: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return `Links.masks` and `Links.wall_rows` for these combinations of walls."""
    bits = np.uint32(1) << np.arange(Q, dtype=np.uint32)
    special = (np.any(wall_types != 0, axis=1)[row] | (partner != np.arange(Q))) & walls
    masks = np.zeros((len(walls) + _FIRST_WALL_CLASS, 3), np.uint32)
    for column, links in ((INTO, walls), (SPECIAL, special), (FROM, walls[:, list(OPPOSITE)])):
        masks[_FIRST_WALL_CLASS:, column] = (links * bits).sum(axis=1, dtype=np.uint32)
    wall_rows = np.zeros((len(walls) + _FIRST_WALL_CLASS, Q, 2), np.uint8)
    wall_rows[_FIRST_WALL_CLASS:] = np.stack([row, partner], axis=2)
    return masks, wall_rows
