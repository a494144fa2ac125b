"""A scalar around moving bodies: their walls, and what the fluid has lost to them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lbm._coupled.moving_bodies.bodies import MovingBodies
from lbm._coupled.moving_bodies.formulas import COUNT, UNIT
from lbm._coupled.moving_bodies.scalar_formulas import ENTERED, HEAT_SUMS, TAKEN
from lbm._coupled.moving_bodies.sums import Account
from lbm._coupled.scalars.field import ScalarField
from lbm._coupled.scalars.scalar import CS2, FixedFlux, FixedValue

FLUX_STEPS = 1024.0
"""Steps of a flux that sums of a scalar have room for; not tuned."""


class HeatOfBodies:
    """The heat that moving bodies take from a scalar, and that passes through their walls.

    Parameters
    ----------
    bodies : the bodies
    field : the scalar

    Attributes
    ----------
    names : of the bodies
    """

    def __init__(self, bodies: MovingBodies, field: ScalarField):
        self._bodies, self._field, self._scalar = bodies, field, field.scalar
        self._scale, self._accounts = 1.0, dict[str, Account]()
        self._walls: dict[str, list[Any]] = {}
        self.names = tuple(bodies.bodies)
        for name, body in bodies.bodies.items():
            account = Account(bodies.domain.ranks, HEAT_SUMS)
            self._walls[name] = body.add_scalar(field, self._wall(name), account)
            self._accounts[name] = account
        bodies.choose_scales.append(self._choose_scale)

    def _choose_scale(self) -> None:
        """Choose the power of 2 by which values are of the order of 1 at most; sums are 0."""
        sizes = [float(np.abs(self._field.values).max(initial=0.0))]
        for c in self._scalar.boundaries.values():
            sizes.append(abs(c.value) if isinstance(c, FixedValue) else FLUX_STEPS * abs(c.flux))
        domain = self._bodies.domain
        largest = domain.ranks.max(max(sizes))
        self._scale = 2.0 ** -math.frexp(largest)[1] if math.isfinite(largest) else 1.0
        with domain.between_streams():
            for name, walls in self._walls.items():
                for sums, wall in zip(self._accounts[name].blocks, walls, strict=True):
                    sums.store.set(wall, self._wall(name).astype(sums.store.T))

    def _wall(self, name: str) -> np.ndarray:
        """Return the numbers of the wall that `scalar_formulas.bounce_scalar` reads."""
        boundary = self._scalar.boundaries.get(name, FixedFlux())
        valued = isinstance(boundary, FixedValue)
        number = boundary.value if isinstance(boundary, FixedValue) else boundary.flux
        # Covered cells must not drive the flow: users see its velocity there.
        covered = self._scalar.reference if self._scalar.is_buoyant else 0.0
        slope = 0.0 if valued else number / self._scalar.diffusivity  # in a cell towards the wall
        tau = 0.5 + self._scalar.diffusivity / CS2
        return np.array([valued, number, covered, self._scale, slope, tau * slope], float)

    def covered(self, t: int) -> np.ndarray:
        """Return the cells [z, y, x] of this rank that bodies cover at time t."""
        return ~self._bodies.fluid(t)

    def taken(self, name: str) -> float:
        """Return what the fluid has lost to a body."""
        return self._accounts[name].integers(1)[TAKEN] * UNIT / self._scale

    def flux(self, name: str, t: int) -> float:
        """Return what entered the fluid through the wall of a body in the step before time t."""
        body = self._bodies.of_last_step(name, t)
        entered = self._accounts[name].integers(0)[ENTERED] * UNIT / self._scale
        boundary = self._scalar.boundaries.get(name)
        if isinstance(boundary, FixedValue):
            entered += boundary.value * body.account.integers(0)[COUNT]
        return entered
