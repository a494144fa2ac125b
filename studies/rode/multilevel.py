"""Multilevel against plain Monte Carlo for mean peaks, at the same tolerance.

The plain runs have the largest step whose bias, by the differences of the levels, takes at most
the same share of the tolerance as that of the levels, and as many paths as the rest of it asks
for. Both correct the peaks of the acceleration for what lies between steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import rode
from rode._estimators.multilevel import BIAS_SHARE
from studies.study import Study

DURATION = 4.0
"""Duration of an earthquake in s."""

TOLERANCE = 1e-3
"""Largest root mean square error over the mean."""

CASES = (
    ("ground, displacement", "averaged-heun"),
    ("ground, displacement", "3-rode-taylor"),
    ("ground, acceleration", "3-rode-taylor"),
    ("frame, drift[1]", "3-rode-taylor"),
    ("frame, acceleration[2]", "3-rode-taylor"),
)
"""Outputs of the ground of Kanai and Tajimi, whose acceleration is as rough as the process, and of
a frame of two storeys on such a ground; and methods."""

HEADS = (
    "output", "method", "way", "finest h, s", "mean peak", "standard error", "bias", "path steps",
    "s",
)  # fmt: skip


def problem_of(case: str) -> rode.Problem:
    """Return the problem that has an output of `CASES`."""
    kind, output = case.split(", ")
    if kind == "ground":
        return rode.kanai_tajimi(outputs=output)
    soil = rode.Filtered.kanai_tajimi(c=0.05, envelope=([0, 1, 3, 4], [0, 1, 1, 0.5]))
    return rode.shear_frame([30.0, 30.0], [18e3, 18e3], 0.05, excitation=soil, outputs=output)


def run(study: Study) -> dict:
    """Compare the costs of each output and scheme."""
    rows = study.table(
        f"Mean of the largest |output| of {DURATION:g} s to a relative error of {TOLERANCE:g}",
        HEADS, costs(study),
    )  # fmt: skip
    pairs = list(zip(rows[::2], rows[1::2], strict=True))
    return {
        "plain path steps over multilevel": [plain[7] / many[7] for many, plain in pairs],
        "seconds of plain over multilevel": [plain[8] / many[8] for many, plain in pairs],
    }


def costs(study: Study) -> Iterator[tuple]:
    """Yield a row for each way and case."""
    tolerance = 0.02 if study.quick else TOLERANCE
    for output, method in CASES[2:3] if study.quick else CASES:
        quake = problem_of(output)
        settings: dict[str, Any] = {
            "t_span": (0.0, DURATION),
            "relative": True,
            "device": study.device,
        }
        rode.expectation(quake, method, "peaks", tolerance=0.1, rng=0, **settings)  # compiles
        start = time.perf_counter()
        found = rode.expectation(quake, method, "peaks", tolerance=tolerance, rng=1, **settings)
        seconds = time.perf_counter() - start
        yield (
            output, method, "multilevel", found.levels[-1].h, found.estimate,
            found.standard_error, found.bias, found.path_steps, seconds,
        )  # fmt: skip
        goal, k = tolerance * found.estimate, len(found.levels) - 1
        allowed, bias = math.sqrt(BIAS_SHARE) * goal, found.bias
        while k > 0:
            coarser = abs(math.fsum(one.mean for one in found.levels[k:])) + found.bias
            if coarser > allowed:
                break
            bias, k = coarser, k - 1
        h = found.levels[k].h
        start = time.perf_counter()
        mean, variance = peaks(quake, method, h, 500, 0, study)
        paths = math.ceil(variance / ((1.0 - BIAS_SHARE) * goal**2))
        mean, variance = peaks(quake, method, h, paths, 500, study)
        seconds, error = time.perf_counter() - start, math.sqrt(variance / paths)
        steps = (paths + 500) * round(DURATION / h)
        yield output, method, "plain", h, mean, error, bias, steps, seconds


def peaks(
    quake: rode.Problem, method: str, h: float, paths: int, first: int, study: Study
) -> tuple[float, float]:
    """Return mean and variance of the corrected peaks."""
    result = rode.solve(
        quake, method, t_span=(0.0, DURATION), h=h, paths=paths, first_path=first, rng=2,
        sampling="exact", reduction="peaks", device=study.device,
    )  # fmt: skip
    assert result.peaks is not None
    values = result.peaks[0] + rode.peak_correction(quake, h)[0, 0]
    return float(values.mean()), float(np.var(values, ddof=1))
