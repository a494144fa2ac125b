"""From metres and seconds to cells and steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetero.errors import real, whole, within
from lbm.boundaries import FASTEST
from lbm.stability_map import BETWEEN_WALLS, LARGEST, WITH_OPEN_ENDS

SLOW_TAU = 2.0


@dataclass(frozen=True)
class Units:
    """Scales of a simulation: multiply by them to get SI from lattice units.

    Attributes
    ----------
    dx : metres in a cell
    dt : seconds in a step
    density : kg/m^3 at lattice density 1
    tau : relaxation time that gives the viscosity
    """

    dx: float
    dt: float
    density: float
    tau: float

    @classmethod
    def choose(
        cls,
        *,
        length: float,
        cells: int,
        speed: float,
        viscosity: float,
        density: float = 1.0,
        lattice_speed: float = 0.1,
    ) -> Units:
        """Units in which `length` (m) is `cells` cells and `speed` (m/s) is `lattice_speed`.

        Parameters
        ----------
        viscosity : kinematic, m^2/s
        lattice_speed : cells/step. The method's compressibility error grows with its square, the
            number of steps with its inverse.

        Raises
        ------
        ValueError
            For settings that would be unstable or inaccurate; the message says what to change.
            What is stable was measured (`lbm.stability_map`), in flows that come up against walls
            and bodies: smooth ones may be stable beyond, and `Units(dx, dt, density, tau)` takes
            any tau.
        """
        length, speed = _positive("length", length), _positive("speed", speed)
        viscosity, density = _positive("viscosity", viscosity), _positive("density", density)
        cells = whole("cells", cells, 1)
        within("lattice_speed", lattice_speed, 0.0, FASTEST, closed="right")
        dx = length / cells
        dt = lattice_speed * dx / speed
        tau = 0.5 + 3.0 * viscosity * dt / dx**2
        reynolds = speed * length / viscosity
        if reynolds / cells > LARGEST:
            closed, opened = max(BETWEEN_WALLS.values()), max(WITH_OPEN_ENDS.values())
            raise ValueError(
                f"{cells} cells are too few for Reynolds number {reynolds:.4g}: tau would be "
                f"{tau:.6f}, and speed/viscosity in lattice units {reynolds / cells:.4g}, above "
                f"which flows blow up: {closed} between walls, {opened} with inlets or outlets. "
                f"Take at least {math.ceil(reynolds / closed)} cells between walls, "
                f"{math.ceil(reynolds / opened)} with inlets or outlets (lattice_speed does not "
                "matter), or a lower Reynolds number"
            )
        if tau > SLOW_TAU:
            # A little less, as three digits may be more than all of them.
            fits = 0.995 * (SLOW_TAU - 0.5) / (tau - 0.5) * lattice_speed
            raise ValueError(
                f"tau would be {tau:.3g}, above {SLOW_TAU}: inaccurate at walls. "
                f"Take lattice_speed={fits:.3g} or fewer cells"
            )
        return cls(dx, dt, density, tau)

    @property
    def viscosity(self) -> float:
        """Kinematic, m^2/s."""
        return (self.tau - 0.5) / 3.0 * self.dx**2 / self.dt

    def to_lattice(self, *, speed=None, acceleration=None, time=None, pressure=None):
        """A speed (m/s), acceleration (m/s^2; the force on a cell at density 1), time (s), or
        `pressure` above that of density 1 (Pa; gives rho - 1)."""
        given = [
            (speed, self.dt / self.dx),
            (pressure, 3.0 * (self.dt / self.dx) ** 2 / self.density),
            (acceleration, self.dt**2 / self.dx),
            (time, 1.0 / self.dt),
        ]
        return _one(given)

    def to_physical(self, *, speed=None, pressure=None, force=None, torque=None, steps=None):
        """A lattice speed in m/s, `pressure` (given as rho - 1) in Pa, force in N, torque in N m,
        steps in s."""
        scale = self.dx / self.dt
        given = [
            (speed, scale),
            (pressure, self.density * scale**2 / 3.0),
            (force, self.density * scale**2 * self.dx**2),
            (torque, self.density * scale**2 * self.dx**3),
            (steps, self.dt),
        ]
        return _one(given)


def _positive(name: str, value) -> float:
    value = real(name, value)
    if value <= 0.0:
        raise ValueError(f"{name} must be positive, got {value!r}")
    return value


def _one(given):
    found = [value * scale for value, scale in given if value is not None]
    if len(found) != 1:
        raise TypeError("give exactly one quantity by keyword")
    return found[0]
