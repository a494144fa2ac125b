"""Update rates of the cavity, steps only, as Riesinger (2017, chapter 16) measured them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import hetero
from hetero.measurement.benchmarking import benchmark
from lbm._kernels.problem import Problem
from lbm._parallel.domain.domain import Domain
from lbm._performance.cavity import cavity_problem
from lbm.lattices.precision import PRECISIONS
from studies.study import Study

DOMAINS = ((64, 64, 64), (128, 128, 128), (256, 256, 256), (384, 384, 384), (512, 512, 128))
"""The five domains of Riesinger (2017, section 16.1)."""


def cavity_problems(
    study: Study, precisions: Sequence[str] = ("float32", "float64")
) -> Iterator[tuple[tuple[int, int, int], str, Problem]]:
    """Yield (shape, precision, problem) of all cavities that a study measures."""
    on_gpu = study.device.kind == "cuda"
    shapes = ((16, 12, 8),) if study.quick else DOMAINS if on_gpu else DOMAINS[:2]
    for shape in shapes:
        first = cavity_problem(shape)  # once: finding the walls of a large domain takes seconds
        for precision in precisions[:1] if study.quick else precisions:
            yield shape, precision, replace(first, precision=PRECISIONS[precision])


def measure_rate(domain: Domain, device: hetero.Device) -> float:
    """Return the update rate of a domain in GLUPS: the median of seven samples after a warm-up."""

    def two_steps() -> None:
        for t in range(2):
            domain.step(t)

    timing = benchmark(two_steps, device=device)
    domain.synchronize()
    return 2 * domain.problem.cells / timing.median / 1e9


def draw_curves(study: Study, rows: list[tuple], label: str, name: str) -> Path:
    """Draw the fourth column over the third, a curve for each domain and precision."""
    figure = study.figure()
    axis = figure.subplots()
    for shape, precision in dict.fromkeys(row[:2] for row in rows):
        line = [row[2:4] for row in rows if row[:2] == (shape, precision)]
        style = "-o" if precision == "float32" else "--s"
        axis.plot(*zip(*line, strict=True), style, label=f"{shape}, {precision}")
    axis.set(xlabel=label, ylabel="GLUPS", ylim=(0, None))
    axis.legend(fontsize=7)
    return study.save(figure, name)
