"""A body in a wide stream along x, for the studies of a cylinder and of a sphere."""

from __future__ import annotations

from typing import Any, NamedTuple

from hetero.devices import Device
from lbm import (
    TRT,
    Condition,
    FreeSlip,
    NonReflectingOutlet,
    Simulation,
    Solid,
    VelocityInlet,
)

REYNOLDS = 100.0
"""Reynolds number of the diameter."""

SPEED = 0.05
"""Speed of the stream in cells/step."""

HEADS = "quantity", "cells", "domain in diameters", "computed", "published", "deviation in %"
"""Columns of the tables of both studies."""


class Sizes(NamedTuple):
    """Cells in a diameter, length and width of the domain, and paths of the stream, in diameters.

    Attributes
    ----------
    settle, record : path before the forces are recorded, and on which they are
    """

    cells: int
    length: int
    width: int
    settle: int
    record: int

    def steps(self, path: int) -> int:
        """Return the steps in which the stream moves by `path` diameters."""
        return round(path * self.cells / SPEED)


def make_stream(
    shape: tuple[int, int, int], body: Solid, d: int, u: Any, device: Device
) -> Simulation:
    """Build a body of d cells in a stream along x, which starts with the velocity u.

    Populations are float32: a cylinder of 12 cells has the same coefficients to four digits with
    float64, which takes twice as long.
    """
    ends: dict[str, Condition | Solid] = {
        "x-": VelocityInlet((SPEED, 0.0, 0.0)),
        "x+": NonReflectingOutlet(),
        "y": FreeSlip(),
        "body": body,
    }
    if shape[2] > 1:
        ends["z"] = FreeSlip()
    collision = TRT(0.5 + 3.0 * SPEED * d / REYNOLDS)
    return Simulation(shape, collision=collision, boundaries=ends, u=u, device=device)
