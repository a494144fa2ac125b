"""Velocities of walls and inlets in a case file: ramps, parabolas, rotations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lbm._commands.cases.scales import Scales
from lbm._io.tables import REQUIRED, Table
from lbm.boundaries.prescribed import Function
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

    def velocity_at(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
        position = {"x": x, "y": y, "z": z}
        share = 1.0
        for axis in axes:
            n = shape["xyz".index(axis)]
            share = share * (4.0 * position[axis] * (n - position[axis]) / n**2)
        rx, ry, rz = x - centre[0], y - centre[1], z - centre[2]
        wx, wy, wz = spin
        return (
            share * velocity[0] + (wy * rz - wz * ry),
            share * velocity[1] + (wz * rx - wx * rz),
            share * velocity[2] + (wx * ry - wy * rx),
        )

    if not ramp:
        return velocity_at

    def at_time(x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float) -> Any:
        grown = math.sin(0.5 * math.pi * min(1.0, t / ramp)) ** 2
        return tuple(grown * c for c in velocity_at(x, y, z))

    return at_time
