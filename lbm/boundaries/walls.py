"""Walls at rest and with a velocity, faces without friction, and periodic faces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.boundaries.condition import NOWHERE, Condition
from lbm.boundaries.limits import check_vector, require_slow
from lbm.boundaries.prescribed import Function, evaluate


@dataclass(frozen=True)
class Periodic(Condition):
    """A periodic face: populations that leave through it enter through the opposite one."""

    name: ClassVar[str] = "periodic"
    is_periodic: ClassVar[bool] = True


@dataclass(frozen=True)
class NoSlip(Condition):
    """A wall at rest: half-way bounce-back.

    Second order; exact for flat walls with TRT and the magic parameter 3/16.
    """

    name: ClassVar[str] = "no-slip"
    has_friction: ClassVar[bool] = True
    may_be_solid: ClassVar[bool] = True
    may_be_interpolated: ClassVar[bool] = True


@dataclass(frozen=True)
class FreeSlip(Condition):
    """A flat face without friction: it mirrors populations within a cell.

    There is no shear and no loss of mass, exactly. Only faces of the domain can be free-slip: a
    solid would need the normal of its surface. Populations bounce back at corners where their
    mirror image meets another wall.
    """

    name: ClassVar[str] = "free-slip"
    rank: ClassVar[int] = 4
    mirrors: ClassVar[bool] = True


@dataclass(frozen=True)
class MovingWall(Condition):
    """A no-slip wall with a velocity (cells/step): Ladd (1994), density 1 at the wall.

    Faces of the domain must move in their own plane. The cells of a moving solid stay in place, as
    is right for a cylinder that rotates; a bar keeps its position (`lbm.Solid(motion=)` moves it).

    Parameters
    ----------
    velocity : three floats, or function
        A function velocity(t), velocity(x, y, z) or velocity(x, y, z, t) returns the three
        components. Positions are in cells (the first cell ends at 1), t is in steps. x, y and z are
        arrays of the same length with the points where links meet the wall, half-way between
        cells; the wall is taken at the half step, when populations meet it. A rotating body, for
        example, has velocity = lambda x, y, z: (-w * (y - y0), w * (x - x0), 0.0). It keeps the
        mass of the fluid exactly, as does any rigid motion.
    """

    velocity: tuple[float, float, float] | Function
    name: ClassVar[str] = "moving-wall"
    rank: ClassVar[int] = 2
    prescribes: ClassVar[str] = "velocity"
    has_friction: ClassVar[bool] = True
    may_be_solid: ClassVar[bool] = True
    may_be_interpolated: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.depends_on:
            u = check_vector("velocity", self.velocity)
            require_slow(float(np.hypot(np.hypot(u[0], u[1]), u[2])))
            object.__setattr__(self, "velocity", u)

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows with the velocity at points and a time; see `Condition.parameters`."""
        rows = np.zeros((len(points), 5))
        if not callable(self.velocity):
            rows[:, 2:] = self.velocity
            return rows
        rows[:, 2:] = evaluate("velocity", self.velocity, self.depends_on, points, t, 3)
        require_slow(float(np.sqrt((rows[:, 2:] ** 2).sum(axis=1)).max(initial=0.0)))
        return rows

    def reference_return(
        self, f: np.ndarray, w: float, c: np.ndarray, u: np.ndarray, velocity_or_rho: Any
    ) -> np.ndarray:
        """Return f less the momentum of the wall (Ladd 1994)."""
        return f - 6 * w * sum(c[a] * velocity_or_rho[a] for a in range(3))
