"""Seconds for binades by every test and division (paper, tables 4 to 7), from random parts."""

from __future__ import annotations

import time
from dataclasses import replace

from hetero.bench import benchmark
from hetero.jit import twin
from tmd._tests_math import ALGORITHMS, DIVISIONS
from tmd.functions import function
from tmd.plan import batch
from tmd.study.phases import BINADES, windows

PAPER = {("lefevre", 1): 2446.78, ("regular", 1): 711.8, ("lefevre", 128): 51530.44,
         ("regular", 128): 61581.87}  # fmt: skip
"""The paper's seconds for the search on a C2070, for 2^53 arguments (table 5)."""

WIDTHS = {
    "quick": {1: (26,), 128: (26,)},
    "cpu": {1: (34, 37), 128: (31, 34)},
    "cuda": {1: (41, 44), 128: (38, 40)},
}
"""log2 of the arguments of a part, by the binade; the longer one where the shorter is too quick."""

QUICK = 0.01
"""Seconds below which the start of kernels counts."""


def seconds(f, p, device) -> float:
    """Of all three phases of a part, decisions not counted."""
    loops = twin("tmd._scan", device)
    made = batch(f, p, 0, p.supers)
    with device.active():
        timing = benchmark(
            lambda: loops.finish(loops.start(made, p.shape, p.algorithm, p.division)),
            repeats=5,
            min_time=0.0,
            device=device,
        )
    return timing.median


def binade(f, parts, test: str, division: str, device) -> tuple[int, float]:
    """log2 of the part that was timed, and the seconds of a binade by its rate."""
    for p in parts:
        taken = seconds(f, replace(p, algorithm=test, division=division), device)
        if taken > QUICK:
            break
    count = p.block.run.count
    return count.bit_length() - 1, taken * 2.0**52 / count


def models(f, p) -> tuple[int, float]:
    """The same of the Taylor models."""
    begin = time.perf_counter()
    batch(f, p, 0, p.supers)
    count = p.block.run.count
    return count.bit_length() - 1, (time.perf_counter() - begin) * 2.0**52 / count


def run(study) -> dict:
    f = function("exp")
    tests = ("clipped", "regular", "lefevre") if study.quick else tuple(ALGORITHMS)
    divisions = ("reciprocal", "integer") if study.quick else tuple(DIVISIONS)
    rows = []
    for lo, hi in BINADES:
        widths = WIDTHS["quick" if study.quick else study.device.kind][lo]
        parts = [windows(f, lo, hi, 1, width, 32)[0] for width in widths]
        rows.append((f"[{lo}, {hi})", "Taylor models", "", *models(f, parts[-1]), None))
        for test in tests:
            for division in divisions:
                peer = PAPER.get((test, lo)) if division == "reciprocal" else None
                found = binade(f, parts, test, division, study.device)
                rows.append((f"[{lo}, {hi})", test, division, *found, peer and peer / 2))
    heads = ("binade", "test", "division", "log2 of the part", "s a binade", "paper, C2070")
    study.table(f"Search of a binade on {study.device.name}, scaled from random parts", heads, rows)
    return {"rows": rows}
