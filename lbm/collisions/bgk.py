"""BGK: one relaxation time for all populations (Riesinger 2017, equation 13.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.operator import Collision
from lbm.collisions.stability_map import FlowKind
from lbm.lattices import LATTICES, Lattice


@dataclass(frozen=True)
class BGK(Collision):
    """Collision operator of Bhatnagar, Gross and Krook (1954): f + (e - f) / tau.

    Mean flows lower the viscosity of shear: at 0.1 cells/step by 3 % along an axis and by 6 %
    along (1, 1, 0), in proportion to the square of the speed (docs/packages/lbm.md).

    Parameters
    ----------
    tau : float
        Relaxation time in steps, above 1/2 and at most 100: the viscosity is (tau - 1/2)/3
        cells^2/step. The position of walls depends on it: the flow in a channel of 12 cells is
        1.4 % too fast at tau = 1 and 48 % at tau = 2, but exact with TRT.
    """

    tau: float
    is_linear: ClassVar[bool] = True
    lattices: ClassVar[tuple[str, ...]] = tuple(LATTICES)

    @property
    def rates(self) -> tuple[float, ...]:
        """The relaxation rate 1 / tau."""
        return (1.0 / self.tau,)

    @property
    def magic(self) -> float:
        """The magic parameter, (tau - 1/2)^2: even and odd parts have the same relaxation time."""
        return (self.tau - 0.5) ** 2

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.unroll import per_pair

        @per_pair(lattice)
        def relax_pair(f: Any, g: Any, even: Any, odd: Any, omega: Any) -> tuple[Any, Any]:
            return f + omega * ((even + odd) - f), g + omega * ((even - odd) - g)

        return lambda f, e, rates: relax_pair(f, e, rates[0])

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return f + (e - f) / tau."""
        return f + (e - f) / self.tau

    @classmethod
    def stability_limit(cls, kind: FlowKind) -> float:
        """Return the largest cell Reynolds number, measured as in `stability_map`."""
        return {"walls": 14.2, "open": 12.0, "free": 79.5}[kind]
