"""The figure of a search: the number of cases by distance, and the arguments of the hardest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hetero.display import figures

_MOST_POINTS = 2000
"""Cases whose arguments are drawn, the hardest; more would hide each other."""


class Points(NamedTuple):
    """Arguments of cases, bounds of their distances in ulps, which are near midpoints, and how many
    arguments were searched."""

    arguments: np.ndarray
    distances: np.ndarray
    middle: np.ndarray
    searched: int


@figures.figure_style()
def plot_cases(cases: Points, name: str, bits: int, rounding: str, ax: Axes | None) -> Figure:
    """Draw the number of cases by distance, and unless there are axes for it, their arguments."""
    if ax is not None:
        ax = figures.axes_of(ax)
        _draw_numbers(ax, cases, bits, rounding)
        return figures.figure_of(ax)
    figure = figures.shown_figure((10.0, 3.8))
    left, right = figure.subplots(1, 2)
    _draw_numbers(left, cases, bits, rounding)
    _draw_arguments(right, cases, name)
    return figure


def _bits_of(cases: Points) -> np.ndarray:
    """Return -log2 of the distance in ulps of each case; infinity for one that may be exact."""
    low, high = cases.distances.T
    with np.errstate(divide="ignore"):
        return -np.log2(np.where(low > 0.0, high, 0.0))


def _draw_numbers(axes: Axes, cases: Points, bits: int, rounding: str) -> None:
    """Draw how many cases are closer than 2^-m ulp, and how many random values would be."""
    distances = np.sort(_bits_of(cases))
    last = distances[np.isfinite(distances)].max(initial=float(bits))
    m = np.arange(bits, int(np.ceil(last)) + 2)
    numbers = distances.size - np.searchsorted(distances, m, side="left")
    neighbours = 4.0 if rounding == "all" else 2.0  # 2^-m on both sides of each breakpoint
    expected = cases.searched * neighbours * 2.0**-m
    axes.plot(
        m, expected, color=figures.SOFT_COLOUR, linewidth=1.0, label="expected of random values"
    )
    reached = numbers > 0
    axes.plot(
        m[reached], numbers[reached], "o", markersize=4, color=figures.PALETTE[0], label="cases"
    )
    axes.set(yscale="log", xlabel="m", ylabel="cases", title="Cases closer than $2^{-m}$ ulp")
    axes.legend()


def _draw_arguments(axes: Axes, cases: Points, name: str) -> None:
    """Draw the arguments of the hardest cases against their distances."""
    distances, x, middle = _bits_of(cases), cases.arguments, cases.middle
    finite = np.flatnonzero(np.isfinite(distances))
    hardest = finite[np.argsort(-distances[finite])[:_MOST_POINTS]]
    for mask, colour, label in (
        (~middle, figures.PALETTE[0], "near a float"),
        (middle, figures.PALETTE[1], "near a midpoint"),
    ):
        chosen = hardest[mask[hardest]]
        axes.plot(x[chosen], distances[chosen], ".", markersize=4, color=colour, label=label)
    count = f"{x.size:,} cases"
    axes.set(
        xlabel=f"argument of {name}",
        ylabel=r"$-\log_2$(distance / ulp)",
        title=f"{hardest.size:,} hardest of {count}" if hardest.size < x.size else count,
    )
    axes.margins(y=0.15)
    axes.legend(loc="upper right", ncols=2)
