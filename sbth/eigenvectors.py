"""Eigenvalues and eigenvectors of tridiagonal and band matrices."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from hetero.devices import Device
from sbth._batch.over_batches import over_batches
from sbth._problem.problem import Call, band_problem, require_flags, tridiagonal_problem
from sbth._route.route import solve


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
    if not type(eigvals_only) is type(check_finite) is bool:
        require_flags(eigvals_only=eigvals_only, check_finite=check_finite)
    routine = "sbth.eigh_tridiagonal"
    call = Call(routine, not eigvals_only, method, progress, device, select, select_range, tol)
    return solve(tridiagonal_problem(d, e, call))


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
    if (
        not type(eigvals_only)
        is type(lower)
        is type(overwrite_a_band)
        is type(check_finite)
        is bool
    ):
        require_flags(eigvals_only=eigvals_only, lower=lower, overwrite_a_band=overwrite_a_band)
        require_flags(check_finite=check_finite)
    routine = "sbth.eig_banded"
    call = Call(routine, not eigvals_only, method, progress, device, select, select_range, tol)
    return solve(band_problem(a_band, b_band, bool(lower), call))
