"""Eigenvalues and eigenvectors: seconds, and LAPACK's ratios of the results."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import hetero
import sbth
from benchmarks.measurements import Measurement
from benchmarks.sbth import measure, random_band


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure eigenvectors of tridiagonal and band matrices."""
    orders: tuple[int, ...] = (100, 200, 500, 1000, 2000)
    bands: tuple[tuple[int, int], ...] = ((500, 16), (1000, 32), (2000, 32))
    kinds = list(TRIDIAGONAL)
    if device.kind == "cuda":
        orders = (1000, 5000, 10_000)
        bands = ((8000, 32), (8000, 64), *bands)
    if quick:
        kinds, orders, bands = kinds[:1], (60,), ((60, 4),)
    yield from (measure_band(n, d, device) for n, d in bands)
    yield from (measure_tridiagonal(kind, n, device) for kind in kinds for n in orders)


def _random(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    return rng.standard_normal(n), rng.standard_normal(n - 1)


TRIDIAGONAL: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "random": _random,
    "Laplace": lambda n: (np.full(n, 2.0), np.full(n - 1, -1.0)),
}
"""Tridiagonal matrices: most eigenvalues of the first kind are deflated, few of the second."""


def measure_tridiagonal(kind: str, n: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvectors of a tridiagonal matrix in host memory."""
    from scipy.linalg import eigh_tridiagonal

    d, e = TRIDIAGONAL[kind](n)
    peers = [("SciPy", lambda: eigh_tridiagonal(d, e))] if n <= 2000 else []
    xp = module_of(device)
    full = xp.diag(xp.asarray(d)) + xp.diag(xp.asarray(e), 1) + xp.diag(xp.asarray(e), -1)
    solve = lambda: sbth.eigh_tridiagonal(d, e, device=device)  # noqa: E731
    name = f"all eigenvectors of a tridiagonal matrix ({kind}), n = {n}"
    return measure(name, solve, device, peers, describe_ratios(xp, full, *solve()))


def measure_band(n: int, d: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvectors of a band matrix that is on the device already."""
    from scipy.linalg import eig_banded

    ab = random_band(n, d)
    full, xp = sbth.dense_from_band(ab, lower=True), module_of(device)
    peers = [("SciPy", lambda: eig_banded(ab, lower=True))] if n <= 2000 else []
    here = xp.asarray(ab)
    solve = lambda: sbth.eig_banded(here, lower=True, device=device)  # noqa: E731
    name = f"all eigenvectors of a band matrix, n = {n}, bandwidth {d}"
    return measure(name, solve, device, peers, describe_ratios(xp, full, *solve()))


def module_of(device: hetero.Device) -> types.ModuleType:
    """Return NumPy, or CuPy for a GPU."""
    if device.kind == "cpu":
        return np
    import cupy

    return cupy


def describe_ratios(xp: types.ModuleType, a: Any, w: Any, v: Any) -> str:
    """Return LAPACK's ratios: residual and error of orthogonality over n eps, in 1-norms."""
    eps, n = float(np.finfo(v.dtype).eps), len(v)
    a, w, v = (xp.asarray(x).astype(float) for x in (a, w, v))
    residual = float(xp.linalg.norm(a @ v - v * w, 1) / xp.linalg.norm(a, 1))
    error = float(xp.linalg.norm(v.T @ v - xp.eye(n), 1))
    return f"residual {residual / (n * eps):.2g} n eps, orthogonality {error / (n * eps):.2g} n eps"
