"""The order of the steps of inverse iteration, and the check of what they give."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from hetero.arrays import Array, Workspace
from sbth._tridiagonal import inverse_iteration
from sbth._tridiagonal.inverse_iteration.layout import Matrix
from sbth._vendor.array_modules import array_module
from sbth._vendor.checks import tridiagonal_residuals

_EPSILON = 2.0**-52

SEPARATION = 0.5
"""Least distance of the shifts, in units of eps |T|.

Equal eigenvalues would have equal factors. Of 0, 0.1, 0.5 and 2, this one left the smallest
residuals of spectra with hundreds of eigenvalues that agree to rounding.
"""

RESIDUAL = 0.25, 20.0
"""Largest residual |T v - x v| that is accepted, in units of eps |T|: a factor of n, and the least.

Up to 0.17 n eps |T| was seen for n = 100 to 2000; divide and conquer leaves up to 0.2 n eps |T|.
"""

DEVIATION = 0.02, 20.0
"""Largest element of V^T V - 1 that is accepted, in units of eps: as for `RESIDUAL`."""


def compute_vectors(
    d: np.ndarray, e: np.ndarray, values: np.ndarray, space: Workspace
) -> Array | None:
    """Compute eigenvectors of a tridiagonal matrix that does not fall into blocks, of norm 1 or so.

    Parameters
    ----------
    d, e : float64 (n,), (n - 1,)
        In host memory.
    values : float64 (m,)
        Eigenvalues in ascending order, multiple ones repeated, with errors of a few eps |T|.
    space : Workspace

    Returns
    -------
    array (m, n) on the device, or None
        Orthonormal rows with small residuals. None if no attempt led to such rows.
    """
    loops, stream, n, m = inverse_iteration.loops(space.device), space.stream, d.size, values.size
    norm = _bound_norm(d, e)
    matrix = Matrix(
        space.input("diagonal", np.append(d, 0.0)),
        space.input("subdiagonal", np.append(e, (0.0, 0.0))),
        space.input("shifts", separate(values, norm)),
    )
    exact_values = space.input("values", values)
    with region("inverse iteration"), _array_module(space) as xp:
        factors, vectors = loops.allocate(n, m, stream)
        loops.factor(matrix, _EPSILON * norm, factors, stream)
        diagonal, below = xp.asarray(matrix.diagonal)[:n], xp.asarray(matrix.below)[: n - 1]
        for orthogonalize, rounds in ATTEMPTS:
            x: Any = vectors
            with contextlib.suppress(np.linalg.LinAlgError):
                for i in range(rounds):
                    loops.solve(factors, x, i == 0, stream)
                    # CuPy's factorization returns columns that follow each other in memory.
                    x = xp.ascontiguousarray(orthogonalize(xp, xp.asarray(x)))
                x = orthogonalize(xp, x)
                errors = _measure(xp, diagonal, below, xp.asarray(exact_values), x)
                if _are_accepted(errors, n, norm):
                    return xp.ascontiguousarray(x.T)
    return None


def separate(values: np.ndarray, norm: float) -> np.ndarray:
    """Return ascending shifts next to ascending eigenvalues, no two of which are equal."""
    steps = np.arange(values.size) * (SEPARATION * _EPSILON * norm)
    return np.maximum.accumulate(values - steps) + steps


def _bound_norm(d: np.ndarray, e: np.ndarray) -> float:
    """Return the largest sum of magnitudes of a row."""
    sums = np.abs(d)
    sums[1:] += np.abs(e)
    sums[:-1] += np.abs(e)
    return float(np.max(sums))


@contextlib.contextmanager
def _array_module(space: Workspace) -> Iterator[ModuleType]:
    """Yield the library that computes products on the device; NumPy in the simulator."""
    if space.device.kind == "cuda":
        from hetero.cuda.driver import SIMULATOR

        if SIMULATOR:
            yield np
            return
    with array_module(space.device, space.stream, "sbth.eigh_tridiagonal") as xp:
        yield xp


def orthogonalize_by_cholesky(xp: ModuleType, x: Any) -> Any:
    """Return X L^-T, where X^T X = L L^T: orthogonal columns for independent ones (n, m).

    The error of orthogonality is of the order of eps cond(X)^2, so that two calls reach eps for
    columns that are linearly independent to half the digits. Others make NumPy raise LinAlgError,
    and CuPy return NaN or columns that are not orthogonal.
    """
    solve_triangular = _triangular_solver(xp)
    factor = xp.linalg.cholesky(x.T @ x)
    return x @ solve_triangular(factor, xp.eye(len(factor)), lower=True).T


def orthogonalize_by_reflections(xp: ModuleType, x: Any) -> Any:
    """Return an orthonormal basis (n, m) of a space with the columns of X, dependent or not."""
    return xp.linalg.qr(x)[0]


def _triangular_solver(xp: ModuleType) -> Callable:
    """Return the function of SciPy, or that of CuPy."""
    if xp is np:
        from scipy.linalg import solve_triangular
    else:
        from cupyx.scipy.linalg import solve_triangular
    return solve_triangular


ATTEMPTS: tuple[tuple[Callable, int], ...] = (
    (orthogonalize_by_cholesky, 2),
    (orthogonalize_by_reflections, 3),
)
"""How vectors are made orthogonal, and how many systems are solved, in each attempt.

The second system reduces residuals to rounding. Reflections take longer, and are for eigenvalues
that agree to rounding and whose eigenvectors decay: there the first solutions are dependent.
"""


def _measure(xp: ModuleType, d: Any, e: Any, values: Any, x: Any) -> np.ndarray:
    """Return the largest residual of a column of X, and the largest element of X^T X - 1."""
    residuals = tridiagonal_residuals(d, e, values, x)
    largest = xp.sqrt(xp.max(xp.sum(residuals * residuals, axis=0)))
    deviation = xp.max(xp.abs(x.T @ x - xp.eye(values.size)))
    errors = xp.stack([largest, deviation])
    return np.asarray(errors if xp is np else errors.get())


def _are_accepted(errors: np.ndarray, n: int, norm: float) -> bool:
    """Return whether residual and orthogonality, not NaN, are those of eigenvectors."""
    residual, deviation = (max(a * n, least) * _EPSILON for a, least in (RESIDUAL, DEVIATION))
    return bool(errors[0] <= residual * norm and errors[1] <= deviation)
