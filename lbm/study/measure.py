"""Rates of steps, as the thesis measured them: the cavity, steps only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import hetero
from hetero.study import Study
from lbm import boundaries, links
from lbm.boundaries import MovingWall, NoSlip
from lbm.engine import Problem
from lbm.parts import place
from lbm.patterns import PATTERNS
from lbm.precision import PRECISIONS
from lbm.trt import TRT

WALLS = {"x": NoSlip(), "z": NoSlip(), "y-": NoSlip(), "y+": MovingWall((0.1, 0.0, 0.0))}
FACES, SOLIDS = boundaries.split(WALLS)
TAU = 0.6152
"""The thesis's relaxation time (chapter 16)."""

DOMAINS = ((64, 64, 64), (128, 128, 128), (256, 256, 256), (384, 384, 384), (512, 512, 128))
"""The thesis's five (section 16.1)."""


def problem(shape, precision="float32", pattern="esoteric") -> Problem:
    """The thesis's cavity in a box of any shape."""
    found = links.find(shape, FACES, SOLIDS)
    return Problem(
        shape, found, PATTERNS[pattern], PRECISIONS[precision], TRT(TAU), (0.0, 0.0, 0.0)
    )


def problems(study: Study, precisions=("float32", "float64")):
    """(shape, precision, problem) of what is measured."""
    on_gpu = study.device.kind == "cuda"
    shapes = ((16, 12, 8),) if study.quick else DOMAINS if on_gpu else DOMAINS[:2]
    for shape in shapes:
        first = problem(shape)  # the walls of a large domain take seconds to find
        for precision in precisions[:1] if study.quick else precisions:
            yield shape, precision, replace(first, precision=PRECISIONS[precision])


def rate(domain, device) -> float:
    """Giga lattice updates a second of a domain on its devices: median of seven samples, warm."""

    def go():
        for t in range(2):
            domain.step(t)

    timing = hetero.benchmark(go, device=device)
    domain.synchronize()
    return 2 * domain.problem.cells / timing.median / 1e9


def glups(shape, device, precision="float32", pattern="esoteric") -> float:
    """`rate` of the thesis's cavity on one device."""
    return rate(place(problem(shape, precision, pattern), device, FACES), device)


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
