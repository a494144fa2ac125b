"""Stable settings, as measured by `python -m studies run lbm-stability`.

The stability of a flow is limited by its cell Reynolds number u/nu = 3 u/(tau - 1/2) in lattice
units, where u is the speed of the lid or the stream: the Reynolds number of the flow divided by the
number of cells in its length. A smaller time step does not change it. The speed itself hardly
matters up to 0.1 cells/step. Each limit is the last stable one of a series of settings with a ratio
of 1.19, and the lowest of speeds from 0.03 to 0.1
(`benchmarks/records/studies/lbm-stability-cpu.json`). `lbm.collisions.bgk` has the limits of BGK.
"""

from __future__ import annotations

BETWEEN_WALLS = {0.25: 28.5, 3 / 16: 24.0, 1 / 12: 20.1, 0.03: 16.9, 0.01: 16.9}
"""Largest stable cell Reynolds number for each magic parameter of TRT, in the lid-driven cavity."""

WITH_OPEN_ENDS = {0.25: 8.4, 3 / 16: 8.4, 1 / 12: 12.0, 0.03: 16.9, 0.01: 20.1}
"""The same for a sphere in a stream: large magic parameters fail at the inlet, small ones behind
the sphere."""

LARGEST = max(*BETWEEN_WALLS.values(), *WITH_OPEN_ENDS.values())
"""No flow was stable above this cell Reynolds number."""


def choose_magic(cell_reynolds: float, has_open_ends: bool) -> float:
    """Return the magic parameter to use at a cell Reynolds number (speed/viscosity).

    It is the largest one that is stable, because large ones place walls more accurately; if none is
    stable, it is the one with the highest limit.
    """
    limits = WITH_OPEN_ENDS if has_open_ends else BETWEEN_WALLS
    stable = [magic for magic, limit in limits.items() if cell_reynolds <= limit]
    return max(stable) if stable else max(limits, key=lambda magic: limits[magic])
