"""Full symmetric matrices: seconds of values, of all vectors, and of the 100 lowest pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

import hetero
import sbth
from benchmarks.measurements import Measurement
from benchmarks.sbth_vectors import describe_ratios, module_of

_REPEATS = 5


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure random matrices that are on the device already."""
    values = vectors = [100, 200, 500, 1000, 2000]
    largest, single, complexes = [1000], [1000], [1000]
    if device.kind == "cuda":
        values = [*values, 3000, 5000, 7000, 10_000]
        vectors = [500, 1000, 2000, 3000, 5000, 7000, 10_000]
        largest, single, complexes = [10_000], [5000, 10_000], [5000]
    if quick:
        values = vectors = largest = single = complexes = [60]
    yield from (measure_values(n, device) for n in values)
    yield from (measure_values(n, device, np.float32) for n in single)
    yield from (measure_values(n, device, np.complex128) for n in complexes)
    yield from (measure_vectors(n, device) for n in vectors)
    yield measure_vectors(single[0], device, np.float32)
    yield measure_vectors(complexes[0], device, np.complex128)
    yield measure_product(single[0], device)
    yield from (measure_lowest(n, min(100, n), device) for n in largest)


def measure_values(n: int, device: hetero.Device, dtype: type = np.float64) -> Measurement:
    """Measure all eigenvalues."""
    a, xp = _matrix(n, device, dtype), module_of(device)
    name = f"all eigenvalues of a full matrix, n = {n}, {np.dtype(dtype).name}"
    note = sbth.solver_for(n, eigvals_only=True, dtype=dtype, device=device)
    solve = lambda: sbth.eigvalsh(a, device=device)  # noqa: E731
    return _measure(name, solve, device, [(_vendor(device), lambda: xp.linalg.eigvalsh(a))], note)


def measure_vectors(n: int, device: hetero.Device, dtype: type = np.float64) -> Measurement:
    """Measure all eigenvectors."""
    a, xp = _matrix(n, device, dtype), module_of(device)
    peers = [(_vendor(device), lambda: xp.linalg.eigh(a))]
    chosen = sbth.solver_for(n, dtype=dtype, device=device)
    method = "sbth" if device.kind == "cuda" else "auto"
    if not chosen.startswith("sbth") and method == "sbth":
        peers.append(("method='sbth'", lambda: sbth.eigh(a, method="sbth", device=device)))
    solve = lambda: sbth.eigh(a, device=device)  # noqa: E731
    ratios = describe_ratios(xp, a, *sbth.eigh(a, method=method, device=device))
    note = f"{chosen}; method={method!r}: {ratios}"
    name = f"all eigenvectors of a full matrix, n = {n}, {np.dtype(dtype).name}"
    return _measure(name, solve, device, peers, note)


def measure_product(n: int, device: hetero.Device) -> Measurement:
    """Measure a product of two matrices: refining eigenvectors takes four of them at least."""
    a = _matrix(n, device, np.float64)
    return _measure(f"product of two float64 matrices, n = {n}", lambda: a @ a, device)


def measure_lowest(n: int, count: int, device: hetero.Device) -> Measurement:
    """Measure the eigenvectors of the lowest eigenvalues."""
    a = _matrix(n, device, np.float64)
    solve = lambda: sbth.eigh(a, subset_by_index=(0, count - 1), device=device)  # noqa: E731
    return _measure(f"{count} lowest eigenpairs of a full matrix, n = {n}", solve, device)


def _matrix(n: int, device: hetero.Device, dtype: type) -> Any:
    """Return a random symmetric or Hermitian matrix on the device."""
    xp = module_of(device)
    rng = (np if device.kind == "cpu" else xp).random.default_rng(3)
    a = rng.standard_normal((n, n)).astype(dtype)
    if a.dtype.kind == "c":
        a += 1j * rng.standard_normal((n, n))
    return xp.ascontiguousarray(a + a.conj().T)


def _vendor(device: hetero.Device) -> str:
    """Return the name of the other program."""
    return "CuPy (cuSOLVER)" if device.kind == "cuda" else "NumPy (LAPACK)"


def _measure(
    name: str,
    solve: Callable,
    device: hetero.Device,
    peers: Iterable[tuple[str, Callable]] = (),
    note: str = "",
) -> Measurement:
    """Measure the median of a few calls."""
    timing = hetero.benchmark(solve, repeats=_REPEATS, device=device)
    medians = {
        other: hetero.benchmark(call, repeats=_REPEATS, device=device).median
        for other, call in peers
    }
    return Measurement(name, timing.median, "s", peers=medians, note=note, timing=timing.as_dict())
