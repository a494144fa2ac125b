"""A few eigenvalues and eigenvectors of large sparse matrices and of linear operators."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from hetero import Device, philox
from hetero.display.progress_bar import loop_progress
from sbth._lanczos.arguments import Arguments, check_method, refuse_pencil
from sbth._lanczos.band import solve_by_reduction
from sbth._lanczos.forecast import choose_method
from sbth._lanczos.problem import read_problem
from sbth._lanczos.solve import solve_by_lanczos
from sbth._problem.validation import validate_bool
from sbth._vendor.array_modules import module_on
from sbth.results import EigshForecast

LOGGER = logging.getLogger(__name__)


def eigsh(
    a: Any,
    k: int = 6,
    *,
    which: str = "LM",
    sigma: float | None = None,
    M: Any = None,
    OPinv: Any = None,
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0.0,
    return_eigenvectors: bool = True,
    search_copies: bool = True,
    method: str = "auto",
    rng: Any = 0,
    progress: bool = False,
    device: str | Device | None = None,
) -> Any:
    """Compute a few eigenvalues and eigenvectors of a large symmetric or Hermitian matrix.

    Parameters
    ----------
    a : sparse matrix, array (n, n) or linear operator
        Real or complex: a SciPy sparse matrix or array, a NumPy array or what becomes one, an
        object with `shape`, `dtype` and `matvec` (scipy.sparse.linalg.LinearOperator); or a sparse
        matrix, array or operator of CuPy, or another array on a GPU, where the computation runs
        then. Both triangles of a matrix are read.
    k : int
        Number of eigenvalues, less than n.
    which : {"LM", "SM", "LA", "SA", "BE"}
        The k eigenvalues of largest or smallest magnitude, the (algebraically) largest or smallest
        ones, or one half from each end, if k is odd one more from the upper end. "SM" converges
        slowly if the spectrum lies on both sides of 0: `sigma=0.0` is better. With `sigma` it
        refers to 1 / (lambda - sigma), so that "LM" are the eigenvalues nearest to `sigma`.
    sigma : float, optional
        Shift for eigenvalues inside the spectrum, or near an end where they are dense: Lanczos is
        applied to (a - sigma)^-1. A sparse matrix in host memory is factored by SuperLU, a dense
        one by LAPACK or cuSOLVER. It may be an eigenvalue: a shift that is one to rounding is
        moved by rounding errors.
    M : None
        There is no generalized problem A x = lambda M x here; the error for another value says what
        solves it.
    OPinv : linear operator, optional
        Multiplies by (a - sigma)^-1, in place of a factorization.
    v0 : array (n,), optional
        Start vector, by default a random one.
    ncv : int, optional
        Vectors of the Krylov space beside eigenvectors that have converged, k < ncv <= n. More of
        them need more memory and fewer products. The default is max(2 k + 1, 40).
    maxiter : int, optional
        Most restarts, by default 10 n.
    tol : float
        Norm of the residual that is good enough, relative to the eigenvalue. 0 iterates to rounding
        errors: 10 eps times the largest eigenvalue.
    return_eigenvectors : bool
        Return eigenvectors, too.
    search_copies : bool
        Search for copies of multiple eigenvalues that were missed; see Notes.
    method : {"auto", "lanczos", "band"}
        "band" permutes the matrix to a narrow band (reverse Cuthill-McKee) and reduces that
        (`eig_banded`), a wide one as a full matrix (`eigh`). "auto" takes it for matrices of order
        up to 300 and where a forecast of the costs says so, as `forecast_eigsh` tells, but not
        with `v0` or `OPinv`. `ncv`, `maxiter`, `tol` and `rng` are for Lanczos.
    rng : None, int, numpy.random.SeedSequence or Generator
        Source of random vectors. With an integer the same call gives the same bits on a device.
    progress : bool
        Show how many eigenpairs have converged.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device
        By default that of `a`; for matrices in host memory the CPU. A GPU requires CuPy.

    Returns
    -------
    w : array (k,) of float64 (float32 if `a` is, or complex64)
        Eigenvalues in ascending order; multiple ones are repeated.
    v : array (n, k)
        Column i is the normalized eigenvector of w[i]. Only if `return_eigenvectors`. NumPy arrays,
        or for an `a` on a GPU arrays of its library on that GPU.

    Raises
    ------
    sbth.NoConvergenceError
        `maxiter` restarts did not suffice. The error carries the pairs that have converged. Or
        residuals |A v - w v| stay above 1e5 eps |A| (of operators: 1e-6 |A|, float32 1e-2 |A|), or
        what `tol` allows; for operators there is a RuntimeWarning before that.
    TypeError, ValueError, hetero.DeviceUnavailableError
        `a` is not square, not symmetric, or holds NaN or infinity; an argument does not suit it.
    MemoryError
        The device has too little memory for the vectors.

    Notes
    -----
    The method is thick-restart Lanczos (Wu and Simon 2000) with full orthogonalization;
    eigenvectors that have converged are locked. Residuals |A v - w v| and errors of orthogonality
    are a few times 10 eps |A| and eps. With `sigma`, convergence is that of (a - sigma)^-1, beside
    whose largest eigenvalue the others may be small: residuals are measured at the end, and pairs
    with more than 100 eps |A| are computed again, orthogonal to the others. It needs memory for
    2 k + 2 ncv vectors, beside the matrix.

    The Krylov space of one vector holds one eigenvector of a multiple eigenvalue. After k pairs
    have converged, the iteration is therefore repeated with a new random vector, orthogonal to
    them, until such a run shows that no other eigenvalue is wanted more. The eigenvalues are then
    the wanted ones with their multiplicities, but for a probability of about 1e-4. This bound is
    one for exact arithmetic, and for gaps between wanted and unwanted eigenvalues that are larger
    than 2e-11 sqrt(n) |A|: in a narrower gap an unwanted eigenvalue may take the place of a wanted
    one, which differs from it by no more than the gap. In float32 and for "SM" without `sigma`
    there is no such bound. The search often takes as long as the first run; without it
    (`search_copies=False`) copies may be missed, as by ARPACK.

    That `a` is symmetric is checked element by element for matrices in host memory, and by the
    products of two random vectors for all others, where small errors pass.
    """
    vectors = validate_bool("return_eigenvectors", return_eigenvectors)
    search_copies = validate_bool("search_copies", search_copies)
    method = check_method(method, v0, OPinv, sigma)
    refuse_pencil(M)
    key, problem = philox.key(rng), read_problem(a, v0, device)
    arguments = Arguments(k, which, sigma, ncv, maxiter, tol, search_copies).checked(problem.order)
    forecast, narrowed = choose_method(problem, arguments, method, vectors)
    LOGGER.info(
        "%s eigenvalues of order %s, %s: %s, because %s",
        *(arguments.k, problem.order, problem.dtype, forecast.method, forecast.reason),
    )
    with loop_progress("eigenpairs", enabled=validate_bool("progress", progress)):
        if narrowed is not None:
            return solve_by_reduction(narrowed, arguments, vectors)
        random = np.random.default_rng([int(word) for word in key])
        with module_on(problem.device, problem.like, "sbth.eigsh") as xp:
            return solve_by_lanczos(xp, problem, arguments, OPinv, v0, vectors, random)


def forecast_eigsh(
    a: Any,
    k: int = 6,
    *,
    which: str = "LM",
    sigma: float | None = None,
    ncv: int | None = None,
    return_eigenvectors: bool = True,
    method: str = "auto",
    device: str | Device | None = None,
) -> EigshForecast:
    """Say how `eigsh` would solve a problem, and why, without solving it.

    The arguments are those of `eigsh`, and so are the errors. The spectrum is unknown, so that the
    forecast of Lanczos assumes that of a grid with the length n / bandwidth: it may be wrong by a
    factor of ten.

    Returns
    -------
    EigshForecast
    """
    vectors = validate_bool("return_eigenvectors", return_eigenvectors)
    method = check_method(method)
    problem = read_problem(a, None, device)
    arguments = Arguments(k, which, sigma, ncv).checked(problem.order)
    return choose_method(problem, arguments, method, vectors)[0]
