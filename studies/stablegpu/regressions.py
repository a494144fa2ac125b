"""Koutrouvelis' regression as published and as in `stablegpu.fit`: errors of all parameters.

All begin with McCulloch's estimate, whose errors are shown too. The published ones take the number
of points from Koutrouvelis' tables (`studies.stablegpu.classical_regression`): with equal weights
as in 1980, and weighted by inverse covariances as in 1981. Medians of absolute errors are over many
samples of each distribution, in the parameterization S0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stablegpu import stable
from stablegpu.fitting import fit
from studies.stablegpu.classical_regression import Estimate, regress
from studies.study import Study

ALPHAS, BETAS, SIZES = (0.5, 0.75, 0.95, 1.25, 1.5, 1.75, 1.9), (0.0, 0.5), (200, 1600)
SETS = 200
"""Samples of each distribution."""

METHODS = ("McCulloch", "published", "published, weighted", "stablegpu")
NAMES = ("alpha", "beta", "loc", "scale")


def run(study: Study) -> dict:
    """Tabulate the errors of four estimators, and draw those of alpha and beta."""
    alphas, sets = (ALPHAS[::3], 10) if study.quick else (ALPHAS, SETS)
    records = [
        errors_of(study, alpha, beta, size, sets)
        for size in (SIZES[:1] if study.quick else SIZES)
        for beta in BETAS
        for alpha in alphas
    ]
    rows = [list(r.values()) for r in records]
    title = f"Regression on the characteristic function: median errors of {sets} samples"
    study.table(title, list(records[0]), rows)
    figure = study.figure()
    for ax, name in zip(figure.subplots(1, 2), ("alpha", "beta"), strict=True):
        for method in METHODS:
            chosen = [r for r in records if r["beta"] == 0.5 and r["n"] == records[-1]["n"]]
            errors = [r[f"{name}, {method}"] for r in chosen]
            ax.semilogy([r["alpha"] for r in chosen], errors, "o-", label=method)
        ax.set(xlabel="alpha", title=f"median error of {name}, n = {records[-1]['n']}, beta = 0.5")
    ax.legend()
    study.save(figure, "stablegpu-regression.png")
    return {"records": records, "samples": sets}


def errors_of(study: Study, alpha: float, beta: float, size: int, sets: int) -> dict[str, Any]:
    """Return the median of the absolute errors of each parameter, by every method."""
    true = np.array([alpha, beta, 0.0, 1.0])
    distribution = stable(alpha, beta, parameterization="S0", device="cpu")
    data = np.asarray(distribution.rvs((sets, size), rng=round(1000 * alpha) + size))
    settings: dict[str, Any] = {"parameterization": "S0", "device": study.device}
    fits = {
        "McCulloch": fit(data, method="mcculloch", **settings),
        "stablegpu": fit(data, method="koutrouvelis", **settings),
    }
    estimates = {
        method: np.stack([np.asarray(getattr(result, name)) for name in NAMES], axis=1)
        for method, result in fits.items()
    }
    starts = estimates["McCulloch"]
    for method, weighted in (("published", False), ("published, weighted", True)):
        pairs = zip(data, starts, strict=True)
        estimates[method] = np.array(
            [regress(x, Estimate(*s), weighted=weighted) for x, s in pairs]
        )
    record: dict[str, Any] = {"n": size, "alpha": alpha, "beta": beta}
    for i, name in enumerate(NAMES):
        for method in METHODS:
            errors = np.abs(estimates[method][:, i] - true[i])
            record[f"{name}, {method}"] = float(np.median(errors))
    return record
