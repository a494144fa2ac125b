"""Outlets that let sound pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.boundaries.averaging import averaging_field, check_averaging
from lbm.boundaries.pressure_outlet import PressureOutlet
from lbm.lattices import SOUND


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

    averaging: float = averaging_field()
    name: ClassVar[str] = "non-reflecting-outlet"
    may_be_solid: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_averaging(self)

    @property
    def response_numbers(self) -> tuple[float, ...]:
        """Share by which the mean follows the flow in a step."""
        return (1.0 / self.averaging,)

    @property
    def follows_over(self) -> float:
        """Steps over which the mean velocity follows the flow."""
        return self.averaging

    def start_memory(self, drho: Any, outwards: Any) -> Any:
        """Return the mean velocity out of the domain."""
        return outwards

    @staticmethod
    def respond() -> Any:
        """Make the formula of the mean velocity and of the density; see `Condition`."""
        from lbm.collisions.unroll import inlined

        @inlined
        def excess_density(rho: Any, momentum: Any, mean: Any, share: Any) -> Any:
            """Return by how much the density at an outlet exceeds its target.

            The cell gains the share of the excess as mass, and loses it as momentum, so that the
            equation is implicit.
            """
            T = type(rho)
            impedance = T(1.0 / SOUND)
            return impedance * (momentum / rho - mean) / (T(1) + impedance * share / rho)

        @inlined
        def respond_as_outlet(drho: Any, momentum: Any, share: Any, mean: Any, numbers: Any) -> Any:
            rho = type(drho)(1) + drho
            excess = excess_density(rho, momentum, mean, share)
            return excess, mean + numbers[0] * ((momentum - share * excess) / rho - mean)

        return respond_as_outlet

    def reference_respond(
        self, rho: np.ndarray, momentum: np.ndarray, share: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the excess density of a wave that leaves, and the mean velocity."""
        root = np.sqrt(3.0)
        excess = root * (momentum / rho - memory) / (1 + root * share / rho)
        return excess, memory + ((momentum - share * excess) / rho - memory) / self.averaging
