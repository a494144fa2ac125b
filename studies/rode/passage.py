"""First passage of an Ornstein-Uhlenbeck process at a probability of 1e-7, by `rode.rare_event`.

The process begins at its mean, and passes +-b within a span of time. The exact probability is the
sum over the eigenfunctions of its generator that vanish at +-b. The threshold is lowered by
`rode.peak_correction` for what lies between the steps, which leaves 0.6 % of the probability at
steps of 2^-6 relaxation times (by quadrature of the densities at these steps).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import rode
from studies.study import Study

T_SPAN, H, LEVEL = (0.0, 4.0), 2.0**-6, 6.0943
"""Times in relaxation times, and the level in stationary standard deviations."""

GOAL, SEEDS = 0.1, 100
"""Coefficient of variation that is asked for, and how many estimates are compared; --size sets
another number."""

PATHS = {"importance": 10, "splitting": 250}
"""Paths of a run of each algorithm."""

HEADS = (
    "algorithm", "seeds", "exact", "mean", "its score", "coefficient of variation",
    "share of intervals that hold", "path steps", "median s", "median s of the CPU",
)  # fmt: skip


def process() -> rode.Problem:
    """Return the process, whose stationary standard deviation is 1."""
    return rode.additive(
        lambda x, p: (-x[0],), lambda p: (1.0,), dimension=1, start_process=0.0,
        process=rode.Process(1.0, 2.0), outputs="O", observe=lambda t, x, O, p: (O,),
    )  # fmt: skip


def passage(level: float, span: float, terms: int = 8) -> float:
    """Return the probability that |O| reaches a level within a span, O(0) = 0.

    With phi(y; k) = M(-k/2, 1/2, y^2/2) and the zeros k_n of phi(level; .), the probability that it
    stays inside is -sum_n exp(-k_n span)/(k_n d phi/d k).
    """
    import mpmath

    with mpmath.workdps(40):

        def phi(k: Any) -> Any:
            return mpmath.hyp1f1(-k / 2, mpmath.mpf(0.5), mpmath.mpf(level) ** 2 / 2)

        stays, found, k, step = mpmath.mpf(0), 0, mpmath.mpf("1e-12"), mpmath.mpf(0.25)
        while found < terms:
            if phi(k) * phi(k + step) < 0:
                zero = mpmath.findroot(phi, (k, k + step), solver="anderson", verify=False)
                stays -= mpmath.exp(-zero * span) / (zero * mpmath.diff(phi, zero))
                found += 1
            k += step
        return float(1 - stays)


def run(study: Study) -> dict:
    """Compare both algorithms with the exact value."""
    title = f"Probability that |O| passes {LEVEL:g} deviations within {T_SPAN[1]:g} tau"
    rows = study.table(title, HEADS, estimates(study))
    return {"score of the mean": {row[0]: row[4] for row in rows}}


def estimates(study: Study) -> Iterator[tuple]:
    """Yield a row for each algorithm."""
    problem, seeds = process(), 3 if study.quick else study.size or SEEDS
    exact = passage(LEVEL, T_SPAN[1])
    threshold = LEVEL - float(rode.peak_correction(problem, H)[0, 0])

    def estimate(algorithm: str, seed: int) -> rode.RareEvent:
        return rode.rare_event(
            problem, "euler", threshold, t_span=T_SPAN, h=H, paths=PATHS[algorithm], rng=seed,
            coefficient_of_variation=0.5 if study.quick else GOAL, algorithm=algorithm,
            device=study.device,
        )  # fmt: skip

    for algorithm in PATHS:
        estimate(algorithm, seeds)  # compiles
        found, seconds, busy = [], [], []
        for seed in range(seeds):
            start, begin = time.perf_counter(), time.process_time()
            found.append(estimate(algorithm, seed))
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - begin)
        ratios = np.array([one.probability for one in found]) / exact
        spread = float(ratios.std(ddof=1))
        yield (
            algorithm, seeds, exact, float(ratios.mean()) * exact,
            (float(ratios.mean()) - 1.0) / spread * math.sqrt(seeds), spread,
            float(np.mean([one.low <= exact <= one.high for one in found])),
            float(np.mean([one.path_steps for one in found])), float(np.median(seconds)),
            float(np.median(busy)),
        )  # fmt: skip
