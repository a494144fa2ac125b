"""The table [output] of a case file: which files are written, and how often."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lbm._commands.cases.force_scales import ForceScales, read_force_scales
from lbm._commands.cases.integrals import FlowSections, HeatWalls, read_flow, read_heat
from lbm._commands.cases.scales import CaseFlow, Scales
from lbm._io.fields import DERIVED
from lbm._io.plot import FIELDS
from lbm._io.tables import Table
from lbm.callbacks import Probe
from lbm.lattices.extent import Triple
from lbm.simulation import Simulation

FORCES_EVERY = 9
"""Steps between samples of forces by default: an odd number, since forces at tiny viscosities
alternate from step to step by more than their mean (0.10 instead of 0.98 for a cube)."""


@dataclass(frozen=True)
class ProbeTable:
    """Cells whose density and velocity become a table.

    Attributes
    ----------
    key : the key of the file that names them, for messages
    cells : (x, y, z) of each
    labels : text for each in the heading of its columns
    scales : conversion to SI
    every : steps between samples
    """

    key: str
    cells: tuple[Triple, ...]
    labels: tuple[str, ...]
    scales: Scales
    every: int

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and units of the numbers of a sample."""
        velocity = [(f"u{axis}", self.scales.unit("m/s")) for axis in "xyz"]
        first = ("rho", "") if self.scales.units is None else ("pressure", "Pa")
        numbers = [first, *velocity]
        return [(f"{name} at {label}", unit) for label in self.labels for name, unit in numbers]

    def sample(self, simulation: Simulation) -> np.ndarray:
        """Return density, or pressure, and velocity of the cells; all ranks must call it."""
        probe, scales = Probe(self.cells), self.scales
        probe(simulation)
        values = probe.values[0]
        if scales.units is not None:
            values[:, 0] = scales.physical(pressure=1.0) * (values[:, 0] - 1.0)
            values[:, 1:] *= scales.physical(speed=1.0)
        return values.ravel()


