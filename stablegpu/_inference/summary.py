"""A fit as a table of plain text, and the distance between the data and the distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero.arrays import on_host
from hetero.display.notebook import html_table, table_with_picture
from stablegpu._inference.interval_samples import (
    disjoint_edges,
    goodness_statistics,
    spread_probabilities,
)
from stablegpu._parameters import PARAMETERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from stablegpu._fit.fitted import Fitted, FittedSets

_MOST_DRAWN = 1_000_000
"""Observations that a notebook draws unasked: they are copied from a GPU and sorted in a second."""

_METHODS = {
    "ml": "maximum likelihood",
    "mcculloch": "McCulloch's quantiles",
    "koutrouvelis": "Koutrouvelis's regression",
    "grid": "a grid search",
    "grid2": "a grid search",
    "quantiles": "generalized least squares",
}


def distance(result: Fitted) -> float:
    """Return the Kolmogorov-Smirnov distance between the data and the fitted distribution.

    It is the largest difference between the two distribution functions; weights count. Of rounded
    or binned data each interval is spread; NaN for those that overlap, or have weights.
    """
    if result.intervals is not None:
        if result.weights is not None or disjoint_edges(result.intervals) is None:
            return float("nan")
        u = spread_probabilities(result.intervals, result.distribution.cdf)
        return float(goodness_statistics(u, np.log(u), np.log1p(-u))[0])
    data = on_host(result.data)
    order = np.argsort(data)
    cdf = on_host(result.distribution.cdf(data[order]))
    shares = np.full(data.size, 1.0 / data.size)
    if result.weights is not None:
        weights = on_host(result.weights)[order]
        shares = weights / weights.sum()
    after = np.cumsum(shares)
    return float(np.maximum(after - cdf, cdf - (after - shares)).max())


def align_columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Return lines of a table: names on the left, and cells that end below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *padded]).rstrip())
    return lines


def summarize(result: Fitted, confidence: float) -> str:
    """Return a table of estimates, standard errors and intervals, and how well the data fit."""
    intervals = result.interval(confidence)
    head = ("", "estimate", "std. error", f"{100.0 * confidence:g} % interval")
    rows: list[tuple[str, ...]] = [head]
    for name in PARAMETERS:
        estimate = f"{getattr(result, name):.6g}"
        if name in result.fixed:
            rows.append((name, estimate, "fixed", ""))
            continue
        error = result.stderr[name]
        low, high = intervals[name]
        has_error = bool(np.isfinite(error))
        rows.append(
            (
                name,
                estimate,
                f"{error:.3g}" if has_error else "unknown",
                f"{low:.6g} to {high:.6g}" if has_error else "",
            )
        )
    kind = "quantiles" if result.method == "quantiles" else "observations"
    lines = [
        f"Stable distribution ({result.parameterization}), fitted to {result.size:,} {kind} "
        f"by {_METHODS[result.method]}",
        "",
        *align_columns(rows),
        "",
    ]
    facts = [("log-likelihood", f"{result.loglik:.6f}"), ("AIC", f"{result.aic:.6f}")]
    facts.append(("BIC", f"{result.bic:.6f}"))
    if result.has_data:
        facts.append(("KS distance", f"{distance(result):.4g}"))
    facts.append(("status", result.status))
    facts += [("note", result.message)] if result.message else []
    longest = max(len(name) for name, _ in facts)
    return "\n".join([*lines, *(f"{name:<{longest}}  {text}" for name, text in facts)])


def summarize_many(results: FittedSets) -> str:
    """Return a table with a line for each fit, and the messages below it."""
    head = ("set" if results.labels is None else "label", "nobs", *PARAMETERS, "loglik", "status")
    names = [str(name) for name in results.labels or range(len(results))]
    rows: list[tuple[str, ...]] = [head]
    for k, name in enumerate(names):
        cells = [f"{results.nobs[k]:.6g}"]
        for parameter in PARAMETERS:
            error = results.stderr[parameter][k]
            in_brackets = f" ({error:.2g})" if error > 0.0 else ""
            cells.append(f"{getattr(results, parameter)[k]:.5g}{in_brackets}")
        rows.append((name, *cells, f"{results.loglik[k]:.6g}", str(results.status[k])))
    aligned = align_columns([row[:-1] for row in rows])
    lines = [
        f"{len(results)} stable distributions ({results.parameterization}) by "
        f"{_METHODS[results.method]}; standard errors in brackets",
        "",
    ]
    lines += [f"{line}  {row[-1]}" for line, row in zip(aligned, rows, strict=True)]
    notes = [f"{name}: {m}" for name, m in zip(names, results.message, strict=True) if m]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def describe_in_html(result: Fitted) -> str:
    """Return a table of the estimates for notebooks, with a picture if the result has its data."""
    intervals = result.interval()
    rows: list[tuple[object, ...]] = [
        (
            f"{name} ({result.parameterization})" if name == "loc" else name,
            getattr(result, name),
            "fixed" if name in result.fixed else result.stderr[name],
            "" if name in result.fixed else "{:.6g} to {:.6g}".format(*intervals[name]),
        )
        for name in PARAMETERS
    ]
    rows += [("observations", result.size), ("method", result.method), ("status", result.status)]
    if result.message:
        rows.append(("message", result.message))
    head = ("", "estimate", "standard error", "95 % interval")
    table = html_table("Fit of a stable distribution", rows, head)
    if not result.has_data or result.size > _MOST_DRAWN:
        return table
    from hetero.display.figures import axes_of
    from stablegpu._inference.plots import plot

    def draw() -> Figure:
        return plot(result.data, result.weights, result.distribution, axes_of(None))

    return table_with_picture(table, draw, "data and fitted density")
