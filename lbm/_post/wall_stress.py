"""Shear stress at walls: the result of `Simulation.wall_shear`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hetero.equality import equal_by_value


@equal_by_value
@dataclass(frozen=True, eq=False)
class WallShear:
    """Shear stress that the fluid exerts on a wall, at one point for each fluid cell beside it.

    Attributes
    ----------
    cells : int64 [k, (x, y, z)]
        Fluid cells of this rank beside the wall.
    points : float64 [k, (x, y, z)]
        Points of the wall, in cells from the corner of the domain.
    normals : float64 [k, (x, y, z)]
        Unit vectors across the wall that point into the fluid.
    distance : float64 [k]
        Distance of the centres of the cells from the wall, in cells.
    stress : float64 [k, (x, y, z)]
        Viscous force on the wall per unit of area along the wall, density times cells^2/step^2; in
        SI it is this times `units.density * (units.dx / units.dt)**2`.
    density : float64 [k]
        Densities of the cells.
    viscosity : float
        Kinematic viscosity in cells^2/step.
    """

    cells: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    distance: np.ndarray
    stress: np.ndarray
    density: np.ndarray
    viscosity: float

    @property
    def friction_velocity(self) -> np.ndarray:
        """Friction velocities u_tau = sqrt(|stress| / density) in cells/step, float64 [k]."""
        return np.sqrt(np.linalg.norm(self.stress, axis=1) / self.density)

    @property
    def y_plus(self) -> np.ndarray:
        """Distances of the cells' centres in wall units, y u_tau / viscosity, float64 [k]."""
        return self.distance * self.friction_velocity / self.viscosity

    def __len__(self) -> int:
        return len(self.distance)

    def __repr__(self) -> str:
        if not len(self):
            return "<WallShear in no cell>"
        largest = float(np.linalg.norm(self.stress, axis=1).max())
        return (
            f"<WallShear in {len(self)} cells: largest stress {largest:.3g}, largest y+ "
            f"{float(self.y_plus.max()):.3g}>"
        )
