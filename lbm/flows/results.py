"""Results of the flows that `lbm.flows` solves, and the published profile of the cavity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hetero.display.notebook import html_table
from hetero.equality import equal_by_value
from lbm.simulation import Simulation

CAVITY_RE1000 = np.array(
    [
        *((0.0, 0.0), (0.0547, -0.20623), (0.0625, -0.22283), (0.0703, -0.23696)),
        *((0.1016, -0.27293), (0.1719, -0.2516), (0.2813, -0.10999), (0.4531, -0.00612)),
        *((0.5, 0.00802), (0.6172, 0.03905), (0.7344, 0.07334), (0.8516, 0.12183)),
        *((0.9531, 0.33171), (0.9609, 0.39821), (0.9688, 0.48443), (0.9766, 0.58964), (1.0, 1.0)),
    ]
)
"""(height, u / U) on the centre line of the cubic cavity at Re = 1000: Albensoeder and Kuhlmann,
J. Comput. Phys. 206 (2005) 536, table 5."""


@equal_by_value
@dataclass(frozen=True, eq=False)
class CavityResult:
    """Centre-line profile of a cavity, the same on all ranks.

    Attributes
    ----------
    simulation : the flow in its last state
    height, u : profile in units of the edge and of the lid's speed, walls included
    error : largest difference from `CAVITY_RE1000`; NaN at other Reynolds numbers
    lowest : smallest u of the profile
    change : relative change of the velocity between the last comparisons
    reynolds : Reynolds number of the edge and of the lid's speed
    steady : whether the change was below the tolerance; otherwise the profile still moves
    """

    simulation: Simulation = field(compare=False)
    height: np.ndarray
    u: np.ndarray
    error: float
    lowest: float
    change: float
    reynolds: float = 1000.0
    steady: bool = False

    def __repr__(self) -> str:
        return (
            f"CavityResult(error={self.error:.3g}, lowest={self.lowest:.4g}, "
            f"change={self.change:.2g}, steady={self.steady}, simulation={self.simulation})"
        )

    def _repr_html_(self) -> str:
        compared = [("largest difference from Albensoeder and Kuhlmann (2005)", self.error)]
        rows = [
            *([] if np.isnan(self.error) else compared),
            ("lowest u / U on the centre line", self.lowest),
            ("last relative change of the velocity", self.change),
            ("steady", self.steady),
            ("simulation", self.simulation),
        ]
        return html_table(f"Lid-driven cavity at Re = {self.reynolds:g}", rows)


@equal_by_value
@dataclass(frozen=True, eq=False)
class SphereResult:
    """Drag of a sphere, the same on all ranks.

    Attributes
    ----------
    simulation : the flow in its last state
    diameter : diameter D in cells of the ball with the same volume as the solid cells
    drag : drag coefficient 2 F / (rho u^2 pi D^2 / 4)
    correlation : 24/Re (1 + 0.15 Re^0.687) for the Reynolds number of D (Schiller and Naumann)
    force : force at the last comparison in lattice units
    steady : whether the change between the last comparisons was below the tolerance
    """

    simulation: Simulation = field(compare=False)
    diameter: float
    drag: float
    correlation: float
    force: np.ndarray
    steady: bool = False

    @property
    def accuracy(self) -> float:
        """Relative error of the drag to expect from a surface of steps, however long the run is.

        It is 0.8 cells over the diameter, which bounds what was measured with 6 to 12 cells in wide
        enough boxes (docs/packages/lbm-accuracy.md). A smaller difference is luck.
        """
        return 0.8 / self.diameter

    @property
    def error(self) -> float:
        """Relative difference of the drag from the correlation."""
        return self.drag / self.correlation - 1.0

    def __repr__(self) -> str:
        return (
            f"SphereResult(drag={self.drag:.4g}, correlation={self.correlation:.4g}, "
            f"diameter={self.diameter:.4g}, steady={self.steady}, simulation={self.simulation})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("drag coefficient", self.drag),
            ("Schiller and Naumann (1933)", self.correlation),
            ("relative difference", self.error),
            ("relative error to expect with so few cells", self.accuracy),
            ("diameter in cells", self.diameter),
            ("steady", self.steady),
            ("simulation", self.simulation),
        ]
        return html_table("Drag of a sphere", rows)


class TerrainFlow(NamedTuple):
    """Wind over mountains.

    Attributes
    ----------
    simulation : the flow at its start
    surface : height of the ground [x, z] in cells
    """

    simulation: Simulation
    surface: np.ndarray


class VortexFlow(NamedTuple):
    """Decaying Taylor-Green vortices.

    Attributes
    ----------
    simulation : the flow at its start
    exact : exact(steps) is the velocity [c, x, y, z] of this rank's cells
    """

    simulation: Simulation
    exact: Callable[[int], np.ndarray]
