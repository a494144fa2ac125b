"""LAPACK as a stage: full matrices, and bands as they are or as full matrices."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from sbth._problem.inspection import choose_scale, unscale
from sbth._problem.problem import Problem, Stage
from sbth._vendor import drivers
from sbth._vendor.full_matrices import solve_full

_MATRICES = 5
"""Number of (n, n) matrices that LAPACK's drivers need with their workspace and the results."""


def _memory(problem: Problem) -> int:
    return _MATRICES * problem.dtype.itemsize if problem.vectors else 0


def _solve_full(xp: ModuleType, problem: Problem, before: Any) -> tuple[np.ndarray, Any]:
    """Solve a full matrix."""
    (a,) = problem.arrays
    return solve_full(a, problem.lower, problem.selection, vectors=problem.vectors)


def _solve_band(
    xp: ModuleType, problem: Problem, before: Any, *, as_full: bool
) -> tuple[np.ndarray, Any]:
    """Solve a band, reduced by rotations or expanded to a full matrix."""
    (ab,), lower = problem.arrays, problem.lower
    if problem.order == 0:
        return np.zeros(0), np.zeros((0, 0), ab.dtype) if problem.vectors else None
    # LAPACK does not scale a matrix with rows of storage that are outside of it, and says nothing.
    if (spare := len(ab) - problem.width - 1) > 0:
        ab = ab[:-spare] if lower else ab[spare:]
    scale = choose_scale(ab, lower, problem.name)
    scaled = ab
    if scale != 1.0:
        with np.errstate(over="ignore", invalid="ignore"):  # outside the matrix
            scaled = ab * ab.real.dtype.type(scale)
    with region("LAPACK"):
        if not as_full:
            values, vectors = drivers.solve_band(scaled, lower, vectors=problem.vectors)
        elif problem.vectors:
            full = drivers.expand(scaled, lower)
            values, vectors = drivers.full_vectors(full, lower, problem.selection, scale)
            return unscale(values, scale), vectors
        else:
            values, vectors = drivers.full_values(drivers.expand(scaled, lower), lower), None
    values = unscale(values, scale)
    if (selection := problem.selection).kind == "a":
        return values, vectors
    if vectors is not None:
        vectors = vectors[:, slice(*selection.bounds(values))]
    return selection.select_sorted(values), vectors


LAPACK_FULL = Stage(
    lambda problem: "LAPACK (syevd, heevd)", _solve_full, _memory, works_on_full=True
)

LAPACK_BAND = Stage(
    lambda problem: "LAPACK, as a band matrix (sbevd, hbevd)",
    functools.partial(_solve_band, as_full=False),
    _memory,
)

LAPACK_BAND_AS_FULL = Stage(
    lambda problem: "LAPACK, as a full matrix (syevd, heevd)",
    functools.partial(_solve_band, as_full=True),
    _memory,
    works_on_full=True,
)
