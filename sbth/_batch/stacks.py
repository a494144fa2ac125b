"""Batches of full matrices in host memory: by LAPACK, and pencils as batches of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hetero import region
from sbth._batch.pieces import run_pieces
from sbth._problem.inspection import magnitudes, require_finite_triangle, round_to_dtype, safe_scale
from sbth._problem.selection import Selection
from sbth._problem.storage import matrix_of_batch
from sbth._problem.validation import validate_bool
from sbth._reduction.pencils.full import is_benign, reduce_full_pencil, reduce_unscaled
from sbth._vendor import drivers
from sbth._vendor.full_matrices import solve_full


def solve_stack(arguments: dict[str, Any], a: np.ndarray, has_vectors: bool) -> Any:
    """Solve full matrices (..., n, n) on a CPU by LAPACK, all threads at once.

    `arguments` are those of `sbth.eigh` or, without `has_vectors`, of `sbth.eigvalsh`.
    """
    n = a.shape[-1]
    if a.shape[-2] != n:
        raise ValueError(f"a must hold square matrices, got shape {a.shape}")
    lower = validate_bool("lower", arguments.get("lower", True))
    vectors = has_vectors and not validate_bool(
        "eigvals_only", arguments.get("eigvals_only", False)
    )
    try:
        selection = Selection.of_call(arguments, n)
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
    _require_finite(np.isfinite(largest), lower, ("a", "a"), lead, start)
    factors = np.array([safe_scale(float(x), a.real.dtype) for x in largest])
    if np.all(factors == 1.0):
        return a, factors
    return triangles * factors.astype(a.real.dtype)[:, None, None], factors


def solve_pencils(
    solve: Callable[..., Any],
    arguments: dict[str, Any],
    matrices: tuple[np.ndarray, np.ndarray],
    lead: tuple[int, ...],
) -> Any:
    """Solve A x = lambda B x for arrays `matrices` (count, n, n), by a batch of standard problems.

    Parameters
    ----------
    solve : function
        `sbth.eigh`.
    arguments : dict
        Those of the call, of which `a` and `b` are ignored.
    matrices : arrays (count, n, n)
        A and B, validated but for their elements; count and n are not 0.
    lead : tuple of int
        Leading dimensions of the batch, of which errors name a matrix.
    """
    lower = validate_bool("lower", arguments.get("lower", True))
    dtype = np.result_type(*matrices)
    a, b = (x.astype(dtype, copy=False) for x in matrices)
    are_benign = is_benign(a, b)
    if not are_benign:
        for name, x in ("a", a), ("b", b):
            finite = np.isfinite(np.tril(x) if lower else np.triu(x)).all(axis=(1, 2))
            _require_finite(finite, lower, ("ab", name), lead)
    reduced = np.empty(a.shape, dtype)
    transforms: dict[int, Callable[[Any], Any]] = {}

    def reduce(piece: range) -> None:
        """Reduce some pencils."""
        for i in piece:
            try:
                if are_benign and lower:
                    reduced[i], transforms[i] = reduce_unscaled(np, a[i], b[i], "b")
                else:
                    reduced[i], transforms[i] = reduce_full_pencil(np, a[i], b[i], lower)
            except ValueError as error:
                raise type(error)(f"{matrix_of_batch('ab', i, lead)}: {error}") from error

    run_pieces(reduce, len(a), a.shape[1])
    others = {name: x for name, x in arguments.items() if name not in ("a", "b", "lower")}
    results = solve(reduced.reshape(*lead, *a.shape[1:]), **others)
    if not isinstance(results, tuple):
        return results
    values, vectors = results
    columns = vectors.reshape(len(a), *vectors.shape[-2:])

    def restore(piece: range) -> None:
        """Transform the eigenvectors of some pencils, in place."""
        for i in piece:
            columns[i] = transforms[i](columns[i])

    run_pieces(restore, len(a), a.shape[1])
    return values, columns.reshape(vectors.shape)


def _require_finite(
    finite: np.ndarray, lower: bool, names: tuple[str, str], lead: tuple[int, ...], start: int = 0
) -> None:
    """Raise ValueError if a triangle that is read holds NaN or infinity.

    `finite` says of each matrix from number `start` on whether it does not; `names` are those of
    all arrays, and of the array with the triangle.
    """
    if not finite.all():
        which = matrix_of_batch(names[0], start + int(np.argmin(finite)), lead)
        require_finite_triangle(math.inf, lower, f"{which}: {names[1]}")
