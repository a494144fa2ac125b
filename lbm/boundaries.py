"""Boundary conditions, and the faces and solids to which they apply.

All conditions act on links: if a population runs from a fluid cell into a wall, the wall returns
one into the same cell, so that walls stand half-way between cells. Any cell may be solid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hetero.validation import (
    check_choice,
    check_finite,
    check_in_range,
    describe,
    require_unmasked,
)
from lbm._model.extent import Extent, Triple
from lbm._model.prescribed import CONSTANT, Dependence, Function, evaluate, find_dependence

DENSITY_RANGE = 0.5, 1.5
"""Range of densities of initial flows and outlets: the method holds near density 1."""

MAX_SPEED = 0.3
"""Largest speed of a wall or an inlet in cells/step, about half of the speed of sound (0.577)."""


AVERAGING = 5000.0
"""Steps over which the means of ends that do not reflect follow the flow, unless they are given."""


def _check_averaging(value: object) -> float:
    """Return `value` as a number of steps."""
    return check_in_range("averaging", value, 1.0, 1e12)


def check_vector(name: str, value: Any) -> tuple[float, float, float]:
    """Return `value` as three finite floats."""
    if isinstance(value, str | set | dict) or not np.iterable(value):
        raise TypeError(f"{name} must hold three numbers, got {describe(value)}")
    numbers = [check_finite(name, x) for x in value]
    if len(numbers) != 3:
        raise ValueError(f"{name} must hold three numbers, got {describe(value)}")
    return numbers[0], numbers[1], numbers[2]


def _check_velocity(value: object) -> tuple[float, float, float]:
    """Return `value` as a velocity, if its speed is at most MAX_SPEED."""
    u = check_vector("velocity", value)
    require_slow(float(np.hypot(np.hypot(u[0], u[1]), u[2])))
    return u


def require_slow(speed: float) -> None:
    """Raise ValueError if a speed is larger than MAX_SPEED."""
    if speed > MAX_SPEED:
        raise ValueError(
            f"velocity must be at most {MAX_SPEED} cells/step, got {speed:g}: the method is valid "
            "only well below the speed of sound (0.577). Use a smaller time step "
            "(lbm.Units does it for you)"
        )


NOWHERE = np.zeros((1, 3))
"""A point for conditions that do not depend on position."""


@dataclass(frozen=True)
class Periodic:
    """A periodic face: populations that leave through it enter through the opposite one."""


@dataclass(frozen=True)
class NoSlip:
    """A wall at rest: half-way bounce-back.

    Second order; exact for flat walls with TRT and the magic parameter 3/16.
    """

    rank: ClassVar[int] = 1
    depends_on: ClassVar[Dependence] = CONSTANT

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows of `Links.wall_types` (see `Condition`)."""
        return np.zeros((len(points), 5))


@dataclass(frozen=True)
class MovingWall:
    """A no-slip wall with a velocity (cells/step): Ladd (1994), density 1 at the wall.

    Faces of the domain must move in their own plane. The cells of a moving solid stay in place, as
    is right for a cylinder that rotates; a bar keeps its position.

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
    rank: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if not self.depends_on:
            object.__setattr__(self, "velocity", _check_velocity(self.velocity))

    @property
    def depends_on(self) -> Dependence:
        """Dependence of the velocity on position and time."""
        return find_dependence("velocity", self.velocity)

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows of `Links.wall_types` (see `Condition`)."""
        rows = np.zeros((len(points), 5))
        if not callable(self.velocity):
            rows[:, 2:] = self.velocity
            return rows
        rows[:, 2:] = evaluate("velocity", self.velocity, self.depends_on, points, t, 3)
        require_slow(float(np.sqrt((rows[:, 2:] ** 2).sum(axis=1)).max(initial=0.0)))
        return rows


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

    rank: ClassVar[int] = 0


