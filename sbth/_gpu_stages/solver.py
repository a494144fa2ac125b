"""Eigenvalues and eigenvectors on a GPU by way of a band, for matrices that are checked.

All matrices are arrays of CuPy, `xp`, of the type to compute in.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from sbth._array_module import as_module_array, expand_triangle
from sbth._bisection.eigenvalues import solve_values
from sbth._dense_to_band.back_transformation import apply_panels, join_panels
from sbth._dense_to_band.reduction import reduce_panels
from sbth._divide_and_conquer.merge_tree import MATRICES, require_memory
from sbth._eigenpairs import band_memory, full_memory, tridiagonal_eigenvectors
from sbth._gpu_stages.tridiagonal_form import (
    TridiagonalForm,
    start_full_band,
    start_stored_band,
)
from sbth._request import Request
from sbth.band_storage import host_workspace, real_dtype
from sbth.tridiagonalization import MAX_GPU_BANDWIDTH, choose_scale

_VALUES_BANDWIDTH = 32
"""Subdiagonals that are left for eigenvalues: their chase is shorter than that of 64, and there are
no vectors to transform back. On an H200 it is faster for n = 2800 to 10,000, in both precisions."""

_VECTORS_BANDWIDTH = {"f": 64, "c": 32}
"""The same for eigenvectors, by the kind of the numbers. Reflections of 64 rows are applied to real
vectors in two thirds of the time of those of 32; the chase of complex ones takes twice as long."""


def full_values(xp: ModuleType, a: Any, lower: bool, request: Request) -> np.ndarray:
    """Return the selected eigenvalues, float64 in host memory, of a matrix (n, n).

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    MemoryError
        The device has too little memory; the message says how much is needed.
    """
    require_memory(len(a), request.device, 3 * a.itemsize, vectors=False)
    with region("dense to band"):
        reduced, factor = reduce_panels(xp, a, _VALUES_BANDWIDTH, lower=lower)
    with region("band to tridiagonal"):
        running = start_full_band(xp, reduced, _VALUES_BANDWIDTH, keeps_vectors=False)
        form = running.finish()
    return _values(form, factor, request)


def full_pairs(xp: ModuleType, a: Any, lower: bool, request: Request) -> tuple[np.ndarray, Any]:
    """Return the eigenvalues of `full_values`, and eigenvectors (n, m), an array of `xp`."""
    # The panels and the diamonds of the chase are there during divide and conquer: 6 numbers of the
    # matrix's type for each of its elements, with the given matrix.
    during_merges = 6 * a.itemsize + MATRICES * 8 + 2 * real_dtype(a.dtype).itemsize
    require_memory(len(a), request.device, max(full_memory(a.dtype), during_merges))
    width = _VECTORS_BANDWIDTH[a.dtype.kind]
    panels: list[tuple[Any, Any]] = []
    with region("dense to band"):
        reduced, factor = reduce_panels(xp, a, width, lower=lower, panels=panels)
    with region("band to tridiagonal"):
        running = start_full_band(xp, reduced, width, keeps_vectors=True)
        joined = join_panels(xp, panels, width)
        del reduced, panels
        form = running.finish()
    values, vectors = _pairs(xp, form, factor, request)
    if vectors.size:
        with region("back-transformation"):
            apply_panels(xp, joined, vectors)
    return values, vectors


def band_values(xp: ModuleType, name: str, ab: Any, lower: bool, request: Request) -> np.ndarray:
    """Return the eigenvalues of `full_values` of a complex matrix in band storage.

    Raises
    ------
    ValueError
        There is NaN or infinity within the band.
    """
    ab, scale = _as_scaled_band(xp, name, ab, lower, request)
    if _is_wide(ab):
        return full_values(xp, expand_triangle(xp, ab, lower), True, request)
    with region("band to tridiagonal"):
        form = start_stored_band(xp, ab, lower, scale, keeps_vectors=False).finish()
    return _values(form, scale, request)


def band_pairs(
    xp: ModuleType, name: str, ab: Any, lower: bool, request: Request
) -> tuple[np.ndarray, Any]:
    """Return the eigenvalues of `band_values`, and eigenvectors (n, m), an array of `xp`."""
    ab, scale = _as_scaled_band(xp, name, ab, lower, request)
    if _is_wide(ab):
        return full_pairs(xp, expand_triangle(xp, ab, lower), True, request)
    width = min(len(ab) - 1, max(ab.shape[1] - 1, 0))
    require_memory(ab.shape[1], request.device, band_memory(ab.dtype, 1, width))
    with region("band to tridiagonal"):
        form = start_stored_band(xp, ab, lower, scale, keeps_vectors=True).finish()
    return _pairs(xp, form, scale, request)


def _values(form: TridiagonalForm, factor: float, request: Request) -> np.ndarray:
    """Return the selected eigenvalues of a matrix that was multiplied by `factor`."""
    return solve_values(form.d, form.e, request, factor, was_reduced=True)


def _pairs(
    xp: ModuleType, form: TridiagonalForm, factor: float, request: Request
) -> tuple[np.ndarray, Any]:
    """Return eigenvalues and eigenvectors of a band that was multiplied by `factor`."""
    space = host_workspace(_space(xp, request))
    tridiagonal = form.d, form.e, factor
    dtype = real_dtype(form.d.dtype)
    read, vectors = tridiagonal_eigenvectors(xp, tridiagonal, request, space, dtype)
    with region("back-transformation"):
        vectors = form.apply(xp, vectors)
    return read(), vectors


def _as_scaled_band(
    xp: ModuleType, name: str, ab: Any, lower: bool, request: Request
) -> tuple[Any, float]:
    """Return a band as an array of `xp`, and the power of two that brings squares into range."""
    array = as_module_array(xp, ab)
    read = ab if isinstance(ab, np.ndarray) else array
    return array, choose_scale(read, lower, name, _space(xp, request))


def _space(xp: ModuleType, request: Request) -> Workspace:
    """Return a workspace on the current stream of `xp`."""
    return Workspace(request.device, xp.empty(1))


def _is_wide(ab: Any) -> bool:
    """Return whether bulge chasing on a GPU does not reduce a band as it is."""
    return min(len(ab) - 1, ab.shape[1] - 1) > MAX_GPU_BANDWIDTH
