"""Rates of steps, as the thesis measured them: the cavity, steps only."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import hetero
from hetero.study import Study
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


DOMAINS = ((64, 64, 64), (128, 128, 128), (256, 256, 256), (384, 384, 384), (512, 512, 128))
"""The thesis's five (section 16.1)."""


def domains(study: Study):
    """(shape, precision) of what is measured."""
    if study.quick:
        return [((16, 12, 8), "float32")]
    return product(DOMAINS if study.device.kind == "cuda" else DOMAINS[:2], ("float32", "float64"))


def draw(study: Study, rows, label: str, name: str) -> Path:
    """A curve of the third over the fourth column for each domain and precision."""
    figure = study.figure()
    axis = figure.subplots()
    for shape, precision in dict.fromkeys(row[:2] for row in rows):
        line = [row[2:4] for row in rows if row[:2] == (shape, precision)]
        style = "-o" if precision == "float32" else "--s"
        axis.plot(*zip(*line, strict=True), style, label=f"{shape}, {precision}")
    axis.set(xlabel=label, ylabel="GLUPS", ylim=(0, None))
    axis.legend(fontsize=7)
    return study.save(figure, name)
