"""Eigenvalues and eigenvectors: seconds, and LAPACK's ratios of the results."""

from __future__ import annotations

import contextlib
import time
import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

import hetero
import sbth
from benchmarks.measurements import Measurement
from benchmarks.sbth import measure, random_band
from sbth._problem import limits
from sbth._tridiagonal.inverse_iteration import selected_pairs

FEW = tuple((n, m) for n in (1000, 2000, 10_000) for m in (10, 100))
"""Orders of tridiagonal matrices, and numbers of eigenvectors that are computed of them."""


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure eigenvectors of tridiagonal and band matrices."""
    orders: tuple[int, ...] = (100, 200, 500, 1000, 2000)
    bands: tuple[tuple[int, int], ...] = ((500, 16), (1000, 32), (2000, 32))
    kinds, few = list(TRIDIAGONAL), FEW
    pencils: tuple[tuple[int, int], ...] = ((1000, 32), (2000, 32))
    if device.kind == "cuda":
        orders = (1000, 5000, 10_000)
        bands = ((8000, 32), (8000, 64), *bands)
        pencils = (*pencils, (8000, 32))
    if quick:
        kinds, orders, bands, few = kinds[:1], (60,), ((60, 4),), ((60, 2),)
        pencils = ((60, 4),)
    yield from (measure_band(n, d, device) for n, d in bands)
    yield from (measure_tridiagonal(kind, n, device) for kind in kinds for n in orders)
    yield from (measure_pencil(n, d, device) for n, d in pencils)
    yield from (measure_few(kind, n, m, device) for kind in kinds for n, m in few)


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
    solve = partial(sbth.eigh_tridiagonal, d, e, device=device)
    name = f"all eigenvectors of a tridiagonal matrix ({kind}), n = {n}"
    return measure(name, solve, device, peers, describe_ratios(xp, full, *solve()))


def measure_few(kind: str, n: int, m: int, device: hetero.Device) -> Measurement:
    """Measure the first m eigenvectors of a tridiagonal matrix by inverse iteration.

    Beside it divide and conquer, and up to n = 2000 SciPy. The note says which of the two methods
    of this package would be chosen.
    """
    from scipy.linalg import eigh_tridiagonal

    d, e = TRIDIAGONAL[kind](n)
    chosen: dict[str, Any] = {"select": "i", "select_range": (0, m - 1)}

    def solve(is_iterated: bool) -> Any:
        """Compute the pairs by one of the two methods."""
        with _inverse_iteration(is_iterated):
            return sbth.eigh_tridiagonal(d, e, **chosen, method="sbth", device=device)

    peers: list[tuple[str, Callable[[], Any]]] = []
    if n <= 2000 or device.kind == "cuda":  # it takes 20 s and 2 GB on a CPU
        peers.append(("divide and conquer", lambda: solve(False)))
    if n <= 2000:
        peers.append(("SciPy", lambda: eigh_tridiagonal(d, e, **chosen)))
    taken = selected_pairs.is_suitable(n, m, device)
    note = f"{_describe_few(d, e, *solve(True))}; chosen: " + (
        "inverse iteration" if taken else "divide and conquer"
    )
    name = f"{m} eigenvectors of a tridiagonal matrix ({kind}) by inverse iteration, n = {n}"
    return measure(name, lambda: solve(True), device, peers, note)


@contextlib.contextmanager
def _inverse_iteration(is_used: bool) -> Iterator[None]:
    """Let inverse iteration compute all selections of eigenvectors, or none."""
    share = 1.0 if is_used else 0.0
    with (
        mock.patch.dict(limits.LEAST_INVERSE_ORDER, cpu=0, cuda=0),
        mock.patch.dict(limits.LARGEST_INVERSE_SHARE, cpu=share, cuda=share),
    ):
        yield


def _describe_few(d: np.ndarray, e: np.ndarray, w: np.ndarray, v: np.ndarray) -> str:
    """Return LAPACK's ratios for some eigenvectors of a tridiagonal matrix."""
    eps, n = float(np.finfo(v.dtype).eps), len(v)
    products = d[:, None] * v - v * w
    products[1:] += e[:, None] * v[:-1]
    products[:-1] += e[:, None] * v[1:]
    beside = np.append(np.abs(e), 0.0) + np.append(0.0, np.abs(e))
    residual = np.linalg.norm(products, 1) / np.max(np.abs(d) + beside)
    error = np.linalg.norm(v.T @ v - np.eye(v.shape[1]), 1)
    return f"residual {residual / (n * eps):.2g} n eps, orthogonality {error / (n * eps):.2g} n eps"


def measure_band(n: int, d: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvectors of a band matrix that is on the device already."""
    from scipy.linalg import eig_banded

    ab = random_band(n, d)
    full, xp = sbth.dense_from_band(ab, lower=True), module_of(device)
    peers = [("SciPy", lambda: eig_banded(ab, lower=True))] if n <= 2000 else []
    here = xp.asarray(ab)
    solve = partial(sbth.eig_banded, here, lower=True, device=device)
    name = f"all eigenvectors of a band matrix, n = {n}, bandwidth {d}"
    return measure(name, solve, device, peers, describe_ratios(xp, full, *solve()))


def measure_pencil(n: int, d: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvectors of a generalized band problem in host memory.

    On a GPU beside one call on the CPU, up to n = 2000.
    """
    a, b = random_band(n, d), random_band(n, 2).copy()
    b[0] = 10.0

    def solve(on: hetero.Device) -> Any:
        return sbth.eig_banded(a, lower=True, b_band=b, device=on)

    w, v = solve(device)
    full, metric = (sbth.dense_from_band(x, lower=True) for x in (a, b))
    eps, products = float(np.finfo(float).eps), metric @ v
    residual = np.linalg.norm(full @ v - products * w, 1) / np.linalg.norm(full, 1)
    error = np.linalg.norm(v.T @ products - np.eye(n), 1)
    note = f"residual {residual / (n * eps):.2g} n eps, V^T B V - 1 {error / (n * eps):.2g} n eps"
    name = f"all eigenvectors of a generalized band problem, n = {n}, bandwidth {d}"
    figure = measure(name, lambda: solve(device), device, note=note)
    if device.kind == "cuda" and n <= 2000:
        begin = time.perf_counter()
        solve(hetero.Device("cpu"))
        figure.peers["sbth and LAPACK on the CPU, one call"] = time.perf_counter() - begin
    return figure


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
