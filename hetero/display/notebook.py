"""HTML for notebooks, which call `_repr_html_` of an object to show it."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def html_table(title: str, rows: Iterable[tuple[object, ...]], head: Iterable[str] = ()) -> str:
    """Return an HTML table; all texts are escaped.

    Parameters
    ----------
    title : str
        The caption.
    rows : iterable of tuples
        Cells of each row; the first one is its heading. Floats are shown with 6 digits.
    head : iterable of str, optional
        Headings of the columns.
    """
    columns = "".join(f"<th>{html.escape(text)}</th>" for text in head)
    lines = [f"<table><caption>{html.escape(title)}</caption>"]
    if columns:
        lines.append(f"<thead><tr>{columns}</tr></thead>")
    lines.append("<tbody>")
    for first, *others in rows:
        cells = "".join(f"<td>{html.escape(_text(cell))}</td>" for cell in others)
        lines.append(f"<tr><th>{html.escape(_text(first))}</th>{cells}</tr>")
    return "\n".join([*lines, "</tbody></table>"])


def html_text(text: str) -> str:
    """Return a text of several lines as HTML that keeps its lines and columns."""
    return f"<pre>{html.escape(text)}</pre>"


def table_with_picture(table: str, plot: Callable[[], Figure], description: str) -> str:
    """Return an HTML table followed by a picture of the figure that `plot` returns."""
    from hetero.display.figures import detached_figures, picture_html

    with detached_figures():
        figure = plot()
    return f"{table}\n{picture_html(figure, description)}"


def _text(cell: object) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
