"""Largest ground acceleration of earthquakes over the coarse step, with and without a correction.

The model of Kanai and Tajimi by 3-RODE-Taylor with exact sums: each step has its own earthquakes.
The correction is that of Broadie, Glasserman and Kou (1997) for the peaks between steps.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import rode
from studies.study import Study

POWERS = {5: 32_768, 7: 32_768, 9: 32_768, 12: 16_384}
"""-log2 of the coarse step, and the number of paths."""

DURATION = 20.0
"""Duration of an earthquake in s."""

PROBABILITIES = 0.5, 0.99
"""Probabilities of the quantiles in the table."""

HEADS = "h", "paths", "quantile", "m/s^2", "standard error", "corrected"


def run(study: Study) -> dict:
    """Solve with each step, and print quantiles of the largest acceleration."""
    title = f"Largest ground acceleration of {DURATION:g} s, c = 1 m^2/s^3"
    rows = study.table(title, HEADS, quantiles(study))
    return {"corrected medians": [row[-1] for row in rows if row[2] == PROBABILITIES[0]]}


def quantiles(study: Study) -> Iterator[tuple]:
    """Yield the rows of the table."""
    quake = rode.kanai_tajimi(outputs="acceleration")
    for power, paths in ({5: 64} if study.quick else POWERS).items():
        h = 2.0**-power
        result = rode.solve(
            quake, "3-rode-taylor", t_span=(0.0, DURATION), h=h, paths=paths, sampling="exact",
            reduction="peaks", rng=power, device=study.device,
        )  # fmt: skip
        assert result.peaks is not None
        peaks, correction = np.ravel(result.peaks), float(rode.peak_correction(quake, h)[0, 0])
        for p in PROBABILITIES:
            spread = np.sqrt(p * (1.0 - p) / paths)  # standard error of the share below a quantile
            low, value, high = np.quantile(peaks, (max(p - spread, 0), p, min(p + spread, 1)))
            error = 0.5 * float(high - low)
            yield f"2^-{power} s", paths, p, float(value), error, float(value) + correction
