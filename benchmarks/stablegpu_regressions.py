"""stablegpu: time of linear models with stable errors, many at once."""

from __future__ import annotations

import time

import numpy as np

import hetero
import stablegpu
from benchmarks.measurements import Measurement

SIZE, COLUMNS = 1000, 5
"""Observations and regressors of a model."""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    models = 5 if quick else 10_000 if device.kind == "cuda" else 20
    rng = np.random.default_rng(1)
    x = rng.standard_normal((models, SIZE, COLUMNS))
    errors = stablegpu.stable(1.6, 0.3, device=device).rvs((models, SIZE), rng=1)
    y = x.sum(axis=2) + np.asarray(errors)
    stablegpu.regress(y[:5], x[:5], device=device)  # compiles
    begin = time.perf_counter()
    stablegpu.regress(y, x, device=device)
    return [
        Measurement(
            f"{models:,} regressions of {SIZE:,} observations on {COLUMNS} variables",
            time.perf_counter() - begin,
            "s",
            note="errors with alpha 1.6; data and results on the host; one call",
        )
    ]
