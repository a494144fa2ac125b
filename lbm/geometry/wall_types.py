"""The wall that each link from a fluid cell ends at: its parameters, also where several meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lbm.boundaries import NOWHERE, Condition, NoSlip, require_in_plane
from lbm.lattices import Lattice

HALF_STEP = 0.5
"""Time in a step at which populations meet walls, half-way between two cells."""


@dataclass(frozen=True)
class WallType:
    """Properties of a wall that are the same for all of its links.

    Attributes
    ----------
    condition : the condition of the wall
    blocked : axis along which another wall blocks the velocity, or None
    across : axis across the face to which the wall belongs, along which it may not move, or None
    """

    condition: Condition
    blocked: int | None = None
    across: int | None = None

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return the rows of `Links.wall_types` for points [k, (x, y, z)] at time t."""
        rows = self.condition.parameters(points, t)
        if self.across is not None:
            require_in_plane("xyz"[self.across], float(np.abs(rows[:, 2 + self.across]).max()))
        if self.blocked is not None:
            rows[:, 2 + self.blocked] = 0.0
        return rows


@dataclass(frozen=True, eq=False)
class VaryingRows:
    """Rows of `Links.wall_types` that change with time: first, first + 1, ..., one for a point."""

    wall: WallType
    first: int
    points: np.ndarray

    def write(self, table: np.ndarray, t: float) -> None:
        """Set the rows of `table` to those at time t in steps."""
        table[self.first : self.first + len(self.points)] = self.wall.parameters(self.points, t)


class WallTypes:
    """Walls at the ends of links, numbered in the order in which they occur; 0 is at rest."""

    def __init__(self, lattice: Lattice) -> None:
        self._velocities = np.array(lattice.velocities, np.int64)
        self._walls = [WallType(NoSlip())]
        self._numbers: dict[object, int] = {self._key(self._walls[0]): 0}

    @staticmethod
    def _key(wall: WallType) -> object:
        """Return what walls have in common that are the same."""
        return wall if wall.condition.depends_on else tuple(wall.parameters()[0])

    def index_of(
        self, condition: Condition, blocked: int | None = None, across: int | None = None
    ) -> int:
        """Return the number of a wall, which is added if it is new."""
        is_face = condition.moves and condition.depends_on
        wall = WallType(condition, blocked, across if is_face else None)
        number = self._numbers.setdefault(self._key(wall), len(self._walls))
        if number == len(self._walls):
            self._walls.append(wall)
        return number

    def tabulate(
        self, number: np.ndarray, has_wall: np.ndarray, cells: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, tuple[VaryingRows, ...]]:
        """Return the row of each link, the table of rows before step 0, and rows that vary.

        `number` [cell, q] has the wall of each link that `has_wall`; `cells` [cell, (x, y, z)] are
        coordinates. Each point at which a function of position is taken gets a row of its own,
        where walls depend on time; otherwise rows with the same values are one.
        """
        row, varying = number.copy(), []
        table = [np.zeros((len(self._walls), 5))]
        size = len(self._walls)
        for k, wall in enumerate(self._walls):
            depends = wall.condition.depends_on
            if not depends.position:
                table[0][k] = wall.parameters(t=HALF_STEP)[0]
                if depends.time:
                    varying.append(VaryingRows(wall, k, NOWHERE))
                continue
            cell, q = np.nonzero((number == k) & has_wall)
            halves = 2 * cells[cell] + 1 + self._velocities[q]
            # Sorting one number for each point takes a fraction of the time of sorting rows.
            keys = np.ravel_multi_index(tuple(halves.T), tuple(halves.max(axis=0, initial=0) + 1))
            _, first, index = np.unique(keys, return_index=True, return_inverse=True)
            points = halves[first] / 2.0
            rows = wall.parameters(points, HALF_STEP)
            if depends.time:
                varying.append(VaryingRows(wall, size, points))
            else:
                rows, same = np.unique(rows, axis=0, return_inverse=True)
                index = same.ravel()[index]
            row[cell, q] = size + index
            table.append(rows)
            size += len(rows)
        return row.astype(np.min_scalar_type(size - 1)), np.concatenate(table), tuple(varying)

    def of_link(self, crossed: Sequence[tuple[int, Condition]]) -> tuple[int, int]:
        """Return (number, slip axes as bits) of a link that meets one or more conditions.

        `crossed` holds (axis, condition) pairs. If the second number is not 0, the link should be
        mirrored in these axes, and the wall applies only if that is impossible.
        """
        conditions = [wall for _, wall in crossed]
        slip = sum(1 << axis for axis, wall in crossed if wall.mirrors)
        axis, strongest = min(crossed, key=lambda pair: pair[1].rank)
        across = axis if axis >= 0 else None
        # Fluid slides along slip faces and passes inlets and outlets: nothing turns the tangential
        # velocity around where these meet, so only the component across the slip faces is mirrored.
        if slip and all(w.mirrors or w.is_open for w in conditions):
            return self.index_of(strongest, across=across), slip
        # Two impermeable faces: a velocity of one along the other's normal would push mass through
        # the edge, and across itself a face has none. In a corner an outlet changes nothing.
        if strongest.is_impermeable and sum(wall.is_impermeable for wall in conditions) > 1:
            return 0, 0
        return self.index_of(strongest, across=across), 0

    def of_link_behind_face(
        self, axis: int, face: Condition, condition: Condition
    ) -> tuple[int, int]:
        """Return the same for a link through one face, beside a solid that reaches this face.

        The link ends where the solid would continue behind the face. Two faces with the conditions
        of the face and of the solid would meet in an edge there.
        """
        if not (face.is_impermeable and condition.is_impermeable):
            return self.of_link([(axis, face), (-1, condition)])
        # Each of the two blocks the fluid in one direction, and only its velocity along the other
        # counts: that of the face is 0 across it.
        return self.index_of(condition, blocked=axis), 0
