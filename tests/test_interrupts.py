"""Long loops run in pieces, between which Ctrl-C is answered; the pieces change no number."""

import functools
import itertools
import os
import signal
import threading

import numpy as np
import pytest

import rode
import sbth
import stablegpu
from hetero.cpu import interruptible
from rode.normals import METHODS
from stablegpu import stable

CPU = {"device": "cpu"}
POINTS = np.linspace(-30.0, 30.0, 4001)
SETS = np.random.default_rng(1).standard_t(3, (5, 200))
BAND = np.random.default_rng(1).standard_normal((4, 120))
D, E = np.random.default_rng(2).standard_normal((2, 200))
SOME = {"select": "i", "select_range": (30, 170)}


def estimates(method):
    """Return the parameters of all sets."""
    fits = stablegpu.fit(SETS, method=method, **CPU)
    return fits.alpha, fits.beta, fits.loc, fits.scale


def draw_path(shape, method, dtype):
    """Return paths with drawn noise."""
    options = {"method": method, "start": 0.5, "dtype": dtype, "rng": 3}
    return rode.ornstein_uhlenbeck(shape, 0.01, **options, **CPU)


def sweep(method, size):
    """Return a path with given noise."""
    noise = rode.normal(size, rng=1, **CPU)
    return rode.ornstein_uhlenbeck(None, 0.01, noise=noise, start=0.5, method=method, **CPU)


def average():
    """Return means of so many numbers that their loops are cut at all: from 2^24 on."""
    path = rode.normal(17_000_001, rng=1, dtype="float32", **CPU)
    return rode.average(path[:-1], 10, **CPU), *rode.riemann_sums(path, 10, 0.1, 2, **CPU)


def draw(method, dtype):
    """Return normal numbers."""
    return rode.normal(300_001, method=method, dtype=dtype, rng=3, strips=256, **CPU)


CALLS = {
    **{
        f"rode.normal, {method}, {dtype}": (5000, functools.partial(draw, method, dtype))
        for method, dtype in itertools.product(METHODS, ("float32", "float64"))
        if (method, dtype) != ("box-muller-fast", "float64")
    },
    **{
        f"path of {shape} by {method}, {dtype}": (
            7, functools.partial(draw_path, shape, method, dtype))
        for shape, method in (((50, 300), "scan"), (200_001, "scan"), (200_001, "bridge"))
        for dtype in ("float32", "float64")
    },
    "scan of given noise": (7, lambda: sweep("scan", 200_001)),
    "sweeps of given noise": (7, lambda: sweep("sweeps", 1_100_000)),
    "averages": (70_000, average),
    "rvs": (1000, lambda: stable(1.5, 0.5).rvs(5000, random_state=1)),
    "pdf": (1000, lambda: stable(1.5, 0.5).pdf(POINTS)),
    "plan": (1000, lambda: stable(1.5, 0.5).plan().pdf_cdf(POINTS)),
    "inverse": (1000, lambda: stable(1.5, 0.5).plan().ppf(np.linspace(0.0, 1.0, 4001))),
    "broadcast": (
        1000, lambda: stablegpu.pdf(POINTS, np.linspace(0.6, 1.9, POINTS.size), 0.3)),
    "log_ndtr": (1000, lambda: stablegpu.log_ndtr(POINTS)),
    "ndtr": (1000, lambda: stablegpu.ndtr(POINTS)),
    "expn": (1000, lambda: stablegpu.expn(3, abs(POINTS))),
    "maximum likelihood": (1, lambda: estimates("ml")),
    "koutrouvelis": (1, lambda: estimates("koutrouvelis")),
    "serial reduction": (1, lambda: tuple(sbth.tridiagonalize(BAND, method="serial", **CPU))),
    "wavefront": (1, lambda: tuple(sbth.tridiagonalize(BAND, method="wavefront", **CPU))),
    "eigenvalues": (1, lambda: sbth.eigvalsh_tridiagonal(D, E[:-1], **CPU)),
    "some eigenvalues": (1, lambda: sbth.eigvalsh_tridiagonal(D, E[:-1], **SOME, **CPU)),
}  # fmt: skip
"""Calls, and the most items of their loops in one piece."""


@pytest.mark.parametrize("name", CALLS)
def test_pieces_change_no_number(name, monkeypatch):
    most, compute = CALLS[name]
    whole = compute()
    monkeypatch.setattr(interruptible, "LARGEST_RANGE", most)
    np.testing.assert_equal(compute(), whole)


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
