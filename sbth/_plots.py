"""The figure of a spectrum."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hetero.display.figures import (
    DATA_COLOUR,
    PALETTE,
    axes_of,
    figure_of,
    figure_style,
    shown_figure,
)

_BINS = (10, 120)
"""Fewest and most bins of a histogram, whose number is the root of that of the eigenvalues."""

_MOST_POINTS = 4000  # of a curve: more do not show


@figure_style()
def plot_spectrum(values: np.ndarray, order: int, ax: Axes | None = None) -> Figure:
    """Draw the density of ascending eigenvalues and their counting function.

    Only the density is drawn if there are axes for it. Both count the eigenvalues that were
    computed, `values`, which need not be all of a matrix of this order.
    """
    if not values.size:
        raise ValueError("there is no eigenvalue to draw")
    if ax is not None:
        ax = axes_of(ax)
        _draw_density(ax, values)
        return figure_of(ax)
    figure = shown_figure((10.0, 3.8))
    left, right = figure.subplots(1, 2)
    _draw_density(left, values)
    few = np.unique(np.linspace(0, values.size - 1, min(values.size, _MOST_POINTS)).astype(int))
    right.plot(values[few], few + 1, color=PALETTE[0], drawstyle="steps-post")
    total = "" if values.size == order else f", of {order:,} in all"
    right.set(
        xlabel="x",
        ylabel="eigenvalues up to x",
        title=f"Number of eigenvalues ({values.size:,}{total})",
    )
    return figure


def _draw_density(axes: Axes, values: np.ndarray) -> None:
    """Draw a histogram whose area is 1."""
    bins = int(np.clip(np.sqrt(values.size), *_BINS))
    low, high = float(values[0]), float(values[-1])
    if not high > low:  # a single eigenvalue, perhaps multiple
        low, high = low - 0.5, high + 0.5
    density, edges = np.histogram(values, bins, (low, high), density=True)
    axes.stairs(density, edges, fill=True, color=DATA_COLOUR)
    axes.stairs(density, edges, color=PALETTE[0], linewidth=1.0)
    axes.set(xlabel="eigenvalue", ylabel="density", title="Density of eigenvalues")
