"""Full symmetric matrices: eigenvalues and eigenvectors, and the reduction to a band."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import Device, region, validation
from hetero.display.progress_bar import loop_progress
from sbth._batch.over_batches import over_batches
from sbth._problem.arrays import is_sparse
from sbth._problem.problem import Call, band_problem, full_problem, read_subset, require_flags
from sbth._problem.sparse_matrices import (
    as_full,
    choose_storage,
    mirrored,
    require_moderate_order,
)
from sbth._problem.validation import validate_bool, validate_matrix
from sbth._reduction.dense_to_band.reduction import reduce_to_band
from sbth._route.route import solve
from sbth._vendor.array_modules import as_library_array, module_on

BANDWIDTH = 64
"""Default number of subdiagonals: a GPU reduces them to tridiagonal form in a single stage."""

_FOUR_FLAGS = bool, bool, bool, bool


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
    a, order, _ = validate_matrix(a)
    order = order if isinstance(a, np.ndarray) else 0
    chosen = Call("sbth.full_to_band", False, device=device).choose_device("full", order, (a,))
    bar = loop_progress("dense to band", enabled=progress)
    with module_on(chosen, a, "sbth.full_to_band") as xp, region("dense to band"), bar:
        return as_library_array(xp, reduce_to_band(xp, a, bandwidth, lower), a)


@over_batches("full", has_vectors=True, a=2, b=2)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    subset_by_value: tuple[float, float] | None = None,
    driver: str | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues and eigenvectors of a dense symmetric or Hermitian matrix.

    Parameters
    ----------
    a : array_like (n, n) of float or complex, or SciPy sparse matrix
        Only one triangle is read, and it is not modified; imaginary parts of the diagonal are
        ignored. A sparse matrix is treated as a dense one. An array on a GPU is reduced there.
    b : array_like (n, n) of float or complex, or SciPy sparse matrix, optional
        A positive definite matrix B, for the problem A x = lambda B x. The same triangle is read.
        If `a` or `b` is sparse, the order is at most 2000.
    lower : bool
        Whether the lower triangle is read, as by default in SciPy, or the upper one.
    eigvals_only : bool
        Compute no eigenvectors.
    overwrite_a, overwrite_b, check_finite : bool
        Accepted for compatibility with SciPy. Neither `a` nor `b` is modified, and NaN and infinity
        are always refused.
    type : {1, 2, 3}
        The problem with `b`: A x = lambda B x, A B x = lambda x or B A x = lambda x. The last two
        are solved by SciPy, on a CPU.
    subset_by_index : (int, int), optional
        First and last index of the eigenvalues to compute, both included, counted from 0.
    subset_by_value : (float, float), optional
        Only those with eigenvalues in the half-open interval (low, high].
    driver : str, optional
        Name of a routine of LAPACK, as in SciPy, which then calls it, on a CPU: "ev", "evd", "evr"
        or "evx", with `b` "gv", "gvd" or "gvx".
    method : {"auto", "sbth", "lapack", "cusolver"}
        "sbth", on a GPU, are the stages of this package; "lapack", on a CPU, is LAPACK through
        NumPy, for n <= 64 and for up to a sixth of the eigenvectors (n > 300: a quarter) through
        SciPy; "cusolver", on a GPU, is the vendor's solver through CuPy. "auto" takes what is
        faster for the order and the threads, which `sbth.solver_for` says.
    progress : bool
        Show how far long computations on the CPU, and batches, are.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        A GPU requires CuPy (cuBLAS and cuSOLVER); without CuPy, "auto" chooses the CPU.

    Returns
    -------
    w : array (m,) of float64 (float32 if `a` is, or complex64)
        The m selected eigenvalues, in ascending order; multiple ones are repeated.
    v : array (n, m)
        Column i is the eigenvector of w[i], normalized so that v^H v = 1, or with `b` v^H B v = 1.
        Only if not `eigvals_only`. NumPy arrays, or
        for an `a` on a GPU arrays of its library on that GPU.

    Raises
    ------
    TypeError, ValueError, hetero.DeviceUnavailableError
        `a` is not square, holds NaN or infinity, or an eigenvalue overflows; a subset does not suit
        it, or both subsets are given; `b` is of another order or not positive definite; `method`
        does not suit the device.
    numpy.linalg.LinAlgError
        LAPACK did not converge, which has not been seen.
    MemoryError
        The device has too little memory; the message says how much is needed.

    Notes
    -----
    The stages of this package are those of `full_to_band` and `eig_banded`. The blocks of
    reflections of the first one are kept and applied to the m selected vectors, which takes n^2 m
    multiply-adds in matrix products.

    With `b`, the problem is that of L^-1 A L^-H, where B = L L^H is the Cholesky factorization, and
    errors of eigenvalues are of the order of eps (|A| |B^-1| + cond(B) |lambda|).

    Arrays (..., n, n) are batches of matrices; see `eigvalsh_tridiagonal`.
    """
    classes = eigvals_only.__class__, lower.__class__, overwrite_a.__class__, check_finite.__class__
    if classes != _FOUR_FLAGS:
        require_flags(eigvals_only=eigvals_only, lower=lower, overwrite_a=overwrite_a)
        require_flags(check_finite=check_finite)
    choice = read_subset(subset_by_index, subset_by_value)
    call = Call("sbth.eigh", not eigvals_only, method, progress, device, *choice)
    if b is not None:
        require_moderate_order(a, b)
        b = as_full(b, lower)
    return solve(full_problem(as_full(a, lower), b, bool(lower), call))


@over_batches("full", a=2, b=2)
def eigvalsh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    subset_by_value: tuple[float, float] | None = None,
    driver: str | None = None,
    select: str | int = "a",
    select_range: tuple | None = None,
    tol: float | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute eigenvalues of a symmetric or Hermitian matrix.

    `a` may be a sparse matrix of SciPy; it is permuted if that narrows its band (`sbth.spectrum`
    also tells how), and a narrow band is reduced as such.

    `method` is on a CPU "lapack", on a GPU "sbth" (`full_to_band` and `eigvals_banded`) or
    "cusolver" (through CuPy), and "sbth" for the narrow band of a sparse matrix. "auto" takes what
    is faster for the order, which `sbth.solver_for` says. `b` and the parameters after it, up to
    `driver`, are those of `eigh`; `select`, `select_range` and `tol` those of `eigvals_banded`,
    which may not be given beside a subset or `b`. Results and errors are those of `eigvals_banded`.
    An array (..., n, n) is a batch of matrices; see `eigvalsh_tridiagonal`.
    """
    if lower is not True and lower is not False:
        require_flags(lower=lower)
    choice: tuple[Any, ...] = select, select_range, tol
    if not (b is None and subset_by_index is None and subset_by_value is None):
        if not isinstance(select, str) or select != "a" or tol is not None:
            raise ValueError("select and tol must not be given beside a subset or b")
        choice = read_subset(subset_by_index, subset_by_value)
    call = Call("sbth.eigvalsh", False, method, progress, device, *choice)
    if b is not None:
        require_moderate_order(a, b)
        a, b = as_full(a, lower), as_full(b, lower)
    elif is_sparse(a):
        a, storage, *_ = choose_storage(mirrored(a, lower), lower=True)
        if storage == "band":
            return solve(band_problem(a, None, True, call)._replace(name="a"))
    return solve(full_problem(a, b, bool(lower), call))
