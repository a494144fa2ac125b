"""The lid-driven cavity by which speeds are compared, and the time of its steps."""

from __future__ import annotations

import time

import numpy as np

from lbm._coupled.flow import Flow
from lbm._kernels.problem import Problem
from lbm.boundaries import Condition, Enclosure, MovingWall, NoSlip, Solid, split_boundaries
from lbm.collisions.trt import TRT
from lbm.geometry import wall_links
from lbm.lattices import D3Q19
from lbm.lattices.precision import PRECISIONS, Precision
from lbm.lattices.streaming_patterns import make_pattern


def make_walls(speed: float) -> dict[str, Condition | Solid]:
    """Return the walls of a cavity with its lid at +y, which moves along +x."""
    return {"x": NoSlip(), "z": NoSlip(), "y-": NoSlip(), "y+": MovingWall((speed, 0.0, 0.0))}


TAU = 0.6152
"""Relaxation time of Riesinger (2017, chapter 16)."""

FACES, SOLIDS = split_boundaries(make_walls(0.1))

SAMPLES = 5
"""Samples of each time, of which the median counts."""

SAMPLE_SECONDS = 0.1
"""Least duration of a sample."""


def cavity_problem(
    shape: tuple[int, int, int],
    pattern: str = "esoteric",
    precision: Precision = PRECISIONS["float32"],
) -> Problem:
    """Return the lid-driven cavity in a box of any shape."""
    walls = wall_links.classify_cells(D3Q19, Enclosure(shape, FACES, SOLIDS))
    addresses = make_pattern(pattern, D3Q19)
    return Problem(shape, walls, addresses, precision, TRT(TAU), (0.0, 0.0, 0.0))


def measure_steps(flow: Flow) -> float:
    """Return the median seconds of a step, that of the slowest rank."""
    ranks = flow.domain.ranks

    def sample(steps: int) -> float:
        ranks.gather_all(None)
        start = time.perf_counter()
        flow.advance(steps)
        flow.domain.synchronize()
        return ranks.max(time.perf_counter() - start)

    sample(2)
    steps = 2
    while sample(steps) < SAMPLE_SECONDS:
        steps *= 2
    return float(np.median([sample(steps) for _ in range(SAMPLES)])) / steps
