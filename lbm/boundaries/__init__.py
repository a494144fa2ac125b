"""Boundary conditions, and the types by which case files choose them.

All conditions act on links: if a population runs from a fluid cell into a wall, the wall returns
one into the same cell, so that walls stand half-way between cells. Any cell may be solid.

To add a condition, add a file with a class that derives from `Condition`, and the class to
`CONDITIONS`. Nothing else asks for the class of a condition, but for what it can. Conditions
outside of the package derive from the same classes.
"""

from __future__ import annotations

from lbm.boundaries.condition import NOWHERE as NOWHERE
from lbm.boundaries.condition import Condition as Condition
from lbm.boundaries.faces import FACES as FACES
from lbm.boundaries.faces import Enclosure as Enclosure
from lbm.boundaries.faces import kind_of_flow as kind_of_flow
from lbm.boundaries.faces import require_in_plane as require_in_plane
from lbm.boundaries.faces import split_boundaries as split_boundaries
from lbm.boundaries.free_stream import FreeStream as FreeStream
from lbm.boundaries.limits import DENSITY_RANGE as DENSITY_RANGE
from lbm.boundaries.limits import MAX_SPEED as MAX_SPEED
from lbm.boundaries.limits import check_vector as check_vector
from lbm.boundaries.limits import require_slow as require_slow
from lbm.boundaries.non_reflecting import NonReflectingInlet as NonReflectingInlet
from lbm.boundaries.non_reflecting import NonReflectingOutlet as NonReflectingOutlet
from lbm.boundaries.pressure_outlet import PressureOutlet as PressureOutlet
from lbm.boundaries.solid import WALLS as WALLS
from lbm.boundaries.solid import Solid as Solid
from lbm.boundaries.solid import evaluate_solid as evaluate_solid
from lbm.boundaries.velocity_inlet import VelocityInlet as VelocityInlet
from lbm.boundaries.walls import FreeSlip as FreeSlip
from lbm.boundaries.walls import MovingWall as MovingWall
from lbm.boundaries.walls import NoSlip as NoSlip
from lbm.boundaries.walls import Periodic as Periodic

CONDITIONS: dict[str, type[Condition]] = {
    condition.name: condition
    for condition in (
        Periodic, NoSlip, FreeSlip, MovingWall, VelocityInlet, PressureOutlet, NonReflectingInlet,
        NonReflectingOutlet, FreeStream,
    )
}  # fmt: skip
"""Conditions by their types in case files."""
