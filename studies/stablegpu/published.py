"""Errors of the quadrature that Julian-Moreno et al. (2016) describe, beside those of stablegpu.

The rule is that of their sections 3.1.1 to 3.1.4 (`studies.stablegpu.published_rule`), with 1, 2
and 4 subintervals a thread. Their tables 2 and 4 are medians over the distribution; largest
errors show where subintervals without a search miss a peak. Errors are against values of 50 digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from studies.papers.printed import MEDIAN_ERRORS
from studies.stablegpu.evaluators import distribution_of
from studies.stablegpu.published_rule import POINTS_OF_A_THREAD, evaluate
from studies.stablegpu.true_values import FIELDS, truths
from studies.study import Study

ALPHAS, BETAS = (0.25, 0.5, 0.75, 1.25, 1.5), (0.0, 0.5, 1.0)
"""Distributions of tables 2 and 4."""

MAP_ALPHAS = (0.1, 0.2, 0.28, 0.32, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.0, 1.03, 1.1, 1.2, 1.3,
              1.4, 1.5, 1.6, 1.7, 1.8, 1.9)  # fmt: skip
MAP_BETAS = (0.0, 0.3, 0.6, 0.9)

OURS = "stablegpu"
FUNCTIONS = ("pdf", "cdf")


def run(study: Study) -> dict:
    """Print the tables, and draw the errors over alpha and beta."""
    pairs = [(alpha, beta) for alpha in ALPHAS for beta in BETAS]
    count = 5 if study.quick else 21
    records = [r for pair in (pairs[1::6] if study.quick else pairs)
               for r in errors_of(study, *pair, np.linspace(-97.0, 97.0, count))]  # fmt: skip
    for name in FUNCTIONS:
        _show(study, name, [r for r in records if r["function"] == name])
    return {"tables 2 and 4": records, "map": _map(study)}


def errors_of(study: Study, alpha: float, beta: float, x: np.ndarray) -> Iterator[dict[str, Any]]:
    """Yield a record of relative errors for each function, at points within the support."""
    low, high = distribution_of(alpha, beta, "quadrature").support()
    points = [(alpha, beta, float(v)) for v in x if low < v < high]
    true = truths(points, study.cache / "published.jsonl", processes=study.processes, slopes=False)
    resolved = np.isfinite(true[:, 0])
    true, x = true[resolved], np.array([p[2] for p in points])[resolved]
    if not x.size:
        return
    ours = distribution_of(alpha, beta, None, "cpu").pdf_cdf(x)
    values = dict(zip(FUNCTIONS, ours, strict=True))
    results = {n: evaluate(x, alpha, beta, n) for n in POINTS_OF_A_THREAD}
    for name in FUNCTIONS:
        exact = true[:, FIELDS.index(name)]
        record: dict[str, Any] = {"alpha": alpha, "beta": beta, "function": name, "points": x.size}
        for n, result in results.items():
            record |= _figures(f"{n} a thread", getattr(result, name), exact)
        record |= _figures(OURS, values[name], exact)
        record["passes"] = int(results[2].passes.max())
        yield record


def _figures(name: str, values: np.ndarray, exact: np.ndarray) -> dict[str, float]:
    """Return median and largest relative error; values that are not finite count as 1."""
    error = np.nan_to_num(np.abs(values - exact) / np.abs(exact), nan=1.0, posinf=1.0)
    return {f"{name}, median": float(np.median(error)), f"{name}, largest": float(error.max())}


def _show(study: Study, name: str, records: Sequence[dict[str, Any]]) -> None:
    """Print a table of errors, a row for each distribution, with the printed medians."""
    keys = [k for k in records[0] if k != "function"]
    rows = [
        [*(r[k] for k in keys), MEDIAN_ERRORS[name].get((r["alpha"], r["beta"]))] for r in records
    ]
    number = {"pdf": "2", "cdf": "4"}[name]
    heads = [*keys, f"printed median, table {number}"]
    study.table(f"The published rule, {name}, x in (-100, 100): relative errors", heads, rows)


def _map(study: Study) -> list[dict[str, Any]]:
    """Tabulate and draw the errors of the density over alpha and beta, at 12 points each."""
    alphas, betas = (MAP_ALPHAS[::9], MAP_BETAS[:2]) if study.quick else (MAP_ALPHAS, MAP_BETAS)
    x = np.array([0.03, 0.2, 0.7, 1.5, 4.0, 20.0])
    records = [
        record
        for alpha in alphas
        for beta in betas
        for record in errors_of(study, alpha, beta, np.concatenate([-x[::-1], x]))
        if record["function"] == "pdf"
    ]
    keys = [k for k in records[0] if k != "function"]
    rows = [[r[k] for k in keys] for r in records]
    study.table(
        "The published rule, pdf, |x| <= 20: relative errors over alpha and beta", keys, rows
    )
    figure = study.figure()
    for ax, kind in zip(figure.subplots(1, 2, sharey=True), ("median", "largest"), strict=True):
        for name, style in (("2 a thread", "o-"), (OURS, "s--")):
            for beta in betas:
                chosen = [r for r in records if r["beta"] == beta]
                errors = [max(r[f"{name}, {kind}"], 1e-17) for r in chosen]
                label = f"{'published' if name != OURS else OURS}, beta = {beta}"
                ax.semilogy([r["alpha"] for r in chosen], errors, style, label=label, markersize=3)
        ax.set(xlabel="alpha", title=f"{kind} relative error of the density")
    ax.legend(fontsize=7)
    study.save(figure, "stablegpu-published.png")
    return records
