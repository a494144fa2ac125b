"""Numbers of a case file in lattice units: as they stand, or converted from SI by its [units]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lbm._io.tables import Table
from lbm.units import Units


@dataclass(frozen=True)
class Scales:
    """Conversion of the numbers of a case file.

    Attributes
    ----------
    units : Units, or None if the file is in lattice units
    """

    units: Units | None

    @property
    def cell(self) -> float:
        """The edge of a cell in the unit of lengths."""
        return 1.0 if self.units is None else self.units.dx

    @property
    def length_name(self) -> str:
        """Name of the unit of lengths."""
        return "cells" if self.units is None else "m"

    def length(self, value: float) -> float:
        """Return a length in cells."""
        return value / self.cell

    def position(self, x: Sequence[float]) -> tuple[float, ...]:
        """Return coordinates in cells."""
        return tuple(self.length(c) for c in x)

    def velocity(self, u: Sequence[float]) -> tuple[float, float, float]:
        """Return a velocity in cells/step."""
        x, y, z = (c if self.units is None else self.units.to_lattice(speed=c) for c in u)
        return x, y, z

    def force(self, f: Sequence[float]) -> tuple[float, float, float]:
        """Return a body force in density times cells/step^2; in SI it is an acceleration."""
        x, y, z = (c if self.units is None else self.units.to_lattice(acceleration=c) for c in f)
        return x, y, z

    def steps(self, seconds: float) -> int:
        """Return the number of steps nearest to a time, at least one."""
        assert self.units is not None
        return max(1, round(self.units.to_lattice(time=seconds)))


_KEYS = "length", "speed", "viscosity"


def read_scales(case: Table) -> Scales:
    """Read [units], if the file has it."""
    table = case.table("units", None)
    if table is None:
        return Scales(None)
    length, speed, viscosity = (table.positive(key) for key in _KEYS)
    cells = table.integer("cells", least=1)
    density, lattice_speed = table.positive("density", 1.0), table.positive("lattice_speed", 0.1)
    table.finish()
    try:
        units = Units.choose(
            length=length,
            cells=cells,
            speed=speed,
            viscosity=viscosity,
            density=density,
            lattice_speed=lattice_speed,
        )
    except ValueError as error:
        raise ValueError(f"{case.file}: [units]: {error}") from None
    return Scales(units)