@dataclass(frozen=True)
class ForceTable:
    """Solids whose forces become a table.

    Attributes
    ----------
    solids : their names
    scales : conversion to SI
    every : steps between samples
    coefficients : scales of their coefficients, or None
    """

    solids: tuple[str, ...]
    scales: Scales
    every: int
    coefficients: ForceScales | None

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and units of the numbers of a sample."""
        unit = self.scales.unit("N")
        return [(f"{solid} f{axis}", unit) for solid in self.solids for axis in "xyz"]

    def sample(self, simulation: Simulation) -> np.ndarray:
        """Return the forces on all solids; all ranks must call it."""
        scale = self.scales.physical(force=1.0)
        return np.concatenate([scale * simulation.force_on(solid) for solid in self.solids])


SampledTable = ProbeTable | ForceTable | FlowSections | HeatWalls

TABLES = "probes", "forces", "flow", "heat"
"""Names of the tables of samples."""


class PictureSettings(NamedTuple):
    """Pictures of a layer of cells: steps between them, and the arguments of `Simulation.plot`."""

    every: int
    field: str
    axis: str
    layer: int | None


class StatisticsSettings(NamedTuple):
    """Statistics of a run: steps between samples, and the first step that counts."""

    every: int
    start: int


@dataclass(frozen=True)
class Outputs:
    """Files that a case writes, and after how many steps.

    Attributes
    ----------
    folder : Path
    vtk, checkpoint : steps between files, 0 for none
    derived : fields of VTK files that are computed on request
    probes, forces, flow, heat : tables of samples, or None
    pictures, statistics : their settings, or None
    """

    folder: Path
    vtk: int = 0
    derived: tuple[str, ...] = ()
    checkpoint: int = 0
    probes: ProbeTable | None = None
    forces: ForceTable | None = None
    flow: FlowSections | None = None
    heat: HeatWalls | None = None
    pictures: PictureSettings | None = None
    statistics: StatisticsSettings | None = None

    @property
    def tables(self) -> dict[str, SampledTable]:
        """Tables of samples by their names."""
        tables = {name: getattr(self, name) for name in TABLES}
        return {name: table for name, table in tables.items() if table is not None}

    def find_unsampled(self, steps: int) -> dict[str, int]:
        """Return the keys, with their values, that leave a run of these steps without a sample."""
        sampled = self.tables | {"pictures": self.pictures, "statistics": self.statistics}
        periods = {name: each.every for name, each in sampled.items() if each is not None}
        late = {f"output.{name}.every": n for name, n in periods.items() if n > steps}
        every, start = self.statistics or (steps + 1, 0)
        if every <= steps and -(-start // every) * every > steps:
            late["output.statistics.start"] = start
        return late


def read_outputs(case: Table, flow: CaseFlow) -> Outputs:
    """Read [output] with its tables."""
    table = case.table("output", {})
    folder = Path(table.text("folder", f"out/lbm/{Path(case.file).stem}"))
    settings: dict[str, Any] = {
        "vtk": table.integer("vtk", 0),
        "derived": _read_derived(table),
        "checkpoint": table.integer("checkpoint", 0),
    }
    for name, read in _READERS.items():
        if (inner := table.table(name, None)) is not None:
            settings[name] = read(inner, flow)
            inner.finish()
    table.finish()
    return Outputs(folder, **settings)


def _read_derived(table: Table) -> tuple[str, ...]:
    """Read the names of fields that VTK files have on request."""
    names = table.take("derived", [])
    if not isinstance(names, list) or not all(name in DERIVED for name in names):
        listed = ", ".join(map(repr, DERIVED))
        raise table.error("derived", f"must list some of {listed}, got {names!r}")
    return tuple(names)


def _read_forces(table: Table, flow: CaseFlow) -> ForceTable:
    """Read the solids whose forces are sampled, by default all that have one."""
    solids = flow.enclosure.solids.items()
    bodies = [name for name, solid in solids if not solid.condition.is_outlet]
    names = table.take("solids", bodies)
    if not isinstance(names, list) or not names or not set(map(str, names)) <= set(bodies):
        listed = ", ".join(bodies) or "none: add [solids.NAME]"
        raise table.error(
            "solids", f"must list solids of this case that are no outlets ({listed}), got {names!r}"
        )
    every = flow.read_every(table, FORCES_EVERY)
    return ForceTable(tuple(names), flow.scales, every, read_force_scales(table, names, flow))


def _read_pictures(table: Table, flow: CaseFlow) -> PictureSettings:
    """Read which layer is drawn, and how often."""
    table.take("every")  # it has no default: a run of many steps would draw for hours
    axis = table.choice("axis", ("x", "y", "z"), "z")
    index = table.integer("index", None)
    count = flow.enclosure.shape["xyz".index(axis)]
    if index is not None and index >= count:
        raise table.error("index", f"must be less than {count}, got {index}")
    field = table.choice("field", (*FIELDS, *flow.scalars), "speed")
    return PictureSettings(flow.read_every(table), field, axis, index)


def _read_statistics(table: Table, flow: CaseFlow) -> StatisticsSettings:
    """Read when fields are sampled."""
    return StatisticsSettings(table.integer("every", 10, 1), table.integer("start", 0))


def _read_probes(table: Table, flow: CaseFlow) -> ProbeTable:
    """Read the cells of probes, by their numbers or by positions in them."""
    shape, scales = flow.enclosure.shape, flow.scales
    if "points" in table and "cells" in table:
        raise table.error("cells", "and points are both there: remove one of them")
    kind: tuple[type, ...]
    if "points" in table:
        key, size = "points", tuple(n * scales.cell for n in shape)
        example, kind, domain = "[[0.5, 0.5, 0.5]]", (int, float), f"{size} {scales.length_name}"
        ends = tuple(n * (1.0 + _ROUNDING) for n in size)
    else:
        key, size = "cells", shape
        example, kind, domain = "[[8, 8, 8]]", (int,), f"{shape}"
        ends = tuple(n - 1 for n in shape)
    values = table.take(key)
    if not isinstance(values, list) or not values:
        raise table.error(key, f"must list {key} such as {example}, got {values!r}")
    cells = []
    for value in values:
        valid = isinstance(value, list) and len(value) == 3 and all(type(c) in kind for c in value)
        if not valid or not all(0 <= c <= end for c, end in zip(value, ends, strict=True)):
            raise table.error(key, f"must lie in the domain {domain.strip()}, got {value!r}")
        position = value if key == "cells" else _snap(scales.position(value))
        x, y, z = (min(int(c), n - 1) for c, n in zip(position, shape, strict=True))
        cells.append((x, y, z))
    labels = tuple(" ".join(map(str, value)) for value in values)
    return ProbeTable(key, tuple(cells), labels, scales, flow.read_every(table))


def _snap(position: tuple[float, ...]) -> tuple[float, ...]:
    """Return coordinates in cells, those on faces of cells without the rounding of their unit.

    A point on a face then belongs to the cell above it: 0.29 m are face 29 of cells of 0.01 m.
    """
    return tuple(round(c) if math.isclose(c, round(c), rel_tol=_ROUNDING) else c for c in position)


_ROUNDING = 1e-12
"""Share of a coordinate that counts as rounding; it is far below a cell in any domain."""

_READERS: dict[str, Callable[[Table, CaseFlow], Any]] = {
    "probes": _read_probes,
    "forces": _read_forces,
    "flow": read_flow,
    "heat": read_heat,
    "pictures": _read_pictures,
    "statistics": _read_statistics,
}
"""Functions that read the tables of [output]."""
