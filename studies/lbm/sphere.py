"""Sphere in a wide stream at Reynolds number 100: its drag beside a correlation of experiments.

The wall is interpolated, the sides slip, and the outlet does not reflect. On a CPU the full size
takes a day.
"""

from __future__ import annotations

import numpy as np

from hetero.devices import Device
from lbm import Solid, Sphere
from lbm.callbacks import Every
from studies.lbm.streams import HEADS, REYNOLDS, SPEED, Sizes, make_stream
from studies.study import Study

CLIFT = 24.0 / REYNOLDS * (1.0 + 0.1935 * REYNOLDS**0.6305)
"""Drag coefficient by the correlation of Clift, Grace and Weber (1978) for Re 20 to 260."""

FULL = Sizes(16, 24, 18, 60, 6)
"""31.9 million cells and 21,120 steps."""

TINY = Sizes(4, 4, 3, 1, 1)
"""Sizes for tests, which say nothing about accuracy."""


def run(study: Study) -> dict:
    """Compute the flow and print its drag coefficient."""
    sizes = TINY if study.quick else FULL
    value = solve_sphere(sizes, study.device)
    domain = f"{sizes.length} x {sizes.width} x {sizes.width}"
    deviation = 100.0 * (value / CLIFT - 1.0)
    row = "drag", sizes.cells, domain, value, f"{CLIFT:.4g}", deviation
    study.table("Sphere in a wide stream, Re 100", HEADS, [row])
    return {"drag": value}


def solve_sphere(sizes: Sizes, device: Device) -> float:
    """Return the drag coefficient of a sphere, the mean over the end of the run."""
    d, n = sizes.cells, sizes.width * sizes.cells
    shape = sizes.length * d, n, n
    centre = shape[0] / 3.0 + 0.3, n / 2.0 + 0.2, n / 2.0 + 0.1
    body = Solid(Sphere(centre, d / 2), wall="interpolated")
    s = make_stream(shape, body, d, (SPEED, 0.0, 0.0), device)
    forces: list[float] = []
    s.run(sizes.steps(sizes.settle), progress=True)
    s.run(
        sizes.steps(sizes.record),
        callbacks=[Every(max(1, d), lambda s: forces.append(float(s.force_on("body")[0])))],
        progress=True,
    )
    return float(np.mean(forces)) * 8.0 / (SPEED**2 * np.pi * d**2)
