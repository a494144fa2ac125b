"""Boundary conditions, and where they apply.

All of them act on links: where a population runs from a fluid cell into a wall, the wall returns
one into the same cell, so that walls stand half-way between cells. Any cell may be a wall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hetero.errors import real, within

DENSITIES = 0.5, 1.5
"""Densities that a flow may start with and an outlet may have: the method holds near 1."""

FASTEST = 0.3
"""Largest speed of a wall or an inlet in cells/step: half the speed of sound is 0.29."""


def three(name: str, value) -> tuple[float, float, float]:
    """`value` as three finite floats."""
    if isinstance(value, str) or not np.iterable(value):
        raise TypeError(f"{name} must hold three numbers, got {value!r}")
    numbers = tuple(real(name, x) for x in value)
    if len(numbers) != 3:
        raise ValueError(f"{name} must hold three numbers, got {value!r}")
    return numbers


def _velocity(value) -> tuple[float, float, float]:
    u = three("velocity", value)
    speed = float(np.hypot(np.hypot(u[0], u[1]), u[2]))
    if speed > FASTEST:
        raise ValueError(
            f"velocity must be at most {FASTEST} cells/step, got {speed:g}: the method holds for "
            "speeds well below that of sound (0.577). Take a smaller time step "
            "(lbm.Units does it for you)"
        )
    return u


@dataclass(frozen=True)
class Periodic:
    """What leaves through a face comes in through the opposite one."""


@dataclass(frozen=True)
class NoSlip:
    """A wall at rest: half-way bounce-back. Second order; exact for flat walls with TRT 3/16."""

    rank: ClassVar[int] = 0

    def row(self) -> tuple[float, ...]:
        return 0.0, 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True)
class MovingWall:
    """A no-slip wall with a velocity (cells/step): Ladd (1994), density 1 at the wall.

    Faces of the domain move in their own plane. The cells of a solid stay where they are.
    """

    velocity: tuple[float, float, float]
    rank: ClassVar[int] = 1

    def __post_init__(self):
        object.__setattr__(self, "velocity", _velocity(self.velocity))

    def row(self) -> tuple[float, ...]:
        return 0.0, 0.0, *self.velocity


@dataclass(frozen=True)
class VelocityInlet(MovingWall):
    """Fluid enters (or leaves) with a velocity: a wall that moves through its own plane."""

    rank: ClassVar[int] = 2


@dataclass(frozen=True)
class PressureOutlet:
    """A given density, pressure rho/3: anti-bounce-back with the cell's own velocity.

    Ginzburg et al. (2008). Second order for flow across the outlet. The shear stress in its plane
    is zero too, so that a sheared flow bends there (see docs/lbm.md).
    """

    rho: float = 1.0
    rank: ClassVar[int] = 3

    def __post_init__(self):
        object.__setattr__(self, "rho", within("rho", self.rho, *DENSITIES))

    def row(self) -> tuple[float, ...]:
        return 1.0, self.rho - 1.0, 0.0, 0.0, 0.0


@dataclass(frozen=True)
class FreeSlip:
    """A flat face without friction: populations are mirrored in it, within a cell.

    No shear and no loss of mass, exactly. Faces of the domain only: a free-slip solid would need
    its surface's normal. Where the mirror image meets another wall, at a corner, they bounce back.
    """

    rank: ClassVar[int] = 4

    def row(self) -> tuple[float, ...]:
        return 0.0, 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True, eq=False)
class Solid:
    """Cells that are not fluid, and how they act on the fluid around them.

    Parameters
    ----------
    cells : bool array of shape (nx, ny, nz)
    condition : NoSlip, MovingWall, VelocityInlet or PressureOutlet
    """

    cells: np.ndarray
    condition: object = NoSlip()

    def __post_init__(self):
        cells = np.asarray(self.cells)
        if cells.ndim != 3 or cells.dtype != bool:
            raise TypeError(
                f"cells must be a boolean array of shape (nx, ny, nz), got {cells.dtype} of shape "
                f"{cells.shape}"
            )
        if not isinstance(self.condition, NoSlip | MovingWall | PressureOutlet):
            raise ValueError(
                f"a solid cannot be {type(self.condition).__name__}: take NoSlip, MovingWall, "
                "VelocityInlet or PressureOutlet (FreeSlip and Periodic are for faces)"
            )
        object.__setattr__(self, "cells", cells)


FACES = ("x-", "x+", "y-", "y+", "z-", "z+")


def split(boundaries) -> tuple[tuple, dict[str, Solid]]:
    """(the six faces' conditions, the solids by name) of what a user gave.

    Keys are faces ("x-" ... "z+"), axes ("x": both faces) or any other name for a `Solid`. A face
    that is not named is periodic.
    """
    if not isinstance(boundaries, Mapping | None):
        raise TypeError(f"boundaries must map faces to conditions, got {boundaries!r}")
    faces: dict[str, object] = {}
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
                f"boundaries has the key {key!r}: faces are {', '.join(FACES)} or x, y, z; other "
                "names are for lbm.Solid(cells, condition)"
            )
        if not isinstance(value, Periodic | NoSlip | MovingWall | PressureOutlet | FreeSlip):
            raise TypeError(f"boundaries[{key!r}] must be a boundary condition, got {value!r}")
        for name in names:
            if name in faces:
                raise ValueError(f"boundaries gives the face {name!r} twice")
            faces[name] = value
    conditions = tuple(faces.get(f, Periodic()) for f in FACES)
    for k, (name, condition) in enumerate(zip(FACES, conditions, strict=True)):
        if type(condition) is MovingWall and condition.velocity[k // 2]:
            raise ValueError(
                f"the face {name!r} would move through its own plane, into the domain or out of "
                f"it, with velocity {condition.velocity}: set its component along {name[0]} to 0, "
                "or take VelocityInlet for fluid that comes in or goes out there"
            )
    for axis in range(3):
        low, high = conditions[2 * axis : 2 * axis + 2]
        if isinstance(low, Periodic) != isinstance(high, Periodic):
            raise ValueError(
                f"the faces {FACES[2 * axis]!r} and {FACES[2 * axis + 1]!r} must both be periodic "
                f"or both be given, got {low} and {high}"
            )
    return conditions, solids


def require_outlet(faces: tuple, solids: dict[str, Solid], inflow) -> None:
    """Refuse inlets that fill or empty a domain without an outlet.

    `inflow()` gives (what walls bring in a step, the same with all amounts positive).
    """
    everywhere = [*faces, *(solid.condition for solid in solids.values())]
    inlets = any(isinstance(condition, VelocityInlet) for condition in everywhere)
    if not inlets or any(isinstance(condition, PressureOutlet) for condition in everywhere):
        return
    net, gross = inflow()
    if abs(net) > 1e-9 * gross:
        raise ValueError(
            f"the inlets {'bring in' if net > 0 else 'take out'} a mass of {abs(net):.3g} a step "
            "more than goes the other way, and there is no outlet: the density would keep "
            f"{'rising' if net > 0 else 'falling'}. Make one of them lbm.PressureOutlet()"
        )
