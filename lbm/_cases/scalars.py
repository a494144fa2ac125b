"""The scalars of a case file."""

from __future__ import annotations

from typing import Any

from lbm._cases.scales import Scales
from lbm._cases.walls import read_array
from lbm._coupled.scalars.scalar import FixedFlux, FixedValue, Scalar, ScalarCondition
from lbm._io.tables import Table
from lbm.lattices.extent import Triple


def read_scalars(case: Table, shape: Triple, scales: Scales) -> dict[str, Scalar]:
    """Read [scalars] as the argument `scalars` of a simulation."""
    scalars = {}
    for name, table in case.tables("scalars"):
        settings: dict[str, Any] = {
            "diffusivity": scales.diffusivity(table.positive("diffusivity")),
            "boundaries": _read_boundaries(table, scales),
            "start": _read_start(table, shape),
            "buoyancy": scales.force(table.vector("buoyancy", (0.0, 0.0, 0.0))),
            "reference": table.number("reference", 0.0),
            "magic": table.number("magic", 0.25),
        }
        table.finish()
        try:
            scalars[name] = Scalar(**settings)
        except ValueError as error:
            raise ValueError(f"{table.file}: {table.name}: {error}") from None
    return scalars


def _read_start(table: Table, shape: Triple) -> Any:
    """Read the initial values: a number, or an array in a file."""
    if not isinstance(table.take("start", None), str):
        return table.number("start", 0.0)
    values = read_array(table, "start")
    if values.shape != shape:
        raise table.error("start", f"must have the shape {shape}, got {values.shape}")
    return values


def _read_boundaries(table: Table, scales: Scales) -> dict[str, ScalarCondition]:
    """Read a table of conditions: a number is a fixed value."""
    conditions: dict[str, ScalarCondition] = {}
    inner = table.table("boundaries", {})
    for key in inner.keys():  # noqa: SIM118 - a method of Table
        if not isinstance(inner.take(key), dict):
            conditions[key] = FixedValue(inner.number(key))
            continue
        condition = inner.table(key)
        if ("value" in condition) == ("flux" in condition):
            raise condition.error("value", "or flux is needed, and only one of them")
        if "value" in condition:
            conditions[key] = FixedValue(condition.number("value"))
        else:
            conditions[key] = FixedFlux(scales.speed(condition.number("flux")))
        condition.finish()
    inner.finish()
    return conditions
