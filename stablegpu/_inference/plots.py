"""Plots of a fit: the density on a logarithmic axis, quantiles and stabilized probabilities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.arrays import on_host

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from stablegpu.distribution import Stable

_BINS = 60
_MOST_POINTS = 2000  # of the plots of quantiles and probabilities: more do not show


def plot(data: Any, weights: Any, distribution: Stable) -> Figure:
    """Draw three panels that compare data with a distribution.

    Left: a histogram in steps of asinh((x - median)/scale), so that tails have bins too, and the
    density; both axes of a size that shows the tails. Middle: the quantiles of the distribution
    against those of the data, both as asinh. Right: Michael's (1983) stabilized probabilities,
    (2/pi) asin(sqrt(p)), whose scatter is nearly the same everywhere.

    Returns
    -------
    matplotlib.figure.Figure, not shown; `figure.savefig(path)` writes it.
    """
    from matplotlib.figure import Figure

    data, shares, ranks = _rank(data, weights)
    middle, scale = float(np.interp(0.5, ranks, data)), distribution.scale
    figure = Figure(figsize=(12.0, 4.0), layout="constrained")
    left, centre, right = figure.subplots(1, 3)
    _draw_density(left, distribution, data, shares, middle)
    few = np.unique(np.linspace(0, data.size - 1, min(data.size, _MOST_POINTS)).astype(int))
    points, ranks = data[few], ranks[few]
    expected = distribution.ppf(ranks)
    _draw_diagonal(
        centre, np.arcsinh((expected - middle) / scale), np.arcsinh((points - middle) / scale)
    )
    centre.set(
        xlabel="asinh of the distribution's quantiles", ylabel="asinh of the data's", title="Q-Q"
    )
    _draw_diagonal(right, _stabilize(ranks), _stabilize(distribution.cdf(points)))
    right.set(xlabel="data's, stabilized", ylabel="distribution's, stabilized", title="P-P")
    return figure


def _rank(data: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return sorted data, their shares of the weight, and the probabilities at their middles."""
    data = on_host(data)
    if weights is None:
        size = data.size
        return np.sort(data), np.broadcast_to(1.0 / size, size), (np.arange(size) + 0.5) / size
    order = np.argsort(data)
    shares = on_host(weights)[order]
    shares = shares / shares.sum()
    return data[order], shares, np.cumsum(shares) - 0.5 * shares


def _draw_density(
    axes: Axes,
    distribution: Stable,
    data: np.ndarray,
    weights: np.ndarray,
    middle: float,
) -> None:
    """Draw a histogram of the data and the density over asinh((x - median)/scale)."""
    scale = distribution.scale
    first, last = (float(np.arcsinh((data[k] - middle) / scale)) for k in (0, -1))
    edges = middle + scale * np.sinh(np.linspace(first, last, _BINS + 1))
    edges[-1] = np.nextafter(data[-1], math.inf)
    shares, _ = np.histogram(data, edges, weights=weights)
    u = np.linspace(first, last, 400)
    x = middle + scale * np.sinh(u)
    axes.stairs(shares / np.diff(edges), np.linspace(first, last, _BINS + 1), fill=True, alpha=0.4)
    axes.plot(u, distribution.pdf(x))
    axes.set(
        yscale="log", xlabel="asinh((x - median)/scale)", ylabel="density of x", title="density"
    )


def _draw_diagonal(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Draw points that lie on the diagonal if the distribution fits."""
    axes.plot(x, y, ".", markersize=3)
    axes.axline((x.mean(), x.mean()), slope=1.0, color="0.5", linewidth=1.0)


def _stabilize(p: np.ndarray) -> np.ndarray:
    """Return probabilities on a scale on which their scatter is nearly the same everywhere."""
    return 2.0 / math.pi * np.arcsin(np.sqrt(p))
