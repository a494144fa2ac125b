"""Which settings are stable: a map that `python -m lbm study stability` has measured.

What limits a flow is the Reynolds number of a cell, u/nu = 3 u/(tau - 1/2) in lattice units, with
the speed u of the lid or the stream; that is the flow's Reynolds number over the number of cells
in its length. A smaller time step does not change it. The speed itself hardly matters up to 0.1
cells/step. Limits are the last stable of settings 1.19 apart, the lowest of speeds 0.03 to 0.1
(`benchmarks/records/study-lbm-stability-cpu.json`).
"""

from __future__ import annotations

BETWEEN_WALLS = {0.25: 28.5, 3 / 16: 24.0, 1 / 12: 20.1, 0.03: 16.9, 0.01: 16.9}
"""Largest stable u/nu of a cell for each magic number of TRT, in the lid-driven cavity."""

WITH_OPEN_ENDS = {0.25: 8.4, 3 / 16: 8.4, 1 / 12: 12.0, 0.03: 16.9, 0.01: 20.1}
"""The same for a sphere in a stream: large magic numbers fail at the inlet, small ones behind."""

BGK_BETWEEN_WALLS, BGK_WITH_OPEN_ENDS = 14.2, 12.0

LARGEST = max(*BETWEEN_WALLS.values(), *WITH_OPEN_ENDS.values())
"""No flow was stable above."""


def choose_magic(cell_reynolds: float, has_open_ends: bool) -> float:
    """Return the magic number to take at a Reynolds number of a cell, speed/viscosity.

    It is the largest that is stable, as walls are placed best by the large ones, or else the most
    stable one.
    """
    limits = WITH_OPEN_ENDS if has_open_ends else BETWEEN_WALLS
    stable = [magic for magic, limit in limits.items() if cell_reynolds <= limit]
    return max(stable) if stable else max(limits, key=limits.get)
