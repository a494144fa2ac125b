"""Batches of matrices: seconds beside NumPy, or on a GPU beside CuPy and PyTorch."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.linalg

import hetero
import sbth
from benchmarks.measurements import Measurement
from benchmarks.sbth import measure
from benchmarks.sbth_vectors import module_of

BATCHES = ((20_000, 32), (5000, 64), (2000, 128), (500, 256), (100, 512))
"""Numbers and orders of the matrices on a GPU."""


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure batches of full and band matrices, which are in the memory of the device."""
    batches = BATCHES if device.kind == "cuda" else tuple((m // 20, n) for m, n in BATCHES)
    bands = (10_000, 100, 8) if device.kind == "cuda" else (500, 100, 8)
    if quick:
        batches, bands = ((5, 6),), (4, 10, 2)
    yield from (measure_full(count, n, device, np.float64) for count, n in batches)
    yield from (measure_full(count, n, device, np.float32) for count, n in batches[:3])
    yield from (measure_vectors(count, n, device) for count, n in batches)
    yield measure_bands(*bands, device, sbth.eigvals_banded)
    yield measure_bands(*bands, device, sbth.eig_banded)
    yield from (measure_full(count, n, device, np.complex128) for count, n in batches)
    yield from (measure_vectors(count, n, device, np.complex128) for count, n in batches)
    yield from (measure_pencils(count, n, device) for count, n in batches[1:] or batches)


def random_matrices(count: int, n: int, device: hetero.Device, dtype: type) -> Any:
    """Return random Hermitian matrices (count, n, n) in the memory of the device."""
    rng = np.random.default_rng(3)
    a: np.ndarray = rng.standard_normal((count, n, n), dtype=np.float32).astype(dtype)
    if np.dtype(dtype).kind == "c":
        a += 1j * rng.standard_normal((count, n, n), dtype=np.float32)
    return module_of(device).asarray(a + a.transpose(0, 2, 1).conj())


def peers(a: Any, device: hetero.Device, function: str) -> list[tuple[str, Callable[[], Any]]]:
    """Return the other programs that solve the batch by `function` of their linear algebra."""
    if device.kind == "cpu":
        return [("NumPy (LAPACK)", lambda: getattr(np.linalg, function)(a))]
    import cupy

    return [("CuPy (cuSOLVER)", lambda: getattr(cupy.linalg, function)(a))]


def torch_seconds(a: Any, device: hetero.Device, function: str) -> dict[str, float]:
    """Return PyTorch's seconds for a batch on a GPU: of one call, which may take seconds."""
    if device.kind == "cpu" or importlib.util.find_spec("torch") is None:
        return {}
    import torch

    solve, tensor = getattr(torch.linalg, function), torch.from_dlpack(a)
    solve(tensor[:2])
    torch.cuda.synchronize()
    begin = time.perf_counter()
    solve(tensor)
    torch.cuda.synchronize()
    return {"PyTorch, one call": time.perf_counter() - begin}


def measure_full(count: int, n: int, device: hetero.Device, dtype: type) -> Measurement:
    """Measure the eigenvalues of full matrices."""
    a = random_matrices(count, n, device, dtype)
    others = peers(a, device, "eigvalsh")
    note = describe_error(a[:3], sbth.eigvalsh(a, device=device)[:3])
    name = f"eigenvalues of {count} full matrices, n = {n}, {np.dtype(dtype).name}"
    figure = measure(name, lambda: sbth.eigvalsh(a, device=device), device, others, note)
    figure.peers.update(torch_seconds(a, device, "eigvalsh"))
    return figure


def describe_error(a: Any, values: Any) -> str:
    """Return the largest difference of eigenvalues to those of LAPACK, relative to the norm."""
    a, values = (x if isinstance(x, np.ndarray) else x.get() for x in (a, values))
    true = np.linalg.eigvalsh(a)
    error = float((abs(values - true).max(axis=1) / abs(true).max(axis=1)).max())
    return f"largest error of three matrices {error / np.finfo(values.dtype).eps:.2g} eps |A|"


def measure_vectors(
    count: int, n: int, device: hetero.Device, dtype: type = np.float64
) -> Measurement:
    """Measure all eigenvectors of full matrices, and their errors."""
    xp, a = module_of(device), random_matrices(count, n, device, dtype)
    note = describe_pairs(a, xp.eye(n), *sbth.eigh(a, device=device))
    kind = "complex " if np.dtype(dtype).kind == "c" else ""
    name = f"all eigenvectors of {count} {kind}full matrices, n = {n}"
    others = peers(a, device, "eigh")
    figure = measure(name, lambda: sbth.eigh(a, device=device), device, others, note)
    figure.peers.update(torch_seconds(a, device, "eigh"))
    return figure


def describe_pairs(a: Any, b: Any, w: Any, v: Any) -> str:
    """Return the largest elements of A V - B V W and V^H B V - 1, in units of n eps."""
    n = a.shape[-1]
    unit = n * float(np.finfo(v.dtype).eps)
    errors = abs(a @ v - b @ v * w[:, None, :]).max(axis=(1, 2))
    residual = float((errors / abs(w).max(axis=1)).max())
    products = v.transpose(0, 2, 1).conj() @ (b @ v)
    for i in range(n):
        products[:, i, i] -= 1.0
    orthogonality = float(abs(products).max())
    return (
        f"largest element of the residual {residual / unit:.2g} n eps of the norm, "
        f"of V^H B V - 1 {orthogonality / unit:.2g} n eps"
    )


def measure_pencils(count: int, n: int, device: hetero.Device) -> Measurement:
    """Measure all eigenvectors of generalized problems, and their errors."""
    xp, a = module_of(device), random_matrices(count, n, device, np.float64)
    b = a @ a / (4.0 * n) + xp.eye(n)
    note = describe_pairs(a, b, *sbth.eigh(a, b, device=device))
    name = f"all eigenvectors of {count} generalized problems, n = {n}"
    others: list[tuple[str, Callable[[], Any]]] = []
    if device.kind == "cpu":
        others = [
            ("SciPy, one by one", lambda: [scipy.linalg.eigh(*x) for x in zip(a, b, strict=True)])
        ]
    return measure(name, lambda: sbth.eigh(a, b, device=device), device, others, note)


def measure_bands(
    count: int, n: int, d: int, device: hetero.Device, solve: Callable[..., Any]
) -> Measurement:
    """Measure band matrices."""
    bands = np.random.default_rng(4).standard_normal((count, d + 1, n))
    here = module_of(device).asarray(bands)
    name = f"{solve.__name__} of {count} band matrices, n = {n}, bandwidth {d}"
    return measure(name, lambda: solve(here, lower=True, device=device), device)
