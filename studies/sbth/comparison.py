"""Reduction of a band matrix with n = 79872, d = 576 (Riesinger 2017, table 6.3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sbth
from studies.study import Study

PUBLISHED = {
    "ELPA, two steps, 256 Power6 cores": 72.1,
    "ELPA, two steps, 128 Power6 cores": 86.1,
    "ELPA, two steps, 64 Power6 cores": 139.4,
    "ELPA, two steps, 32 Power6 cores": 261.5,
    "ELPA, one step, 256 Power6 cores": 345.7,
    "ELPA, one step, 128 Power6 cores": 382.1,
    "ELPA, one step, 64 Power6 cores": 683.8,
    "ELPA, one step, 32 Power6 cores": 1431.0,
    "Riesinger 2017, one step, cuBLAS, P100": 41.1,
    "Riesinger 2017, one step, cuBLAS, K20x": 96.5,
    "Riesinger 2017, one step, cuBLAS, GTX 750 Ti": 104.3,
    "Riesinger 2017, one step, MAGMA, P100": 77.1,
    "Riesinger 2017, one step, MAGMA, GTX 750 Ti": 162.3,
    "Riesinger 2017, one step, MAGMA, K20x": 166.8,
    "Riesinger 2017, one step, clBLAS, FirePro W8000": 262.5,
    "Riesinger 2017, one step, clBLAS, Radeon HD 8670": 400.0,
}
"""Published seconds for n = 79872, d = 576 (Riesinger 2017, table 6.3), reduction only.

`studies/sbth/counts.py` shows what one step would take at the peak rates of these GPUs."""

LARGEST_FOR_LAPACK = 4000
"""Order up to which SciPy is timed, too; its time grows with the square of the order."""


def run(study: Study) -> dict:
    """Time the reduction; on a CPU that of a smaller matrix, also all eigenvalues, beside SciPy."""
    is_full = not study.quick and study.device.kind == "cuda"
    n, d = (79_872, 576) if is_full else (4000, 576) if not study.quick else (300, 96)
    ab = np.resize(np.random.default_rng(0).standard_normal(1_000_003), (d + 1, n))
    options: dict[str, Any] = {"lower": True, "device": study.device}
    sbth.tridiagonalize(ab[:, : 2 * d], **options)  # compiles
    (main, below), seconds = _timed(lambda: sbth.tridiagonalize(ab, **options))
    here = f"this package, {study.device.name}"
    rows = [(f"{here}, reduction in two steps, n = {n}, d = {d}", seconds)]
    if n <= LARGEST_FOR_LAPACK:
        from scipy.linalg import eig_banded

        sbth.eigvals_banded(ab[:, : 2 * d], **options)
        values, both = _timed(lambda: sbth.eigvals_banded(ab, **options))
        true, lapack = _timed(lambda: eig_banded(ab, lower=True, eigvals_only=True))
        assert np.allclose(values, true, atol=1e-10 * np.abs(true).max())
        rows += [
            (f"{here}, all eigenvalues, n = {n}, d = {d}", both),
            (f"SciPy (LAPACK), all eigenvalues, n = {n}, d = {d}", lapack),
        ]
    rows += [(f"{name}, published", value) for name, value in PUBLISHED.items()]
    study.table("Band to tridiagonal (published: n = 79872, d = 576)", ("software", "s"), rows)
    diagonals = (ab[k, : n - k] for k in range(d + 1))
    squares = sum(min(k + 1, 2) * float(row @ row) for k, row in enumerate(diagonals))
    norm = float(main @ main) + 2.0 * float(below @ below)
    return {
        "n": n,
        "d": d,
        "seconds": seconds,
        "change of the Frobenius norm": norm / squares - 1.0,
        "published": PUBLISHED,
    }


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call, and its seconds."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start
