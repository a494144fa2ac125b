"""The table [output] of a case file: which files are written, and how often."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lbm._cases.force_scales import ForceScales, read_force_scales
from lbm._cases.scales import Scales
from lbm._io.fields import DERIVED
from lbm._io.plot import FIELDS
from lbm._io.tables import Table
from lbm._model.extent import Triple
from lbm.boundaries import Condition, PressureOutlet, Solid


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
    pictures: PictureSettings | None = None
    statistics_every: int = 0
    statistics_start: int = 0

    def has_sample_until(self, steps: int) -> bool:
        """Return whether a sample of the statistics, if they are wanted, is due in a run."""
        every = self.statistics_every
        return not every or -(-max(self.statistics_start, 1) // every) * every <= steps


def read_outputs(
    case: Table,
    shape: Triple,
    boundaries: Mapping[str, Condition | Solid],
    steps: int,
    scales: Scales,
    scalars: Collection[str] = (),
) -> Outputs:
    """Read [output] with its tables probes, forces, pictures and statistics.

    `scalars` are the names of the scalars of the case, of which there may be pictures.
    """
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
        settings["forces_every"] = _read_every(forces, steps)
        settings["force_scales"] = read_force_scales(
            forces, settings["forces"], boundaries, shape, scales
        )
        forces.finish()
    if (pictures := table.table("pictures", None)) is not None:
        settings["pictures"] = _read_pictures(pictures, shape, steps, scalars)
        pictures.finish()
    statistics = table.table("statistics", None)
    if statistics is not None:
        settings["statistics_every"] = statistics.integer("every", 10, 1)
        settings["statistics_start"] = statistics.integer("start", 0)
        statistics.finish()
    table.finish()
    outputs = Outputs(folder, **settings)
    if statistics is not None and not outputs.has_sample_until(steps):
        raise statistics.error("start", f"leaves no sample in {steps} steps: lower it or every")
    return outputs


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
        if isinstance(value, Solid) and not isinstance(value.condition, PressureOutlet)
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
    """Read the steps between rows of a table, of which a run must write one at least."""
    every = table.integer("every", min(10, steps), 1)
    if every > steps:
        raise table.error("every", f"leaves no row in {steps} steps, got {every}: lower it")
    return every


def _read_probes(table: Table, shape: Triple, scales: Scales, steps: int) -> ProbeTable:
    """Read the cells of probes, by their numbers or by positions in them."""
    if "points" in table and "cells" in table:
        raise table.error("cells", "and points are both there: remove one of them")
    kind: tuple[type, ...]
    if "points" in table:
        key, size = "points", tuple(n * scales.cell for n in shape)
        example, kind, domain = "[[0.5, 0.5, 0.5]]", (int, float), f"{size} {scales.length_name}"
    else:
        key, size = "cells", shape
        example, kind, domain = "[[8, 8, 8]]", (int,), f"{shape}"
    values = table.take(key)
    if not isinstance(values, list) or not values:
        raise table.error(key, f"must list {key} such as {example}, got {values!r}")
    cells = []
    for value in values:
        valid = isinstance(value, list) and len(value) == 3 and all(type(c) in kind for c in value)
        if not valid or not all(0 <= c < n for c, n in zip(value, size, strict=True)):
            raise table.error(key, f"must lie in the domain {domain.strip()}, got {value!r}")
        position = scales.position(value) if key == "points" else value
        x, y, z = (min(int(c), n - 1) for c, n in zip(position, shape, strict=True))
        cells.append((x, y, z))
    labels = tuple(" ".join(map(str, value)) for value in values)
    return ProbeTable(key, tuple(cells), labels, _read_every(table, steps))
