"""Bodies in a wide stream beside published values: a cylinder and a sphere at Reynolds number 100.

The walls of the bodies are interpolated, the sides slip, and the outlet does not reflect. A
cylinder disturbs the stream far around it, so that its domain is 60 diameters wide: on a CPU the
full size takes days.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from lbm import (
    TRT,
    Condition,
    Cylinder,
    FreeSlip,
    NonReflectingOutlet,
    Simulation,
    Solid,
    Sphere,
    VelocityInlet,
)
from lbm.callbacks import Every
from studies.study import Study

REYNOLDS = 100.0

CYLINDER = {"drag": (1.32, 1.34), "Strouhal number": (0.164, 0.165)}
"""Published intervals of a free cylinder at Re 100 (Williamson 1989; Posdziech and Grundmann
2007)."""

CLIFT = 24.0 / REYNOLDS * (1.0 + 0.1935 * REYNOLDS**0.6305)
"""Drag coefficient of a sphere by the correlation of Clift, Grace and Weber (1978) for Re 20 to
260."""

SPEED = 0.05
"""Speed of the stream in cells/step."""

_HEADS = "quantity", "cells", "domain in diameters", "computed", "published", "deviation in %"


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


FULL = Sizes(32, 90, 60, 130, 60), Sizes(16, 24, 18, 60, 6)
"""Sizes of the cylinder and of the sphere: 5.5 and 31.9 million cells."""

TINY = Sizes(6, 6, 4, 2, 1), Sizes(4, 4, 3, 1, 1)
"""Sizes for tests, which say nothing about accuracy."""


def run(study: Study) -> dict:
    """Compute both bodies and print their coefficients."""
    cylinder, sphere = TINY if study.quick else FULL
    rows: list[tuple[Any, ...]] = []
    drag, strouhal = solve_cylinder(cylinder, study.device)
    domain = f"{cylinder.length} x {cylinder.width}"
    for name, value in (("drag", drag), ("Strouhal number", strouhal)):
        low, high = CYLINDER[name]
        deviation = 100.0 * (value / (0.5 * (low + high)) - 1.0)
        text = f"{low:g} to {high:g}"
        rows.append((f"cylinder, {name}", cylinder.cells, domain, value, text, deviation))
    value = solve_sphere(sphere, study.device)
    domain = f"{sphere.length} x {sphere.width} x {sphere.width}"
    deviation = 100.0 * (value / CLIFT - 1.0)
    rows.append(("sphere, drag", sphere.cells, domain, value, f"{CLIFT:.4g}", deviation))
    study.table("Bodies in a wide stream, Re 100", _HEADS, rows)
    return {"cylinder drag": drag, "Strouhal number": strouhal, "sphere drag": value}


def make_stream(
    shape: tuple[int, int, int], body: Solid, d: int, u: Any, device: Device, dtype: str
) -> Simulation:
    """Build a body of d cells in a stream along x."""
    ends: dict[str, Condition | Solid] = {
        "x-": VelocityInlet((SPEED, 0.0, 0.0)),
        "x+": NonReflectingOutlet(),
        "y": FreeSlip(),
        "body": body,
    }
    if shape[2] > 1:
        ends["z"] = FreeSlip()
    collision = TRT(0.5 + 3.0 * SPEED * d / REYNOLDS)
    return Simulation(shape, collision=collision, boundaries=ends, u=u, dtype=dtype, device=device)


def solve_cylinder(sizes: Sizes, device: Device) -> tuple[float, float]:
    """Return the mean drag coefficient of a cylinder, and its Strouhal number.

    It stands at a third of the length. A gust across the stream behind it starts the shedding.
    """
    d, shape = sizes.cells, (sizes.length * sizes.cells, sizes.width * sizes.cells, 1)
    x0, y0 = shape[0] / 3.0 + 0.3, shape[1] / 2.0 + 0.2

    def start(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple:
        square = ((x - x0 - 1.5 * d) ** 2 + (y - y0) ** 2) / d**2
        return SPEED + 0.0 * square, 0.3 * SPEED * np.exp(-square), 0.0 * square

    body = Solid(Cylinder((x0, y0), d / 2), wall="interpolated")
    s = make_stream(shape, body, d, start, device, "float64")
    every = max(1, round(d / SPEED / 32))
    series: list[np.ndarray] = []
    s.run(round(sizes.settle * d / SPEED))
    s.run(
        round(sizes.record * d / SPEED),
        callbacks=[Every(every, lambda s: series.append(s.force_on("body")[:2]))],
    )
    drag, lift = 2.0 * np.array(series).T / (SPEED**2 * d)
    up = np.flatnonzero((lift[:-1] < 0.0) & (lift[1:] >= 0.0))
    if len(up) < 2:
        return float(drag.mean()), float("nan")
    crossings = up - lift[up] / (lift[up + 1] - lift[up])
    first, last = (round(float(c)) for c in (crossings[0], crossings[-1]))
    period = float(crossings[-1] - crossings[0]) / (len(crossings) - 1) * every
    return float(drag[first:last].mean()), d / (SPEED * period)


def solve_sphere(sizes: Sizes, device: Device) -> float:
    """Return the drag coefficient of a sphere, the mean over the end of the run."""
    d, n = sizes.cells, sizes.width * sizes.cells
    shape = sizes.length * d, n, n
    centre = shape[0] / 3.0 + 0.3, n / 2.0 + 0.2, n / 2.0 + 0.1
    body = Solid(Sphere(centre, d / 2), wall="interpolated")
    s = make_stream(shape, body, d, (SPEED, 0.0, 0.0), device, "float32")
    forces: list[float] = []
    s.run(round(sizes.settle * d / SPEED))
    s.run(
        round(sizes.record * d / SPEED),
        callbacks=[Every(max(1, d), lambda s: forces.append(float(s.force_on("body")[0])))],
    )
    return float(np.mean(forces)) * 8.0 / (SPEED**2 * np.pi * d**2)
