"""Eigenvalues and eigenvectors of complex Hermitian matrices on a GPU whose arguments are checked.

A full matrix is reduced to a band of 32 subdiagonals, and so is a band of more than 64. Unlike for
real matrices, vectors are no reason for a wider one: complex reflections of 64 rows take twice as
many threads, and products of 32 complex columns as long as those of 128 real ones.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from sbth._array_module import as_module_array
from sbth._bisection.eigenvalues import solve_values
from sbth._dense_to_band.back_transformation import apply_panels
from sbth._dense_to_band.reduction import reduce_to_band
from sbth._divide_and_conquer.merge_tree import require_memory
from sbth._eigenpairs import band_memory, tridiagonal_eigenvectors
from sbth._hermitian.tridiagonal_form import reduce_hermitian_band
from sbth._request import Request
from sbth.band_storage import host_workspace, real_dtype
from sbth.tridiagonalization import MAX_GPU_BANDWIDTH, choose_scale

BANDWIDTH = 32
"""Subdiagonals to which a full matrix is reduced first."""


def full_values(xp: ModuleType, a: Any, lower: bool, request: Request) -> np.ndarray:
    """Return the selected eigenvalues, float64 in host memory, of a matrix (n, n) of `xp`.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    """
    require_memory(len(a), Workspace(request.device), 3 * a.itemsize)
    with region("dense to band"):
        ab, factor = reduce_to_band(xp, a, BANDWIDTH, lower=lower)
    return _narrow_values(xp, ab, True, 1.0, factor, request)


def full_pairs(xp: ModuleType, a: Any, lower: bool, request: Request) -> tuple[np.ndarray, Any]:
    """Return the eigenvalues of `full_values`, and eigenvectors (n, m), an array of `xp`."""
    need = max(3 * a.itemsize, a.itemsize + band_memory(a.dtype, stages=1))
    require_memory(len(a), Workspace(request.device), need)
    panels: list[tuple[Any, Any]] = []
    with region("dense to band"):
        ab, factor = reduce_to_band(xp, a, BANDWIDTH, lower=lower, panels=panels)
    values, vectors = _narrow_pairs(xp, ab, True, 1.0, factor, request)
    if vectors.size:
        with region("back-transformation"):
            apply_panels(xp, panels, BANDWIDTH, vectors)
    return values, vectors


def band_values(xp: ModuleType, name: str, ab: Any, lower: bool, request: Request) -> np.ndarray:
    """Return the eigenvalues of `full_values` of a matrix in band storage.

    Raises
    ------
    ValueError
        There is NaN or infinity within the band.
    """
    ab, scale = _as_scaled_band(xp, name, ab, lower, request)
    if _is_wide(ab):
        return full_values(xp, expand_band(xp, ab, lower), lower, request)
    return _narrow_values(xp, ab, lower, scale, scale, request)


def band_pairs(
    xp: ModuleType, name: str, ab: Any, lower: bool, request: Request
) -> tuple[np.ndarray, Any]:
    """Return the eigenvalues of `band_values`, and eigenvectors (n, m), an array of `xp`."""
    ab, scale = _as_scaled_band(xp, name, ab, lower, request)
    if _is_wide(ab):
        return full_pairs(xp, expand_band(xp, ab, lower), lower, request)
    require_memory(ab.shape[1], Workspace(request.device), band_memory(ab.dtype, stages=1))
    return _narrow_pairs(xp, ab, lower, scale, scale, request)


def expand_band(xp: ModuleType, ab: Any, lower: bool) -> Any:
    """Return a matrix (n, n) with the triangle that band storage holds, and zeros elsewhere."""
    n = ab.shape[1]
    ab = ab[: max(n, 1)] if lower else ab[max(len(ab) - n, 0) :]
    diagonal, column = (x.reshape(-1) for x in xp.indices(ab.shape))
    row = column + diagonal if lower else column + diagonal - (len(ab) - 1)
    inside = (row >= 0) & (row < n)
    full = xp.zeros((n, n), ab.dtype)
    full[row[inside], column[inside]] = ab.reshape(-1)[inside]
    return full


def _narrow_values(
    xp: ModuleType, ab: Any, lower: bool, scale: float, factor: float, request: Request
) -> np.ndarray:
    """Return the eigenvalues of a band to be multiplied by `scale`, and then `factor` times it."""
    space = host_workspace(_space(xp, request))
    with region("band to tridiagonal"):
        reduced = reduce_hermitian_band(xp, ab, lower, scale, space, keeps_vectors=False)
    return solve_values(reduced.d, reduced.e, request, factor, was_reduced=True)


def _narrow_pairs(
    xp: ModuleType, ab: Any, lower: bool, scale: float, factor: float, request: Request
) -> tuple[np.ndarray, Any]:
    """Return eigenvalues and eigenvectors of the band of `_narrow_values`."""
    space = host_workspace(_space(xp, request))
    with region("band to tridiagonal"):
        reduced = reduce_hermitian_band(xp, ab, lower, scale, space, keeps_vectors=True)
    tridiagonal = reduced.d, reduced.e, factor
    dtype = real_dtype(ab.dtype)
    read, vectors = tridiagonal_eigenvectors(xp, tridiagonal, request, space, dtype)
    with region("back-transformation"):
        vectors = reduced.apply(xp, vectors)
    return read(), vectors


def _as_scaled_band(
    xp: ModuleType, name: str, ab: Any, lower: bool, request: Request
) -> tuple[Any, float]:
    """Return a band as an array of `xp`, and the power of two that brings squares into range."""
    space = _space(xp, request)
    scale = choose_scale(ab if isinstance(ab, np.ndarray) else xp.asarray(ab), lower, name, space)
    return as_module_array(xp, ab), scale


def _space(xp: ModuleType, request: Request) -> Workspace:
    """Return a workspace on the current stream of `xp`."""
    return Workspace(request.device, xp.empty(1))


def _is_wide(ab: Any) -> bool:
    """Return whether bulge chasing on a GPU does not reduce a band as it is."""
    return min(len(ab) - 1, ab.shape[1] - 1) > MAX_GPU_BANDWIDTH
