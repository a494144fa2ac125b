"""Probability of a large drift by plain paths and by splitting: agreement, path steps and times.

A linear storey under an earthquake of Kanai and Tajimi with an envelope. Plain paths are solved in
parts that fit the memory, in float32; --size sets how many (4e9 where the time allows). The costs
are compared at an equal coefficient of variation: that of a run of splitting is its measured one,
and that of N plain paths sqrt((1 - p)/(N p)).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import rode
from studies.study import Study

T_SPAN, H = (0.0, 4.0), 2.0**-6
THRESHOLDS = (0.016, 0.0208)
"""Drifts in m whose probabilities are about 1e-3 and 1e-6."""

PATHS = {"cuda": 4_000_000_000, "cpu": 100_000}
"""Plain paths if the caller does not say."""

PART = {"cuda": 1 << 26, "cpu": 1 << 18}
"""Plain paths at a time: their states and peaks take a few GB on a GPU."""

SPLITTING = {"cuda": (1 << 14, 0.03), "cpu": (500, 0.15)}
"""Paths of a run of splitting, and the coefficient of variation at which runs end."""

HEADS = (
    "drift, m", "way", "probability", "standard error", "paths", "path steps", "s",
    "path steps for 10 %", "s for 10 %",
)  # fmt: skip


def storey() -> rode.Problem:
    """Return the storey, whose period is 0.26 s."""
    soil = rode.Filtered.kanai_tajimi(c=0.05, envelope=([0, 1, 3, 4], [0, 1, 1, 0.5]))
    return rode.shear_frame([30.0], [18e3], 0.05, excitation=soil, outputs="drift")


def run(study: Study) -> dict:
    """Compare both ways for both thresholds."""
    rows = study.table(
        f"Probability that a drift is exceeded in {T_SPAN[1]:g} s", HEADS, estimates(study)
    )
    plain, rare = rows[: len(THRESHOLDS)], rows[len(THRESHOLDS) :]
    return {
        "score of the difference": [
            (b[2] - a[2]) / math.hypot(a[3], b[3]) if a[2] else None
            for a, b in zip(plain, rare, strict=True)
        ],
        "plain path steps over splitting": [a[7] / b[7] for a, b in zip(plain, rare, strict=True)],
        "plain seconds over splitting": [a[8] / b[8] for a, b in zip(plain, rare, strict=True)],
    }


def estimates(study: Study) -> Iterator[tuple]:
    """Yield the rows of plain paths, then those of splitting.

    The cost of plain paths takes p of splitting where they have found none.
    """
    kind, steps = study.device.kind, round((T_SPAN[1] - T_SPAN[0]) / H)
    paths = study.size or (2000 if study.quick else PATHS[kind])
    problem = storey()
    counts, seconds = plain(problem, paths, study)
    rare, times = [], []
    goal, size = (0.5, 100) if study.quick else SPLITTING[kind][::-1]
    for threshold in THRESHOLDS:
        settings: dict[str, Any] = {
            "t_span": T_SPAN,
            "h": H,
            "paths": size,
            "device": study.device,
            "algorithm": "splitting",
        }
        rode.rare_event(problem, "3-rode-taylor", 0.001, coefficient_of_variation=1.0, **settings)
        start = time.perf_counter()
        rare.append(
            rode.rare_event(
                problem, "3-rode-taylor", threshold, coefficient_of_variation=goal, rng=2,
                **settings,
            )
        )  # fmt: skip
        times.append(time.perf_counter() - start)
    for threshold, count, found in zip(THRESHOLDS, counts, rare, strict=True):
        p = count / paths
        q = found.probability
        needed = 100.0 * (1.0 - q) / q if q > 0.0 else math.inf
        yield (
            threshold, "plain", p, math.sqrt(p * (1.0 - p) / paths), paths, paths * steps, seconds,
            needed * steps, needed / paths * seconds,
        )  # fmt: skip
    for threshold, found, elapsed in zip(THRESHOLDS, rare, times, strict=True):
        share = (found.coefficient_of_variation / 0.1) ** 2
        yield (
            threshold, "splitting", found.probability,
            found.coefficient_of_variation * found.probability, size * len(found.runs),
            found.path_steps, elapsed, found.path_steps * share, elapsed * share,
        )  # fmt: skip


def plain(problem: rode.Problem, paths: int, study: Study) -> tuple[np.ndarray, float]:
    """Return how many of all paths exceed each threshold, and the time that they take in s."""
    size = min(PART[study.device.kind], paths)
    counts, seconds = np.zeros(len(THRESHOLDS), np.int64), 0.0

    def solve(first: int, count: int) -> np.ndarray:
        result = rode.solve(
            problem, "3-rode-taylor", t_span=T_SPAN, h=H, paths=count, first_path=first,
            sampling="exact", reduction="peaks", rng=1, dtype="float32", normals="fast",
            device=study.device,
        )  # fmt: skip
        assert result.peaks is not None
        return np.array([np.count_nonzero(result.peaks[0] > one) for one in THRESHOLDS])

    solve(0, min(size, 1000))  # compiles
    for first in range(0, paths, size):
        start = time.perf_counter()
        counts += solve(first, min(size, paths - first))
        seconds += time.perf_counter() - start
        done = min(first + size, paths)
        print(f"{done} of {paths} plain paths, {seconds:.1f} s, beyond: {counts}", file=sys.stderr)
    return counts, seconds
