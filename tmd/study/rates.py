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


def models(f, p) -> float:
    """Of the Taylor models of a part."""
    begin = time.perf_counter()
    batch(f, p, 0, p.supers)
    return time.perf_counter() - begin


def run(study) -> dict:
    f = function("exp")
    gpu = study.device.kind == "cuda"
    rows, divisions = [], ("reciprocal", "integer") if study.quick else tuple(DIVISIONS)
    for lo, hi in BINADES:
        width = 26 if study.quick else ((41 if lo == 1 else 38) if gpu else 34 if lo == 1 else 31)
        (p,) = windows(f, lo, hi, 1, width, 32)
        share = 2.0**52 / p.block.run.count
        rows.append((f"[{lo}, {hi})", "Taylor models", "", models(f, p) * share, None))
        for test in ("clipped", "regular", "lefevre") if study.quick else ALGORITHMS:
            for division in divisions:
                taken = seconds(f, replace(p, algorithm=test, division=division), study.device)
                peer = PAPER.get((test, lo)) if division == "reciprocal" else None
                rows.append((f"[{lo}, {hi})", test, division, taken * share, peer and peer / 2))
    heads = ("binade", "test", "division", "s a binade", "paper, C2070")
    study.table(f"Search of a binade on {study.device.name}, scaled from random parts", heads, rows)
    return {"rows": rows}
