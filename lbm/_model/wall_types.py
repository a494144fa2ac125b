"""The wall that each link from a fluid cell ends at: its parameters, also where several meet."""

from __future__ import annotations

from collections.abc import Sequence

from lbm.boundaries import (
    Condition,
    FreeSlip,
    MovingWall,
    NoSlip,
    PressureOutlet,
    VelocityInlet,
    WallCondition,
)

MAX_WALL_TYPES = 256
"""Largest number of different walls, since their indices are bytes."""


class WallTypes:
    """Rows of `Links.wall_types`, numbered in the order in which they occur; row 0 is at rest."""

    def __init__(self) -> None:
        self.rows = [NoSlip().parameters()]

    def index_of(self, row: tuple[float, ...]) -> int:
        """Return the index of a row, which is added if it is new."""
        if row not in self.rows:
            if len(self.rows) == MAX_WALL_TYPES:
                raise ValueError(
                    f"boundaries hold more than {MAX_WALL_TYPES} different velocities and "
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
