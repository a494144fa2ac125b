"""Update rate over block size and domain (Riesinger 2017, figures 16.2 and 16.3)."""

from __future__ import annotations

from collections.abc import Iterator

from hetero.measurement.machine_limits import limits
from lbm._parallel.domain.domains import make_domain
from studies.lbm.rates import cavity_problems, draw_curves, measure_rate
from studies.study import Study

BLOCK_SIZES = 32, 64, 128, 256, 512
"""Numbers of threads in a block of a GPU, along x."""

TASK_COUNTS = 1, 2, 4, 8, 16
"""Numbers of tasks for each thread of the CPU."""


def run(study: Study) -> dict:
    """Measure all domains with all block sizes."""
    label = "threads per block" if study.device.kind == "cuda" else "tasks per thread"
    heads = ["domain", "precision", label, "GLUPS", "share of copy bandwidth"]
    title = "Rate over block size (Riesinger 2017, figures 16.2 and 16.3)"
    rows = [tuple(row) for row in study.table(title, heads, _measure(study))]
    return {"picture": str(draw_curves(study, rows, label, "figure-16.2-16.3.png"))}


def _measure(study: Study) -> Iterator[tuple]:
    """Yield the rate of each domain and precision with each block size."""
    bandwidth = limits(study.device).copy
    for shape, precision, problem in cavity_problems(study):
        domain, moved = make_domain(problem, study.device), problem.bytes_per_update()
        for count in BLOCK_SIZES if study.device.kind == "cuda" else TASK_COUNTS:
            domain.engine.set_division(count)
            glups = measure_rate(domain, study.device)
            yield shape, precision, count, glups, glups * 1e9 * moved / bandwidth
        del domain  # before the next one needs the memory
