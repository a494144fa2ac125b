"""The style of all figures.

Importing this module loads matplotlib, so callers import it where they draw.
"""

from __future__ import annotations

import base64
import contextlib
import html
import io
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hetero.validation import describe

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

    def _ipython_display_(self) -> None:
        """Show the figure as the value of a cell; pyplot would show it again at the cell's end."""
        if "inline" not in matplotlib.get_backend():
            raise NotImplementedError  # IPython then asks for other representations
        from IPython.display import Image, display

        display(Image(data=self._repr_png_(), format="png"))
        pyplot.close(self)


_are_detached: ContextVar[bool] = ContextVar("hetero_detached_figures", default=False)


@contextlib.contextmanager
def detached_figures() -> Iterator[None]:
    """Let `shown_figure` return figures in the block that pyplot does not know."""
    token = _are_detached.set(True)
    try:
        yield
    finally:
        _are_detached.reset(token)


def new_figure(size: tuple[float, float] = (9.0, 4.5), **settings: Any) -> StyledFigure:
    """Return an empty figure of `size` inches in the project's style; so are its axes.

    It is for files: pyplot does not know it, so it is shown nowhere and needs no closing.
    """
    with figure_style():
        return StyledFigure(figsize=size, **{"layout": "constrained"} | settings)


def shown_figure(size: tuple[float, float] = (9.0, 4.5)) -> Figure:
    """Return an empty figure of pyplot in the project's style, which `pyplot.show()` shows.

    Notebooks show it at the end of its cell.
    """
    if _are_detached.get():
        return new_figure(size)
    with figure_style():
        return pyplot.figure(figsize=size, layout="constrained", FigureClass=StyledFigure)


def axes_of(ax: Axes | None, size: tuple[float, float] = (6.5, 4.0)) -> Axes:
    """Return `ax`, or the axes of a new figure of pyplot if it is None."""
    if ax is None:
        return shown_figure(size).subplots()
    if not hasattr(ax, "get_figure"):
        raise TypeError(f"ax must be axes of matplotlib or None, got {describe(ax)}")
    return ax


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
