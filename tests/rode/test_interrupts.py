"""Long loops run in pieces, or check a flag, so that Ctrl-C is answered; no number changes."""

import signal
import threading
import time

import numpy as np
import pytest

import rode
from hetero.cpu import interruptible

# ---- the solver --------------------------------------------------------------------------------

QUAKE = rode.kanai_tajimi(start_process=0.3)


def solve(device, **changes):
    """Return all arrays of a run."""
    settings = {"t_span": (0, 1), "h": 2.0**-5, "delta": 2.0**-7, "paths": 50, "rng": 2}
    settings |= {"reduction": ("paths", "moments", "peaks", rode.Quantiles(0.5)), "save_every": 3}
    result = rode.solve(QUAKE, "averaged-euler", **(settings | {"device": device} | changes))
    return [getattr(result, name) for name in ("paths", "mean", "variance", "peaks", "quantiles")]


def assert_same(result, expected):
    for x, y in zip(result, expected, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("most", [1, 2, 5])
def test_launches_and_windows_of_rows_change_no_bit(device, most, monkeypatch):
    """On a GPU steps are cut, on the CPU the rows of statistics."""
    expected = solve(device)
    monkeypatch.setattr(interruptible, "LARGEST_RANGE", most)
    assert_same(solve(device), expected)


def interrupted(call) -> float:
    """Press Ctrl-C 0.2 s after the start of a call; return the seconds until it was answered."""
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.2, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.perf_counter() - pressed[0]
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)


FOREVER = {"t_span": (0, 2**24)}
LONG = {
    "fine steps": {"delta": 2.0**-35, "reduction": "peaks"},
    "coarse steps": FOREVER | {"save_every": 2**20},
    "exact": FOREVER | {"sampling": "exact", "reduction": "peaks"},
    "saved steps": {"t_span": (0, 2**22), "save_every": 64, "reduction": "moments"},
    "parts": FOREVER | {"parts": 2, "device": ("cpu", "cpu"), "reduction": "peaks"},
}
"""Runs of minutes or hours."""


@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_a_run(name):
    """Ten seconds are for busy machines; without an answer the call takes minutes."""
    long = {"device": "cpu"} | LONG[name]
    expected = solve("cpu")
    solve(**long | {"t_span": (0, 1), "save_every": 3, "delta": 2.0**-7})  # compiles
    assert interrupted(lambda: solve(**long)) < 10.0
    assert_same(solve("cpu"), expected)
