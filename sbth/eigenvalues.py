"""Eigenvalues of tridiagonal and banded symmetric matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from hetero import region
from hetero.arrays import Workspace
from hetero.devices import Device, device_of, resolve
from hetero.display.progress_bar import loop_progress
from sbth._array_module import has_cupy, module_on
from sbth._batches import over_batches
from sbth._bisection.eigenvalues import solve_values
from sbth._diagonal_blocks.partition import is_coupled_band, partition_band
from sbth._lapack import drivers
from sbth._lapack.choice import band_driver, requested_device, require_method
from sbth._lapack.choice import require_lapack as require_lapack
from sbth._pencils.band import reduce_pencil
from sbth._pencils.band_as_full import gpu_for_pencil, reduce_as_full
from sbth._request import Request
from sbth._selection import Selection
from sbth.band_storage import (
    copy_like,
    copy_to_host,
    diagonals,
    is_surely_finite,
    order_and_dtype,
    real_dtype,
    shape_and_dtype,
    unscale,
    validate_band,
    validate_bool,
    validate_real,
)
from sbth.tridiagonalization import BREAK_EVEN as BAND_BREAK_EVEN
from sbth.tridiagonalization import (
    ReductionOptions,
    choose_method,
    choose_scale,
    load_tridiagonal,
    order_and_bandwidth,
    reduce_band,
    resolve_for_reduction,
)

BREAK_EVEN = 300
"""Order from which on an H200 is faster than two CPU cores, transfers included."""


@over_batches("tridiagonal", d=1, e=1)
def eigvalsh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    select: str | int = "a",
    select_range: tuple | None = None,
    check_finite: bool = True,
    tol: float | None = None,
    *,
    lapack_driver: str = "auto",
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues of a symmetric tridiagonal matrix, in ascending order.

    Parameters
    ----------
    d, e : array_like (n,), (n - 1,) of float
        Diagonal and subdiagonal. If one is on a GPU, so is the bisection.
    select : {"a", "v", "i"}
        As in SciPy. "a", "all" or 0: all eigenvalues; "v", "value" or 1: those in the half-open
        interval (select_range[0], select_range[1]]; "i", "index" or 2: those with the indices
        select_range[0] to select_range[1], both included, counted from 0.
    select_range : pair of numbers
        For "v" and "i".
    check_finite : bool
        Accepted for compatibility with SciPy. NaN and infinity are always refused, since scaling
        requires a pass over the elements anyway.
    tol : float, optional
        Length of an interval at which an eigenvalue has converged. By default, and for tol <= 0,
        a small multiple of eps times the norm of the matrix. LAPACK ignores it.
    lapack_driver : str
        Name of a routine of LAPACK, as in SciPy, which then calls it, on a CPU: "stemr", "stebz",
        "sterf", "stev" or "stevd".
    method : {"auto", "sbth", "lapack"}
        "sbth" is bisection by this package; "lapack", on a CPU, is LAPACK's sterf for all
        eigenvalues. "auto" takes the faster one for the order and the threads; `sbth.solver_for`
        says which. On a GPU it is bisection.
    progress : bool
        Show how far long computations on the CPU are.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    array of float64 (float32 if d and e are)
        Multiple eigenvalues are repeated. A NumPy array, or for `d` or `e` on a GPU an array of the
        same library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        ValueError also if an eigenvalue overflows.

    Notes
    -----
    By bisection, each eigenvalue is accurate to about 2 eps times the norm of the matrix (LAPACK's
    dstebz with abstol = eps norm); errors of sterf are a few times larger. Where an off-diagonal
    element is negligible (e_i^2 <= eps^2 |d_i d_(i+1)|),
    the matrix is split into blocks, and the accuracy refers to the norm of the block; eigenvalues
    of single rows are exact. Bisection takes k/n of the time for k of the n eigenvalues, unless the
    blocks are of different magnitudes.

    `d` (..., n) and `e` (..., n - 1) with leading dimensions are a batch of matrices. The leading
    dimensions of all arrays are broadcast, and the results have them, too; a batch may be empty. On
    a CPU each thread solves matrices of its own; for n > 128 all threads solve one matrix after the
    other. On a GPU a block of threads solves each matrix up to n = 512, bands and full matrices of
    the other solvers included, also complex ones and those with a second matrix; larger ones follow
    each other. No result depends on the other matrices. Errors name the first matrix that has one,
    `progress` shows how many matrices are solved, and an interval of values is an error, because it
    holds another number of eigenvalues for each matrix.
    """
    like = d if device_of(d) is not None else e
    if device_of(like) is not None:
        refuse_complex_device_arrays(d, e)
    device = requested_device(method, device, d, e)
    device = resolve(device, d, e, work=length_of(d), break_even=BREAK_EVEN)
    require_method(method, device, name="sbth.eigvalsh_tridiagonal")
    d, e = validate_tridiagonal(d, e)
    validate_bool("check_finite", check_finite)
    selection = Selection.create(select, select_range, tol, len(d))
    with loop_progress("bisection", enabled=progress):
        values = solve_values(d, e, Request(selection, device, method))
    return copy_like(round_to_dtype("d, e", values, np.result_type(d, e)), like)


