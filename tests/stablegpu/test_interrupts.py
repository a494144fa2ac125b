"""Long loops run in pieces, between which Ctrl-C is answered; the pieces change no number."""

import os
import signal
import threading

import numpy as np
import pytest

import stablegpu
from hetero.cpu import interruptible
from stablegpu import stable

POINTS = np.linspace(-30.0, 30.0, 4001)
SETS = stable(1.6, 0.3, device="cpu").rvs((5, 200), random_state=1)


def estimates(method):
    """Return the parameters of all sets."""
    fits = stablegpu.fit(SETS, method=method, device="cpu")
    return np.stack([fits.alpha, fits.beta, fits.loc, fits.scale])


CALLS = {
    "rvs": (1000, lambda: stable(1.5, 0.5).rvs(5000, random_state=1)),
    "pdf": (1000, lambda: stable(1.5, 0.5).pdf(POINTS)),
    "plan": (1000, lambda: np.stack(stable(1.5, 0.5).plan().pdf_cdf(POINTS))),
    "inverse": (1000, lambda: stable(1.5, 0.5).plan().ppf(np.linspace(0.0, 1.0, 4001))),
    "broadcast": (
        1000, lambda: stablegpu.pdf(POINTS, np.linspace(0.6, 1.9, POINTS.size), 0.3)),
    "log_ndtr": (1000, lambda: stablegpu.log_ndtr(POINTS)),
    "ndtr": (1000, lambda: stablegpu.ndtr(POINTS)),
    "expn": (1000, lambda: stablegpu.expn(3, abs(POINTS))),
    "maximum likelihood": (1, lambda: estimates("ml")),
    "koutrouvelis": (1, lambda: estimates("koutrouvelis")),
}  # fmt: skip
"""Calls, and the most items of their loops in one piece."""


@pytest.mark.parametrize("name", CALLS)
def test_pieces_change_no_value(name, monkeypatch):
    most, evaluate = CALLS[name]
    whole = evaluate()
    monkeypatch.setattr(interruptible, "LARGEST_RANGE", most)
    np.testing.assert_array_equal(evaluate(), whole)


def test_ctrl_c_arrives_in_the_middle_of_a_long_draw(monkeypatch):
    """Without pieces the loop ends first and every number has been drawn."""
    monkeypatch.setattr(interruptible, "TARGET_SECONDS", 0.01)
    distribution, out = stable(1.5, 0.5), np.full(40_000_000, np.nan)
    distribution.rvs(10_000)  # compiles
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        distribution.rvs(out=out)
    assert np.isnan(out[-1])
    assert not np.isnan(out[0])