@dataclass(frozen=True)
class NonReflectingInlet(VelocityInlet):
    """An inlet that lets sound pass: a face of the domain, not a solid.

    Its mass flux out of the domain is that of a `VelocityInlet` plus (c_s + u) (rho - rho_mean),
    where rho is the density of the cell, rho_mean its running mean and u its velocity out of the
    domain: so much has a plane wave that leaves against the stream (the characteristic condition of
    Thompson 1987, Poinsot and Lele 1992). What varies slowly sees an inlet with the given velocity.
    Of a plane pulse 3 % come back.

    Parameters
    ----------
    velocity : three floats, or function
        Velocity, as of a `VelocityInlet`.
    averaging : float
        Steps over which the mean density follows the flow. Waves of longer periods are reflected;
        until the pressure of a flow that starts has settled, as much less or more fluid enters.
    """

    averaging: float = AVERAGING

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "averaging", _check_averaging(self.averaging))


@dataclass(frozen=True)
class PressureOutlet:
    """An outlet with a prescribed density and pressure rho/3: anti-bounce-back.

    It uses the velocity of the cell (Ginzburg et al. 2008). Second order for flow across the
    outlet. Where walls with friction touch a face with this condition, the shear stress of a
    channel's profile is added, which is right to 0.5 % of the flow rate if the channel is three
    times as long as wide; the term fades beyond 5 for the speed times the width of a cell over the
    viscosity. Elsewhere the shear stress in the plane of the outlet is zero. `rho` is a float or a
    function of position, time or both, as the velocity of a `MovingWall`.
    """

    rho: float | Function = 1.0
    rank: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if not self.depends_on:
            object.__setattr__(self, "rho", check_in_range("rho", self.rho, *DENSITY_RANGE))

    @property
    def depends_on(self) -> Dependence:
        """Dependence of the density on position and time."""
        return find_dependence("rho", self.rho)

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows of `Links.wall_types` (see `Condition`)."""
        rows = np.zeros((len(points), 5))
        rows[:, 0] = 1.0
        if not callable(self.rho):
            rows[:, 1] = self.rho - 1.0
            return rows
        density = evaluate("rho", self.rho, self.depends_on, points, t, 1)[:, 0]
        for extreme in (density.min(initial=1.0), density.max(initial=1.0)):
            check_in_range("rho", extreme, *DENSITY_RANGE)
        rows[:, 1] = density - 1.0
        return rows


@dataclass(frozen=True)
class NonReflectingOutlet(PressureOutlet):
    """An outlet that lets sound and vortices pass: a face of the domain, not a solid.

    Its density is rho + rho_cell (u - u_mean) / c_s, where u is the velocity of the cell out of the
    domain and u_mean its running mean: so much has a plane wave that leaves (the characteristic
    condition of Thompson 1987, Poinsot and Lele 1992; on lattices Izquierdo and Fueyo 2008). What
    varies slowly sees an outlet with the density `rho`. Of a plane pulse 3 % come back.

    Parameters
    ----------
    rho : float or function
        Density, as of a `PressureOutlet`.
    averaging : float
        Steps over which the mean velocity follows the flow. Waves of longer periods are reflected;
        a flow that changes as a whole needs about as many steps to settle.
    """

    averaging: float = AVERAGING

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "averaging", _check_averaging(self.averaging))


OpenEnd = NonReflectingInlet | NonReflectingOutlet
"""A condition that does not reflect, with a running mean over `averaging` steps."""


@dataclass(frozen=True)
class FreeSlip:
    """A flat face without friction: it mirrors populations within a cell.

    There is no shear and no loss of mass, exactly. Only faces of the domain can be free-slip: a
    solid would need the normal of its surface. Populations bounce back at corners where their
    mirror image meets another wall.
    """

    rank: ClassVar[int] = 4
    depends_on: ClassVar[Dependence] = CONSTANT

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows of `Links.wall_types` (see `Condition`)."""
        return np.zeros((len(points), 5))


WallCondition = NoSlip | MovingWall | PressureOutlet | FreeSlip
"""A condition that changes what fluid cells beside it receive. `parameters(points, t)` returns rows
(is an outlet, rho - 1, ux, uy, uz) for points [k, (x, y, z)] in cells at time t in steps; where
several conditions meet at an edge, the lowest `rank` wins."""

Condition = Periodic | WallCondition
"""A condition at a face of the domain."""


