"""Subset simulation and splitting, the two algorithms of `rode.rare_event`.

Their costs for equal errors are compared by the squared coefficient of variation of the mean times
the path steps that it takes, pilot runs included, for a Duffing oscillator that is pushed by an
Ornstein-Uhlenbeck process, and for the ground of Kanai and Tajimi.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import rode
from studies.study import Study

TAU, C = 0.2, 4.0

THRESHOLDS = {"displacement": (0.6, 0.8), "force": (2.5, 3.2), "acceleration": (1.8, 2.4)}
"""Levels of the oscillator's displacement, which is smooth, of the process that pushes it, and of
the ground's acceleration, which are rough."""

PATHS = 500
"""Paths of a run; more where its estimate spreads too much."""

RUNS = 20
"""Independent runs, whose spread is compared."""

ALGORITHMS = "splitting", "subset"

HEADS = (
    "output", "threshold", "algorithm", "probability", "standard error", "paths of a run",
    "coefficient of variation of a run", "path steps", "squared error x path steps", "s",
)  # fmt: skip


def duffing(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return x'."""
    return x[1], -4.0 * x[0] - 4.0 * x[0] * x[0] * x[0] - 0.4 * x[1] + O


def displacement(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return a smooth output."""
    return (x[0],)


def force(t, x, O, p):  # type: ignore[no-untyped-def]
    """Return a rough output."""
    return (O,)


def estimate(
    output: str, threshold: float, algorithm: str, paths: int, runs: int, study: Study
) -> rode.RareEvent:
    """Return the result of some runs."""
    if output == "acceleration":
        problem, method = rode.kanai_tajimi(c=0.01, outputs=output), "3-rode-taylor"
        t_span, h = (0.0, 2.0), 2.0**-6
    else:
        problem, method = rode.general(
            duffing, dimension=2, excitation=rode.OU(TAU, C), outputs=output,
            observe={"displacement": displacement, "force": force}[output],
        ), "heun"  # fmt: skip
        t_span, h = (0.0, 4.0), 2.0**-4
    return rode.rare_event(
        problem, method, threshold, t_span=t_span, h=h, algorithm=algorithm, paths=paths,
        coefficient_of_variation=1e-9, max_runs=runs, rng=1, device=study.device,
    )  # fmt: skip


def run(study: Study) -> dict:
    """Compare both for two thresholds of each output."""
    paths, runs = (50, 10) if study.quick else (PATHS, RUNS)
    title = f"Probability that the largest |output| exceeds a threshold: {runs} runs"
    rows = study.table(title, HEADS, estimates(study, paths, runs))
    return {
        "work of subset simulation over that of splitting at equal errors": {
            f"{a[0]} {a[1]}": b[8] / a[8] if a[8] > 0.0 else None
            for a, b in zip(rows[::2], rows[1::2], strict=True)
        }
    }


def estimates(study: Study, paths: int, runs: int) -> Iterator[tuple]:
    """Yield a row for each output, threshold and algorithm."""
    outputs = list(THRESHOLDS)[: 1 if study.quick else None]
    for output in outputs:
        for algorithm in ALGORITHMS:  # compiled before it is timed
            estimate(output, THRESHOLDS[output][0], algorithm, 20, 10, study)
        for threshold in THRESHOLDS[output][: 1 if study.quick else None]:
            for algorithm in ALGORITHMS:
                start = time.perf_counter()
                found = estimate(output, threshold, algorithm, paths, runs, study)
                seconds, mean = time.perf_counter() - start, found.probability
                error, steps = found.coefficient_of_variation, found.path_steps
                yield (
                    *(output, threshold, algorithm, mean, mean * error, found.paths),
                    *(error * math.sqrt(runs), steps, error**2 * steps, seconds),
                )