def refuse_complex_device_arrays(d: Any, e: Any) -> None:
    """Raise TypeError for complex arrays on a GPU, before anything is copied."""
    for name, values in (("d", d), ("e", e)):
        if device_of(values) is not None:
            shape_and_dtype(name, values)


def length_of(d: Any) -> int:
    """Return the number of elements of an array_like, 0 if it has no length."""
    try:
        return len(d)
    except TypeError:
        return 0


def validate_tridiagonal(d: Any, e: Any) -> tuple[np.ndarray, np.ndarray]:
    """Validate the diagonal and subdiagonal of a matrix; return them in host memory.

    Raises
    ------
    TypeError, ValueError
        They do not hold real numbers, do not match, or hold NaN or infinity.
    """
    d, e = validate_real("d", d), validate_real("e", e)
    if d.ndim != 1 or e.shape != (max(len(d) - 1, 0),):
        raise ValueError(f"d and e must have shapes (n,) and (n - 1,), got {d.shape} and {e.shape}")
    for name, values in (("d", d), ("e", e)):
        if not (is_surely_finite(values) or np.isfinite(values).all()):
            index = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"{name} must be finite, got {values[index]} at index {index}")
    return d, e


def round_to_dtype(name: str, values: np.ndarray, dtype: DTypeLike) -> np.ndarray:
    """Round eigenvalues in ascending order to `dtype`; raise ValueError if one overflows."""
    if values.dtype != dtype:
        with np.errstate(over="ignore"):
            values = values.astype(real_dtype(dtype), copy=False)
    # The first or the last one is the largest. (No comparison with NaN is true.)
    if values.size and not (-math.inf < values.item(0) and values.item(-1) < math.inf):
        raise ValueError(
            f"{name} is too large: an eigenvalue exceeds the largest {values.dtype}, "
            f"{np.finfo(values.dtype).max:.4g}. Divide the matrix by a power of two"
        )
    return values


