"""Strong orders of `rode.solve` itself: one seed and one fine step, and shorter and shorter steps.

Every run of a problem has the same process, because fine steps are numbered along the path. So the
distance of each path from that of the finest run is the error of its coarse steps, and shrinks with
the order of the scheme, down to a floor: averages over M fine steps differ from integrals by terms
of order delta, which are not the same for every M.
"""

from __future__ import annotations

import numpy as np

import rode
from rode._solver.schemes import SCHEMES
from studies.study import Study

DELTA = 2.0**-22
"""Fine step of every run, s."""

END = 1.0
SEED = 12
FINEST = "5-rode-taylor"
"""Scheme of the run that stands for the limit of ever shorter coarse steps."""

LARGEST_ORDER = 4
"""Errors of higher orders reach rounding before their slope can be measured."""


def run(study: Study) -> dict:
    """Measure root mean square errors at the end over the paths, and orders by regression."""
    powers = (6, 7) if study.quick else (5, 6, 7, 8)
    paths, delta = (8, 2.0**-10) if study.quick else (128, DELTA)
    problem = rode.kanai_tajimi(start_process=0.0, outputs=("displacement",))

    def end_of_paths(method: str, power: int) -> np.ndarray:
        h = 2.0**-power
        result = rode.solve(
            problem,
            method,
            t_span=(0.0, END),
            h=h,
            delta=delta,
            paths=paths,
            rng=SEED,
            save_every=round(END / h),
            device=study.device,
        )
        assert result.paths is not None
        return np.asarray(result.paths[-1, 0])

    limit = end_of_paths(FINEST, powers[-1] + 1)
    rows = []
    for name, scheme in SCHEMES.items():
        if scheme.order > LARGEST_ORDER:
            continue
        errors = [
            float(np.sqrt(np.mean((end_of_paths(name, power) - limit) ** 2))) for power in powers
        ]
        order = -float(np.polyfit(powers, np.log2(errors), 1)[0])
        rows.append((name, *errors, order))
    heads = ("scheme", *(f"h = 2^-{power}" for power in powers), "order")
    size = float(np.sqrt(np.mean(limit**2)))
    title = f"Root mean square error of u(1), whose root mean square is {size:.3g}; {paths} paths"
    study.table(title, heads, rows)
    _draw(study, powers, rows)
    return {"paths": paths, "seed": SEED, "delta": delta, "columns": heads, "rows": rows}


def _draw(study: Study, powers: tuple[int, ...], rows: list[tuple]) -> None:
    figure = study.figure()
    axes = figure.subplots()
    for name, *errors, order in rows:
        axes.loglog(
            [2.0**-p for p in powers], errors, marker="o", label=f"{name}, order {order:.2f}"
        )
    axes.set_xlabel("h (s)")
    axes.set_ylabel("root mean square error of u(1)")
    axes.legend()
    study.save(figure, "rode-convergence.png")
