"""The operator of shift-invert: (A - sigma)^-1 by a factorization, or as the user gives it."""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np

from sbth._lanczos.operators import Operator
from sbth._lanczos.problem import SparseProblem, read_inverse
from sbth._vendor.array_modules import as_module_array

_MOVE = 8.0
"""Distance, in units of eps times the norm of A - sigma, by which a shift is moved if the factors
are singular to rounding: eigenvalues have errors of this size anyway."""


def inverse_operator(
    problem: SparseProblem, sigma: float, inverse: Any, xp: ModuleType
) -> tuple[Operator, float]:
    """Return (A - sigma)^-1 as an operator, and sigma.

    Sparse matrices in host memory are factored by SuperLU, dense ones by LAPACK or cuSOLVER. A
    sigma that is an eigenvalue to rounding is moved by rounding errors: without that, factors do
    not exist, or amplify rounding errors until nothing else is left.

    Raises
    ------
    TypeError, ValueError
        `inverse` is needed and is not given; or there are no factors for any shift.
    """
    if inverse is not None:
        product = read_inverse(inverse, problem).product(xp)
        name = f"OPinv, the inverse of a - sigma with sigma={sigma!r},"
        return problem.operator(xp, product, name), sigma
    if problem.kind == "operator" or (problem.kind == "sparse" and problem.device.kind == "cuda"):
        kind = "a linear operator" if problem.kind == "operator" else "a sparse matrix on a GPU"
        raise TypeError(
            f"OPinv must be given with sigma if a is {kind}: only sparse matrices in host memory "
            "and dense ones are factored (cupyx.scipy.sparse.linalg.splu(a - sigma I).solve is the "
            "product of such an operator on a GPU)"
        )
    factor = _factor_sparse if problem.kind == "sparse" else _factor_dense
    rounding = float(np.finfo(problem.dtype).eps) * _scale(problem, sigma, xp)
    try:
        product = factor(problem, sigma, xp)
        is_singular = _stretch(product, problem, xp) * rounding > 1.0
    except (RuntimeError, np.linalg.LinAlgError):
        is_singular = True
    if is_singular:
        moved = sigma + _MOVE * rounding
        try:
            product = factor(problem, moved, xp)
        except (RuntimeError, np.linalg.LinAlgError) as error:
            raise ValueError(
                f"sigma={sigma!r} is an eigenvalue to rounding: a - sigma cannot be factored "
                f"({error}); shift it a little"
            ) from None
        sigma = moved
    name = f"the inverse of a - sigma with sigma={sigma!r}"
    return problem.operator(xp, product, name), sigma


def _stretch(product: Any, problem: SparseProblem, xp: ModuleType) -> float:
    """Return about the length of the image of a random unit vector; infinity if it overflows."""
    operator = problem.operator(xp, product)
    x = operator.random_vector(np.random.default_rng(0))
    largest = float(abs(operator.apply(x / xp.linalg.norm(x))).max())  # squares might overflow
    return largest * np.sqrt(problem.order) if np.isfinite(largest) else np.inf


def _scale(problem: SparseProblem, sigma: float, xp: ModuleType) -> float:
    """Return the norm of A - sigma, or a bound of it, or a number near underflow if it is 0."""
    is_dense = problem.kind == "dense"
    matrix = as_module_array(xp, problem.matrix) if is_dense else problem.matrix
    sums = abs(matrix).sum(axis=0)
    real = np.finfo(problem.dtype)
    return (float(sums.max()) + abs(sigma)) or float(real.tiny / real.eps)


def _factor_sparse(problem: SparseProblem, sigma: float, xp: ModuleType) -> Any:
    """Return the function that solves with a sparse matrix, factored with a symmetric ordering."""
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    shifted = problem.matrix - sigma * identity(problem.order, dtype=problem.dtype, format="csr")
    options = {"SymmetricMode": True}
    return splu(
        shifted.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.1, options=options
    ).solve


def _factor_dense(problem: SparseProblem, sigma: float, xp: ModuleType) -> Any:
    """Return the function that solves with a dense matrix."""
    a = as_module_array(xp, problem.matrix).astype(problem.dtype, copy=True)
    diagonal = xp.arange(problem.order)
    a[diagonal, diagonal] -= sigma
    if not bool(xp.isfinite(a).all()):  # of a matrix on a GPU nobody has looked at the elements
        raise ValueError("a must be finite, but a - sigma holds NaN or infinity")
    if xp is np:
        from scipy.linalg import lu_factor, lu_solve
    else:
        from cupyx.scipy.linalg import lu_factor, lu_solve
    with warnings.catch_warnings():  # for a pivot of 0 there is an error
        warnings.simplefilter("ignore", RuntimeWarning)
        factors = lu_factor(a)
    if float(abs(factors[0][diagonal, diagonal]).min()) == 0.0:
        raise np.linalg.LinAlgError("a pivot is 0")
    return lambda x: lu_solve(factors, x)
