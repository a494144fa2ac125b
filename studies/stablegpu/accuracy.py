"""Tables of errors by distribution and interval.

Tables 2, 4 and 7 of Julian-Moreno et al. (2016), and 1 and 2 of Royuela-del-Val et al. (2017).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero import Device
from studies.stablegpu.evaluators import OURS, SCIPY, distribution_of, values
from studies.stablegpu.true_values import FIELDS, truths
from studies.study import Study

ALPHAS = (0.25, 0.5, 0.75, 1.25, 1.5)  # as in Julian-Moreno et al. (2016)
BETAS = (0.0, 0.5, 1.0)
Point = tuple[float, float, float]
"""alpha, beta, x"""

ALPHAS_OF_LIBSTABLE = (0.25, 0.5, 0.75, 1.0, 1.5)
INTERVALS = ((-1000.0, -10.0), (-10.0, 10.0), (10.0, 1000.0))


def run(study: Study) -> dict:
    """Print tables for pdf, cdf and quantiles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy's integrals
        return {
            "pdf and cdf, x in (-100, 100)": _one_interval(study),
            "pdf and cdf, three intervals": _intervals(study),
            "quantiles, p in (0.1, 0.9)": _quantiles(study),
        }


def _pairs(alphas: Sequence[float], quick: bool) -> list[tuple[float, float]]:
    pairs = [(alpha, beta) for alpha in alphas for beta in BETAS]
    return pairs[1::7] if quick else pairs


def _inside(alpha: float, beta: float, x: np.ndarray) -> np.ndarray:
    """Return the points of x inside the support."""
    low, high = distribution_of(alpha, beta, "quadrature").support()
    return x[(x > low) & (x < high)]


def _true(points: list[Point], study: Study) -> tuple[list[Point], np.ndarray]:
    """Return the points at which nothing underflows, and the true values there."""
    path = study.cache / "accuracy.jsonl"
    result = truths(points, path, processes=study.processes, slopes=False)
    resolved = np.isfinite(result[:, 0])
    return [p for p, s in zip(points, resolved, strict=True) if s], result[resolved]


def _one_interval(study: Study) -> list[dict]:
    """Return medians of errors and of error estimates over equidistant points of an interval.

    These are tables 2 and 4 of Julian-Moreno et al. (2016).
    """
    x = np.linspace(-97.0, 97.0, 5 if study.quick else 21)
    records = []
    for alpha, beta in _pairs(ALPHAS, study.quick):
        points, true = _true([(alpha, beta, float(v)) for v in _inside(alpha, beta, x)], study)
        distribution = distribution_of(alpha, beta, "quadrature", study.device)
        estimate = np.median(distribution.evaluate([p[2] for p in points]).error)
        for name in ("pdf", "cdf"):
            record = {"alpha": alpha, "beta": beta, "function": name, "estimate": float(estimate)}
            record |= _errors(points, true[:, FIELDS.index(name)], name, study.device)
            records.append(record)
    for name in ("pdf", "cdf"):
        _show(
            study,
            f"{name}, x in (-100, 100): median relative error (absolute for ours)",
            [r for r in records if r["function"] == name],
            absolute=True,
        )
    return records


def _intervals(study: Study) -> list[dict]:
    """Return errors in three intervals (Royuela-del-Val et al. 2017, tables 1 and 2)."""
    count = 2 if study.quick else 7
    records = []
    for alpha, beta in _pairs(ALPHAS_OF_LIBSTABLE, study.quick):
        for low, high in INTERVALS:
            size = np.linspace(low, high, count + 2)[1:-1]
            points, true = _true(
                [(alpha, beta, float(v)) for v in _inside(alpha, beta, size)], study
            )
            if not points:
                continue
            for name in ("pdf", "cdf"):
                record = {"alpha": alpha, "beta": beta, "function": name, "x": [low, high]}
                record |= _errors(points, true[:, FIELDS.index(name)], name, study.device)
                records.append(record)
    for name in ("pdf", "cdf"):
        chosen = [r for r in records if r["function"] == name]
        _show(study, f"{name}: mean relative error by interval", chosen, key="mean")
    return records


def _quantiles(study: Study) -> list[dict]:
    """Return the error of x from the probability of x (Julian-Moreno et al. 2016, table 7)."""
    records = []
    for alpha, beta in _pairs(ALPHAS, study.quick):
        distribution = distribution_of(alpha, beta, "quadrature")
        # An even number: 0, where the relative error means nothing, is not among them.
        x = np.linspace(distribution.ppf(0.1), distribution.ppf(0.9), 4 if study.quick else 12)[
            1:-1
        ]
        _, true = _true([(alpha, beta, float(v)) for v in x], study)
        points = [(alpha, beta, float(p)) for p in true[:, FIELDS.index("cdf")]]
        record = {"alpha": alpha, "beta": beta, "function": "ppf"}
        records.append(record | _errors(points, x, "ppf", study.device))
    _show(study, "ppf(cdf(x)): median relative error", records)
    return records


def _errors(points: list[Point], true: np.ndarray, name: str, device: Device) -> dict:
    """Return figures of the relative error, and the median of the absolute, by evaluator."""
    result = {}
    for evaluator in (*OURS, SCIPY):
        wrong = np.abs(values(points, name, evaluator, device) - true)
        relative = wrong / np.abs(true)
        # NaN marks distributions that the evaluator does not handle; SciPy's own NaN count too.
        if np.isfinite(relative).any():
            result[evaluator] = {
                "median": float(np.nanmedian(relative)),
                "mean": float(np.nanmean(relative)),
                "max": float(np.nanmax(relative)),
                "absolute": float(np.nanmedian(wrong)),
                "failed": int(np.isnan(relative).sum()),
            }
    return {"points": len(points), "errors": result}


def _show(
    study: Study, title: str, records: list[dict], key: str = "median", absolute: bool = False
) -> None:
    """Print a table of errors, a row for each record."""
    heads = ["alpha", "beta", "points", "x", *OURS, SCIPY, "worst of ours"]
    rows = []
    for r in records:
        errors = r["errors"]
        cells = [errors[e][key] if e in errors else None for e in (*OURS, SCIPY)]
        worst = max(errors[e]["max"] for e in OURS if e in errors)
        interval = "[{:g}, {:g}]".format(*r["x"]) if "x" in r else ""
        row: list[Any] = [r["alpha"], r["beta"], r["points"], interval, *cells, worst]
        if absolute:
            row += [errors["quadrature"]["absolute"], r["estimate"]]
        rows.append(row)
    study.table(title, heads + (["absolute", "estimate"] if absolute else []), rows)
