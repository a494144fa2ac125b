"""Inlets."""

from dataclasses import dataclass, field
from typing import ClassVar

from lbm.boundaries.prescribed import Function
from lbm.boundaries.walls import MovingWall


@dataclass(frozen=True)
class VelocityInlet(MovingWall):
    """An inlet: fluid enters (or leaves) with a velocity, as if the wall moved out of its plane.

    Between walls at rest, the mass that enters is velocity times area at density 1, exactly: links
    through the edges of the inlet belong to it, not to the walls. Where the pressure raises the
    density, the velocity that is read is smaller by it (1 % for a density of 1.01). For a profile,
    a function as in `MovingWall`, it is the sum of the profile by a rule that is exact for cubic
    polynomials (Simpson's across a channel). With `SyntheticEddies` as its velocity a face of the
    domain is a turbulent inlet.
    """

    velocity: tuple[float, float, float] | Function = field(metadata={"quantity": "inflow"})
    name: ClassVar[str] = "velocity-inlet"
    rank: ClassVar[int] = 0
    is_open: ClassVar[bool] = True
    has_friction: ClassVar[bool] = False
    may_be_interpolated: ClassVar[bool] = False
