"""The style of figures, and the files they are written to."""

import re

import numpy as np
import pytest

from hetero.command_line import save_figure
from hetero.display.figures import FONT_SIZE, PALETTE, axes_of, figure_of, new_figure


@pytest.fixture
def figure():
    figure = new_figure((4.0, 3.0))
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [0.0, 1.0], label="line")
    axes.set(xlabel="x", ylabel="y", title="title")
    axes.legend()
    return figure


def test_all_texts_have_one_size_and_lines_the_palette(figure):
    (axes,) = figure.axes
    texts = [axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels()]
    texts += axes.get_legend().get_texts()
    assert {text.get_fontsize() for text in texts} == {FONT_SIZE}
    assert axes.lines[0].get_color() == PALETTE[0]
    assert not axes.spines["top"].get_visible()


@pytest.mark.parametrize("suffix", ["html", "png", "svg", "pdf"])
def test_every_format_is_written(figure, tmp_path, suffix):
    table = "<table><tr><td>cell</td></tr></table>"
    path = save_figure(figure, tmp_path / f"a.{suffix}", title="a < b", tables=[table])
    heads = {"html": b"<!doctype html>", "png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    content = path.read_bytes()
    assert content.startswith(heads[suffix])
    if suffix == "html":
        assert b"a &lt; b" in content
        assert table.encode() in content
        assert not re.search(rb'(src|href)="http', content)


def test_the_same_figure_gives_the_same_page(tmp_path):
    pages = []
    for name in ("a.html", "b.html"):
        figure = new_figure()
        figure.subplots().plot(np.arange(3.0))
        pages.append(save_figure(figure, tmp_path / name).read_bytes())
    assert pages[0] == pages[1]


def test_notebooks_show_figures_by_themselves(figure):
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_axes_may_be_given(figure):
    (axes,) = figure.axes
    assert axes_of(axes) is axes
    assert figure_of(axes) is figure
    assert figure_of(axes_of(None)) is not figure


def test_paths_that_cannot_be_written_are_refused(figure, tmp_path):
    for path in (tmp_path / "a.docx", tmp_path / "none" / "a.png"):
        with pytest.raises(ValueError, match="path must"):
            save_figure(figure, path)
        assert not path.exists()
