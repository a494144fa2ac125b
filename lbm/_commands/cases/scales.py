"""Numbers of a case file in lattice units: as they stand, or converted from SI by its [units]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lbm._coupled.scalars.scalar import Scalar
from lbm._io.tables import Table
from lbm.boundaries import Enclosure
from lbm.collisions.stability_map import FlowKind
from lbm.units import Units, require_stable_cells


@dataclass(frozen=True)
class Scales:
    """Conversion of the numbers of a case file.

    Attributes
    ----------
    units : Units, or None if the file is in lattice units
    reynolds, cells : Reynolds number of the [units], and the number of cells of their length
    """

    units: Units | None
    reynolds: float = 0.0
    cells: int = 1

    @property
    def cell_reynolds(self) -> float:
        """Speed over viscosity in lattice units."""
        return self.reynolds / self.cells

    def require_stable(self, file: str, kind: FlowKind) -> None:
        """Raise ValueError if flows of this kind were never stable with these [units]."""
        if self.units is None:
            return
        try:
            require_stable_cells(self.reynolds, self.cells, self.units.tau, kind)
        except ValueError as error:
            raise ValueError(f"{file}: [units]: {error}") from None

    @property
    def cell(self) -> float:
        """The edge of a cell in the unit of lengths."""
        return 1.0 if self.units is None else self.units.dx

    @property
    def length_name(self) -> str:
        """Name of the unit of lengths."""
        return "cells" if self.units is None else "m"

    def unit(self, name: str) -> str:
        """Return the name of an SI unit; empty in lattice units."""
        return "" if self.units is None else name

    def physical(self, **quantity: float) -> float:
        """Return a quantity of `Units.to_physical` in SI; in lattice units it stays as it is."""
        (value,) = quantity.values()
        return value if self.units is None else self.units.to_physical(**quantity)

    def length(self, value: float) -> float:
        """Return a length in cells."""
        return value / self.cell

    def position(self, x: Sequence[float]) -> tuple[float, ...]:
        """Return coordinates in cells."""
        return tuple(self.length(c) for c in x)

    def velocity(self, u: Sequence[float]) -> tuple[float, float, float]:
        """Return a velocity in cells/step."""
        x, y, z = map(self.speed, u)
        return x, y, z

    def speed(self, u: float) -> float:
        """Return a speed in cells/step."""
        return u if self.units is None else self.units.to_lattice(speed=u)

    def diffusivity(self, d: float) -> float:
        """Return a diffusivity in cells^2/step."""
        return d if self.units is None else d * self.units.dt / self.units.dx**2

    def force(self, f: Sequence[float]) -> tuple[float, float, float]:
        """Return a body force in density times cells/step^2; in SI it is an acceleration."""
        x, y, z = (c if self.units is None else self.units.to_lattice(acceleration=c) for c in f)
        return x, y, z

    def duration(self, time: float) -> float:
        """Return a time in steps."""
        return time if self.units is None else self.units.to_lattice(time=time)

    def rate(self, w: Sequence[float]) -> tuple[float, ...]:
        """Return an angular velocity in radians per step."""
        return tuple(c / self.duration(1.0) for c in w)

    def steps(self, seconds: float) -> int:
        """Return the number of steps nearest to a time, at least one."""
        assert self.units is not None
        return max(1, round(self.units.to_lattice(time=seconds)))


class CaseFlow(NamedTuple):
    """The flow of a case, as far as its outputs depend on it.

    Attributes
    ----------
    enclosure : domain, faces and solids
    scales : conversion from and to SI
    scalars : argument of `Simulation`
    steps : number of steps
    """

    enclosure: Enclosure
    scales: Scales
    scalars: Mapping[str, Scalar]
    steps: int

    def read_every(self, table: Table, default: int = 10) -> int:
        """Read the steps between rows of a table; by default a run writes one at least."""
        return table.integer("every", min(default, self.steps), 1)


_KEYS = "length", "speed", "viscosity"
_DEFAULTS = {"density": 1.0, "lattice_speed": 0.1}


def read_scales(case: Table) -> Scales:
    """Read [units], if the file has it."""
    table = case.table("units", None)
    if table is None:
        return Scales(None)
    quantities = {key: table.positive(key) for key in _KEYS}
    cells = table.integer("cells", least=1)
    reynolds = quantities["length"] * quantities["speed"] / quantities["viscosity"]
    quantities |= {key: table.positive(key, default) for key, default in _DEFAULTS.items()}
    table.finish()
    try:
        # What bounds the flow is read later: `Scales.require_stable` checks it then.
        units = Units.choose(cells=cells, **quantities, flow="free")
    except ValueError as error:
        raise ValueError(f"{case.file}: [units]: {error}") from None
    return Scales(units, reynolds, cells)
