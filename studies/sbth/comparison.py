"""Reduction of a band matrix with n = 79872, d = 576 (Riesinger 2017, table 6.3)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sbth
from studies.papers.printed import REDUCTION_SECONDS
from studies.study import Study

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
    rows += [(f"{name}, published", value) for name, value in REDUCTION_SECONDS.items()]
    study.table("Band to tridiagonal (published: n = 79872, d = 576)", ("software", "s"), rows)
    diagonals = (ab[k, : n - k] for k in range(d + 1))
    squares = sum(min(k + 1, 2) * float(row @ row) for k, row in enumerate(diagonals))
    norm = float(main @ main) + 2.0 * float(below @ below)
    return {
        "n": n,
        "d": d,
        "seconds": seconds,
        "change of the Frobenius norm": norm / squares - 1.0,
        "published": REDUCTION_SECONDS,
    }


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of a call, and its seconds."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start