WALLS = "halfway", "interpolated"
"""Places where the wall of a solid may stand."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Cells that are not fluid, with the condition that they impose on the fluid around them.

    Parameters
    ----------
    cells : bool array of shape (nx, ny, nz), or function
        A function cells(x, y, z) of the coordinates of centres (in cells, the first is 0.5), given
        as arrays that broadcast to [x, y, z], returns such an array. With it no rank of a large
        simulation needs memory for the whole domain. Shapes and meshes go on behind periodic faces.
    condition : NoSlip, MovingWall, VelocityInlet or PressureOutlet
    wall : {"halfway", "interpolated"}
        Where the wall stands. "halfway": in the middle of each link between a fluid cell and a
        solid one, so that oblique walls are staircases, of first order. "interpolated": where each
        link meets the surface (Bouzidi et al. 2001), which is of second order. `cells` must then be
        a shape that knows its surface: `lbm.Sphere`, `lbm.Cylinder`, `lbm.Box`, `lbm.HalfSpace`,
        `lbm.TriangleMesh` or a `lbm.Shape` of your own. The condition must be NoSlip or MovingWall.
    """

    cells: np.ndarray | Callable[..., np.ndarray]
    condition: WallCondition = NoSlip()
    wall: str = "halfway"

    def __post_init__(self) -> None:
        self._check_wall()
        if callable(self.cells):
            self._check_condition()
            return
        require_unmasked("cells", self.cells)
        try:
            cells = np.asarray(self.cells)
        except ValueError:
            raise TypeError(f"cells must be a boolean array, got {describe(self.cells)}") from None
        if cells.ndim != 3 or cells.dtype != bool:
            raise TypeError(
                f"cells must be a boolean array of shape (nx, ny, nz), got {cells.dtype} of shape "
                f"{cells.shape}"
            )
        self._check_condition()
        object.__setattr__(self, "cells", cells)

    def _check_condition(self) -> None:
        is_for_faces = isinstance(self.condition, OpenEnd)
        if is_for_faces or not isinstance(self.condition, NoSlip | MovingWall | PressureOutlet):
            raise ValueError(
                f"a solid cannot be {type(self.condition).__name__}: use NoSlip, MovingWall, "
                "VelocityInlet or PressureOutlet (FreeSlip, NonReflectingInlet, "
                "NonReflectingOutlet and Periodic are for faces)"
            )

    def _check_wall(self) -> None:
        check_choice("wall", self.wall, WALLS)
        if isinstance(self.cells, type):
            raise TypeError(
                f"cells must be a shape, not the class {self.cells.__name__}: give its arguments, "
                f"{self.cells.__name__}(...)"
            )
        if self.wall == "halfway":
            return
        if not callable(getattr(self.cells, "distances", None)):
            raise TypeError(
                'wall="interpolated" needs cells that know their surface: lbm.Sphere, '
                "lbm.Cylinder, lbm.Box, lbm.HalfSpace, lbm.TriangleMesh or a lbm.Shape of your "
                f"own, got {describe(self.cells)}"
            )
        if type(self.condition) not in (NoSlip, MovingWall):
            raise ValueError(
                'wall="interpolated" needs the condition NoSlip or MovingWall, got '
                f'{type(self.condition).__name__}: use wall="halfway"'
            )

    @property
    def is_interpolated(self) -> bool:
        """Return whether the wall stands where links meet the surface."""
        return self.wall == "interpolated"

    @property
    def bounce(self) -> WallCondition:
        """Condition by which the step itself sends populations back.

        Interpolated walls take what a wall at rest returns, and replace it after the step.
        """
        return NoSlip() if self.is_interpolated else self.condition

    def mask(self, shape: Triple) -> np.ndarray:
        """Return the solid cells of a whole domain, bool [x, y, z]."""
        if not callable(self.cells):
            return self.cells
        return evaluate_solid("solid", self.cells, *Extent.of_domain(shape).centres)

    def cells_around(self, name: str, shape: Triple, extent: Extent) -> np.ndarray:
        """Return the solid cells [x, y, z] of an extent and one cell around it.

        Beyond the faces of the domain those at its other end are returned. `name` is that of the
        solid, for messages.
        """
        indices = [
            np.arange(a - 1, b + 1) % n
            for a, b, n in zip(extent.start, extent.stop, shape, strict=True)
        ]
        if callable(self.cells):
            x, y, z = np.ix_(*(i + 0.5 for i in indices))
            return evaluate_solid(name, self.cells, x, y, z)
        if self.cells.shape != shape:
            raise ValueError(
                f"boundaries[{name!r}] has cells of shape {self.cells.shape}, the domain {shape}"
            )
        cells: np.ndarray = self.cells[np.ix_(*indices)]
        return cells


