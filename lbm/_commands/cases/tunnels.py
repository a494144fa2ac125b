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
from lbm._tunnel.placing import DIRECTIONS, orient
from lbm._tunnel.plan import FLUIDS, GROUNDS, Plan, make_plan
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
    text: Callable[..., str] = table.choice
    placement = {
        "length": table.positive("length", None) if "length" in table else None,
        "unit": table.positive("unit", None) if "unit" in table else None,
        "flow": text("flow", DIRECTIONS, "x"),
        "up": text("up", DIRECTIONS, "z"),
        "incidence": table.number("incidence", 0.0),
        "yaw": table.number("yaw", 0.0),
        "repair": table.boolean("repair", False),
    }
    settings: dict[str, Any] = {
        "speed": table.positive("speed"),
        "cells": table.integer("cells", 64, 8),
        "fluid": _read_fluid(table),
        "ground": text("ground", GROUNDS, "none"),
        "clearance": table.positive("clearance", 0.0, or_zero=True),
        "collision": text("collision", (AUTO, *OPERATORS), AUTO),
        "ends": text("ends", (AUTO, "free-stream", "channel"), AUTO),
        "wall": text("wall", (AUTO, *WALLS), AUTO),
        "area": "frontal",
        "minimum_thickness": table.integer("minimum_thickness", 0),
    }
    if "area" in table:
        is_name = isinstance(table.take("area"), str)
        settings["area"] = (
            table.choice("area", ("frontal", "plan")) if is_name else table.positive("area")
        )
    if "margins" in table:
        settings["margins"] = table.vector("margins")
    if "lattice_speed" in table:
        settings["lattice_speed"] = table.positive("lattice_speed")
    table.finish()
    try:
        return make_plan(orient(file, **placement), **settings, **numerics)  # type: ignore[arg-type]
    except OSError as error:
        raise table.error("body", f"names {file}: {error.strerror or error}") from None
    except ValueError as error:
        raise ValueError(f"{case.file}: [tunnel]: {error}") from None


def _read_fluid(table: Table) -> str | dict[str, float]:
    """Read the name of a fluid, or its density and viscosity."""
    if isinstance(table.take("fluid", "air"), str):
        return table.choice("fluid", tuple(FLUIDS), "air")
    inner = table.table("fluid")
    fluid = {key: inner.positive(key) for key in ("density", "viscosity")}
    inner.finish()
    return fluid


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
