"""The sponges and the scalars of a case file."""

from __future__ import annotations

from lbm._commands.cases.reader import Reader
from lbm._coupled.scalars.scalar import FixedFlux, FixedValue, Scalar, ScalarCondition
from lbm._io.tables import Table
from lbm.boundaries import FACES
from lbm.boundaries.sponge import Sponge


def read_sponges(case: Table, reader: Reader) -> dict[str, Sponge]:
    """Read [sponges] as the argument `sponges` of a simulation: numbers of cells, or tables."""
    table, sponges = case.table("sponges", {}), {}
    note = "" if reader.scales.units is None else " (in cells and steps)"
    for face in (face for face in FACES if face in table):
        inner = table.take(face)
        if not isinstance(inner, dict):
            table.integer(face)
            inner = {"cells": inner}
        sponges[face] = reader.read(Table(inner, case.file, table.full_name(face)), Sponge, note)
    table.finish()
    return sponges


def read_scalars(case: Table, reader: Reader) -> dict[str, Scalar]:
    """Read [scalars] as the argument `scalars` of a simulation."""
    return {
        name: reader.read(table, Scalar, boundaries=_read_boundaries(table, reader))
        for name, table in case.tables("scalars")
    }


def _read_boundaries(table: Table, reader: Reader) -> dict[str, ScalarCondition]:
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
        kind = FixedValue if "value" in condition else FixedFlux
        conditions[key] = reader.read(condition, kind)
    return conditions
