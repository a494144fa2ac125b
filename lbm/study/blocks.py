"""GLUPS over the shape of a block and of the domain, figures 16.2 and 16.3."""

from __future__ import annotations

import hetero
from hetero.study import Study
from lbm.parts import Single
from lbm.study.measure import draw, problems, rate

THREADS, TASKS = (32, 64, 128, 256, 512), (1, 2, 4, 8, 16)
"""Of a block along x on a GPU; of a thread on the CPU."""


def run(study: Study) -> dict:
    limit, rows = hetero.limits(study.device).copy, []
    for shape, precision, problem in problems(study):
        domain, least = Single(problem, study.device), problem.bytes_per_update()
        for block in THREADS if study.device.kind == "cuda" else TASKS:
            domain.engine.divide(block)
            found = rate(domain, study.device)
            rows.append((shape, precision, block, found, found * 1e9 * least / limit))
        del domain  # before the next one needs the memory
    label = "threads of a block" if study.device.kind == "cuda" else "tasks of a thread"
    heads = ["domain", "precision", label, "GLUPS", "of the copy bandwidth"]
    study.table("Rate over blocks (figures 16.2, 16.3)", heads, rows)
    return {"picture": str(draw(study, rows, label, "figure-16.2-16.3.png"))}
