"""The sponges of a case file."""

from __future__ import annotations

from typing import Any

from lbm._cases.scales import Scales
from lbm._cases.walls import read_density
from lbm._io.tables import Table
from lbm.boundaries import FACES
from lbm.boundaries.sponge import Sponge


def read_sponges(case: Table, scales: Scales) -> dict[str, Sponge]:
    """Read [sponges] as the argument `sponges` of a simulation."""
    table, sponges = case.table("sponges", {}), {}
    for face in FACES:
        if face in table:
            sponges[face] = _read_sponge(table, face, scales)
    table.finish()
    return sponges


def _read_sponge(table: Table, face: str, scales: Scales) -> Sponge:
    """Read a sponge: its number of cells, or a table."""
    settings: dict[str, Any] = {}
    if not isinstance(table.take(face), dict):
        settings["cells"] = table.integer(face)
    else:
        inner = table.table(face)
        settings["cells"] = inner.integer("cells")
        if "velocity" in inner:
            settings["u"] = scales.velocity(inner.vector("velocity"))
        if "rho" in inner or "pressure" in inner:
            settings["rho"] = read_density(inner, scales)
        if "reflection" in inner:
            settings["reflection"] = inner.number("reflection")
        if "averaging" in inner:
            settings["averaging"] = scales.duration(inner.positive("averaging"))
        inner.finish()
    try:
        return Sponge(**settings)
    except ValueError as error:
        unit = "" if scales.units is None else " (in cells and steps)"
        raise ValueError(f"{table.file}: {table.full_name(face)}{unit}: {error}") from None
