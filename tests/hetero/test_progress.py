"""Progress: bars in terminals and notebooks, and a line now and then elsewhere."""

import os
import pty
import subprocess
import sys
import time
import types

import pytest

from hetero import progress
from hetero.cpu.interruptible import ranges
from hetero.display import progress_bar
from hetero.display.progress_bar import format_duration, loop_progress, open_bar


@pytest.fixture
def notebook(monkeypatch):
    """Stand in for a notebook, and collect what its cell shows."""
    shown = []

    class Handle:
        def update(self, item):
            shown.append(item)

    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda item, display_id: shown.append(item) or Handle()
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shown


def test_a_pipe_gets_nothing_from_short_work(capfd):
    assert list(progress(iter(range(3)), "work")) == [0, 1, 2]
    with open_bar("work", 2.0) as advance, loop_progress("loops"):
        advance(2.0)
        list(ranges(5, first=1))
    assert capfd.readouterr() == ("", "")


def test_a_pipe_gets_lines_with_the_time_that_is_left(capfd, monkeypatch):
    """Also while a step takes long, of which nobody knows how much is done."""
    monkeypatch.setattr(progress_bar, "_FIRST_LINE", 0.05)
    monkeypatch.setattr(progress_bar, "_LINE", 0.05)
    with open_bar("work", 100.0) as advance:
        text = wait_for_line(capfd, "work: 0 % after 0 s\n")
        advance(10.0)
        text += wait_for_line(capfd, "work: 10 % after ")
    capfd.readouterr()
    time.sleep(0.2)
    assert capfd.readouterr() == ("", "")  # the work is over
    assert " left\n" in text


def wait_for_line(capfd, start):
    """Return what stderr got until a line with this start came."""
    text = ""
    for _ in range(500):
        time.sleep(0.02)
        text += capfd.readouterr().err
        if start in text and text.endswith("\n"):
            return text
    raise AssertionError(text)


def test_lines_tell_how_much_is_left():
    assert progress_bar._describe("work", 0.1, 4.0) == "work: 10 % after 4 s, about 36 s left"
    assert progress_bar._describe("work", 0.0, 240.0) == "work: 0 % after 4 min"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3.4, "3 s"), (119.0, "119 s"), (840.0, "14 min"), (9000.0, "2 h"), (1e9, "11,574 days")],
)
def test_durations_read_well(seconds, text):
    assert format_duration(seconds) == text


def test_a_notebook_gets_bars_of_html(notebook):
    list(progress(range(4), "a < b"))
    assert "a &lt; b" in notebook[-1]
    assert 'value="1.0000"' in notebook[-1]
    assert "100 %" in notebook[-1]
    assert "0 %" in notebook[1]


def test_loops_get_bars_while_they_are_long(notebook, monkeypatch):
    with loop_progress("quick"):
        list(ranges(1000, first=1))
    assert not notebook
    monkeypatch.setattr("hetero.display.progress_bar.SECONDS_BEFORE_LOOP", 0.0)
    monkeypatch.setattr("hetero.display.progress_bar._NOTEBOOK_SECONDS", 0.0)
    with loop_progress("sweeps"):
        list(ranges(1000, first=1))
    assert any("sweeps" in text and 'value="0.' in text for text in notebook)
    assert notebook[-1] == ""  # a loop's bar disappears with the loop
    with loop_progress("sweeps", enabled=False):
        list(ranges(1000, first=1))
    assert notebook[-1] == ""


def test_a_terminal_gets_a_bar():
    code = "import hetero, time\nfor _ in hetero.progress(range(3), 'work'): time.sleep(0.1)"
    main, terminal = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", code], stderr=terminal) as process:
        os.close(terminal)
        text = b""
        try:
            while part := os.read(main, 4096):
                text += part
        except OSError:  # Linux' end of a terminal
            pass
    os.close(main)
    assert process.returncode == 0
    assert b"work" in text
    assert b"100%" in text
