"""n = 79872, d = 576: the thesis's table 6.3."""

from __future__ import annotations

import time

import numpy as np

import sbth
from hetero.study import Study

THESIS = {
    "thesis, cuBLAS, P100": 41.1,
    "thesis, cuBLAS, K20x": 96.5,
    "thesis, cuBLAS, GTX 750 Ti": 104.3,
    "thesis, clBLAS, FirePro W8000": 262.5,
    "ELPA, two steps, 256 Power6 cores": 72.1,
    "ELPA, two steps, 128 Power6 cores": 86.1,
    "ELPA, two steps, 64 Power6 cores": 139.4,
    "ELPA, two steps, 32 Power6 cores": 261.5,
}
"""Seconds."""


def run(study: Study) -> dict:
    full = not study.quick and study.device.kind == "cuda"
    n, d = (79_872, 576) if full else (1500, 576) if not study.quick else (300, 96)
    ab = np.resize(np.random.default_rng(0).standard_normal(1_000_003), (d + 1, n))
    sbth.tridiagonalize(ab[:, : 2 * d], lower=True, device=study.device)  # compiles
    start = time.perf_counter()
    main, below = sbth.tridiagonalize(ab, lower=True, device=study.device)
    seconds = time.perf_counter() - start
    inside = (ab[k, : n - k] for k in range(d + 1))
    squares = sum(min(k + 1, 2) * float(row @ row) for k, row in enumerate(inside))
    norm = float(main @ main) + 2.0 * float(below @ below)
    rows = [(f"this package, {study.device.name}, n = {n}, d = {d}", seconds), *THESIS.items()]
    study.table("Band to tridiagonal, n = 79872, d = 576 (the others)", ("what", "s"), rows)
    return {
        "n": n,
        "d": d,
        "seconds": seconds,
        "change of the Frobenius norm": norm / squares - 1.0,
        "thesis": THESIS,
    }
