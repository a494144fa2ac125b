"""Inlets and outlets that let sound pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from hetero.validation import check_in_range
from lbm.boundaries.condition import Condition
from lbm.boundaries.pressure_outlet import PressureOutlet
from lbm.boundaries.velocity_inlet import VelocityInlet
from lbm.lattices import SOUND


@dataclass(frozen=True)
class _FollowsMean(Condition):
    """A face of the domain that compares the flow with its running mean over `averaging` steps."""

    averaging: float = field(default=5000.0, metadata={"quantity": "duration"})
    may_be_solid: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        steps = check_in_range("averaging", self.averaging, 1.0, 1e12)
        object.__setattr__(self, "averaging", steps)

    @property
    def response_numbers(self) -> tuple[float, ...]:
        """Share by which the mean follows the flow in a step."""
        return (1.0 / self.averaging,)


@dataclass(frozen=True)
class NonReflectingInlet(_FollowsMean, VelocityInlet):
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

    name: ClassVar[str] = "non-reflecting-inlet"

    def start_memory(self, drho: Any, outwards: Any) -> Any:
        """Return the mean density less 1."""
        return drho

    @staticmethod
    def respond() -> Any:
        """Make the formula of the mean density and of the mass flux; see `Condition`.

        An inlet is a moving wall: what it returns falls by 6 w_q for each unit of the flux
        outwards.
        """
        from lbm.collisions.unroll import inlined

        @inlined
        def excess_flux(drho: Any, momentum: Any, mean: Any, share: Any) -> Any:
            """Return by how much the mass flux out of an inlet exceeds its target.

            A plane wave that leaves moves with c_s + u, where u is the velocity out of the domain,
            and carries this speed times its density. The cell loses 3 times the share of the excess
            as mass, so that the equation is implicit.
            """
            T = type(drho)
            speed = T(SOUND) + momentum / (T(1) + drho)
            return speed * (drho - mean) / (T(1) + T(3) * share * speed)

        @inlined
        def respond_as_inlet(drho: Any, momentum: Any, share: Any, mean: Any, numbers: Any) -> Any:
            change = type(drho)(-3) * excess_flux(drho, momentum, mean, share)
            return change, mean + numbers[0] * (drho + share * change - mean)

        return respond_as_inlet

    def reference_respond(
        self, rho: np.ndarray, momentum: np.ndarray, share: np.ndarray, memory: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the change by the flux of a wave that leaves, and the mean density less 1."""
        speed = 1 / np.sqrt(3.0) + momentum / rho
        change = -3 * speed * (rho - 1 - memory) / (1 + 3 * share * speed)
        return change, memory + (rho - 1 + share * change - memory) / self.averaging


@dataclass(frozen=True)
class NonReflectingOutlet(_FollowsMean, PressureOutlet):
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

    name: ClassVar[str] = "non-reflecting-outlet"

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
