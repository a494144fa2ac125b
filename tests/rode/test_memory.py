"""Runs take no more memory than forecast, and runs that do not fit are refused beforehand."""

import tracemalloc

import numpy as np
import pytest

import hetero
import rode
from rode._solver import memory_forecast
from rode._solver.plan import make_plan

QUAKE = rode.kanai_tajimi()
RUN = {"t_span": (0, 8), "h": 2.0**-6, "delta": 2.0**-6, "rng": 1, "device": "cpu"}


def peak_of(function) -> tuple[int, object]:
    """Return the largest number of bytes that NumPy allocated during a call, and its result."""
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    every = ("paths", "moments", "peaks", rode.Quantiles(0.5))
    rode.solve(QUAKE, "averaged-euler", paths=2, reduction=every, **RUN)


@pytest.mark.parametrize("reductions", [
    ("paths",), ("moments",), ("peaks",), ("paths", "moments"), (rode.Quantiles(0.1, 0.5),),
])  # fmt: skip
def test_forecast_is_what_a_run_takes(reductions):
    plan = make_plan(QUAKE, "averaged-euler", paths=4096, reduction=reductions, **RUN)
    forecast = memory_forecast.required_bytes(plan)[hetero.Device("cpu")]
    if isinstance(reductions[0], rode.Quantiles):
        forecast -= hetero.threads() * 8 * 4096  # Numba's copies of a row are not traced
    peak, _ = peak_of(
        lambda: rode.solve(QUAKE, "averaged-euler", paths=4096, reduction=reductions, **RUN)
    )
    assert 0.95 * forecast < peak < 1.05 * forecast + 300_000  # Python's own objects


def solve_many(paths, **options):
    return rode.solve(QUAKE, "averaged-euler", paths=paths, **RUN | options)


IMPOSSIBLE = {
    r"a run of 1073741824 paths, with 513 saved times of displacement, velocity, acceleration, "
    r"reduced to paths, needs 12.05 TiB on cpu, which has [0-9.]+ [KMGT]iB free. Remedy: compute "
    r"at most \d+ paths at a time .*reduction='moments' needs .*dtype='float32' needs ": (
        lambda: solve_many(2**30)
    ),
    "needs 292 GiB on cpu, .*Remedy: ": lambda: solve_many(2**32, reduction="moments"),
    "the result of 4294967296 paths, .* needs 48.09 TiB on cpu": (
        lambda: solve_many(2**32, parts=2, reduction="paths")
    ),
    "normal numbers needs 727.6 TiB on cpu": lambda: rode.normal(10**14, device="cpu"),
    "an array of 10000000 x 10000000 steps needs .*dtype='float32' needs 363.8 TiB": (
        lambda: rode.ornstein_uhlenbeck((10**7, 10**7), 0.1, device="cpu")
    ),
}


@pytest.mark.parametrize("words", IMPOSSIBLE, ids=["paths", "state", "parts", "normals", "process"])
def test_impossible_sizes_are_refused_before_anything_runs(words, monkeypatch):
    monkeypatch.setattr("hetero.memory.free_bytes", lambda device, needed=0: 100 << 30)
    with pytest.raises(MemoryError, match=words):
        IMPOSSIBLE[words]()


def test_remedies_of_the_error_fit(monkeypatch):
    monkeypatch.setattr("hetero.memory.SMALL", 0)
    monkeypatch.setattr("hetero.memory.free_bytes", lambda device, needed=0: 2 << 20)
    with pytest.raises(MemoryError, match=r"at most (\d+) paths.*use save_every=(\d+)") as caught:
        rode.solve(QUAKE, "averaged-euler", paths=4096, **RUN)
    words = str(caught.value).replace("=", " ").split()
    paths, every = int(words[words.index("most") + 1]), int(words[words.index("save_every") + 1])
    assert rode.solve(QUAKE, "averaged-euler", paths=paths, **RUN).paths.shape[2] == paths
    result = rode.solve(QUAKE, "averaged-euler", paths=4096, save_every=every, **RUN)
    np.testing.assert_array_equal(result.t[:2], [0.0, every * 2.0**-6])
