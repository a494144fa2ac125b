"""Progress: bars in terminals and notebooks, and a line now and then elsewhere."""

import os
import pty
import subprocess
import sys
import time

from hetero import progress
from hetero.cpu.interruptible import ranges
from hetero.display import progress_bar
from hetero.display.progress_bar import loop_progress, open_bar
from recorded_bars import RecordedBars


def test_a_pipe_gets_nothing_from_short_work(capfd):
    assert list(progress(iter(range(3)), "work")) == [0, 1, 2]
    with open_bar("work", 2.0) as advance, loop_progress("loops"):
        advance(2.0)
        list(ranges(5, first=1))
    assert capfd.readouterr() == ("", "")


def test_a_pipe_gets_lines_with_the_time_that_is_left(capfd, monkeypatch):
    monkeypatch.setattr(progress_bar, "SECONDS_BETWEEN_LINES", 0.05)
    with open_bar("work", 100.0) as advance:
        advance(5.0)
        time.sleep(0.1)
        advance(5.0)
        advance(5.0)
        time.sleep(0.1)
        advance(85.0)
    assert capfd.readouterr() == ("", "work: 10 % after 0 s, about 1 s left\n")


def test_loops_get_bars_while_they_are_long(monkeypatch):
    bars = RecordedBars(monkeypatch)
    with loop_progress("sweeps"):
        list(ranges(1000, first=1))
    assert bars.steps[0] == ("sweeps", 1000)
    assert 0 < bars.steps[1] < 1000
    monkeypatch.setattr(progress_bar, "SECONDS_BEFORE_LOOP", 5.0)
    bars.steps.clear()
    with loop_progress("quick"):
        list(ranges(1000, first=1))
    monkeypatch.setattr(progress_bar, "SECONDS_BEFORE_LOOP", -1.0)
    with loop_progress("sweeps", enabled=False):
        list(ranges(1000, first=1))
    assert bars.steps == []


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
