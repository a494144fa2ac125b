"""Time to search a binade by every test and division, scaled up from random windows.

It corresponds to tables 4 to 7 of Fortin, Gouicem and Graillat (2016).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from hetero.devices import Device
from hetero.measurement.benchmarking import benchmark
from studies.papers.printed import SEARCH_SECONDS_OF_BINADES
from studies.study import Study
from studies.tmd.domains import random_windows
from studies.tmd.phases import BINADES
from tmd import _search
from tmd._search import make_batch
from tmd._search.formulas.boolean_test_formulas import ALGORITHMS, DIVISIONS
from tmd._search.planning import Plan
from tmd.functions import load_function
from tmd.functions.function import Function

PUBLISHED = {
    (test, lo): SEARCH_SECONDS_OF_BINADES[test][2 + place]
    for test in ("lefevre", "regular")
    for place, (lo, _) in enumerate(BINADES)
}
"""Seconds of searches of 2^53 arguments on a C2070 (Fortin et al. 2016, table 5)."""

WIDTHS: dict[str, dict[int, tuple[int, ...]]] = {
    "quick": {1: (26,), 128: (26,)},
    "cpu": {1: (34, 37), 128: (31, 34)},
    "cuda": {1: (41, 44), 128: (38, 40)},
}
"""log2 of the arguments of a window, by binade; the longer one if the shorter is too fast."""

SHORTEST_TIME = 0.01
"""Seconds below which the time to launch the kernels would count."""


def measure_seconds(f: Function, p: Plan, device: Device) -> float:
    """Return the median time of the three phases of a block, without the decisions."""
    loops = _search.loops(device)
    batch = make_batch(f, p, 0, p.super_blocks)
    with device.active():
        timing = benchmark(
            lambda: loops.finish_batch(loops.start_batch(batch, p)),
            repeats=5,
            min_time=0.0,
            device=device,
        )
    return timing.median


def time_binade(
    f: Function, plans: Sequence[Plan], test: str, division: str, device: Device
) -> tuple[int, float]:
    """Return log2 of the arguments of the window that was timed, and the seconds of a binade."""
    for p in plans:
        seconds = measure_seconds(f, replace(p, algorithm=test, division=division), device)
        if seconds > SHORTEST_TIME:
            break
    count = p.block.run.count
    return count.bit_length() - 1, seconds * 2.0**52 / count


def time_models(f: Function, p: Plan) -> tuple[int, float]:
    """Return the same as `time_binade`, for the computation of the Taylor models."""
    make_batch(f, p, 0, 1)  # the first call compiles
    begin = time.perf_counter()
    make_batch(f, p, 0, p.super_blocks)
    count = p.block.run.count
    return count.bit_length() - 1, (time.perf_counter() - begin) * 2.0**52 / count


def run(study: Study) -> dict:
    """Time every test with every division in two binades of exp."""
    f = load_function("exp")
    tests = ("clipped", "regular", "lefevre") if study.quick else tuple(ALGORITHMS)
    divisions = ("reciprocal", "integer") if study.quick else tuple(DIVISIONS)
    rows: list[tuple] = []
    for lo, hi in BINADES:
        widths = WIDTHS["quick" if study.quick else study.device.kind][lo]
        plans = [random_windows(f, lo, hi, 1, width, 32)[0] for width in widths]
        rows.append((f"[{lo}, {hi})", "Taylor models", "", *time_models(f, plans[-1]), None))
        for test in tests:
            for division in divisions:
                published = PUBLISHED.get((test, lo)) if division == "reciprocal" else None
                timing = time_binade(f, plans, test, division, study.device)
                half = published and published / 2  # published for 2^53 arguments, twice a binade
                rows.append((f"[{lo}, {hi})", test, division, *timing, half))
    heads = (
        "binade",
        "test",
        "division",
        "log2 of the window",
        "s per binade",
        "Fortin et al. 2016, C2070",
    )
    title = f"Search of a binade on {study.device.name}, scaled from random windows"
    study.table(title, heads, rows)
    return {"rows": rows}
