"""Eigenvalues of tridiagonal and band matrices, and of matrices in any storage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero.devices import Device
from sbth._batch.over_batches import over_batches
from sbth._problem.problem import (
    Call,
    band_problem,
    full_problem,
    require_flags,
    tridiagonal_problem,
)
from sbth._problem.sparse_matrices import check_symmetric, choose_storage
from sbth._route.route import solve
from sbth.results import Spectrum


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
    if type(check_finite) is not bool:
        require_flags(check_finite=check_finite)
    routine = "sbth.eigvalsh_tridiagonal"
    call = Call(routine, False, method, progress, device, select, select_range, tol)
    return solve(tridiagonal_problem(d, e, call))


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
    if not type(lower) is type(overwrite_a_band) is type(check_finite) is bool:
        require_flags(lower=lower, overwrite_a_band=overwrite_a_band, check_finite=check_finite)
    call = Call("sbth.eigvals_banded", False, method, progress, device, select, select_range, tol)
    return solve(band_problem(a_band, b_band, bool(lower), call))


def spectrum(
    a: Any,
    *,
    select: str | int = "a",
    select_range: tuple | None = None,
    tol: float | None = None,
    method: str = "auto",
    progress: bool = False,
    device: str | Device | None = None,
) -> Spectrum:
    """Compute eigenvalues of a dense or sparse, symmetric or Hermitian matrix.

    The rows and columns of a sparse matrix are permuted by the reverse Cuthill-McKee algorithm if
    that narrows its band. Narrow bands are reduced as such, also those of dense matrices, and wide
    ones as full matrices.

    Parameters
    ----------
    a : array_like (n, n), or SciPy sparse matrix
        In host memory. Both triangles are read, and must agree.
    select, select_range, tol
        See `eigvalsh_tridiagonal`.
    method : {"auto", "sbth", "lapack", "cusolver"}
        See `eigvals_banded` and `eigvalsh`; "cusolver" for full matrices only.
    progress : bool
        Show how far long computations are.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    Spectrum
        With `values`, and a picture by `plot`.

    Raises
    ------
    TypeError : `a` does not hold numbers
    ValueError : `a` is not square, or not symmetric or Hermitian, or holds NaN or infinity
    """
    require_flags(progress=progress)
    matrix, storage, bandwidth, permuted = choose_storage(check_symmetric(a))
    call = Call("sbth.spectrum", False, method, progress, device, select, select_range, tol)
    if storage == "band":
        problem = band_problem(matrix, None, False, call)
    else:
        problem = full_problem(matrix, None, True, call)
    values = np.asarray(solve(problem))
    method_name = "band" if storage == "band" else "dense"
    return Spectrum(values, problem.order, bandwidth, method_name, permuted)
