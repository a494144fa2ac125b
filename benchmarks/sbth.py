"""Eigenvalues of band matrices: seconds, and SciPy's LAPACK in the same run."""

from __future__ import annotations

import numpy as np

import hetero
import sbth
from benchmarks.figures import Figure


def run(device: hetero.Device, quick: bool) -> list[Figure]:
    large = device.kind == "cuda"
    figures = [end_to_end(500, 16, device, quick)]
    orders = (
        ((200, 8),) if quick else (((8000, 32), (8000, 64)) if large else ((4000, 32), (4000, 64)))
    )
    figures += [reduction(n, d, device) for n, d in orders]
    if large and not quick:
        figures += [pipeline(5000, 32, length, device) for length in (1, 8, 64, None)]
    n = 300 if quick else (32768 if large else 4000)
    figures.append(bisection(n, device))
    figures.append(end_to_end(*((16384, 64) if large and not quick else orders[0]), device, quick))
    return figures


def band(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((d + 1, n))


def reduction(n, d, device) -> Figure:
    ab = band(n, d)
    timing = hetero.benchmark(lambda: sbth.tridiagonalize(ab, device=device), repeats=5)
    return Figure(
        f"band to tridiagonal, n = {n}, bandwidth {d}",
        timing.median,
        "s",
        note="NumPy in, NumPy out: transfers in",
        timing=timing.as_dict(),
    )


def pipeline(n, d, length, device) -> Figure:
    """The thesis's speed-up over the pipeline's length (figures 6.2 to 6.5)."""
    ab = band(n, d)
    timing = hetero.benchmark(
        lambda: sbth.tridiagonalize(ab, in_flight=length, device=device), repeats=5
    )
    name = "all" if length is None else length
    return Figure(
        f"the same, n = {n}, bandwidth {d}, {name} block pairs in flight",
        timing.median,
        "s",
        timing=timing.as_dict(),
    )


def bisection(n, device) -> Figure:
    rng = np.random.default_rng(2)
    d, e = rng.standard_normal(n), rng.standard_normal(n - 1)
    timing = hetero.benchmark(lambda: sbth.eigvalsh_tridiagonal(d, e, device=device), repeats=5)
    return Figure(
        f"all eigenvalues of a tridiagonal matrix, n = {n}",
        timing.median,
        "s",
        peers=_tridiagonal_peer(d, e) if n < 10_000 else {},
        timing=timing.as_dict(),
    )


def _tridiagonal_peer(d, e) -> dict[str, float]:
    from scipy.linalg import eigvalsh_tridiagonal

    return {"SciPy": hetero.benchmark(lambda: eigvalsh_tridiagonal(d, e), repeats=5).median}


def end_to_end(n, d, device, quick) -> Figure:
    """All eigenvalues; SciPy with the leading dimension as it is and with one row more."""
    ab = band(n, d)
    timing = hetero.benchmark(lambda: sbth.eigvals_banded(ab, device=device), repeats=5)
    peers = {}
    if n <= 5000 and not quick:
        from scipy.linalg import eig_banded

        padded = np.vstack([ab, np.zeros(n)])
        for name, matrix in (("SciPy", ab), ("SciPy, one row more", padded)):
            peer = hetero.benchmark(
                lambda m=matrix: eig_banded(m, lower=True, eigvals_only=True), repeats=5
            )
            peers[name] = peer.median
    return Figure(
        f"all eigenvalues of a band matrix, n = {n}, bandwidth {d}",
        timing.median,
        "s",
        peers=peers,
        note="NumPy in, NumPy out: transfers in",
        timing=timing.as_dict(),
    )
