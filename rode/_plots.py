"""The figure of a Monte Carlo result: mean and quantiles over time, or a histogram of peaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hetero.display.figures import (
    DATA_COLOUR,
    PALETTE,
    SOFT_COLOUR,
    axes_of,
    figure_of,
    figure_style,
    shown_figure,
)

if TYPE_CHECKING:
    from rode.results import Result

_MOST_PATHS = 20
"""Paths that are drawn; more would hide each other."""

_MOST_TIMES = 2000
"""Times that are drawn, equally spaced; more do not show."""

_MOST_NUMBERS = 1 << 24
"""Numbers of which quantiles are computed for a figure, in a second. With more paths there are
fewer times, but at least 50."""


@figure_style()
def plot_result(result: Result, ax: Axes | None, output: int | None) -> Figure:
    """Draw all outputs below each other, or the one with this index."""
    over_time = any(a is not None for a in (result.mean, result.quantiles, result.paths))
    if (result.t.size < 2 and result.peaks is None) or not (over_time or result.peaks is not None):
        raise ValueError("there is nothing to draw: the result has no saved times and no peaks")
    draw = _draw_over_time if over_time and result.t.size >= 2 else _draw_peaks
    if ax is not None:
        ax = axes_of(ax)
        draw(ax, result, output or 0)
        return figure_of(ax)
    outputs = range(len(result.outputs)) if output is None else [output]
    figure = shown_figure((8.0, 0.8 + 2.4 * len(outputs)))
    rows = figure.subplots(len(outputs), 1, squeeze=False, sharex=draw is _draw_over_time)
    for axes, k in zip(rows[:, 0], outputs, strict=True):
        draw(axes, result, k)
    rows[0, 0].set_title(f"{result.work.paths:,} paths")
    if draw is _draw_over_time:
        for axes in rows[:-1, 0]:
            axes.set_xlabel("")
    return figure


def _draw_over_time(axes: Axes, result: Result, output: int) -> None:
    """Draw bands between quantiles, or of two standard deviations, with the mean and some paths."""
    size, most = result.t.size, _MOST_TIMES
    if result.paths is not None:
        most = min(most, max(50, _MOST_NUMBERS // result.paths.shape[2]))
    times = np.unique(np.linspace(0, size - 1, min(size, most)).astype(int))
    t = result.t[times]
    probabilities, quantiles, mean = result.probabilities, result.quantiles, result.mean
    if result.paths is not None:
        paths = result.paths[times, output]
        for path in paths[:, :_MOST_PATHS].T:
            axes.plot(t, path, color=SOFT_COLOUR, linewidth=0.6, alpha=0.6)
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
        if not probabilities and result.variance is not None:
            spread = 2.0 * np.sqrt(result.variance[times, output])
            centre = mean[times, output]
            axes.fill_between(
                t,
                centre - spread,
                centre + spread,
                color=PALETTE[0],
                alpha=0.2,
                linewidth=0.0,
                label="mean ± 2 standard deviations",
            )
        _draw_mean(axes, t, mean[times, output])
    axes.set(xlabel="t / s", ylabel=result.outputs[output], xlim=(t[0], t[-1]))
    if axes is axes.figure.axes[0]:  # the others have the same colours
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_mean(axes: Axes, t: np.ndarray, mean: np.ndarray) -> None:
    """Draw the mean."""
    axes.plot(t, mean, color=PALETTE[1], label="mean")


def _draw_quantiles(
    axes: Axes, t: np.ndarray, probabilities: np.ndarray, values: np.ndarray
) -> None:
    """Draw bands between pairs of quantiles from the outermost in, and the middle one as a line."""
    order = np.argsort(probabilities)
    probabilities, values = probabilities[order], values[order]
    low, high = 0, len(probabilities) - 1
    while low < high:
        share = 100.0 * (probabilities[high] - probabilities[low])
        axes.fill_between(
            t,
            values[low],
            values[high],
            color=PALETTE[0],
            alpha=0.2,
            linewidth=0.0,
            label=f"{share:.3g} % of paths",
        )
        low, high = low + 1, high - 1
    if low == high:
        name = "median" if probabilities[low] == 0.5 else f"{probabilities[low]:g} quantile"
        axes.plot(t, values[low], color=PALETTE[0], label=name)


def _draw_peaks(axes: Axes, result: Result, output: int) -> None:
    """Draw a histogram of the largest absolute values of the paths."""
    assert result.peaks is not None  # checked by plot_result
    peaks = result.peaks[output]
    bins = int(np.clip(np.sqrt(peaks.size), 10, 100))
    density, edges = np.histogram(peaks, bins, density=True)
    axes.stairs(density, edges, fill=True, color=DATA_COLOUR)
    axes.stairs(density, edges, color=PALETTE[0], linewidth=1.0)
    axes.set(xlabel=f"largest |{result.outputs[output]}| of a path", ylabel="density")
