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


def use_small_pieces(monkeypatch):
    """Cut the loops into pieces of at most 1000 items (or what their `multiple` asks for)."""

    def small_ranges(total, *, first, multiple=1):
        step = max(multiple, 1000 // multiple * multiple)
        for begin in range(0, total, step):
            yield begin, min(begin + step, total)

    for topic in (
        *("_density.quadrature", "_density.nodes", "_density.pointwise", "_density.polynomials"),
        *("_sampling", "_special"),
    ):
        monkeypatch.setattr(f"stablegpu.{topic}.cpu.ranges", small_ranges)


def use_pieces_of_one_set(monkeypatch):
    """Cut the loops over data sets into pieces of one."""

    def single(total, *, first, multiple=1):
        return ((i, i + 1) for i in range(total))

    for topic in ("likelihood", "mcculloch", "second_starts", "koutrouvelis"):
        monkeypatch.setattr(f"stablegpu._fit.{topic}.cpu.ranges", single)


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda: stable(1.5, 0.5).rvs(5000, random_state=1),
        lambda: stable(1.5, 0.5).pdf(POINTS),
        lambda: np.stack(stable(1.5, 0.5).plan().pdf_cdf(POINTS)),
        lambda: stable(1.5, 0.5).plan().ppf(np.linspace(0.0, 1.0, 4001)),
        lambda: stablegpu.pdf(POINTS, np.linspace(0.6, 1.9, POINTS.size), 0.3),
        lambda: stablegpu.log_ndtr(POINTS),
        lambda: stablegpu.ndtr(POINTS),
        lambda: stablegpu.expn(3, abs(POINTS)),
    ],
    ids=["rvs", "pdf", "plan", "inverse", "broadcast", "log_ndtr", "ndtr", "expn"],
)
def test_pieces_change_no_value(evaluate, monkeypatch):
    whole = evaluate()
    use_small_pieces(monkeypatch)
    np.testing.assert_array_equal(evaluate(), whole)


@pytest.mark.parametrize("method", ["ml", "koutrouvelis"])
def test_pieces_change_no_fit(method, monkeypatch):
    sets = stable(1.6, 0.3).rvs((5, 200), random_state=1)

    def estimates():
        fits = stablegpu.fit(sets, method=method, device="cpu")
        return np.stack([fits.alpha, fits.beta, fits.loc, fits.scale])

    whole = estimates()
    use_pieces_of_one_set(monkeypatch)
    np.testing.assert_array_equal(estimates(), whole)


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
