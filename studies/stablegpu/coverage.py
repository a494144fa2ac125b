"""Coverage of 95 % intervals: rounded data, measures of risk, and bootstraps.

No paper's figure: samples of known distributions are fitted, and the share of intervals that hold
the truth is counted, with the shares that lie above and below it. Samples whose estimate of alpha
is 2 are counted, too; their share is in the table. `--size` sets the number of samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import stablegpu
from stablegpu import stable
from stablegpu._parameters import PARAMETERS
from studies.study import Study

ROUNDED = ((1.2, 0.0), (1.2, 0.5), (1.4, -0.5), (1.5, 0.3), (1.65, 0.0), (1.8, 0.5))
"""alpha and beta (S0) of data that are rounded to half of their scale, 1000 in a sample."""

AT_RISK = ((1.5, 0.2, 1000), (1.7, 0.2, 500), (1.8, -0.3, 1000), (1.9, 0.2, 500), (1.95, 0.0, 1000))
"""alpha, beta and the size of samples for measures of risk and bootstraps."""

LEVEL, REPLICAS = 0.95, 199


def run(study: Study) -> dict:
    """Return the coverages in per cent by name."""
    samples = 5 if study.quick else study.size or (2000 if study.device.kind == "cuda" else 400)
    heads = ("distribution", "parameter", "inside %", "above %", "below %", "at alpha = 2 %")
    result: dict[str, list] = {"rounded": [], "risk": [], "bootstrap": []}
    fits: stablegpu.FitResults
    for alpha, beta in ROUNDED[: 1 if study.quick else None]:
        truth = stable(alpha, beta, parameterization="S0", device=study.device)
        values = np.asarray(truth.rvs((samples, 1000), rng=1))
        x: Any = np.round(values / 0.5) * 0.5
        fits = stablegpu.fit(x, rounding=0.5, parameterization="S0", device=study.device)
        for name, (low, high) in fits.interval().items():
            row = shares(low, high, getattr(truth, name))
            result["rounded"].append((f"{alpha:g}, {beta:g}", name, *row, at_two(fits)))
    study.table("Rounded to scale/2, Wald intervals", heads, result["rounded"])
    for alpha, beta, size in AT_RISK[: 1 if study.quick else None]:
        truth = stable(alpha, beta, parameterization="S0", device=study.device)
        fits = stablegpu.fit(
            np.asarray(truth.rvs((samples, size), rng=2)),
            parameterization="S0",
            device=study.device,
        )
        for method in ("profile", "delta"):
            for measure in ("value_at_risk", "expected_shortfall"):
                risk = getattr(fits, measure)(LEVEL, method=method)
                row = shares(risk.low, risk.high, float(getattr(truth, measure)(LEVEL)))
                name = f"{measure.replace('_', ' ')}, {method}"
                result["risk"].append(
                    (f"{alpha:g}, {beta:g}, n = {size}", name, *row, at_two(fits))
                )
    study.table("Risk at 95 %", heads, result["risk"])
    few = samples // 4 if study.device.kind == "cpu" and not study.quick else samples
    for alpha, beta, size in AT_RISK[: 1 if study.quick else None]:
        truth = stable(alpha, beta, parameterization="S0", device=study.device)
        fits = stablegpu.fit(
            np.asarray(truth.rvs((few, size), rng=3)), parameterization="S0", device=study.device
        )
        ends: dict[str, list] = {name: [] for name in PARAMETERS}
        for k, fit in enumerate(fits):
            replicas = 9 if study.quick else REPLICAS
            simulated = stablegpu.bootstrap(fit, replicas, rng=k, device=study.device)
            for name in PARAMETERS:
                ends[name].append(simulated.intervals[name])
        for name in PARAMETERS:
            low, high = np.array(ends[name]).T
            row = shares(low, high, getattr(truth, name))
            place = f"{alpha:g}, {beta:g}, n = {size}"
            result["bootstrap"].append((place, name, *row, at_two(fits)))
    study.table(f"Parametric bootstrap, {REPLICAS} replicas", heads, result["bootstrap"])
    return result


def shares(low: Any, high: Any, truth: float) -> tuple[float, float, float]:
    """Return the shares of intervals that hold a value, and that lie above and below it, in %."""
    known = np.isfinite(low) | np.isfinite(high)
    low, high = low[known], high[known]
    above, below = float((low > truth).mean()), float((high < truth).mean())
    return 100.0 * (1.0 - above - below), 100.0 * above, 100.0 * below


def at_two(fits: stablegpu.FitResults) -> float:
    """Return the share of fits whose alpha is 2, in per cent."""
    return 100.0 * float((fits.alpha == 2.0).mean())
