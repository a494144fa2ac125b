"""A few eigenvalues and eigenvectors of large sparse matrices and of linear operators."""

from __future__ import annotations

import logging
from dataclasses import replace
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from hetero import Device, philox, region, validation
from hetero.arrays import Workspace
from hetero.display.progress_bar import loop_progress, report_loop
from hetero.memory import SMALL, free_bytes, shortage
from sbth._array_module import array_module, as_library_array
from sbth._lanczos.arguments import METHODS, Arguments, read_start
from sbth._lanczos.band import NarrowedMatrix, solve_by_reduction
from sbth._lanczos.forecast import choose_method
from sbth._lanczos.operators import Operator, require_hermitian
from sbth._lanczos.problem import Problem, read_problem
from sbth._lanczos.residuals import Residuals
from sbth._lanczos.shift_invert import inverse_operator
from sbth._lanczos.thick_restart import Iteration, Outcome
from sbth._sparse_matrices import FEW_PAIRS_OF_SPARSE_PENCILS
from sbth.band_storage import copy_like, safe_scale, validate_bool
from sbth.eigenvalues import round_to_dtype
from sbth.errors import NoConvergenceError
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
    method = validation.check_choice("method", method, METHODS)
    if OPinv is not None and sigma is None:
        raise ValueError("sigma must be given with OPinv: the operator is (a - sigma)^-1")
    if M is not None:
        raise NotImplementedError(
            f"M must be None: sbth.eigsh solves A x = lambda x. {FEW_PAIRS_OF_SPARSE_PENCILS}, and "
            "sbth.eigh(a.toarray(), M.toarray()) computes all"
        )
    key = philox.key(rng)
    problem = read_problem(a, v0, device)
    arguments = Arguments.create(problem.order, k, which, sigma, ncv, maxiter, tol)
    if v0 is not None or OPinv is not None:
        method = "lanczos" if method == "auto" else method
    forecast, narrowed = choose_method(problem, arguments, method, vectors)
    LOGGER.info(
        "%s eigenvalues of order %s, %s: %s, because %s",
        *(arguments.k, problem.order, problem.dtype, forecast.method, forecast.reason),
    )
    with loop_progress("eigenpairs", enabled=validate_bool("progress", progress)):
        if narrowed is not None:
            return _solve_by_reduction(problem, narrowed, arguments, vectors)
        random = np.random.default_rng([int(word) for word in key])
        with problem.device.active():
            stream = Workspace(problem.device, problem.like).stream
            with array_module(problem.device, stream, "sbth.eigsh") as xp:
                return _solve_by_lanczos(
                    xp, problem, arguments, OPinv, v0, search_copies, vectors, random
                )


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
    method = validation.check_choice("method", method, METHODS)
    problem = read_problem(a, None, device)
    arguments = Arguments.create(problem.order, k, which, sigma, ncv, None, 0.0)
    return choose_method(problem, arguments, method, vectors)[0]


def _solve_by_reduction(
    problem: Problem, narrowed: NarrowedMatrix, arguments: Arguments, vectors: bool
) -> Any:
    """Return the wanted eigenvalues and eigenvectors by a reduction."""
    wanted = arguments.k, arguments.which, arguments.sigma
    values, columns = solve_by_reduction(narrowed, problem.order, *wanted, vectors)
    return values if columns is None else (values, columns)


def _solve_by_lanczos(
    xp: ModuleType,
    problem: Problem,
    arguments: Arguments,
    inverse: Any,
    v0: Any,
    search_copies: bool,
    vectors: bool,
    random: np.random.Generator,
) -> Any:
    """Return the wanted eigenvalues and eigenvectors by Lanczos."""
    start = read_start(v0, problem.order, problem.dtype, xp)
    shift = arguments.sigma
    kind = "operator" if problem.kind == "operator" else "matrix"
    operator, matrix = problem.operator(xp), None
    if shift is not None:
        matrix = _scaled(operator, kind, random)
        operator, shift = inverse_operator(problem, shift, inverse, xp)
        kind = "factors" if inverse is None else "operator"
    operator = _scaled(operator, kind, random)
    _require_memory(problem, arguments)
    is_exact = problem.kind != "operator" and inverse is None
    residuals = Residuals(matrix or operator, operator, shift, arguments, is_exact, random)
    with region("Lanczos"), report_loop(float(arguments.k)) as advance:
        iteration = Iteration(operator, arguments.settings(search_copies), random, advance)
        outcome = residuals.improve(iteration, iteration.run(start))
    values = residuals.eigenvalues(outcome)
    order = np.argsort(values, kind="stable")
    host = round_to_dtype("a", values[order], problem.dtype)
    eigenvalues = copy_like(host, problem.like)
    columns = None
    is_good = outcome.is_converged and residuals.are_acceptable(outcome)
    if vectors or not is_good:
        columns = as_library_array(xp, outcome.rows[xp.asarray(order)].T, problem.like)
    if not is_good:
        _refuse_iteration(arguments, outcome, eigenvalues, columns)
    return (eigenvalues, columns) if vectors else eigenvalues


def _scaled(operator: Operator, kind: str, random: np.random.Generator) -> Operator:
    """Check that an operator is Hermitian; scale it so that squares stay within range."""
    largest = require_hermitian(operator, kind, random)
    return replace(operator, factor=safe_scale(largest, np.dtype(operator.dtype.char.lower())))


def _require_memory(problem: Problem, arguments: Arguments) -> None:
    """Raise MemoryError if the vectors of Lanczos do not fit into the memory of the device."""
    count = 2 * arguments.k + 2 * arguments.size
    need = count * problem.order * problem.dtype.itemsize
    if need >= SMALL and need > (free := free_bytes(problem.device, need)):
        subject = f"Lanczos with k={arguments.k} and ncv={arguments.size} for order {problem.order}"
        raise shortage(subject, problem.device, need, free, ["a smaller ncv, or a smaller k"])


def _refuse_iteration(
    arguments: Arguments, outcome: Outcome, values: Any, vectors: Any
) -> NoReturn:
    """Raise the error for an iteration that ended too early."""
    count, k = outcome.values.size, arguments.k
    if outcome.is_converged:
        where = "" if arguments.sigma is None else f" with sigma={arguments.sigma!r}"
        raise NoConvergenceError(
            f"residuals |a v - w v|{where} are up to {outcome.residual:.2g} of the norm of a; the "
            "error carries eigenvalues and eigenvectors. "
            + ("Remedy: another sigma, farther from eigenvalues" if where else "a may be inexact"),
            values,
            vectors,
        )
    if count < k:
        state = f"{count} of {k} eigenpairs have converged"
    else:
        state = f"{k} eigenpairs have converged, but copies of theirs may be missing"
    raise NoConvergenceError(
        f"{state} after maxiter={arguments.restarts} restarts; the error carries them as "
        "eigenvalues and eigenvectors. Remedy: a larger ncv, maxiter or tol, or a shift sigma",
        values,
        vectors,
    )
