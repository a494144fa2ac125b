"""Reduction of a band matrix with n = 79872, d = 576 (Riesinger 2017, table 6.3)."""

from __future__ import annotations

import time

import numpy as np

import sbth
from studies.study import Study

PUBLISHED = {
    "Riesinger 2017, cuBLAS, P100": 41.1,
    "Riesinger 2017, cuBLAS, K20x": 96.5,
    "Riesinger 2017, cuBLAS, GTX 750 Ti": 104.3,
    "Riesinger 2017, clBLAS, FirePro W8000": 262.5,
    "ELPA, two steps, 256 Power6 cores": 72.1,
    "ELPA, two steps, 128 Power6 cores": 86.1,
    "ELPA, two steps, 64 Power6 cores": 139.4,
    "ELPA, two steps, 32 Power6 cores": 261.5,
}
"""Published seconds for n = 79872, d = 576 (Riesinger 2017, table 6.3)."""


def run(study: Study) -> dict:
    """Time the reduction; on a CPU, that of a smaller matrix."""
    is_full = not study.quick and study.device.kind == "cuda"
    n, d = (79_872, 576) if is_full else (1500, 576) if not study.quick else (300, 96)
    ab = np.resize(np.random.default_rng(0).standard_normal(1_000_003), (d + 1, n))
    sbth.tridiagonalize(ab[:, : 2 * d], lower=True, device=study.device)  # compiles
    start = time.perf_counter()
    main, below = sbth.tridiagonalize(ab, lower=True, device=study.device)
    seconds = time.perf_counter() - start
    diagonals = (ab[k, : n - k] for k in range(d + 1))
    squares = sum(min(k + 1, 2) * float(row @ row) for k, row in enumerate(diagonals))
    norm = float(main @ main) + 2.0 * float(below @ below)
    rows = [(f"this package, {study.device.name}, n = {n}, d = {d}", seconds), *PUBLISHED.items()]
    study.table("Band to tridiagonal (published: n = 79872, d = 576)", ("software", "s"), rows)
    return {
        "n": n,
        "d": d,
        "seconds": seconds,
        "change of the Frobenius norm": norm / squares - 1.0,
        "Riesinger 2017": PUBLISHED,
    }
