"""Plots of fits: densities on a logarithmic axis, quantiles, probabilities, and many estimates."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

from hetero.arrays import on_host
from hetero.display import figures

if TYPE_CHECKING:
    from stablegpu._fit.fitted import FittedSets
    from stablegpu.distributions.risk import RiskEstimate
    from stablegpu.distributions.stable import Stable

_BINS = 60
_MOST_POINTS = 2000  # of the plots of quantiles and probabilities: more do not show
_MOST_NAMES = 20  # of data sets that have room below an axis
_MANY_SETS = 100  # whose estimates are drawn as a line
_MOST_TICKS = 9  # on an axis in steps of asinh


@figures.figure_style()
def plot(
    data: Any,
    weights: Any,
    distribution: Stable,
    ax: Axes | None = None,
    risks: Sequence[RiskEstimate] = (),
    others: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType({}),
) -> Figure:
    """Draw three panels that compare data with a distribution, or the first one on `ax`.

    Left: a histogram in steps of asinh((x - median)/scale), so that tails have bins too, and the
    density. Middle: the quantiles of the data against those of the distribution, on the same scale.
    Right: Michael's (1983) stabilized probabilities, (2/pi) asin(sqrt(p)), whose scatter is nearly
    the same everywhere.

    Returns
    -------
    matplotlib.figure.Figure, a new one of pyplot or that of `ax`.
    """
    data, shares, ranks = _rank(data, weights)
    middle, scale = float(np.interp(0.5, ranks, data)), distribution.scale
    if ax is not None:
        ax = figures.axes_of(ax)
        _draw_density(ax, distribution, data, shares, middle, risks, others)
        return figures.figure_of(ax)
    figure = figures.shown_figure((12.0, 4.0))
    left, centre, right = figure.subplots(1, 3)
    _draw_density(left, distribution, data, shares, middle, risks, others)
    few = np.unique(np.linspace(0, data.size - 1, min(data.size, _MOST_POINTS)).astype(int))
    points, ranks = data[few], ranks[few]
    expected = distribution.ppf(ranks)
    u, v = (np.arcsinh((values - middle) / scale) for values in (expected, points))
    _draw_diagonal(centre, u, v)
    for axis, values in ((centre.xaxis, u), (centre.yaxis, v)):
        _label_values(axis, middle, scale, float(values[0]), float(values[-1]))
    centre.set(xlabel="quantile of the fit", ylabel="quantile of the data", title="Quantiles")
    _draw_diagonal(right, _stabilize(ranks), _stabilize(distribution.cdf(points)))
    right.set(
        xlabel="probability in the data, stabilized",
        ylabel="probability of the fit, stabilized",
        title="Probabilities",
    )
    return figure


@figures.figure_style()
def plot_estimates(results: FittedSets, name: str, ax: Axes | None = None) -> Figure:
    """Draw the estimates of one parameter for every data set, with their 95 % intervals.

    Labels that are dates or numbers are the axis; a few others stand below it.
    """
    ax = figures.axes_of(ax, (8.0, 3.5))
    values, labels = getattr(results, name), list(results.labels or ())
    sets: Any = np.arange(len(results))
    dates = datetime.date | np.datetime64
    if labels and all(isinstance(v, dates | Real) for v in labels):
        sets = labels
    elif labels and len(labels) <= _MOST_NAMES:
        ax.set_xticks(sets, [str(v) for v in labels], rotation=45 if len(labels) > 8 else 0)
    is_few = len(results) < _MANY_SETS
    low, high = results.interval()[name]
    if np.isfinite(low).any():
        style: dict[str, Any] = {"color": figures.PALETTE[0], "alpha": 0.25, "linewidth": 0.0}
        step = "mid" if is_few else None
        ax.fill_between(sets, low, high, step=step, label="95 % interval", **style)  # type: ignore[arg-type]
    ax.plot(sets, values, "." if is_few else "-", color=figures.PALETTE[0], label="estimate")
    xlabel = "date" if labels and isinstance(labels[0], dates) else "data set"
    ax.set(xlabel=xlabel, ylabel=name, title=f"Estimates of {name}")
    ax.legend()
    return figures.figure_of(ax)


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
    risks: Sequence[RiskEstimate],
    others: Mapping[str, Callable[[np.ndarray], np.ndarray]],
) -> None:
    """Draw a histogram of the data and the density over asinh((x - median)/scale)."""
    scale = distribution.scale
    first, last = (float(np.arcsinh((data[k] - middle) / scale)) for k in (0, -1))
    edges = middle + scale * np.sinh(np.linspace(first, last, _BINS + 1))
    edges[-1] = np.nextafter(data[-1], math.inf)
    shares, _ = np.histogram(data, edges, weights=weights)
    u = np.linspace(first, last, 400)
    x = middle + scale * np.sinh(u)
    axes.stairs(
        shares / np.diff(edges),
        np.linspace(first, last, _BINS + 1),
        fill=True,
        color=figures.DATA_COLOUR,
        label="data",
    )
    label = f"alpha {distribution.alpha:.2f}, beta {distribution.beta:.2f}"
    axes.plot(u, distribution.pdf(x), color=figures.PALETTE[0], label=f"stable, {label}")
    for k, (name, pdf) in enumerate(others.items()):
        style = ("--", ":", "-.")[k % 3]
        values = pdf(x)
        is_drawn = values > 1e-3 * distribution.pdf(x).min()  # a light tail would fill the panel
        axes.plot(u[is_drawn], values[is_drawn], style, color=figures.PALETTE[-1 - k], label=name)
    for k, risk in enumerate(risks):
        position = -risk.value if risk.of == "returns" else risk.value
        text = f"{100.0 * risk.level:.6g} % {risk.measure.replace('_', ' ')}"
        colour = figures.PALETTE[1 + k % (len(figures.PALETTE) - 1)]
        if math.isfinite(position):
            position = math.asinh((position - middle) / scale)
            first, last = min(first, position), max(last, position)
            axes.axvline(position, color=colour, label=text)
    axes.set(yscale="log", xlabel="x", ylabel="density", title="Density")
    _label_values(axes.xaxis, middle, scale, first, last)
    low, high = axes.get_ylim()
    axes.set_ylim(
        low, high * (high / low) ** (0.15 + 0.09 * (len(risks) + len(others)))
    )  # room for the legend
    axes.legend(loc="upper left")


def _label_values(axis: Axis, middle: float, scale: float, first: float, last: float) -> None:
    """Label an axis over asinh((x - median)/scale) from `first` to `last` with values of x."""
    ends = middle + scale * np.sinh([first, last])
    largest = float(np.abs(ends).max())
    decades = range(math.floor(math.log10(scale)) - 1, math.ceil(math.log10(largest)) + 1)
    candidates = [0.0]
    for digit in (1.0, 5.0, 2.0):  # the roundest values first
        candidates += [s * digit * 10.0**k for k in decades for s in (1.0, -1.0)]
    positions: list[float] = []
    labels = []
    for value in candidates:
        u = math.asinh((value - middle) / scale)
        apart = min((abs(u - position) for position in positions), default=math.inf)
        if first <= u <= last and apart >= (last - first) / _MOST_TICKS:
            positions.append(u)
            labels.append(f"{value:.4g}")
    axis.set_ticks(positions, labels)


def _draw_diagonal(axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
    """Draw points that lie on the diagonal if the distribution fits."""
    axes.plot(x, y, ".", markersize=3, color=figures.PALETTE[0])
    axes.axline((x.mean(), x.mean()), slope=1.0, color=figures.SOFT_COLOUR, linewidth=1.0)


def _stabilize(p: np.ndarray) -> np.ndarray:
    """Return probabilities on a scale on which their scatter is nearly the same everywhere."""
    return 2.0 / math.pi * np.arcsin(np.sqrt(p))
