"""Reduction of a dense symmetric matrix to band form, by blocked Householder reflections."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import Device, region, validation
from hetero.devices import device_of, resolve
from hetero.display.progress_bar import loop_progress
from sbth._array_module import as_library_array, as_module_array, has_cupy, module_on
from sbth._batches import run_pieces
from sbth._bisection.eigenvalues import solve_values
from sbth._cusolver import solve_by_vendor, vendor_is_faster
from sbth._dense_to_band.reduction import reduce_to_band
from sbth._diagonal_blocks.full import solve_full
from sbth._lapack import drivers
from sbth._lapack.choice import full_driver, requested_device, require_method
from sbth._one_stage import start_reduction, suits_one_stage
from sbth._request import Request
from sbth._selection import Selection
from sbth._sparse_matrices import bandwidth_of, is_wide, mirrored, narrowed
from sbth.band_storage import (
    band_from_sparse,
    copy_like,
    magnitudes,
    matrix_of_batch,
    require_finite_triangle,
    safe_scale,
    shape_and_dtype,
    validate_band,
    validate_bool,
    validate_numbers,
    validate_real,
)
from sbth.eigenvalues import band_eigenvalues, require_lapack, round_to_dtype

BANDWIDTH = 64
"""Default number of subdiagonals: a GPU reduces them to tridiagonal form in a single stage."""

BREAK_EVEN = 1000
"""Order from which on an H200 is faster than two CPU cores."""


def full_to_band(
    a: ArrayLike,
    bandwidth: int = BANDWIDTH,
    *,
    lower: bool = False,
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Reduce a dense symmetric matrix to a band matrix with the same eigenvalues.

    Parameters
    ----------
    a : array_like (n, n) of float
        Only its lower triangle is read, and it is not modified. An array on a GPU is reduced there.
    bandwidth : int
        Number of subdiagonals to leave, at least 1.
    lower : bool
        Return lower storage. As everywhere in sbth and SciPy, upper storage is the default.
    progress : bool
        Show how far a long computation is.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU requires CuPy (cuBLAS and cuSOLVER); without CuPy, "auto" chooses the CPU.

    Returns
    -------
    array (min(bandwidth, n - 1) + 1, n)
        LAPACK band storage, float32 if `a` is, else float64. A NumPy array, or for an `a` on a GPU
        an array of its library on that GPU.

    Raises
    ------
    TypeError, ValueError
        `a` is complex, not square, holds NaN or infinity, or is so large that the band overflows.
    hetero.DeviceUnavailableError
        The device cannot be used, or it is a GPU and CuPy is not installed.

    Notes
    -----
    The algorithm factors the part of each panel below the band into Q R, and computes A <- Q^T A Q
    by matrix products (Bischof, Lang and Sun 2000). It takes n^3 multiply-adds, all but a fraction
    of about bandwidth/n of them in matrix products.
    """
    bandwidth = validation.check_integer("bandwidth", bandwidth, 1)
    lower = validate_bool("lower", lower)
    a = validate_matrix(a)
    bar = loop_progress("dense to band", enabled=progress)
    with (
        module_on(resolve_device(a, device), a, "sbth.full_to_band") as xp,
        region("dense to band"),
        bar,
    ):
        scaled, factor = reduce_to_band(xp, a, bandwidth)
        with np.errstate(over="ignore"):
            ab = scaled / scaled.dtype.type(factor)
        if factor < 1.0 and not bool(xp.isfinite(ab).all()):
            raise ValueError(
                f"a is too large: its band form exceeds the largest {ab.dtype}, "
                f"{np.finfo(ab.dtype).max:.4g}. Divide the matrix by a power of two"
            )
        if not lower:
            ab = _to_upper_storage(xp, ab)
        return as_library_array(xp, ab, a)


def validate_matrix(a: ArrayLike, name: str = "a", *, allow_complex: bool = False) -> Any:
    """Validate a matrix; return it unchanged if it is on a GPU, else as a NumPy array."""
    if device_of(a) is None:
        a = validate_numbers(name, a) if allow_complex else validate_real(name, a)
        shape = a.shape
    else:
        shape, _ = shape_and_dtype(name, a, allow_complex=allow_complex)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{name} must be a square matrix, got shape {shape}")
    return a


def resolve_device(a: Any, device: str | Device | None) -> Device:
    """Choose the device for a matrix; "auto" considers GPUs only if CuPy is installed."""
    order = a.shape[0] if isinstance(a, np.ndarray) else 0
    break_even = BREAK_EVEN if has_cupy() else None
    return resolve(device, a, work=order, break_even=break_even)


