"""The table [output] of a case file: which files are written, and how often."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lbm._cases.force_scales import ForceScales, read_force_scales
from lbm._cases.integrals import FlowSections, HeatWalls, read_flow, read_heat
from lbm._cases.scales import Scales
from lbm._coupled.scalars.scalar import Scalar
from lbm._io.fields import DERIVED
from lbm._io.plot import FIELDS
from lbm._io.tables import Table
from lbm.boundaries import Condition, Solid
from lbm.lattices.extent import Triple

FORCES_EVERY = 9
"""Steps between samples of forces by default: an odd number, since forces at tiny viscosities
alternate from step to step by more than their mean (0.10 instead of 0.98 for a cube)."""


class ProbeTable(NamedTuple):
    """Cells whose density and velocity become a table.

    Attributes
    ----------
    key : the key of the file that names them, for messages
    cells : (x, y, z) of each
    labels : text for each in the heading of its columns
    every : steps between samples
    """

    key: str
    cells: tuple[Triple, ...]
    labels: tuple[str, ...]
    every: int


class PictureSettings(NamedTuple):
    """Pictures of a layer of cells: steps between them, and the arguments of `Simulation.plot`."""

    every: int
    field: str
    axis: str
    layer: int | None


@dataclass(frozen=True)
class Outputs:
    """Files that a case writes, and after how many steps; 0 is never.

    Attributes
    ----------
    folder : Path
    vtk, checkpoint : steps between files
    derived : fields of VTK files that are computed on request
    probes : ProbeTable, or None
    forces : names of solids
    forces_every : steps between samples
    force_scales : ForceScales, or None
    flow : FlowSections, or None
    heat : HeatWalls, or None
    pictures : PictureSettings, or None
    statistics_every, statistics_start : steps between samples, and the first step that counts
    """

    folder: Path
    vtk: int = 0
    derived: tuple[str, ...] = ()
    checkpoint: int = 0
    probes: ProbeTable | None = None
    forces: tuple[str, ...] = ()
    forces_every: int = 0
    force_scales: ForceScales | None = None
    flow: FlowSections | None = None
    heat: HeatWalls | None = None
    pictures: PictureSettings | None = None
    statistics_every: int = 0
    statistics_start: int = 0

    def find_unsampled(self, steps: int) -> dict[str, int]:
        """Return the keys, with their values, that leave a run of these steps without a sample."""
        periods = {
            "output.probes.every": self.probes.every if self.probes else 0,
            "output.forces.every": self.forces_every,
            "output.flow.every": self.flow.every if self.flow else 0,
            "output.heat.every": self.heat.every if self.heat else 0,
            "output.pictures.every": self.pictures.every if self.pictures else 0,
            "output.statistics.every": (every := self.statistics_every),
        }
        late = {key: value for key, value in periods.items() if value > steps}
        if 0 < every <= steps and -(-self.statistics_start // every) * every > steps:
            late["output.statistics.start"] = self.statistics_start
        return late


def read_outputs(
    case: Table,
    shape: Triple,
    boundaries: Mapping[str, Condition | Solid],
    steps: int,
    scales: Scales,
    scalars: Mapping[str, Scalar],
) -> Outputs:
    """Read [output] with its tables probes, forces, flow, heat, pictures and statistics."""
    table = case.table("output", {})
    folder = Path(table.text("folder", f"out/lbm/{Path(case.file).stem}"))
    settings: dict[str, Any] = {
        "vtk": table.integer("vtk", 0),
        "derived": _read_derived(table),
        "checkpoint": table.integer("checkpoint", 0),
    }
    if (probes := table.table("probes", None)) is not None:
        settings["probes"] = _read_probes(probes, shape, scales, steps)
        probes.finish()
    if (forces := table.table("forces", None)) is not None:
        settings["forces"] = _read_bodies(forces, boundaries)
        settings["forces_every"] = forces.integer("every", min(FORCES_EVERY, steps), 1)
        settings["force_scales"] = read_force_scales(
            forces, settings["forces"], boundaries, shape, scales
        )
        forces.finish()
    if (flow := table.table("flow", None)) is not None:
        settings["flow"] = read_flow(flow, shape, scales, steps)
    if (heat := table.table("heat", None)) is not None:
        settings["heat"] = read_heat(heat, shape, boundaries, scales, scalars, steps)
    if (pictures := table.table("pictures", None)) is not None:
        settings["pictures"] = _read_pictures(pictures, shape, steps, scalars)
        pictures.finish()
    if (statistics := table.table("statistics", None)) is not None:
        settings["statistics_every"] = statistics.integer("every", 10, 1)
        settings["statistics_start"] = statistics.integer("start", 0)
        statistics.finish()
    table.finish()
    return Outputs(folder, **settings)


def _read_derived(table: Table) -> tuple[str, ...]:
    """Read the names of fields that VTK files have on request."""
    names = table.take("derived", [])
    if not isinstance(names, list) or not all(name in DERIVED for name in names):
        listed = ", ".join(map(repr, DERIVED))
        raise table.error("derived", f"must list some of {listed}, got {names!r}")
    return tuple(names)


def _read_bodies(table: Table, boundaries: Mapping[str, Condition | Solid]) -> tuple[str, ...]:
    """Read the names of the solids whose forces are sampled, by default all that have one."""
    bodies = [
        name
        for name, value in boundaries.items()
        if isinstance(value, Solid) and not value.condition.is_outlet
    ]
    names = table.take("solids", bodies)
    if not isinstance(names, list) or not names or not set(map(str, names)) <= set(bodies):
        listed = ", ".join(bodies) or "none: add [solids.NAME]"
        raise table.error(
            "solids", f"must list solids of this case that are no outlets ({listed}), got {names!r}"
        )
    return tuple(names)


def _read_pictures(
    table: Table, shape: Triple, steps: int, scalars: Collection[str]
) -> PictureSettings:
    """Read which layer is drawn, and how often."""
    table.take("every")  # it has no default: a run of many steps would draw for hours
    axis = table.choice("axis", ("x", "y", "z"), "z")
    index = table.integer("index", None)
    count = shape["xyz".index(axis)]
    if index is not None and index >= count:
        raise table.error("index", f"must be less than {count}, got {index}")
    field = table.choice("field", (*FIELDS, *scalars), "speed")
    return PictureSettings(_read_every(table, steps), field, axis, index)


def _read_every(table: Table, steps: int) -> int:
    """Read the steps between rows of a table; by default a run writes one at least."""
    return table.integer("every", min(10, steps), 1)


def _read_probes(table: Table, shape: Triple, scales: Scales, steps: int) -> ProbeTable:
    """Read the cells of probes, by their numbers or by positions in them."""
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
    return ProbeTable(key, tuple(cells), labels, _read_every(table, steps))


def _snap(position: tuple[float, ...]) -> tuple[float, ...]:
    """Return coordinates in cells, those on faces of cells without the rounding of their unit.

    A point on a face then belongs to the cell above it: 0.29 m are face 29 of cells of 0.01 m.
    """
    return tuple(round(c) if math.isclose(c, round(c), rel_tol=_ROUNDING) else c for c in position)


_ROUNDING = 1e-12
"""Share of a coordinate that counts as rounding; it is far below a cell in any domain."""
