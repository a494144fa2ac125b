"""Eigenvalues of band, tridiagonal and full matrices: seconds, NumPy arrays in and out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import hetero
import sbth
from benchmarks.measurements import Measurement

PUBLISHED = {
    "ELPA, two steps, 256 Power6 cores (published)": 72.1,
    "Riesinger 2017, P100, one step (see the page on accuracy)": 41.1,
}
"""Seconds for n = 79872, d = 576 (Riesinger 2017, table 6.3; ELPA's after Auckenthaler).

`python -m studies run sbth-counts` shows what the operations of one step would take on that GPU.
"""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure reductions and eigenvalues of band, tridiagonal and full matrices."""
    if quick:
        return [
            *(
                measure_reduction(200, 8, device),
                measure_reduction(200, 96, device),
                measure_bisection(300, device),
            ),
            *(measure_eigenvalues(100, 8, device), measure_full(80, device)),
        ]
    if device.kind == "cpu":
        return [
            *(measure_reduction(4000, 32, device), measure_reduction(4000, 64, device)),
            *(measure_eigenvalues(500, 16, device), measure_eigenvalues(4000, 32, device)),
            *(
                measure_eigenvalues(4000, 64, device),
                measure_bisection(4000, device),
                measure_full(2000, device),
            ),
        ]
    small = measure_eigenvalues(500, 16, device)  # its launches need an idle host
    with ProcessPoolExecutor(1, get_context("spawn")) as beside:
        slow = beside.submit(scipy_seconds, 16384, 64)  # on one of the host's cores
        figures = [
            *(measure_reduction(8000, 32, device), measure_reduction(8000, 64, device)),
            *(
                measure_reduction(5000, 256, device),
                measure_reduction(16384, 128, device),
                measure_largest_band(device),
            ),
            measure_bisection(32768, device),
            *(
                measure_eigenvalues(8000, 32, device),
                measure_full(5000, device),
                measure_full(10_000, device),
            ),
        ]
        large = measure_eigenvalues(16384, 64, device)
        large.peers["SciPy, one run beside the others"] = slow.result()
    return [small, *figures, large]


def random_band(n: int, d: int) -> np.ndarray:
    """Return a random band matrix in storage (d + 1, n)."""
    return np.resize(np.random.default_rng(1).standard_normal(1_000_003), (d + 1, n))


def measure(
    name: str, function: Callable, device: hetero.Device, peers: Iterable = (), note: str = ""
) -> Measurement:
    """Measure the median of 5 calls, also of other software."""
    timing = hetero.benchmark(function, repeats=5, device=device)
    medians = {
        other: hetero.benchmark(call, repeats=5, device=device).median for other, call in peers
    }
    return Measurement(name, timing.median, "s", peers=medians, note=note, timing=timing.as_dict())


def measure_reduction(n: int, d: int, device: hetero.Device) -> Measurement:
    """Measure the reduction of a band matrix to tridiagonal form."""
    ab = random_band(n, d)
    name = f"band to tridiagonal, n = {n}, bandwidth {d}"
    return measure(name, lambda: sbth.tridiagonalize(ab, lower=True, device=device), device)


def measure_largest_band(device: hetero.Device) -> Measurement:
    """Time the largest problem of Riesinger (2017): one call, after another one that compiles."""
    n, d = 79_872, 576
    ab = random_band(n, d)
    sbth.tridiagonalize(ab[:, : 2 * d], lower=True, device=device)
    start = time.perf_counter()
    sbth.tridiagonalize(ab, lower=True, device=device)
    seconds = time.perf_counter() - start
    name = f"band to tridiagonal, n = {n}, bandwidth {d}"
    note = "one call, two steps; 6 n^2 d operations in the first one"
    return Measurement(name, seconds, "s", peers=PUBLISHED, note=note)


def measure_bisection(n: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvalues of a tridiagonal matrix."""
    from scipy.linalg import eigvalsh_tridiagonal

    rng = np.random.default_rng(2)
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    peers = [("SciPy", lambda: eigvalsh_tridiagonal(d, e))] if n < 10_000 else []
    name = f"all eigenvalues of a tridiagonal matrix, n = {n}"
    return measure(name, lambda: sbth.eigvalsh_tridiagonal(d, e, device=device), device, peers)


def measure_eigenvalues(n: int, d: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvalues of a band matrix, in SciPy also with ldab padded by one."""
    from scipy.linalg import eig_banded

    ab = random_band(n, d)
    padded = np.vstack([ab, np.zeros(n)])
    peers = [
        (name, lambda m=matrix: eig_banded(m, lower=True, eigvals_only=True))
        for name, matrix in (("SciPy", ab), ("SciPy, ldab padded by one", padded))
        if n <= 4000
    ]
    name = f"all eigenvalues of a band matrix, n = {n}, bandwidth {d}"
    return measure(name, lambda: sbth.eigvals_banded(ab, lower=True, device=device), device, peers)


def scipy_seconds(n: int, d: int) -> float:
    """Return the seconds that SciPy takes for all eigenvalues of a band matrix."""
    from scipy.linalg import eig_banded

    ab = random_band(n, d)
    start = time.perf_counter()
    eig_banded(ab, lower=True, eigvals_only=True)
    return time.perf_counter() - start


def measure_full(n: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvalues of a full matrix that is on the device already."""
    a = np.random.default_rng(3).standard_normal((n, n))
    name, peers = f"all eigenvalues of a full matrix, n = {n}", []
    if device.kind == "cuda":
        import cupy

        a = cupy.asarray(a + a.T)
        peers.append(("cuSOLVER (CuPy)", lambda: cupy.linalg.eigvalsh(a)))
    else:
        a = a + a.T
        peers.append(("NumPy (LAPACK)", lambda: np.linalg.eigvalsh(a)))
    return measure(name, lambda: sbth.eigvalsh(a, device=device), device, peers)
