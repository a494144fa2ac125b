"""All scalars of a flow: how they drive it, step with it, and are saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.scalars.field import ScalarField
from lbm._coupled.scalars.scalar import Scalar
from lbm._coupled.scalars.walls import Q7, classify_links
from lbm._kernels.engine import DrivingScalar
from lbm._kernels.items.store import Store
from lbm._kernels.problem import Box
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.boundaries import Enclosure
from lbm.errors import UnstableError


class ScalarFields(Companion):
    """All scalars of a flow; the first one may drive it.

    Parameters
    ----------
    scalars : by name, the buoyant one first
    enclosure : the domain of the flow and its walls
    domain : the parts of this rank
    """

    def __init__(self, scalars: Mapping[str, Scalar], enclosure: Enclosure, domain: Domain):
        super().__init__(domain)
        T = domain.problem.precision.compute
        self._velocities = {
            part.index: Store(part.engine).zeros(3, *part.engine.problem.shape[::-1])
            for part in domain.parts
        }
        self.fields = {
            name: ScalarField(
                name, scalar, domain, classify_links(enclosure, scalar, domain.region),
                self._velocities,
            )
            for name, scalar in scalars.items()
        }  # fmt: skip
        self._first = next(iter(self.fields.values()))
        self.rows = Q7 * len(self.fields)
        driver = self._first.scalar
        self._numbers = tuple(map(T, (*driver.buoyancy, driver.reference)))
        if driver.is_buoyant:
            domain.driver = self

    def describe(self, t: int) -> str:
        """Return the settings of all scalars."""
        return "; ".join(f"{name}: {f.scalar.describe()}" for name, f in self.fields.items())

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Set all scalars to their initial values, in a flow with the velocity u of this rank."""
        for field in self.fields.values():
            field.start(u)

    def without_half_force(self, rho: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the velocity from which populations start so that u is read."""
        driver = self._first.scalar
        excess = self._first.initial_values() - driver.reference
        shift = np.multiply.outer(np.array(driver.buoyancy), 0.5 * excess / rho)
        if shift.ndim != u.ndim:  # one of both holds three numbers for all cells
            shift, u = (a[:, None, None, None] if a.ndim == 1 else a for a in (shift, u))
        return u - shift

    def before_step(self, t: int) -> None:
        """Drive the flow, and do step number t of all scalars."""
        with self.domain.between_streams():
            for part in self.domain.parts:
                nz = part.extent.shape[2]
                velocity = self._velocities[part.index]
                part.engine.accelerate(t, part.rows(0, nz), self.scalar(part, t), velocity)
        for field in self.fields.values():
            field.step(t)

    def scalar(self, part: Part, t: int) -> DrivingScalar:
        """Return the first scalar of a part after t steps, with the numbers of its buoyancy."""
        return DrivingScalar(self._first.current(part, t), self._numbers)

    def add_half_impulse(self, part: Part, t: int, box: Box, data: Any) -> None:
        """Add half of the buoyancy's impulse to the velocities in data [4, z, y, x] of a box."""
        self._first.block(part).add_half_force(t, box, data, self._numbers)

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return the populations of all scalars in the layers z0 to z1 of this rank."""
        return np.concatenate([field.read_rows(z0, z1) for field in self.fields.values()])

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Set the populations of all scalars in layers from z0 on."""
        for k, field in enumerate(self.fields.values()):
            field.write_rows(z0, values[Q7 * k : Q7 * (k + 1)], t)

    def copy_state(self, t: int) -> list[list[Any]]:
        """Return copies of all populations."""
        return [field.copy_state(t) for field in self.fields.values()]

    def return_to_state(self, t: int, state: list[list[Any]]) -> None:
        """Restore copied populations."""
        for field, copies in zip(self.fields.values(), state, strict=True):
            field.return_to_state(t, copies)

    def require_finite(self, t: int) -> None:
        """Raise UnstableError on all ranks if a scalar is not finite.

        One that drives the flow is: the check of the flow, which comes before, has read it.
        """
        for name, field in self.fields.items():
            if field.scalar.is_buoyant or not self.domain.ranks.any(field.has_not_finite(t)):
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                bad = np.argwhere(~np.isfinite(field.values)) + self.domain.region.start
            first = min(map(tuple, bad.tolist()), default=None)
            cells = [cell for cell in self.domain.ranks.gather_all(first) if cell is not None]
            if cells:
                x, y, z = min(cells)
                raise UnstableError(
                    f"the scalar {name!r} is not finite after step {t}, first in cell "
                    f"{(x, y, z)}: use slower flow, a larger diffusivity, or more cells.",
                    t, (x, y, z),
                )  # fmt: skip