def evaluate_solid(
    name: str, function: Callable[..., np.ndarray], x: np.ndarray, y: np.ndarray, z: np.ndarray
) -> np.ndarray:
    """Return function(x, y, z) as a boolean array [x, y, z], or raise TypeError or ValueError."""
    cells, shape = np.asarray(function(x, y, z)), np.broadcast_shapes(x.shape, y.shape, z.shape)
    if cells.dtype != bool:
        raise TypeError(
            f"boundaries[{name!r}]: its function must return booleans, got {cells.dtype}"
        )
    try:
        return np.broadcast_to(cells, shape)
    except ValueError:
        raise ValueError(
            f"boundaries[{name!r}]: its function must return an array of shape {shape}, "
            f"got {cells.shape}"
        ) from None


FACES = ("x-", "x+", "y-", "y+", "z-", "z+")
"""Names of the faces of a domain, in the order in which their conditions are stored."""


def require_in_plane(face: str, speed: float) -> None:
    """Raise ValueError if a moving face has a speed across its own plane."""
    if speed:
        raise ValueError(
            f"the face {face!r} would move through its own plane, into the domain or out of it, "
            f"with a speed of {speed:g}: set the component of its velocity along {face[0]} to 0, "
            "or use VelocityInlet if fluid enters or leaves there"
        )


def split_boundaries(
    boundaries: Mapping[str, Condition | Solid] | None,
) -> tuple[tuple[Condition, ...], dict[str, Solid]]:
    """Return the conditions of the six faces, and the solids by name.

    Keys are faces ("x-" ... "z+"), axes ("x": both faces) or any other name for a `Solid`. A face
    that is not named is periodic.
    """
    if not isinstance(boundaries, Mapping | None):
        raise TypeError(f"boundaries must map faces to conditions, got {boundaries!r}")
    faces: dict[str, Condition] = {}
    solids: dict[str, Solid] = {}
    for key, value in (boundaries or {}).items():
        if isinstance(value, Solid):
            if key in FACES or key in ("x", "y", "z"):
                raise ValueError(f"boundaries[{key!r}] names a face, but holds a Solid")
            solids[key] = value
            continue
        names = (key,) if key in FACES else tuple(f for f in FACES if f[0] == key)
        if not names:
            raise ValueError(
                f"boundaries has the key {key!r}: faces are {', '.join(FACES)} or x, y, z; use "
                "other names for lbm.Solid(cells, condition)"
            )
        if not isinstance(value, Periodic | NoSlip | MovingWall | PressureOutlet | FreeSlip):
            raise TypeError(f"boundaries[{key!r}] must be a boundary condition, got {value!r}")
        for name in names:
            if name in faces:
                raise ValueError(f"boundaries specifies the face {name!r} twice")
            faces[name] = value
    conditions = tuple(faces.get(f, Periodic()) for f in FACES)
    for k, (name, condition) in enumerate(zip(FACES, conditions, strict=True)):
        if type(condition) is MovingWall and not callable(condition.velocity):
            require_in_plane(name, condition.velocity[k // 2])
    for axis in range(3):
        low, high = conditions[2 * axis : 2 * axis + 2]
        if isinstance(low, Periodic) != isinstance(high, Periodic):
            raise ValueError(
                f"the faces {FACES[2 * axis]!r} and {FACES[2 * axis + 1]!r} must both be periodic "
                f"or both have another condition, got {low} and {high}"
            )
    return conditions, solids
