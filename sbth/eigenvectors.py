"""Eigenvalues and eigenvectors of tridiagonal and banded symmetric matrices."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero.arrays import Workspace
from hetero.devices import Device, device_of, resolve
from sbth._array_module import array_module, as_library_array, has_cupy, module_on
from sbth._batches import over_batches
from sbth._diagonal_blocks.bands import solve_band_blocks
from sbth._eigenpairs import solve_coupled_by_lapack, solve_parts
from sbth._lapack.choice import requested_device, require_method
from sbth._pencils.band import reduce_pencil
from sbth._pencils.band_as_full import gpu_for_pencil, reduce_as_full
from sbth._request import Request
from sbth._selection import Selection
from sbth.band_storage import (
    copy_like,
    host_workspace,
    order_and_dtype,
    validate_band,
    validate_bool,
)
from sbth.dense_eigenvectors import eigh
from sbth.eigenvalues import (
    device_for_complex_band,
    eigvals_banded,
    eigvalsh_tridiagonal,
    length_of,
    refuse_complex_device_arrays,
    round_to_dtype,
    validate_tridiagonal,
)

BREAK_EVEN = 1000
"""Order from which on "auto" takes a GPU for eigenvectors, if CuPy is installed (not measured)."""

# The functions for one matrix; those below have dealt with batches.
_tridiagonal_values = inspect.unwrap(eigvalsh_tridiagonal)
_band_values = inspect.unwrap(eigvals_banded)


@over_batches("tridiagonal", has_vectors=True, d=1, e=1)
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    eigvals_only: bool = False,
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
    """Compute eigenvalues and eigenvectors of a symmetric tridiagonal matrix.

    Parameters
    ----------
    d, e : array_like (n,), (n - 1,) of float
        Diagonal and subdiagonal. If one is on a GPU, so is the computation.
    eigvals_only : bool
        Compute no eigenvectors; this is `eigvalsh_tridiagonal`.
    select : {"a", "v", "i"}
        As in SciPy. "a", "all" or 0: all; "v", "value" or 1: those with eigenvalues in the
        half-open interval (select_range[0], select_range[1]]; "i", "index" or 2: those with the
        indices select_range[0] to select_range[1], both included, counted from 0.
    select_range : pair of numbers
        For "v" and "i".
    check_finite : bool
        Accepted for compatibility with SciPy. NaN and infinity are always refused.
    tol : float, optional
        For `eigvals_only`: see `eigvalsh_tridiagonal`. Divide and conquer has no tolerance.
    lapack_driver : str
        Name of a routine of LAPACK, as in SciPy, which then calls it, on a CPU: "stemr", "stebz",
        "sterf", "stev" or "stevd".
    method : {"auto", "sbth", "lapack"}
        "sbth" is divide and conquer, for few eigenvectors inverse iteration, by this package;
        "lapack", on a CPU, is LAPACK's divide and conquer (stevd), for up to a sixth of the
        eigenvectors bisection and inverse iteration (stebz, stein). "auto" takes
        the faster one; for all eigenvectors `sbth.solver_for` says which. On a GPU it is "sbth".
    progress : bool
        For `eigvals_only`, and for batches.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU requires CuPy (cuBLAS); without CuPy, "auto" chooses the CPU.

    Returns
    -------
    w : array (m,) of float64 (float32 if d and e are)
        The m selected eigenvalues, in ascending order; multiple ones are repeated.
    v : array (n, m)
        Column i is the normalized eigenvector of w[i]. Only if not `eigvals_only`. NumPy arrays, or
        for `d` or `e` on a GPU arrays of the same library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        ValueError also if an eigenvalue overflows.
    MemoryError
        The device has too little memory for 3 n^2 float64 and the result.

    Notes
    -----
    The method of this package is divide and conquer (Cuppen 1981) with the deflation of LAPACK's
    dlaed2, roots of the secular equation by the middle way of Li (1993) within intervals that
    always shrink, and weights for which these roots are exact (Gu and Eisenstat 1994). It takes up
    to 4/3 n^3 multiply-adds in matrix products; deflation often saves most of them.
    Eigenvectors that are not selected are left out of the last merge, so that some take a quarter
    of the time of all. Up to a twelfth of them (GPU: a twentieth) of a large matrix are computed by
    inverse iteration (Peters and Wilkinson 1979) with eigenvalues by bisection, which may differ
    from those of divide and conquer in the last bits. In units of n eps, the residual
    |T v - w v| / |T| and the error of orthogonality are below 1, by all methods, also for subsets
    that cut a cluster of eigenvalues. It computes in float64, also for
    float32.

    Blocks of different magnitudes between which the subdiagonal is negligible
    (e_i^2 <= eps^2 |d_i d_(i+1)|) are solved separately, so that the accuracy refers to the norm of
    the block.

    `d` (..., n) and `e` (..., n - 1) are a batch of matrices; see `eigvalsh_tridiagonal`.
    """
    if validate_bool("eigvals_only", eigvals_only):
        options: dict[str, Any] = {"method": method, "progress": progress, "device": device}
        return _tridiagonal_values(d, e, select, select_range, check_finite, tol, **options)
    like = d if device_of(d) is not None else e
    if device_of(like) is not None:
        refuse_complex_device_arrays(d, e)
    device = requested_device(method, device, d, e)
    break_even = BREAK_EVEN if has_cupy() else None
    device = resolve(device, d, e, work=length_of(d), break_even=break_even)
    require_method(method, device, name="sbth.eigh_tridiagonal")
    d, e = validate_tridiagonal(d, e)
    validate_bool("check_finite", check_finite)
    selection = Selection.create(select, select_range, tol, len(d))
    dtype = d.dtype if d.dtype == e.dtype else np.result_type(d, e)
    request = Request(selection, device, method)
    if device.kind == "cpu" and (solution := solve_coupled_by_lapack(d, e, request)) is not None:
        values, vectors = solution
        return round_to_dtype("d, e", values, dtype), vectors.astype(dtype, copy=False)
    with device.active():
        space = Workspace(device, like)
        require_array_module(space, "sbth.eigh_tridiagonal")
        inner = host_workspace(space)
        pairs = solve_parts(d, e, request, inner)
        rows = pairs.place(space, dtype)
        values = round_to_dtype("d, e", pairs.read_values(), dtype)
        vectors = space.result(rows, (len(values), len(d)))
        return copy_like(values, like), vectors.T


def require_array_module(space: Workspace, routine: str) -> None:
    """Raise DeviceUnavailableError if `routine` lacks CuPy on the GPU of `space`."""
    if space.device.kind == "cpu":
        return
    from hetero.cuda.driver import SIMULATOR

    if not SIMULATOR:
        with array_module(space.device, space.stream, routine):
            pass


@over_batches("band", has_vectors=True, a_band=2, b_band=2)
def eig_banded(
    a_band: ArrayLike,
    lower: bool = False,
    eigvals_only: bool = False,
    overwrite_a_band: bool = False,
    select: str | int = "a",
    select_range: tuple | None = None,
    max_ev: int = 0,
    check_finite: bool = True,
    *,
    b_band: ArrayLike | None = None,
    tol: float | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues and eigenvectors of a symmetric or Hermitian band matrix.

    Parameters
    ----------
    a_band : array_like (bandwidth + 1, n) of float or complex
        LAPACK band storage: a_band[bandwidth + i - j, j] is element (i, j) of the upper triangle,
        or with `lower` a_band[i - j, j] is element (i, j) of the lower one. Entries outside the
        matrix are ignored, and so are the imaginary parts of the diagonal. An array on a GPU is
        reduced there.
    lower : bool
        Whether `a_band` holds the lower triangle. As in SciPy, the upper one is the default.
    eigvals_only : bool
        Compute no eigenvectors; this is `eigvals_banded`.
    overwrite_a_band, max_ev
        Accepted for compatibility with SciPy, without effect; `a_band` is never modified.
    b_band : array_like (bandwidth + 1, n), optional
        A positive definite band matrix B in the same storage, for the problem A x = lambda B x.
        Its bandwidth may be another one.
    method : {"auto", "sbth", "lapack"}
        See `eigvals_banded`.
    select, select_range, check_finite, tol, progress, device
        See `eigh_tridiagonal`.

    Returns
    -------
    w : array (m,) of float64 (float32 if `a_band` is, or complex64)
        The m selected eigenvalues, in ascending order; multiple ones are repeated.
    v : array (n, m)
        Column i is the eigenvector of w[i], normalized so that v^H v = 1, or with `b_band`
        v^H B v = 1. Only if not `eigvals_only`. NumPy arrays, or
        for an `a_band` on a GPU arrays of its library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        As for `eigvals_banded`; a GPU requires CuPy. `b_band` is not positive definite.
    MemoryError
        The device has too little memory; the message says how much is needed.

    Notes
    -----
    The band is reduced as by `tridiagonalize`, and the reflections are kept on the device; then
    follow `eigh_tridiagonal` and the back-transformation of the m selected vectors. The reflections
    of consecutive columns are applied together, by matrix products: a stage takes about 4 n^2 m
    multiply-adds.

    With `b_band`, B is factored by a split Cholesky factorization, with which the problem becomes
    one of a band matrix of the bandwidth of A (Crawford 1973; LAPACK's pbstf and sbgst, on the
    CPU). On a GPU the bands, complex ones, too, are treated as full matrices, as `eigh` does: there
    this takes less time, but needs memory for eight matrices (n, n). Errors of eigenvalues are of
    the order of eps (|A| |B^-1| + cond(B) |lambda|).

    An `a_band` (..., bandwidth + 1, n) is a batch of matrices; see `eigvalsh_tridiagonal`.
    """
    if validate_bool("eigvals_only", eigvals_only):
        return _band_values(
            *(a_band, lower, overwrite_a_band, select, select_range, check_finite),
            b_band=b_band,
            tol=tol,
            method=method,
            progress=progress,
            device=device,
        )
    lower = validate_bool("lower", lower)
    validate_bool("overwrite_a_band", overwrite_a_band)
    validate_bool("check_finite", check_finite)
    if b_band is not None:
        gpu = gpu_for_pencil(a_band, b_band, method, device, "sbth.eig_banded")
        if gpu is not None:
            wanted = select, select_range, tol
            return _solve_pencil_on_gpu(a_band, b_band, lower, wanted, gpu, progress)
    band = validate_band(a_band, "a_band", allow_complex=True)
    order, dtype = order_and_dtype(band)
    device = requested_device(method, device, band)
    if dtype.kind == "c":
        device = device_for_complex_band("a_band", band, device, method, BREAK_EVEN)
    transformation = None
    if b_band is not None:
        band, transformation = reduce_pencil(band, b_band, lower, vectors=True)
        lower, device, dtype = True, "cpu", band.dtype
    selection = Selection.create(select, select_range, tol, order)
    device = resolve(device, band, work=order, break_even=BREAK_EVEN if has_cupy() else None)
    require_method(method, device, name="sbth.eig_banded")
    request = Request(selection, device, method, progress)
    if device.kind == "cpu":
        values, vectors = solve_band_blocks(np, band, lower, request)
        if transformation is not None:
            vectors = transformation @ vectors
        return round_to_dtype("a_band", values, dtype), vectors
    with module_on(device, band, "sbth.eig_banded") as xp:
        values, vectors = solve_band_blocks(xp, band, lower, request)
        values = round_to_dtype("a_band", values, dtype)
        return copy_like(values, band), as_library_array(xp, vectors, band)


def _solve_pencil_on_gpu(
    a_band: Any,
    b_band: Any,
    lower: bool,
    wanted: tuple[Any, Any, Any],
    device: Device,
    progress: bool,
) -> tuple[Any, Any]:
    """Solve a generalized problem on a GPU; `wanted` is (select, select_range, tol)."""
    with module_on(device, a_band, "sbth.eig_banded with b_band") as xp:
        c, transform = reduce_as_full(xp, a_band, b_band, lower, device)
        selection = Selection.create(*wanted, len(c))
        subset: dict[str, Any] = {}
        if selection.kind != "a":
            name = "subset_by_index" if selection.kind == "i" else "subset_by_value"
            subset[name] = selection.low, selection.high
        values, vectors = eigh(c, progress=progress, device=device, **subset)
        x = transform(xp.ascontiguousarray(vectors))
        return tuple(as_library_array(xp, array, a_band) for array in (values, x))
