"""Coverage of 95 % intervals: rounded data, measures of risk, and bootstraps.

No paper's figure: samples of known distributions are fitted, and the share of intervals that hold
the truth is counted, with the shares that lie above and below it. Samples whose estimate of alpha
is 2 are counted, too; their share is in the table. `--size` sets the number of samples, `--rows` a
pattern for distributions, such as "bootstrap 1.7".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

import stablegpu
from stablegpu import stable
from stablegpu._inference.replicas import bootstrap_interval
from stablegpu._parameters import PARAMETERS
from studies.study import Study

ROUNDED = ((1.2, 0.0), (1.2, 0.5), (1.4, -0.5), (1.5, 0.3), (1.65, 0.0), (1.8, 0.5))
"""alpha and beta (S0) of data that are rounded to half of their scale, 1000 in a sample."""

AT_RISK = ((1.5, 0.2, 1000), (1.7, 0.2, 500), (1.8, -0.3, 1000), (1.9, 0.2, 500), (1.95, 0.0, 1000))
"""alpha, beta and the size of samples for measures of risk and bootstraps."""

LEVEL, REPLICAS = 0.95, 199

LARGEST_PART = 1 << 24
"""Observations of replicas that are fitted at once."""

Row = tuple[str, str, float, float, float, float]

HEADS = ("distribution", "parameter", "inside %", "above %", "below %", "at alpha = 2 %")


def run(study: Study) -> dict:
    """Return the coverages in per cent by name."""
    samples = 5 if study.quick else study.size or (2000 if study.device.kind == "cuda" else 400)
    few = samples // 4 if study.device.kind == "cpu" and not study.quick else samples
    result = {}
    tables = (
        ("rounded", "Rounded to scale/2, Wald intervals", rounded_rows(study, samples)),
        ("risk", "Risk at 95 %", risk_rows(study, samples)),
        ("bootstrap", f"Parametric bootstrap, {REPLICAS} replicas", bootstrap_rows(study, few)),
    )
    for name, title, rows in tables:
        result[name] = study.table(title, HEADS, rows)
    return result


def rounded_rows(study: Study, samples: int) -> Iterator[Row]:
    """Yield the coverage of Wald's intervals of rounded data."""
    for alpha, beta in ROUNDED[: 1 if study.quick else None]:
        if not re.search(study.rows, f"rounded {alpha:g}, {beta:g}"):
            continue
        truth = stable(alpha, beta, parameterization="S0", device=study.device)
        values = np.asarray(truth.rvs((samples, 1000), rng=1))
        x: Any = np.round(values / 0.5) * 0.5
        fits = stablegpu.fit(x, rounding=0.5, parameterization="S0", device=study.device)
        for name, ends in fits.interval().items():
            row = shares(ends[0], ends[1], getattr(truth, name))
            yield f"{alpha:g}, {beta:g}", name, *row, at_two(fits)


def fits_at_risk(
    study: Study, table: str, samples: int, seed: int
) -> Iterator[tuple[Any, Any, str]]:
    """Yield distributions, fits of samples of each, and what the rows of a table call them."""
    for alpha, beta, size in AT_RISK[: 1 if study.quick else None]:
        if not re.search(study.rows, f"{table} {alpha:g}, {beta:g}, n = {size}"):
            continue
        truth = stable(alpha, beta, parameterization="S0", device=study.device)
        values: Any = np.asarray(truth.rvs((samples, size), rng=seed))
        fits = stablegpu.fit(values, parameterization="S0", device=study.device)
        yield truth, fits, f"{alpha:g}, {beta:g}, n = {size}"


def risk_rows(study: Study, samples: int) -> Iterator[Row]:
    """Yield the coverage of intervals of the value at risk and the expected shortfall."""
    for truth, fits, place in fits_at_risk(study, "risk", samples, 2):
        for method in ("profile", "delta"):
            for measure in ("value_at_risk", "expected_shortfall"):
                risk = getattr(fits, measure)(LEVEL, method=method)
                row = shares(risk.low, risk.high, float(getattr(truth, measure)(LEVEL)))
                yield place, f"{measure.replace('_', ' ')}, {method}", *row, at_two(fits)


def bootstrap_rows(study: Study, samples: int) -> Iterator[Row]:
    """Yield the coverage of the intervals of `stablegpu.bootstrap`."""
    for truth, fits, place in fits_at_risk(study, "bootstrap", samples, 3):
        ends = bootstrap_ends(study, fits, 9 if study.quick else REPLICAS)
        for name in PARAMETERS:
            row = shares(ends[name][0], ends[name][1], getattr(truth, name))
            yield place, name, *row, at_two(fits)


def bootstrap_ends(
    study: Study, fits: stablegpu.FitResults, replicas: int
) -> dict[str, np.ndarray]:
    """Return the ends of the intervals of `stablegpu.bootstrap` for each of the fits, by parameter.

    Replicas of many samples are fitted at once, because a call for each would leave a GPU idle.
    """
    ends = {name: np.empty((2, len(fits))) for name in PARAMETERS}
    size = int(fits.size[0])
    together = min(max(1, LARGEST_PART // (replicas * size)), len(fits))
    data = study.empty(together * replicas * size, np.float64)
    for first in range(0, len(fits), together):
        part = range(first, min(first + together, len(fits)))
        for place, k in enumerate(part):
            parameters = (float(getattr(fits, name)[k]) for name in PARAMETERS)
            drawn = data[place * replicas * size : (place + 1) * replicas * size]
            distribution = stable(*parameters, parameterization="S0", device=study.device)
            distribution.rvs(out=drawn, rng=k)
        rows = data[: len(part) * replicas * size].reshape((len(part) * replicas, size))
        repeated = stablegpu.fit(rows, parameterization="S0", device=study.device)
        good = repeated.converged.reshape(len(part), replicas)
        for name in PARAMETERS:
            values = getattr(repeated, name).reshape(len(part), replicas)
            errors = repeated.stderr[name].reshape(len(part), replicas)
            for place, k in enumerate(part):
                which, value = good[place], float(getattr(fits, name)[k])
                ends[name][:, k] = bootstrap_interval(
                    name, value, values[place][which], errors[place][which], LEVEL
                )
    return ends


def shares(low: Any, high: Any, truth: float) -> tuple[float, float, float]:
    """Return the shares of intervals that hold a value, and that lie above and below it, in %."""
    known = np.isfinite(low) | np.isfinite(high)
    low, high = low[known], high[known]
    above, below = float((low > truth).mean()), float((high < truth).mean())
    return 100.0 * (1.0 - above - below), 100.0 * above, 100.0 * below


def at_two(fits: stablegpu.FitResults) -> float:
    """Return the share of fits whose alpha is 2, in per cent."""
    return 100.0 * float((fits.alpha == 2.0).mean())
