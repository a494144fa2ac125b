"""The table [tunnel] of a case file, by which the whole flow is chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lbm._commands.cases.force_scales import ForceScales
from lbm._commands.cases.scales import Scales
from lbm._io.tables import Table
from lbm._tunnel.averages import Estimate, average_pairs, estimate_forces
from lbm._tunnel.placing import DIRECTIONS
from lbm._tunnel.plan import ENDS, FLUIDS, GROUNDS, Plan, make_plan
from lbm.boundaries import WALLS
from lbm.collisions import OPERATORS
from lbm.collisions.automatic import AUTO

PASSAGES = 20.0
"""Passages of the body's length after the first sample, unless the case has steps or a time."""

CHOSEN = "shape", "units", "boundaries", "solids", "fluid", "initial", "sponges", "scalars"
"""Tables and keys of cases that [tunnel] replaces."""


def read_tunnel(case: Table, numerics: Mapping[str, Any]) -> Plan | None:
    """Read [tunnel] and choose all settings; None if the case has no such table.

    `numerics` are the settings of [numerics], on which the memory depends.
    """
    table = case.table("tunnel", None)
    if table is None:
        return None
    for key in CHOSEN:
        if key in case:
            raise case.error(key, "is chosen by [tunnel]: remove it")
    file = Path(case.file).parent / table.text("body")
    settings: dict[str, Any] = {"speed": table.positive("speed")}
    settings |= {key: table.choice(key, names) for key, names in _NAMES.items() if key in table}
    settings |= {key: read(table, key) for key, read in _READERS.items() if key in table}
    table.finish()
    try:
        return make_plan(file, **settings, **numerics)
    except OSError as error:
        raise table.error("body", f"names {file}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{case.file}: [tunnel]: {error}") from None


def _read_area(table: Table, key: str) -> str | float:
    """Read the name of an area, or a number of m^2."""
    if isinstance(table.take(key), str):
        return table.choice(key, ("frontal", "plan"))
    return table.positive(key)


def _read_fluid(table: Table, key: str) -> str | dict[str, float]:
    """Read the name of a fluid, or its density and viscosity."""
    if isinstance(table.take(key), str):
        return table.choice(key, tuple(FLUIDS))
    inner = table.table(key)
    fluid = {name: inner.positive(name) for name in ("density", "viscosity")}
    inner.finish()
    return fluid


_NAMES: dict[str, tuple[str, ...]] = {
    "flow": DIRECTIONS, "up": DIRECTIONS, "ground": GROUNDS, "ends": (AUTO, *ENDS),
    "collision": (AUTO, *OPERATORS), "wall": (AUTO, *WALLS),
}  # fmt: skip
"""The names that keys of [tunnel] may have; the defaults are those of `lbm.wind_tunnel`."""

_READERS: dict[str, Callable[[Table, str], Any]] = {
    **dict.fromkeys(("length", "unit", "lattice_speed"), Table.positive),
    **dict.fromkeys(("incidence", "yaw"), Table.number),
    "cells": lambda table, key: table.integer(key, least=8),
    "clearance": lambda table, key: table.positive(key, or_zero=True),
    "fluid": _read_fluid,
    "area": _read_area,
    "margins": Table.vector,
    "repair": Table.boolean,
    "minimum_thickness": Table.integer,
}
"""How the other keys of [tunnel] are read."""


def scales_of(plan: Plan) -> Scales:
    """Return the conversion from and to SI of a tunnel."""
    return Scales(plan.units, plan.reynolds, round(plan.length / plan.units.dx))


def steps_of(plan: Plan) -> int:
    """Return the number of steps of a tunnel whose case says nothing about it."""
    return round(plan.flush + PASSAGES * plan.passage)


def force_scales_of(plan: Plan) -> ForceScales:
    """Return the scales of the forces of a tunnel."""
    pressure = 0.5 * plan.density * plan.speed**2
    return ForceScales(pressure, (plan.area,), plan.length / plan.speed / plan.units.dt)


def summarize_tunnel(path: Path, plan: Plan) -> dict[str, Estimate]:
    """Return drag, lift and side force coefficients from the table of forces of a run.

    Samples count from the step on at which the stream has passed the domain.
    """
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    rows = rows[rows[:, 0] >= plan.flush] if len(rows) else np.zeros((0, 5))
    scales = force_scales_of(plan)
    coefficients = average_pairs(rows[:, -3:]) / (scales.pressure * plan.area)
    x, y, z = estimate_forces(coefficients)
    return {"drag": x, "lift": z, "side": y}
