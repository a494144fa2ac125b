"""Tables of integrals over sections and walls: flow rates, pressure drops, fluxes of scalars."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lbm._commands.cases.scales import CaseFlow, Scales
from lbm._coupled.scalars.scalar import FixedFlux, FixedValue, Scalar, boundary_at
from lbm._io.tables import Table
from lbm._parallel.ranks.exact_sum import exact_sum
from lbm._tunnel.averages import Estimate, average_pairs, estimate_mean
from lbm.boundaries import FACES
from lbm.simulation import Simulation

EVERY = 99
"""Steps between samples by default. A sample copies the fields to the host, which takes longer than
a step; it is an odd number, as those of forces (`output_settings.FORCES_EVERY`)."""


@dataclass(frozen=True)
class FlowSections:
    """Flow rates through planes of cells across an axis, and the pressure between them.

    Attributes
    ----------
    axis : number of the axis
    layers : number of the layer of cells of each plane
    labels : position of each plane with its unit, for headings
    scales : conversion to SI
    every : steps between samples
    """

    axis: int
    layers: tuple[int, ...]
    labels: tuple[str, ...]
    scales: Scales
    every: int

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and units of the numbers of a sample."""
        rate, pressure = map(self.scales.unit, ("m^3/s", "Pa"))
        pairs = zip(self.labels, self.labels[1:], strict=False)
        return [
            *((f"flow rate at {label}", rate) for label in self.labels),
            *((f"mean pressure at {label}", pressure) for label in self.labels),
            *((f"pressure drop from {a} to {b}", pressure) for a, b in pairs),
        ]

    def sample(self, simulation: Simulation) -> np.ndarray:
        """Return flow rates, mean pressures and pressure drops; all ranks must call it.

        The flow rate is that of mass over the density of the units, which all sections of a steady
        flow have in common. The pressure of a section that a moving body fills is NaN.
        """
        rate, excess, count = np.transpose(self._sum(simulation))
        scales = self.scales
        pressure = 1.0 / 3.0 if scales.units is None else scales.physical(pressure=1.0)
        mean = pressure * excess / np.where(count > 0.0, count, np.nan)
        rate = rate * scales.cell**2 * scales.physical(speed=1.0)
        return np.concatenate([rate, mean, mean[:-1] - mean[1:]])

    def require_fluid(self, simulation: Simulation) -> None:
        """Raise ValueError for a section without fluid; all ranks must call it."""
        for label, (_, _, count) in zip(self.labels, self._sum(simulation), strict=True):
            if not count:
                raise ValueError(
                    f"output.flow.sections: all cells of the section at {label} are solid: move it"
                )

    def _sum(self, simulation: Simulation) -> list[np.ndarray]:
        """Return the sums over the fluid cells of each section of rho u, rho - 1 and 1."""
        start, sums = simulation.region.start[self.axis], []
        drho, fluid, along = simulation.drho, simulation.fluid, simulation.u[self.axis]
        for layer in (layer - start for layer in self.layers):
            rows = np.zeros((0, 3))
            if 0 <= layer < drho.shape[self.axis]:
                planes = [np.take(a, layer, self.axis) for a in (drho, along)]
                excess, u = (a[np.take(fluid, layer, self.axis)].astype(float) for a in planes)
                rows = np.stack([(1.0 + excess) * u, excess, np.ones(len(u))], axis=1)
            sums.append(exact_sum(rows, simulation.domain.ranks))
        return sums


