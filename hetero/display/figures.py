"""The style of all figures.

Importing this module loads matplotlib, so callers import it where they draw.
"""

from __future__ import annotations

import base64
import contextlib
import html
import io
from collections.abc import Iterator
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

PALETTE = ("#31688e", "#d1602b", "#35b779", "#440154", "#b8a200")
"""Colours of lines: viridis at 0.33, 0.67 and 0, its yellow darkened for white paper, and an orange
for what is compared with them."""

DATA_COLOUR, SOFT_COLOUR = "#c3c8cf", "#8a919c"
"""Colours of histograms of data, and of lines that only guide the eye."""

FONT_SIZE = 10.0
"""Size of all texts, in points."""

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": FONT_SIZE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": SOFT_COLOUR,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.axisbelow": True,
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
    "xtick.color": "#454c56",
    "ytick.color": "#454c56",
    "legend.fontsize": FONT_SIZE,
    "legend.frameon": False,
    "figure.titlesize": FONT_SIZE,
    "image.cmap": "viridis",
    "lines.linewidth": 1.6,
    "savefig.facecolor": "white",
    "svg.hashsalt": "heterokit",
}


@contextlib.contextmanager
def figure_style() -> Iterator[None]:
    """Draw in the style of the project within the block; also a decorator, `@figure_style()`."""
    with matplotlib.rc_context(STYLE):
        yield


class StyledFigure(Figure):
    """A figure whose axes and files have the project's style; notebooks show it by themselves."""

    def add_subplot(self, *args: Any, **settings: Any) -> Axes:
        """Add axes as `matplotlib.figure.Figure.add_subplot` does, in the project's style."""
        with figure_style():
            return super().add_subplot(*args, **settings)

    def savefig(self, *args: Any, **settings: Any) -> None:
        """Save the figure as `matplotlib.figure.Figure.savefig` does, in the project's style."""
        with figure_style():
            super().savefig(*args, **settings)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def new_figure(size: tuple[float, float] = (9.0, 4.5), **settings: Any) -> StyledFigure:
    """Return an empty figure of `size` inches in the project's style; so are its axes."""
    with figure_style():
        return StyledFigure(figsize=size, **{"layout": "constrained"} | settings)


def axes_of(ax: Axes | None, size: tuple[float, float] = (6.5, 4.0)) -> Axes:
    """Return `ax`, or the axes of a new figure if it is None."""
    return new_figure(size).subplots() if ax is None else ax


def figure_of(ax: Axes) -> Figure:
    """Return the figure that holds the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # axes that were not removed from their figure
    return figure


def picture_html(figure: Figure, description: str) -> str:
    """Return an HTML image that contains the figure as SVG."""
    buffer = io.BytesIO()
    with figure_style():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{html.escape(description)}" src="data:image/svg+xml;base64,{data}">'
