"""Conversion between SI and lattice units (cells, steps, density 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetero.validation import (
    check_choice,
    check_finite,
    check_in_range,
    check_integer,
    check_positive,
)
from lbm.boundaries import MAX_SPEED
from lbm.collisions.stability_map import (
    BETWEEN_WALLS,
    FLOW_KINDS,
    LARGEST,
    LIMITS,
    WITH_OPEN_ENDS,
    FlowKind,
)

MAX_CELLS = 1 << 32
"""Largest number of cells of a length: as many as a domain may have."""

MIN_SCALE = 1e-60
"""Smallest scale, and reciprocal of the largest, with which products of some stay in float64."""

MAX_TAU = 2.0
"""Largest relaxation time that `Units.choose` accepts: walls become inaccurate above."""


@dataclass(frozen=True)
class Units:
    """Scales of a simulation: multiply lattice units by them to get SI units.

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

    def __post_init__(self) -> None:
        for name in ("dx", "dt", "density"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))
        tau = check_in_range("tau", self.tau, 0.5, math.inf, closed="right")
        object.__setattr__(self, "tau", tau)

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
        flow: FlowKind | None = None,
    ) -> Units:
        """Choose units in which `length` (m) is `cells` cells and `speed` (m/s) is `lattice_speed`.

        Parameters
        ----------
        viscosity : kinematic viscosity in m^2/s
        density : kg/m^3
        lattice_speed : cells/step. The compressibility error grows with its square, the number of
            steps with its inverse.
        flow : what bounds the flow: "walls" (and nothing else), "open" (there are inlets or
            outlets), or "free" (only periodic and free-slip faces, and no solids). Where there are
            walls, the cell Reynolds number, speed/viscosity in lattice units, has a limit, by
            default the largest of any such flow. Free flows have none: how far they are stable
            depends on their smoothness. Taylor-Green vortices are up to 79.5, with BGK or with a
            magic parameter of 0.001.

        Raises
        ------
        ValueError
            If the settings would be unstable or inaccurate; the message says what to change. The
            limits were measured (`collisions/stability_map.py`); `Units(dx, dt, density, tau)`
            accepts any tau.
        """
        if flow is not None:
            check_choice("flow", flow, FLOW_KINDS)
        length, speed = check_positive("length", length), check_positive("speed", speed)
        viscosity = check_positive("viscosity", viscosity)
        density = check_positive("density", density)
        cells = check_integer("cells", cells, 1, MAX_CELLS)
        lattice_speed = check_in_range(
            "lattice_speed", lattice_speed, 0.0, MAX_SPEED, closed="right"
        )
        dx = length / cells
        dt = lattice_speed * dx / speed
        reynolds = speed * length / viscosity
        scales = {"dx": dx, "dt": dt, "the Reynolds number": reynolds}
        for name, scale in scales.items():
            if not MIN_SCALE < scale < 1.0 / MIN_SCALE:
                raise ValueError(
                    f"length={length!r}, cells={cells}, speed={speed!r}, viscosity={viscosity!r} "
                    f"and lattice_speed={lattice_speed!r} give {name} {scale:g}, which must lie "
                    f"between {MIN_SCALE:g} and {1.0 / MIN_SCALE:g}: check their units"
                )
        tau = 0.5 + 3.0 * viscosity * dt / dx**2
        require_stable_cells(reynolds, cells, tau, flow)
        if tau > MAX_TAU:
            # A little less, because the message rounds to three digits.
            slower = 0.995 * (MAX_TAU - 0.5) / (tau - 0.5) * lattice_speed
            raise ValueError(
                f"tau would be {tau:.3g}, above {MAX_TAU}, where walls are inaccurate. "
                f"Use lattice_speed={slower:.3g} or fewer cells"
            )
        return cls(dx, dt, density, tau)

    @property
    def viscosity(self) -> float:
        """Kinematic viscosity in m^2/s."""
        return (self.tau - 0.5) / 3.0 * self.dx**2 / self.dt

    def to_lattice(
        self,
        *,
        speed: float | None = None,
        acceleration: float | None = None,
        time: float | None = None,
        pressure: float | None = None,
    ) -> float:
        """Convert one quantity from SI to lattice units.

        Parameters
        ----------
        speed : m/s
        acceleration : m/s^2; the result is also the body force at density 1
        time : s
        pressure : Pa relative to density 1; the result is rho - 1
        """
        return _convert_one(
            speed=(speed, self.dt / self.dx),
            pressure=(pressure, 3.0 * (self.dt / self.dx) ** 2 / self.density),
            acceleration=(acceleration, self.dt**2 / self.dx),
            time=(time, 1.0 / self.dt),
        )

    def to_physical(
        self,
        *,
        speed: float | None = None,
        pressure: float | None = None,
        force: float | None = None,
        torque: float | None = None,
        steps: float | None = None,
    ) -> float:
        """Convert one quantity from lattice to SI units.

        Parameters
        ----------
        speed : cells/step, to m/s
        pressure : as rho - 1, to Pa relative to density 1
        force, torque : as of `Simulation.force_on` and `torque_on`, to N and N m
        steps : to s
        """
        scale = self.dx / self.dt
        return _convert_one(
            speed=(speed, scale),
            pressure=(pressure, self.density * scale**2 / 3.0),
            force=(force, self.density * scale**2 * self.dx**2),
            torque=(torque, self.density * scale**2 * self.dx**3),
            steps=(steps, self.dt),
        )


def require_stable_cells(
    reynolds: float, cells: int, tau: float, flow: FlowKind | None = None
) -> None:
    """Raise ValueError if flows with so many cells were never stable; see `Units.choose`."""
    cell_reynolds = reynolds / cells
    if flow == "free" or cell_reynolds <= (max(LIMITS[flow].values()) if flow else LARGEST):
        return
    closed, open_ended = max(BETWEEN_WALLS.values()), max(WITH_OPEN_ENDS.values())
    limits, remedies = {
        "walls": (f"{closed} between walls", f"{math.ceil(reynolds / closed)} cells"),
        "open": (
            f"{open_ended} with inlets or outlets",
            f"{math.ceil(reynolds / open_ended)} cells",
        ),
        None: (
            f"{closed} between walls and {open_ended} with inlets or outlets",
            f"{math.ceil(reynolds / closed)} cells between walls, "
            f"{math.ceil(reynolds / open_ended)} with inlets or outlets",
        ),
    }[flow]
    raise ValueError(
        f"{cells} cells are too few for Reynolds number {reynolds:.4g}: tau would be "
        f"{tau:.6f} and speed/viscosity in lattice units {cell_reynolds:.4g}, but flows "
        f"blow up above {limits}. Use at least {remedies} (lattice_speed does not matter), or a "
        "lower Reynolds number"
        + ("" if flow else "; flow='free' says that there are no walls, solids or open ends")
    )


def _convert_one(**scaled: tuple[float | None, float]) -> float:
    """Return the product of the only pair (value, scale) that has a value."""
    results = [
        check_finite(name, value) * scale
        for name, (value, scale) in scaled.items()
        if value is not None
    ]
    if len(results) != 1:
        raise TypeError(f"pass exactly one of {', '.join(scaled)} by keyword, got {len(results)}")
    return results[0]
