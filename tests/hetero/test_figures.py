"""The files that figures are written to, and figures in notebooks."""

import re
import sys
from types import SimpleNamespace

import pytest
from matplotlib import pyplot

from hetero.command_line import save_figure
from hetero.display.figures import new_figure, shown_figure
from hetero.display.notebook import table_with_picture


@pytest.fixture
def figure():
    figure = new_figure((4.0, 3.0))
    axes = figure.subplots()
    axes.plot([0.0, 1.0], [0.0, 1.0], label="line")
    axes.set(xlabel="x", ylabel="y", title="title")
    axes.legend()
    return figure


@pytest.mark.parametrize("suffix", ["html", "png", "svg", "pdf"])
def test_every_format_is_written(figure, tmp_path, suffix):
    table = "<table><tr><td>cell</td></tr></table>"
    path = save_figure(lambda: figure, tmp_path / f"a.{suffix}", title="a < b", tables=[table])
    heads = {"html": b"<!doctype html>", "png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    content = path.read_bytes()
    assert content.startswith(heads[suffix])
    if suffix == "html":
        assert b"a &lt; b" in content
        assert table.encode() in content
        assert not re.search(rb'(src|href)="http', content)


@pytest.fixture
def no_figures():
    pyplot.close("all")
    yield
    pyplot.close("all")


def test_figures_for_files_are_left_to_nobody(no_figures, tmp_path):
    save_figure(shown_figure, tmp_path / "a.png")
    table_with_picture("", shown_figure, "picture")
    assert pyplot.get_fignums() == []


def test_a_notebook_shows_the_value_of_a_cell_once(no_figures, monkeypatch):
    figure = shown_figure((4.0, 3.0))  # loads what asks for IPython, before it is replaced
    shown = []
    fake = SimpleNamespace(Image=lambda data, format: data, display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(display=fake))
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    with pytest.raises(NotImplementedError):  # a terminal prints it and a window shows it
        figure._ipython_display_()
    monkeypatch.setattr(
        "matplotlib.get_backend", lambda: "module://matplotlib_inline.backend_inline"
    )
    figure._ipython_display_()
    assert shown[0].startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []  # so that the end of the cell shows no second one
