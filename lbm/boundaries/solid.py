"""Solids: cells that are not fluid, and the condition at their surface."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hetero.validation import check_choice, describe, require_unmasked
from lbm.boundaries.condition import Condition
from lbm.boundaries.motion import Motion, check_motion
from lbm.boundaries.walls import NoSlip
from lbm.lattices.extent import Extent, Triple

_AT_REST = NoSlip()

WALLS = "halfway", "interpolated", "modelled"
"""Places where the wall of a solid may stand."""

ATTACHED = (
    "forces on round bodies are not to be trusted, since flows leave them too late (the drag of a "
    "sphere at Re 1e5 was 0.16 instead of 0.47), and fronts with rounded edges have too much drag: "
    "compare wall='interpolated'"
)
"""What is said of bodies with modelled walls."""


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
    wall : {"halfway", "interpolated", "modelled"}
        Where the wall stands. "halfway": in the middle of each link between a fluid cell and a
        solid one, so that oblique walls are staircases, of first order. "interpolated": where each
        link meets the surface (Bouzidi et al. 2001), which is of second order. `cells` must then be
        a shape that knows its surface: `lbm.Sphere`, `lbm.Cylinder`, `lbm.Box`, `lbm.HalfSpace`,
        `lbm.TriangleMesh` or a `lbm.Shape` of your own. The condition must be NoSlip or MovingWall.
        "modelled": half-way, with the friction of the law of the wall (Spalding 1961) on the area
        of the surface, for boundary layers that are thinner than cells; only such shapes and
        NoSlip. Beside sharp edges the wall slips along them alone, so that flows leave them; they
        leave round bodies too late, of which a warning tells.
    motion : Rotation, Translation, or a tuple of both, optional
        How the body moves through the cells. `cells` must be a `lbm.Sphere`, `lbm.Cylinder`,
        `lbm.Box` or `lbm.TriangleMesh`, whose place is that without the motion, and the condition
        NoSlip: the wall has the velocity of the body.
    """

    cells: np.ndarray | Callable[..., np.ndarray]
    condition: Condition = _AT_REST
    wall: str = "halfway"
    motion: Motion | Sequence[Motion] | None = None

    def __post_init__(self) -> None:
        self._check_condition()
        self._check_wall()
        if self.motion is not None:
            self._check_motion()
        if callable(self.cells):
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
        object.__setattr__(self, "cells", cells)

    def _check_condition(self) -> None:
        if not (isinstance(self.condition, Condition) and self.condition.may_be_solid):
            kind = type(self.condition).__name__
            raise ValueError(
                f"condition: a solid cannot be {kind}, which is for faces: use NoSlip, MovingWall, "
                "VelocityInlet or PressureOutlet"
            )

    def _check_wall(self) -> None:
        """Raise TypeError or ValueError if the shape or the condition does not suit the wall."""
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
                f'wall="{self.wall}" needs cells that know their surface: lbm.Sphere, '
                "lbm.Cylinder, lbm.Box, lbm.HalfSpace, lbm.TriangleMesh or a lbm.Shape of your "
                f"own, got {describe(self.cells)}"
            )
        if self.is_modelled and self.condition.prescribes:
            raise ValueError(
                f'wall="modelled" needs the condition NoSlip, got {type(self.condition).__name__}: '
                'use wall="interpolated"'
            )
        if not self.condition.may_be_interpolated:
            raise ValueError(
                'wall="interpolated" needs the condition NoSlip or MovingWall, got '
                f'{type(self.condition).__name__}: use wall="halfway"'
            )

    def _check_motion(self) -> None:
        check_motion(self.motion)
        if type(self.condition) is not NoSlip or self.is_modelled:
            raise ValueError(
                "a solid with a motion needs the condition NoSlip and wall='halfway' or "
                f"'interpolated', got {type(self.condition).__name__} and wall={self.wall!r}: its "
                "wall has the velocity of the body"
            )

    @property
    def is_interpolated(self) -> bool:
        """Return whether the wall stands where links meet the surface."""
        return self.wall != "halfway"

    @property
    def is_modelled(self) -> bool:
        """Return whether the law of the wall gives the friction."""
        return self.wall == "modelled"

    @property
    def bounce(self) -> Condition:
        """Condition by which the step itself sends populations back.

        Interpolated walls take what a wall at rest returns, and replace it after the step.
        """
        return _AT_REST if self.is_interpolated else self.condition

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
        return self.cells[np.ix_(*indices)]


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
