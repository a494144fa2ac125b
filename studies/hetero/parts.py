"""Overhead of each part of a computation and of its merge, and the efficiency that follows.

Parts that compute nothing are sent through each engine, with results of some bytes and of a
megabyte. The caller sends parts, takes results and merges them one after the other, so N devices
with parts of T seconds take the larger of T plus the overhead of a part, and N times what the
caller does for one. The efficiency that this predicts is T over that time. It leaves out what only
a cluster has: slower networks, a scheduler that is busy, and file systems.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import numpy as np

import rode
import stablegpu
from hetero.devices import Device
from hetero.distributed.parts import run_parts
from rode.results.joining import join
from stablegpu._fit.batch import join_results
from studies.study import Study

PARTS = 400
MERGED = 64
REPEATS = 5
WORKERS = 2
BYTES = (8, 1 << 20)
DEVICES = (10, 100, 1000)
DURATIONS = (0.2, 5.0, 60.0)
"""Seconds that a part computes, for the predictions."""


def run(study: Study) -> dict:
    """Measure overheads and merges, and predict efficiencies."""
    parts = 16 if study.quick else PARTS
    overheads = []
    for engine, arguments in _engines(study.quick):
        with arguments as options:
            for size in BYTES:
                seconds = _seconds_of_part(options, size, parts, study.quick)
                overheads.append((engine, size, 1e6 * seconds))
    merges = [(what, 1e6 * seconds) for what, seconds in _merges(study.quick)]
    heads = ("engine", "bytes of a result", "us")
    study.table("Overhead of a part that computes nothing", heads, overheads)
    study.table("Merge of the results", ("result", "us a part"), merges)
    largest_merge = max(us for _, us in merges)
    predictions = [
        (engine, size, duration, *(_efficiency(duration, us, largest_merge, n) for n in DEVICES))
        for engine, size, us in overheads
        for duration in DURATIONS
    ]
    columns = ("engine", "bytes of a result", "s of a part", *(f"{n} devices" for n in DEVICES))
    study.table("Predicted efficiency, %", columns, predictions)
    return {
        "overheads": {"columns": heads, "rows": overheads},
        "merges": {"columns": ("result", "us a part"), "rows": merges},
        "predictions": {"columns": columns, "rows": predictions},
    }


def _engines(
    quick: bool,
) -> Iterator[tuple[str, contextlib.AbstractContextManager[dict[str, Any]]]]:
    """Yield names of engines and blocks in which their arguments of `run_parts` are open."""
    yield "two devices of a process", contextlib.nullcontext({"devices": [Device("cpu")] * WORKERS})
    if quick:
        return
    yield "processes", _processes()
    if importlib.util.find_spec("distributed") is not None:
        yield "Dask", _dask()


@contextlib.contextmanager
def _processes() -> Iterator[dict[str, Any]]:
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        yield {"executor": pool, "kind": "cpu"}


@contextlib.contextmanager
def _dask() -> Iterator[dict[str, Any]]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(  # type: ignore[no-untyped-call]
            WORKERS, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,  # type: ignore[no-untyped-call]
    ):
        yield {"executor": client.get_executor(), "kind": "cpu"}


def compute_nothing(part: tuple[int, int], device: Device) -> np.ndarray:
    """Return a result of as many bytes as the second number of the part says.

    The first number makes parts different, because Dask computes equal ones once.
    """
    return _random_bytes(part[1])


@functools.cache
def _random_bytes(size: int) -> np.ndarray:
    """Return bytes that nobody can compress."""
    return np.random.default_rng(1).integers(0, 256, size, np.uint8)


def _seconds_of_part(options: dict[str, Any], size: int, parts: int, quick: bool) -> float:
    """Return the median time of a part; the first call starts the workers."""
    calls = itertools.count()

    def send() -> None:
        first = parts * next(calls)
        run_parts(compute_nothing, [(first + k, size) for k in range(parts)], **options)

    return _median(send, quick) / parts


def _merges(quick: bool) -> Iterator[tuple[str, float]]:
    """Yield results of parts, in words, and the time in which one is merged."""
    paths, count = (50, 4) if quick else (1000, MERGED)
    result = rode.solve(
        rode.relaxation(),
        "averaged-heun",
        t_span=(0.0, 1.0),
        h=2.0**-6,
        delta=2.0**-8,
        paths=paths,
        rng=1,
        reduction=("moments", "peaks"),
        device="cpu",
    )
    seconds = _median(lambda: join([replace(result) for _ in range(count)]), quick)
    yield f"rode: moments at {result.t.size} times, peaks of {paths} paths", seconds / count
    sets = np.random.default_rng(1).standard_t(3, (paths, 20))
    fits = stablegpu.fit(sets, method="mcculloch", device="cpu")
    assert isinstance(fits, stablegpu.FitResults)  # two dimensions
    seconds = _median(lambda: join_results([fits] * count), quick)
    yield f"stablegpu: {paths} fits", seconds / count


def _median(function: Callable[[], object], quick: bool) -> float:
    """Return the median time of a call, the first one left out."""
    times = []
    for _ in range(2 if quick else REPEATS + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def _efficiency(duration: float, overhead: float, merge: float, devices: int) -> float:
    """Return the efficiency in % of parts of `duration` s; overheads are in us."""
    of_caller = 1e-6 * (overhead + merge)
    return 100.0 * duration / max(duration + of_caller, devices * of_caller)
