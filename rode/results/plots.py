"""The figure of a Monte Carlo result: mean and quantiles over time, or a histogram of peaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hetero.display import figures

_OVER_TIME = ("mean", "quantiles", "paths")
"""Arrays of a result that are drawn over time."""

_MOST_PATHS = 20
"""Paths that are drawn; more would hide each other."""

_MOST_TIMES = 2000
"""Times that are drawn, equally spaced; more do not show."""

_MOST_NUMBERS = 1 << 24
"""Numbers of which quantiles are computed for a figure, in a second. With more paths there are
fewer times, but at least 50."""


class Curves(NamedTuple):
    """Times, names of outputs, arrays by name, probabilities of quantiles, number of paths."""

    t: np.ndarray
    outputs: Sequence[str]
    values: Mapping[str, np.ndarray]
    probabilities: Sequence[float]
    paths: int


@figures.figure_style()
def plot_curves(curves: Curves, ax: Axes | None, output: int | None) -> Figure:
    """Draw all outputs below each other, or the one with this index."""
    over_time = curves.t.size > 1 and not curves.values.keys().isdisjoint(_OVER_TIME)
    if not over_time and "peaks" not in curves.values:
        raise ValueError("there is nothing to draw: the result has no saved times and no peaks")
    draw = _draw_over_time if over_time else _draw_peaks
    if ax is not None:
        ax = figures.axes_of(ax)
        draw(ax, curves, output or 0)
        return figures.figure_of(ax)
    outputs = range(len(curves.outputs)) if output is None else [output]
    figure = figures.shown_figure((8.0, 0.8 + 2.4 * len(outputs)))
    rows = figure.subplots(len(outputs), 1, squeeze=False, sharex=draw is _draw_over_time)
    for axes, k in zip(rows[:, 0], outputs, strict=True):
        draw(axes, curves, k)
    rows[0, 0].set_title(f"{curves.paths:,} paths")
    if draw is _draw_over_time:
        for axes in rows[:-1, 0]:
            axes.set_xlabel("")
    return figure


def _draw_over_time(axes: Axes, curves: Curves, output: int) -> None:
    """Draw bands between quantiles, or of two standard deviations, with the mean and some paths."""
    size, most = curves.t.size, _MOST_TIMES
    all_paths, variance = curves.values.get("paths"), curves.values.get("variance")
    if all_paths is not None:
        most = min(most, max(50, _MOST_NUMBERS // all_paths.shape[2]))
    times = np.unique(np.linspace(0, size - 1, min(size, most)).astype(int))
    t, probabilities = curves.t[times], curves.probabilities
    quantiles, mean = curves.values.get("quantiles"), curves.values.get("mean")
    if all_paths is not None:
        paths = all_paths[times, output]
        for path in paths[:, :_MOST_PATHS].T:
            axes.plot(t, path, color=figures.SOFT_COLOUR, linewidth=0.6, alpha=0.6)
        if quantiles is None:
            probabilities = 0.05, 0.5, 0.95
            values = np.quantile(paths, probabilities, axis=1)
        if mean is None:
            _draw_mean(axes, t, paths.mean(axis=1))
    if quantiles is not None:
        values = quantiles[:, times, output]
    if probabilities:
        _draw_quantiles(axes, t, np.array(probabilities), values)
    if mean is not None:
        if not probabilities and variance is not None:
            spread = 2.0 * np.sqrt(variance[times, output])
            centre = mean[times, output]
            label = "mean ± 2 standard deviations"
            _draw_band(axes, t, centre - spread, centre + spread, label)
        _draw_mean(axes, t, mean[times, output])
    axes.set(xlabel="t / s", ylabel=curves.outputs[output], xlim=(t[0], t[-1]))
    if axes is axes.figure.axes[0]:  # the others have the same colours
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_mean(axes: Axes, t: np.ndarray, mean: np.ndarray) -> None:
    """Draw the mean."""
    axes.plot(t, mean, color=figures.PALETTE[1], label="mean")


def _draw_band(axes: Axes, t: np.ndarray, low: np.ndarray, high: np.ndarray, label: str) -> None:
    """Fill the band between two curves."""
    axes.fill_between(t, low, high, color=figures.PALETTE[0], alpha=0.2, linewidth=0.0, label=label)


def _draw_quantiles(
    axes: Axes, t: np.ndarray, probabilities: np.ndarray, values: np.ndarray
) -> None:
    """Draw bands between pairs of quantiles from the outermost in, and the middle one as a line."""
    order = np.argsort(probabilities)
    probabilities, values = probabilities[order], values[order]
    low, high = 0, len(probabilities) - 1
    while low < high:
        share = 100.0 * (probabilities[high] - probabilities[low])
        _draw_band(axes, t, values[low], values[high], f"{share:.3g} % of paths")
        low, high = low + 1, high - 1
    if low == high:
        name = "median" if probabilities[low] == 0.5 else f"{probabilities[low]:g} quantile"
        axes.plot(t, values[low], color=figures.PALETTE[0], label=name)


def _draw_peaks(axes: Axes, curves: Curves, output: int) -> None:
    """Draw a histogram of the largest absolute values of the paths."""
    peaks = curves.values["peaks"][output]
    bins = int(np.clip(np.sqrt(peaks.size), 10, 100))
    density, edges = np.histogram(peaks, bins, density=True)
    axes.stairs(density, edges, fill=True, color=figures.DATA_COLOUR)
    axes.stairs(density, edges, color=figures.PALETTE[0], linewidth=1.0)
    axes.set(xlabel=f"largest |{curves.outputs[output]}| of a path", ylabel="density")
