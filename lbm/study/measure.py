"""Rates of steps, as the thesis measured them: the cavity, steps only."""

from __future__ import annotations

import hetero
from lbm.boundaries import MovingWall, NoSlip
from lbm.simulation import Simulation
from lbm.trt import TRT

WALLS = {"x": NoSlip(), "z": NoSlip(), "y-": NoSlip(), "y+": MovingWall((0.1, 0.0, 0.0))}
TAU = 0.6152
"""The thesis's relaxation time (chapter 16)."""


def flow(shape, device, precision="float32", pattern="esoteric", ratio=0.0) -> Simulation:
    """The thesis's cavity in a box of any shape."""
    return Simulation(shape, collision=TRT(TAU), boundaries=WALLS, precision=precision,
                      pattern=pattern, ratio=ratio, device=device, check=0)  # fmt: skip


def glups(shape, device, precision="float32", pattern="esoteric", ratio=0.0) -> float:
    """Giga lattice updates a second, median of seven samples, warm."""
    return rate(flow(shape, device, precision, pattern, ratio), device)


def rate(simulation: Simulation, device) -> float:
    """GLUPS of a simulation that is there already."""
    timing = hetero.benchmark(lambda: simulation._advance(2), device=device)
    return 2 * simulation.problem.cells / timing.median / 1e9
