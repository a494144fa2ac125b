"""Reduction on a GPU by way of a band, with CuPy: of full matrices, and of complex bands."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from hetero.display.progress_bar import loop_progress
from sbth._problem.arrays import real_dtype
from sbth._problem.inspection import choose_scale
from sbth._problem.limits import MAX_GPU_BANDWIDTH
from sbth._problem.problem import Problem, Reduced, Stage
from sbth._problem.storage import expand_triangle
from sbth._reduction.bands import wave_memory
from sbth._reduction.dense_to_band.back_transformation import apply_panels, join_panels
from sbth._reduction.dense_to_band.reduction import reduce_panels
from sbth._vendor.array_modules import as_module_array

_VALUES_BANDWIDTH = 32
"""Subdiagonals that are left for eigenvalues: their chase is shorter than that of 64, and there are
no vectors to transform back. On an H200 it is faster for n = 2800 to 10,000, in both precisions."""

_VECTORS_BANDWIDTH = {"f": 64, "c": 32}
"""The same for eigenvectors, by the kind of the numbers. Reflections of 64 rows are applied to real
vectors in two thirds of the time of those of 32; the chase of complex ones takes twice as long."""


def _reduce_full(xp: ModuleType, problem: Problem, before: Any) -> Reduced:
    """Reduce a full matrix."""
    matrix = as_module_array(xp, problem.arrays[0]).astype(problem.dtype, copy=False)
    return _reduce_matrix(xp, problem, matrix, problem.lower)


def _reduce_matrix(xp: ModuleType, problem: Problem, a: Any, lower: bool) -> Reduced:
    """Reduce an array (n, n) of CuPy, of which one triangle is read."""
    from sbth._reduction.tridiagonal_form import start_full_band  # imports CUDA

    keeps = problem.vectors
    width = _VECTORS_BANDWIDTH[a.dtype.kind] if keeps else _VALUES_BANDWIDTH
    panels: list[tuple[Any, Any]] | None = [] if keeps else None
    bar = loop_progress("dense to band", enabled=problem.progress)
    with bar, region("dense to band"):
        reduced, factor = reduce_panels(xp, a, width, lower=lower, panels=panels)
    with region("band to tridiagonal"):
        running = start_full_band(xp, reduced, width, keeps_vectors=keeps)
        joined: Any = None if panels is None else join_panels(xp, panels, width)
        del reduced, panels
        d, e = running.finish()

    def transform(xp: ModuleType, vectors: Any) -> Any:
        """Return Q times real vectors (n, m)."""
        vectors = running.apply(xp, vectors)
        if vectors.size:
            apply_panels(xp, joined, vectors)
        return vectors

    return Reduced(d, e, factor, transform if keeps else None)


def _reduce_wide_band(xp: ModuleType, problem: Problem, before: Any) -> Reduced:
    """Reduce a complex band as a full matrix."""
    ab, _ = _scale_band(xp, problem)
    return _reduce_matrix(xp, problem, expand_triangle(xp, ab, problem.lower), True)


def _reduce_complex_band(xp: ModuleType, problem: Problem, before: Any) -> Reduced:
    """Reduce a complex band of at most 64 subdiagonals."""
    from sbth._reduction.tridiagonal_form import start_stored_band  # imports CUDA

    ab, scale = _scale_band(xp, problem)
    keeps = problem.vectors
    with region("band to tridiagonal"):
        running = start_stored_band(xp, ab, problem.lower, scale, keeps_vectors=keeps)
        d, e = running.finish()
    return Reduced(d, e, scale, running.apply if keeps else None)


def _scale_band(xp: ModuleType, problem: Problem) -> tuple[Any, float]:
    """Return a band as an array of CuPy, and the power of two that brings squares into range."""
    (ab,) = problem.arrays
    array, space = as_module_array(xp, ab), Workspace(problem.device, xp.empty(1))
    read = ab if isinstance(ab, np.ndarray) else array
    return array, choose_scale(read, problem.lower, problem.name, space)


def is_wide(problem: Problem) -> bool:
    """Return whether bulge chasing on a GPU does not reduce a band as it is."""
    return problem.width > MAX_GPU_BANDWIDTH


def _full_memory(problem: Problem) -> int:
    """Return the bytes for each element: the matrix, its copy, panels and reflections.

    The panels and the diamonds of the chase are there during divide and conquer: 6 numbers of the
    matrix's type for each of its elements, with the given matrix.
    """
    item = problem.dtype.itemsize
    if not problem.vectors:
        return 3 * item
    return 6 * item + 3 * 8 + 2 * real_dtype(problem.dtype).itemsize


TWO_STAGES = Stage(
    lambda problem: "reduction to a band, bulge chasing",
    _reduce_full,
    _full_memory,
    keeps=lambda problem: 2 * problem.vectors * problem.dtype.itemsize,
)

WIDE_COMPLEX_BAND = TWO_STAGES._replace(run=_reduce_wide_band)

COMPLEX_BAND = Stage(
    lambda problem: "bulge chasing" * (problem.width > 1),
    _reduce_complex_band,
    keeps=lambda problem: problem.dtype.itemsize * bool(wave_memory(problem)),
)
