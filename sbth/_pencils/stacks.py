"""Batches of generalized problems in host memory, as batches of standard ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sbth._pencils.full import is_benign, reduce_full_pencil, reduce_unscaled
from sbth.band_storage import matrix_of_batch, require_finite_triangle, validate_bool

RunPieces = Callable[[Callable[[range], None], int, int], None]
"""Function that calls another one for ranges of a batch, of a number of matrices of an order."""


def solve_pencils(
    solve: Callable[..., Any],
    arguments: dict[str, Any],
    matrices: tuple[np.ndarray, np.ndarray],
    lead: tuple[int, ...],
    run_pieces: RunPieces,
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
    run_pieces : function
        `sbth._batches.run_pieces`.
    """
    lower = validate_bool("lower", arguments.get("lower", True))
    dtype = np.result_type(*matrices)
    a, b = (x.astype(dtype, copy=False) for x in matrices)
    are_benign = is_benign(a, b)
    if not are_benign:
        _require_finite({"a": a, "b": b}, lower, lead)
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
                raise ValueError(f"{_describe(i, lead)}: {error}") from error

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


def _require_finite(matrices: dict[str, np.ndarray], lower: bool, lead: tuple[int, ...]) -> None:
    """Raise ValueError if a triangle that is read holds NaN or infinity."""
    for name, x in matrices.items():
        finite = np.isfinite(np.tril(x) if lower else np.triu(x)).all(axis=(1, 2))
        if not finite.all():
            which = _describe(int(np.argmin(finite)), lead)
            require_finite_triangle(math.inf, lower, f"{which}: {name}")


def _describe(index: int, lead: tuple[int, ...]) -> str:
    """Return which pencil of a batch an error is about."""
    return matrix_of_batch("ab", index, lead)
