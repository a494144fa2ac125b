"""Velocities of walls and inlets in a case file: ramps, parabolas, rotations, turbulence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lbm._cases.scales import Scales
from lbm._io.tables import REQUIRED, Table
from lbm.boundaries.prescribed import Function
from lbm.boundaries.synthetic_eddies import SyntheticEddies
from lbm.lattices.extent import Triple

ACROSS = "x", "y", "z", "xy", "xz", "yz"
"""Axes along which a velocity may be a parabola."""


def read_velocity(
    table: Table, shape: Triple, scales: Scales
) -> tuple[float, float, float] | Function:
    """Read `velocity` and what makes it a function of position and time.

    `angular_velocity` about `centre` adds the velocity of a rotating body; `parabola` lets the
    velocity fall from its value in the middle of the domain to 0 at its sides along these axes;
    `ramp` is the time in which it grows from 0.
    """
    rotates = "angular_velocity" in table
    velocity = scales.velocity(table.vector("velocity", (0.0, 0.0, 0.0) if rotates else REQUIRED))
    axes = table.choice("parabola", ACROSS, None) if "parabola" in table else ""
    ramp = scales.duration(table.positive("ramp", 0.0))
    if not (rotates or axes or ramp):
        return velocity
    centre, spin = np.zeros(3), np.zeros(3)
    if rotates:
        centre = np.array(scales.position(table.vector("centre")))
        spin = np.array(scales.rate(table.vector("angular_velocity")))

    def at(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
        place = {"x": x, "y": y, "z": z}
        share = 1.0
        for axis in axes:
            n = shape["xyz".index(axis)]
            share = share * (4.0 * place[axis] * (n - place[axis]) / n**2)
        rx, ry, rz = x - centre[0], y - centre[1], z - centre[2]
        wx, wy, wz = spin
        return (
            share * velocity[0] + (wy * rz - wz * ry),
            share * velocity[1] + (wz * rx - wx * rz),
            share * velocity[2] + (wx * ry - wy * rx),
        )

    if not ramp:
        return at

    def at_time(x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float) -> Any:
        grown = math.sin(0.5 * math.pi * min(1.0, t / ramp)) ** 2
        return tuple(grown * c for c in at(x, y, z))

    return at_time


def read_inflow(
    table: Table, shape: Triple, scales: Scales
) -> tuple[float, float, float] | Function | SyntheticEddies:
    """Read the velocity of an inlet, with `turbulence` as the mean of synthetic eddies."""
    mean = read_velocity(table, shape, scales)
    if "turbulence" not in table:
        return mean
    inner = table.table("turbulence")
    settings: dict[str, Any] = {
        key: inner.integer(key) for key in ("count", "seed") if key in inner
    }
    if "intensity" in inner:
        settings["intensity"] = inner.number("intensity")
    if "stresses" in inner:
        settings["stresses"] = _read_stresses(inner, scales)
    if "speed" in inner:
        settings["speed"] = scales.speed(inner.positive("speed"))
    is_one = isinstance(inner.take("length"), int | float)
    length: Any = inner.positive("length") if is_one else inner.vector("length")
    settings["length"] = scales.length(length) if is_one else scales.position(length)
    inner.finish()
    try:
        return SyntheticEddies(mean, **settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{table.file}: {inner.name}: {error}") from None


def _read_stresses(table: Table, scales: Scales) -> Any:
    """Read Reynolds stresses, in the square of the unit of speeds, as rows."""
    rows = table.take("stresses")
    try:
        stresses = np.array(rows, float)
    except (TypeError, ValueError):
        stresses = np.empty(0)
    if stresses.shape != (3, 3):
        raise table.error("stresses", f"must hold three rows of three numbers, got {rows!r}")
    return stresses * scales.speed(1.0) ** 2