def _to_upper_storage(xp: ModuleType, ab: Any) -> Any:
    """Convert lower band storage to upper band storage."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    upper = xp.zeros_like(ab)
    for k in range(d + 1):
        upper[d - k, k:] = ab[k, : n - k]
    return upper


def narrow_band(a: Any, lower: bool) -> np.ndarray | None:
    """Return the lower band storage of a triangle of a sparse matrix; None if its band is wide."""
    if a.shape[0] != a.shape[1]:
        raise ValueError(f"a must be a square matrix, got shape {a.shape}")
    matrix, _ = narrowed(mirrored(a, lower))
    if is_wide(bandwidth_of(matrix), a.shape[0]):
        return None
    band: np.ndarray = validate_band(band_from_sparse(matrix, lower=True), "a")
    if not np.isfinite(band).all():
        raise ValueError("a must be finite: the triangle that is read holds NaN or infinity")
    return band


def solve_stack(
    arguments: dict[str, Any],
    select: Any,
    select_range: Any,
    *,
    lower: bool,
    vectors: bool,
    name: str = "select_range",
) -> Any:
    """Solve a batch of full matrices (..., n, n) by LAPACK at once; None if that is not chosen."""
    a, method = arguments["a"], arguments.get("method", "auto")
    n = a.shape[-1]
    if a.shape[-2] != n:
        raise ValueError(f"a must hold square matrices, got shape {a.shape}")
    device = resolve_device(None, requested_device(method, arguments.get("device"), a))
    if device.kind != "cpu" or full_driver(method, a.dtype) != "lapack":
        return None
    try:
        selection = Selection.create(select, select_range, arguments.get("tol"), n, name)
    except ValueError as error:
        raise ValueError(f"{error}, where a has the shape {a.shape}") from None
    first, stop = selection.bounds(np.empty(n))
    matrices = a.reshape(math.prod(a.shape[:-2]), n, n)
    real = a.real.dtype
    values = np.empty((len(matrices), stop - first), real)
    columns = np.empty((len(matrices), n, stop - first), a.dtype) if vectors else None

    def solve(piece: range) -> None:
        """Solve some matrices."""
        chosen = slice(piece.start, piece.stop)
        scaled, factors = _scale_stack(matrices[chosen], lower, piece.start, a.shape[:-2])
        if columns is None:
            batch_values = drivers.stack_values(scaled, lower)
        else:
            batch_values, all_columns = np.linalg.eigh(scaled, "L" if lower else "U")
            columns[chosen] = all_columns[..., first:stop]
        with np.errstate(over="ignore"):
            batch_values = batch_values.astype(float) / factors[:, None]
        batch_values = batch_values[:, first:stop]
        extremes = np.array([batch_values.min(initial=0.0), batch_values.max(initial=0.0)])
        round_to_dtype("a", extremes, real)  # refuses an overflow
        values[chosen] = batch_values
        for i in piece.start + np.flatnonzero(factors != 1.0):
            pairs = solve_full(matrices[i], lower, selection, vectors=vectors)
            values[i] = round_to_dtype("a", pairs[0], real)
            if columns is not None:
                columns[i] = pairs[1]

    with region("LAPACK"):
        run_pieces(solve, len(matrices), n)
    shaped = values.reshape(*a.shape[:-2], stop - first)
    return shaped if columns is None else (shaped, columns.reshape(*a.shape[:-1], stop - first))


def _scale_stack(
    a: np.ndarray, lower: bool, start: int, lead: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Scale each matrix (m, n, n) by a power of two; return the matrices and the powers.

    `start` is the number of the first matrix in the batch, which has the shape `lead`.
    """
    triangles = np.tril(a) if lower else np.triu(a)
    largest = np.max(np.abs(magnitudes(triangles)), axis=(1, 2), initial=0.0)
    if not np.isfinite(largest).all():
        index = start + int(np.argmin(np.isfinite(largest)))
        require_finite_triangle(math.inf, lower, f"{matrix_of_batch('a', index, lead)}: a")
    factors = np.array([safe_scale(float(x), a.real.dtype) for x in largest])
    if np.all(factors == 1.0):
        return a, factors
    return triangles * factors.astype(a.real.dtype)[:, None, None], factors


def full_eigenvalues(
    a: Any, selection: Selection, device: str | Device | None, method: str, progress: bool
) -> Any:
    """Compute eigenvalues of a validated matrix, of which the lower triangle is read."""
    (n, _), dtype = shape_and_dtype("a", a, allow_complex=True)
    resolved = resolve_device(a, device)
    driver = choose_driver(method, dtype, resolved, n, vectors=False)
    if driver == "lapack":
        values, _ = solve_full(a, True, selection, vectors=False)
        return copy_like(round_to_dtype("a", values, dtype), a)
    with module_on(resolved, a, "sbth.eigvalsh") as xp:
        if driver == "cusolver":
            values, _ = solve_by_vendor(xp, a, True, selection, vectors=False)
            return as_library_array(xp, values, a)
        request = Request(selection, resolved, "sbth")
        if suits_one_stage(resolved, n, dtype, vectors=False):
            with region("reduction to tridiagonal form"):
                reduced = start_reduction(xp, a, True, keeps_vectors=False).finish()
            tridiagonal = reduced.d, reduced.e
            values = solve_values(*tridiagonal, request, reduced.factor, was_reduced=True)
            return copy_like(round_to_dtype("a", values, dtype), a)
        bar = loop_progress("dense to band", enabled=progress)
        if xp is not np:
            from sbth._gpu_stages.solver import full_values  # imports CUDA

            matrix = as_module_array(xp, a).astype(dtype, copy=False)
            with bar:
                values = full_values(xp, matrix, True, request)
            return copy_like(round_to_dtype("a", values, dtype), a)
        with region("dense to band"), bar:
            ab, factor = reduce_to_band(xp, a, BANDWIDTH)
        return band_eigenvalues("a", ab, True, selection, resolved, factor, progress, method)


def choose_driver(method: str, dtype: Any, device: Device, order: int, *, vectors: bool) -> str:
    """Return "sbth", "lapack" or "cusolver" for a full matrix; check `method`."""
    require_method(method, device, full=True)
    if device.kind == "cpu":
        if np.dtype(dtype).kind == "c":
            require_lapack("a", method)
        return full_driver(method, dtype)
    if method == "auto":
        from hetero.cuda.driver import SIMULATOR

        is_faster = vendor_is_faster(order, dtype, vectors=vectors) and not SIMULATOR
        return "cusolver" if is_faster else "sbth"
    return method
