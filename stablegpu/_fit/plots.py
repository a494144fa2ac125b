"""Pictures of a fit: the density on a logarithmic axis, quantiles, stabilised probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hetero.arrays import on_host
from stablegpu.fit_results import needs_data

if TYPE_CHECKING:
    from stablegpu.fit_results import FitResult

_BINS = 60
_MOST = 2000  # points of the plots of quantiles and probabilities


def plot(result: FitResult):
    """A matplotlib figure with three panels for one fit with its data.

    Left: a histogram in steps of asinh((x - median)/scale), so that tails have bins too, and the
    law's density; both axes of a size that shows the tails. Middle: the law's quantiles against the
    data's, both as asinh. Right: Michael's (1983) stabilised probabilities, (2/pi) asin(sqrt(p)),
    whose scatter is nearly the same everywhere.

    Returns
    -------
    matplotlib.figure.Figure, not shown; `figure.savefig(path)` writes it.
    """
    from matplotlib.figure import Figure

    data, weights, rank = _ranked(result)
    law = result.distribution
    middle, scale = float(np.interp(0.5, rank, data)), result.scale
    figure = Figure(figsize=(12.0, 4.0), layout="constrained")
    left, centre, right = figure.subplots(1, 3)
    _density(left, law, data, weights, middle, scale)
    few = np.unique(np.linspace(0, data.size - 1, min(data.size, _MOST)).astype(int))
    shown_data, rank = data[few], rank[few]
    expected = law.ppf(rank)
    _diagonal(
        centre, np.arcsinh((expected - middle) / scale), np.arcsinh((shown_data - middle) / scale)
    )
    centre.set(xlabel="asinh of the law's quantiles", ylabel="asinh of the data's", title="Q-Q")
    _diagonal(right, _stabilised(rank), _stabilised(law.cdf(shown_data)))
    right.set(xlabel="data's, stabilised", ylabel="law's, stabilised", title="P-P")
    return figure


def _ranked(result):
    """Sorted data, their shares of the whole weight, and the probabilities at their middles."""
    needs_data(result)
    data = on_host(result.data)
    if result.weights is None:
        size = data.size
        return np.sort(data), np.broadcast_to(1.0 / size, size), (np.arange(size) + 0.5) / size
    order = np.argsort(data)
    weights = on_host(result.weights)[order]
    weights = weights / weights.sum()
    return data[order], weights, np.cumsum(weights) - 0.5 * weights


def _density(axes, law, data, weights, middle: float, scale: float) -> None:
    ends = np.arcsinh((data[[0, -1]] - middle) / scale)
    edges = middle + scale * np.sinh(np.linspace(*ends, _BINS + 1))
    edges[-1] = np.nextafter(data[-1], math.inf)
    shares, _ = np.histogram(data, edges, weights=weights)
    u = np.linspace(*ends, 400)
    x = middle + scale * np.sinh(u)
    axes.stairs(shares / np.diff(edges), np.linspace(*ends, _BINS + 1), fill=True, alpha=0.4)
    axes.plot(u, law.pdf(x))
    axes.set(
        yscale="log", xlabel="asinh((x - median)/scale)", ylabel="density of x", title="density"
    )


def _diagonal(axes, x, y) -> None:
    axes.plot(x, y, ".", markersize=3)
    axes.axline((x.mean(), x.mean()), slope=1.0, color="0.5", linewidth=1.0)


def _stabilised(p):
    return 2.0 / math.pi * np.arcsin(np.sqrt(p))
