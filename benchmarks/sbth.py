"""Eigenvalues of band, tridiagonal and full matrices: seconds, NumPy arrays in and out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import hetero
import sbth
from benchmarks.figures import Figure

P100 = 41.1
"""Seconds of the thesis's best GPU for n = 79872, d = 576 (table 6.3)."""


def run(device: hetero.Device, quick: bool) -> list[Figure]:
    if quick:
        return [
            *(reduction(200, 8, device), reduction(200, 96, device), bisection(300, device)),
            *(eigenvalues(100, 8, device), full(80, device)),
        ]
    if device.kind == "cpu":
        return [
            *(reduction(4000, 32, device), reduction(4000, 64, device)),
            *(eigenvalues(500, 16, device), eigenvalues(4000, 32, device)),
            *(eigenvalues(4000, 64, device), bisection(4000, device), full(2000, device)),
        ]
    small = eigenvalues(500, 16, device)  # its launches want the host alone
    with ProcessPoolExecutor(1, get_context("spawn")) as beside:
        slow = beside.submit(scipy_seconds, 16384, 64)  # on one of the host's cores
        figures = [
            *(reduction(8000, 32, device), reduction(8000, 64, device)),
            *(reduction(5000, 256, device), reduction(16384, 128, device), thesis(device)),
            bisection(32768, device),
            *(eigenvalues(8000, 32, device), full(5000, device), full(10_000, device)),
        ]
        large = eigenvalues(16384, 64, device)
        large.peers["SciPy, one run beside the others"] = slow.result()
    return [small, *figures, large]


def band(n: int, d: int) -> np.ndarray:
    return np.resize(np.random.default_rng(1).standard_normal(1_000_003), (d + 1, n))


def measured(name: str, function: Callable, device, peers=(), note: str = "") -> Figure:
    """The median of 5 calls, and that of other software."""
    timing = hetero.benchmark(function, repeats=5, device=device)
    found = {
        other: hetero.benchmark(call, repeats=5, device=device).median for other, call in peers
    }
    return Figure(name, timing.median, "s", peers=found, note=note, timing=timing.as_dict())


def reduction(n, d, device) -> Figure:
    ab = band(n, d)
    name = f"band to tridiagonal, n = {n}, bandwidth {d}"
    return measured(name, lambda: sbth.tridiagonalize(ab, lower=True, device=device), device)


def thesis(device) -> Figure:
    """The thesis's largest problem: one call after another one that compiles."""
    n, d = 79_872, 576
    ab = band(n, d)
    sbth.tridiagonalize(ab[:, : 2 * d], lower=True, device=device)
    start = time.perf_counter()
    sbth.tridiagonalize(ab, lower=True, device=device)
    seconds = time.perf_counter() - start
    name = f"band to tridiagonal, n = {n}, bandwidth {d}"
    note = f"one call; 12 n^2 d operations, {12e-12 * n**2 * d / seconds:.1f} TFLOP/s"
    return Figure(name, seconds, "s", peers={"thesis, P100 (its own run)": P100}, note=note)


def bisection(n, device) -> Figure:
    from scipy.linalg import eigvalsh_tridiagonal

    rng = np.random.default_rng(2)
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    peers = [("SciPy", lambda: eigvalsh_tridiagonal(d, e))] if n < 10_000 else []
    name = f"all eigenvalues of a tridiagonal matrix, n = {n}"
    return measured(name, lambda: sbth.eigvalsh_tridiagonal(d, e, device=device), device, peers)


def eigenvalues(n, d, device) -> Figure:
    """All of a band matrix; SciPy with the leading dimension as it is and with one row more."""
    from scipy.linalg import eig_banded

    ab = band(n, d)
    padded = np.vstack([ab, np.zeros(n)])
    peers = [
        (name, lambda m=matrix: eig_banded(m, lower=True, eigvals_only=True))
        for name, matrix in (("SciPy", ab), ("SciPy, ldab padded by one", padded))
        if n <= 4000
    ]
    name = f"all eigenvalues of a band matrix, n = {n}, bandwidth {d}"
    return measured(name, lambda: sbth.eigvals_banded(ab, lower=True, device=device), device, peers)


def scipy_seconds(n: int, d: int) -> float:
    from scipy.linalg import eig_banded

    ab = band(n, d)
    start = time.perf_counter()
    eig_banded(ab, lower=True, eigvals_only=True)
    return time.perf_counter() - start


def full(n, device) -> Figure:
    """All eigenvalues of a full matrix, which is on the device already."""
    a = np.random.default_rng(3).standard_normal((n, n))
    name, peers = f"all eigenvalues of a full matrix, n = {n}", []
    if device.kind == "cuda":
        import cupy

        a = cupy.asarray(a + a.T)
        peers.append(("cuSOLVER (CuPy)", lambda: cupy.linalg.eigvalsh(a)))
    else:
        a = a + a.T
        peers.append(("NumPy (LAPACK)", lambda: np.linalg.eigvalsh(a)))
    return measured(name, lambda: sbth.eigvalsh(a, device=device), device, peers)
