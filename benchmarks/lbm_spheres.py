"""lbm: update rates among many bodies, beside those of the empty box."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import hetero
import lbm
from benchmarks.lbm import seconds_per_step
from benchmarks.measurements import Measurement
from lbm import Simulation


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure a periodic box with 200 spheres in each 256^3 cells, for two patterns."""
    n = 24 if quick else 256 if device.kind == "cuda" else 128
    count = max(1, round(200 * (n / 256) ** 3))
    for pattern in ("ab", "esoteric"):
        options: dict[str, Any] = {"pattern": pattern, "device": device, "check": 0}
        empty, _ = seconds_per_step(Simulation((n, n, n), **options), device)
        beads = {"beads": lbm.Solid(random_spheres(n, count))}
        s = Simulation((n, n, n), boundaries=beads, **options)
        seconds, timing = seconds_per_step(s, device)
        fluid = int(s.fluid.sum())
        yield Measurement(
            f"{count} spheres in {n}^3, float32, {pattern}: updates of fluid cells",
            fluid / seconds / 1e9, "GLUPS", n**3 / empty / 1e9, "the empty box", {},
            f"spheres of 16 cells at random places, some overlap; {1 - fluid / n**3:.1%} of the "
            f"cells are solid; all cells count: {n**3 / seconds / 1e9:.4g} GLUPS, "
            f"{empty / seconds:.1%} of the empty box", timing,
        )  # fmt: skip


def random_spheres(n: int, count: int, radius: int = 8) -> np.ndarray:
    """Return the cells [x, y, z] in spheres at random places of a periodic box, which may overlap.

    The places are the same in each run.
    """
    cells = np.zeros((n, n, n), bool)
    around = np.arange(-radius - 1, radius + 2)
    for centre in np.random.default_rng(1).uniform(0.0, n, (count, 3)):
        near = np.floor(centre)[:, None].astype(int) + around
        x, y, z = (near + 0.5 - centre[:, None]) ** 2
        inside = x[:, None, None] + y[:, None] + z < radius**2
        cells[np.ix_(*(near % n))] |= inside
    return cells
