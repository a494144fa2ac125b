"""Files of figures: HTML pages, SVG, PNG or PDF.

Matplotlib is loaded when a figure is saved, so that commands that draw nothing start quickly.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hetero.data_files.atomic_files import replace_atomically
from hetero.validation import check_output_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".html", ".png", ".svg", ".pdf")

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1b2129; --soft: #5b6570; --line: #dfe3e8;
  --back: #fff; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ink: #e6e9ed; --soft: #9aa5b1; --line: #333b45;
  --back: #13171c; }} }}
body {{ margin: 0 auto; max-width: 64rem; padding: 1.5rem 1rem; background: var(--back);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }}
h1 {{ font-size: 1.3rem; margin: 0 0 1rem; }}
section {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; font-weight: 600; padding-bottom: .3rem; }}
th, td {{ text-align: left; padding: .3rem 1.2rem .3rem 0; border-top: 1px solid var(--line); }}
th {{ color: var(--soft); font-weight: 600; }}
img {{ display: block; max-width: 100%; height: auto; background: #fff; border-radius: 6px; }}
</style>
</head>
<body>
<h1>{title}</h1>
{picture}
<section>{body}</section>
</body>
</html>
"""


def save_figure(
    draw: Callable[[], Figure], path: str | Path, *, title: str = "", tables: Sequence[str] = ()
) -> Path:
    """Write a figure to a file, whose suffix chooses the format, and return its path.

    Parameters
    ----------
    draw : function that returns a matplotlib.figure.Figure
        It is called so that its figure belongs to no window.
    path : str or Path
        Ends with .html, .png, .svg or .pdf.
    title : str
        Heading of an HTML page.
    tables : sequence of str
        HTML that follows the picture on the page.

    Raises
    ------
    ValueError : the suffix is another one, or the folder does not exist
    """
    from hetero.display.figures import detached_figures, figure_style, picture_html

    path = Path(path)
    check_output_path("path", path, SUFFIXES)
    with detached_figures():
        figure = draw()
    with replace_atomically(path) as part:
        if path.suffix.lower() == ".html":
            body = "\n".join(tables)
            page = _PAGE.format(
                title=html.escape(title), picture=picture_html(figure, title), body=body
            )
            part.write_text(page, encoding="utf-8")
        else:
            with figure_style():
                figure.savefig(part, dpi=150, format=path.suffix[1:].lower())
    return path