@dataclass(frozen=True)
class HeatWalls:
    """Fluxes of a scalar through walls, and their Nusselt numbers.

    Attributes
    ----------
    scalar : name of the scalar
    walls : names of faces and solids
    scale : factor from value times cells^3/step to the unit of the table
    unit : of the table; empty in lattice units
    conduction : flux of conduction through each wall in value times cells^3/step; or none
    every : steps between samples
    """

    scalar: str
    walls: tuple[str, ...]
    scale: float
    unit: str
    conduction: tuple[float, ...]
    every: int

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and units of the numbers of a sample."""
        noun = "heat flux" if self.unit == "W" else f"flux of {self.scalar}"
        names = [(f"{noun} through {wall}", self.unit) for wall in self.walls]
        return names + [(f"Nusselt number of {w}", "") for w in self.walls if self.conduction]

    def sample(self, simulation: Simulation) -> np.ndarray:
        """Return what enters the fluid through each wall; all ranks must call it."""
        flux = np.array([simulation.scalars[self.scalar].flux(wall) for wall in self.walls])
        numbers = [flux / np.array(self.conduction)] if self.conduction else []
        return np.concatenate([flux * self.scale, *numbers])


Integrals = FlowSections | HeatWalls


def read_flow(table: Table, flow: CaseFlow) -> FlowSections:
    """Read [output.flow]: the sections, by their positions along an axis."""
    shape, scales = flow.enclosure.shape, flow.scales
    axis = "xyz".index(table.choice("axis", ("x", "y", "z"), "x"))
    length = shape[axis] * scales.cell
    values = table.take("sections", [0.0, length])
    valid = isinstance(values, list) and all(type(v) in (int, float) for v in values)
    if not valid or not values or not all(0.0 <= v <= length * (1.0 + 1e-12) for v in values):
        raise table.error(
            "sections",
            f"must list positions along {'xyz'[axis]} such as [0.0, {length:g}], in the domain of "
            f"{length:g} {scales.length_name}, got {values!r}",
        )
    layers = tuple(min(int(v / scales.cell + 1e-9), shape[axis] - 1) for v in values)
    if len(set(layers)) < len(layers):
        raise table.error("sections", f"must lie in different layers of cells, got {values!r}")
    labels = tuple(f"{'xyz'[axis]} = {v:g}{scales.unit(' m')}" for v in values)
    return FlowSections(axis, layers, labels, scales, flow.read_every(table, EVERY))


def read_heat(table: Table, flow: CaseFlow) -> HeatWalls:
    """Read [output.heat]: the scalar, its walls, and the scales of their fluxes."""
    scales, scalars = flow.scales, flow.scalars
    if not scalars:
        raise ValueError(f"{table.file}: [{table.name}] needs a scalar: add [scalars.temperature]")
    if len(scalars) > 1 or "scalar" in table:
        name = table.choice("scalar", tuple(scalars))
    else:
        (name,) = scalars
    scalar, possible = scalars[name], dict(_list_walls(scalars[name], flow))
    walls = table.take("walls", [wall for wall, transfers in possible.items() if transfers])
    if not isinstance(walls, list) or not walls or not set(map(str, walls)) <= set(possible):
        raise table.error(
            "walls",
            f"must list faces and solids that are walls of {name} ({', '.join(possible) or 'none'}"
            f"), got {walls!r}: the flow carries it through inlets, outlets and periodic faces",
        )
    if len(set(walls)) < len(walls):
        raise table.error("walls", f"must list each wall once, got {walls!r}")
    scale, unit = scales.cell**3 / scales.physical(steps=1.0), scales.unit("value m^3/s")
    if "heat_capacity" in table:
        if scales.units is None:
            raise table.error("heat_capacity", "is in J/(kg K) and needs [units]")
        scale, unit = scale * scales.units.density * table.positive("heat_capacity"), "W"
    conduction = _read_conduction(table, walls, scalar, flow)
    return HeatWalls(name, tuple(walls), scale, unit, conduction, flow.read_every(table, EVERY))


def _list_walls(scalar: Scalar, flow: CaseFlow) -> Iterator[tuple[str, bool]]:
    """Yield the walls of a scalar, and whether they have a value or a flux that is not zero."""
    for name, condition in flow.enclosure.conditions.items():
        if condition.is_impermeable:
            prescribed = boundary_at(scalar, name) or FixedFlux()
            yield name, isinstance(prescribed, FixedValue) or prescribed.flux != 0.0


def _read_conduction(
    table: Table, walls: list[str], scalar: Scalar, flow: CaseFlow
) -> tuple[float, ...]:
    """Return the fluxes to which Nusselt numbers refer, one for each wall; or none."""
    shape, scales = flow.enclosure.shape, flow.scales
    keys = [key for key in ("difference", "length", "area") if key in table]
    if not keys:
        return ()
    difference, length = table.positive("difference"), scales.length(table.positive("length"))
    if "area" in table:
        areas = [table.positive("area") / scales.cell**2] * len(walls)
    elif solids := [wall for wall in walls if wall not in FACES]:
        raise table.error("area", f"is missing: give the area of {', '.join(solids)}")
    else:
        across = ("xyz".index(wall[0]) for wall in walls)
        areas = [float(shape[axis - 1] * shape[axis - 2]) for axis in across]
    return tuple(scalar.diffusivity * difference / length * area for area in areas)


def summarize_integrals(path: Path, integrals: Integrals) -> dict[str, tuple[Estimate, str]]:
    """Return the mean of each column over the second half of the rows, and its unit."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    columns = integrals.columns
    rows = np.loadtxt(lines, delimiter=",", ndmin=2) if lines else np.zeros((0, len(columns)))
    last = rows[len(rows) // 2 :, -len(columns) :]
    pairs = average_pairs(last) if len(last) > 1 else last
    return {
        name: (estimate_mean(values), unit)
        for (name, unit), values in zip(columns, pairs.T, strict=True)
    }
