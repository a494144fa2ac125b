"""Outlets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hetero.validation import check_in_range
from lbm.boundaries.condition import NOWHERE, Condition
from lbm.boundaries.limits import DENSITY_RANGE
from lbm.boundaries.prescribed import Function, evaluate


@dataclass(frozen=True)
class PressureOutlet(Condition):
    """An outlet with a prescribed density and pressure rho/3: anti-bounce-back.

    It uses the velocity of the cell (Ginzburg et al. 2008). Second order for flow across the
    outlet. Where walls with friction touch a face with this condition, the shear stress of a
    channel's profile is added, which is right to 0.5 % of the flow rate if the channel is three
    times as long as wide; the term fades beyond 5 for the speed times the width of a cell over the
    viscosity. Elsewhere the shear stress in the plane of the outlet is zero. `rho` is a float or a
    function of position, time or both, as the velocity of a `MovingWall`.
    """

    rho: float | Function = 1.0
    name: ClassVar[str] = "pressure-outlet"
    rank: ClassVar[int] = 3
    prescribes: ClassVar[str] = "rho"
    is_open: ClassVar[bool] = True
    may_be_solid: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.depends_on:
            object.__setattr__(self, "rho", check_in_range("rho", self.rho, *DENSITY_RANGE))

    def parameters(self, points: np.ndarray = NOWHERE, t: float = 0.0) -> np.ndarray:
        """Return rows with the density at points and a time; see `Condition.parameters`."""
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

    def reference_return(
        self, f: np.ndarray, w: float, c: np.ndarray, u: np.ndarray, velocity_or_rho: Any
    ) -> np.ndarray:
        """Return the populations that keep the density (Ginzburg et al. 2008)."""
        cu, square = np.tensordot(c, u, 1), (u**2).sum(axis=0)
        return 2 * w * velocity_or_rho * (1 + 4.5 * cu**2 - 1.5 * square) - f