@over_batches("band", a_band=2, b_band=2)
def eigvals_banded(
    a_band: ArrayLike,
    lower: bool = False,
    overwrite_a_band: bool = False,
    select: str | int = "a",
    select_range: tuple | None = None,
    check_finite: bool = True,
    *,
    b_band: ArrayLike | None = None,
    tol: float | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues of a symmetric or Hermitian band matrix.

    The arguments are those of `scipy.linalg.eigvals_banded`, and some more.

    Parameters
    ----------
    a_band : array_like (bandwidth + 1, n) of float or complex
        LAPACK band storage: a_band[bandwidth + i - j, j] is element (i, j) of the upper triangle,
        or with `lower` a_band[i - j, j] is element (i, j) of the lower one. Entries outside the
        matrix are ignored, and so are the imaginary parts of the diagonal. An array on a GPU is
        reduced there; complex ones require CuPy.
    lower : bool
        Whether `a_band` holds the lower triangle. As in SciPy, the upper one is the default.
    overwrite_a_band : bool
        Accepted for compatibility with SciPy; `a_band` is never modified.
    b_band : array_like (bandwidth + 1, n), optional
        A positive definite band matrix B in the same storage, for the problem A x = lambda B x.
        On a GPU both are treated as full matrices; see `eig_banded`.
    method : {"auto", "sbth", "lapack"}
        "sbth" reduces the band by this package's bulge chasing. "lapack", on a CPU, is LAPACK, as
        a band matrix or a full one, whichever is faster. "auto" takes what is faster for the
        order, the bandwidth and the threads, which `sbth.solver_for` says; on a GPU it is "sbth".
        On a CPU complex matrices are solved by LAPACK.
    select, select_range, check_finite, tol, progress, device
        See `eigvalsh_tridiagonal`.

    Returns
    -------
    array of float64 (float32 if `a_band` is, or complex64), ascending
        A NumPy array, or for an `a_band` on a GPU an array of its library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        As for `tridiagonalize` and `eigvalsh_tridiagonal`, but elements of the tridiagonal matrix
        may overflow as long as the selected eigenvalues do not.
    MemoryError
        A GPU has too little memory for a full matrix, as which it solves complex bands of more than
        64 subdiagonals and, with eight arrays of this size, generalized problems.

    Notes
    -----
    A matrix of diagonal blocks that do not touch each other is solved block by block, with errors
    relative to the norm of each; a diagonal matrix gives its elements exactly. (Bands of 2 or more
    rows that are on a GPU already are reduced as a whole.)

    An `a_band` (..., bandwidth + 1, n) is a batch; see `eigvalsh_tridiagonal`.
    """
    lower = validate_bool("lower", lower)
    validate_bool("overwrite_a_band", overwrite_a_band)
    validate_bool("check_finite", check_finite)
    if b_band is not None:
        gpu = gpu_for_pencil(a_band, b_band, method, device, "sbth.eigvals_banded")
        if gpu is not None:
            wanted = select, select_range, tol
            return _pencil_values(a_band, b_band, lower, wanted, gpu, progress)
    band = validate_band(a_band, "a_band", allow_complex=True)
    order, dtype = order_and_dtype(band)
    device = requested_device(method, device, band)
    if dtype.kind == "c":
        device = device_for_complex_band("a_band", band, device, method, BAND_BREAK_EVEN)
    if b_band is not None:
        band, _ = reduce_pencil(band, b_band, lower, vectors=False)
        lower, device = True, "cpu"
    selection = Selection.create(select, select_range, tol, order)
    values = _split_band_eigenvalues(band, lower, selection, device, progress, method)
    return copy_like(values, a_band)


def _pencil_values(
    a_band: Any,
    b_band: Any,
    lower: bool,
    wanted: tuple[Any, Any, Any],
    device: Device,
    progress: bool,
) -> Any:
    """Compute eigenvalues of a generalized problem on a GPU; `wanted` is (select, range, tol)."""
    with module_on(device, a_band, "sbth.eigvals_banded with b_band") as xp:
        c, _ = reduce_as_full(xp, a_band, b_band, lower, device)
        from sbth._gpu_stages.solver import full_values  # imports CUDA

        request = Request(Selection.create(*wanted, len(c)), device)
        with loop_progress("dense to band", enabled=progress):
            values = full_values(xp, c, True, request)
        return copy_like(round_to_dtype("a_band", values, c.dtype), a_band)


def _split_band_eigenvalues(
    band: Any,
    lower: bool,
    selection: Selection,
    device: str | Device | None,
    progress: bool,
    method: str,
) -> np.ndarray:
    """Compute the eigenvalues of a validated band, block by block if it falls into blocks."""
    options: dict[str, Any] = {"progress": progress, "method": method}
    if device_of(band) is not None:
        shape, dtype = shape_and_dtype("a_band", band, allow_complex=True)
        if shape[0] > 1 or dtype.kind == "c":
            return band_eigenvalues("a_band", band, lower, selection, device, **options)
        band = copy_to_host("a_band", band)
    partition = None if is_coupled_band(band, lower) else partition_band(band, lower)
    if partition is None or partition.is_whole:
        return band_eigenvalues("a_band", band, lower, selection, device, **options)
    diagonal = diagonals(band, lower)[0].real
    choose_scale(band, lower, "a_band")  # refuses NaN and infinity
    # A device that cannot be used is an error for diagonal matrices, too.
    require_method(method, resolve(device), name="sbth.eigvals_banded")
    parts = [diagonal[partition.single]]
    for rows in partition.groups:
        part = np.ascontiguousarray(band[:, rows])
        chosen = selection.of_part()
        parts.append(band_eigenvalues("a_band", part, lower, chosen, device, **options))
    return selection.select(np.concatenate(parts))


def band_eigenvalues(
    name: str,
    ab: Any,
    lower: bool,
    selection: Selection,
    device: str | Device | None,
    factor: float = 1.0,
    progress: bool = False,
    method: str = "sbth",
) -> np.ndarray:
    """Compute eigenvalues, in host memory, of a validated band that was multiplied by `factor`."""
    requested = device
    order, width = order_and_bandwidth(ab)
    device = resolve_for_reduction(requested, ab, order, width)
    require_method(method, device, name="sbth.eigvals_banded")
    if device.kind == "cpu":
        driver = band_driver(method, order, width, ab.dtype, vectors=False)
        if driver != "sbth":
            return _band_values_by_lapack(name, ab, lower, selection, factor, driver)
    elif (dtype := order_and_dtype(ab)[1]).kind == "c":
        values = _hermitian_band_values(name, ab, lower, Request(selection, device))
        return round_to_dtype(name, values, dtype)
    is_tridiagonal = width <= 1
    if is_tridiagonal and isinstance(ab, np.ndarray):
        d, e = load_tridiagonal(ab, lower, name)
    else:
        _, options = choose_method(ab, ReductionOptions(), requested)
        bar = loop_progress("band to tridiagonal", enabled=progress)
        with device.active(), region("band to tridiagonal"), bar:
            matrix = reduce_band(ab, lower, options, Workspace(device, ab), name)
            d, e = matrix.diagonals(scaled=True)
        factor *= matrix.factor
    method = method if device.kind == "cpu" else "sbth"
    if device_of(ab) is None:
        device = resolve(requested, work=order, break_even=BREAK_EVEN)
    with loop_progress("bisection", enabled=progress):
        request = Request(selection, device, method)
        values = solve_values(d, e, request, factor, was_reduced=not is_tridiagonal)
    return round_to_dtype(name, values, d.dtype)


def _band_values_by_lapack(
    name: str, ab: np.ndarray, lower: bool, selection: Selection, factor: float, driver: str
) -> np.ndarray:
    """Compute what `band_eigenvalues` does by LAPACK, as a band or as a full matrix."""
    if ab.shape[1] == 0:
        return np.zeros(0, real_dtype(ab.dtype))
    scale = choose_scale(ab, lower, name)
    scaled = ab if scale == 1.0 else ab * ab.real.dtype.type(scale)
    with region("LAPACK"):
        if driver == "dense":
            values = drivers.full_values(drivers.expand(scaled, lower), lower)
        else:
            values = drivers.band_values(scaled, lower)
    if scale == factor == 1.0:
        return selection.select_sorted(values)  # far from overflow
    values = selection.select_sorted(unscale(values, scale, factor))
    return round_to_dtype(name, values, ab.dtype)


def _hermitian_band_values(name: str, ab: Any, lower: bool, request: Request) -> np.ndarray:
    """Compute eigenvalues of a validated complex band on a GPU."""
    with module_on(request.device, ab, "sbth.eigvals_banded") as xp:
        from sbth._gpu_stages.solver import band_values  # imports CUDA

        return band_values(xp, name, ab, lower, request)


def device_for_complex_band(
    name: str, band: Any, device: str | Device | None, method: str, break_even: int
) -> Device:
    """Return the device for a complex band.

    "auto" considers GPUs from the order `break_even` on, if CuPy is installed.

    Raises
    ------
    ValueError
        This package's loops on a CPU, which are for real numbers, are asked for a complex band.
    """
    order, _ = order_and_dtype(band)
    chosen = resolve(device, band, work=order, break_even=break_even if has_cupy() else None)
    if chosen.kind == "cpu":
        require_lapack(name, method)
    return chosen
