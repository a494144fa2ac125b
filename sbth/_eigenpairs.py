"""Eigenvalues and eigenvectors of tridiagonal and band matrices whose arguments are checked.

Complex bands on a GPU are those of `sbth._gpu_stages`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hetero import region
from hetero.arrays import Workspace
from hetero.devices import CPU
from hetero.display.progress_bar import loop_progress
from sbth._back_transformation import apply_stage
from sbth._back_transformation.diamonds import wave_matrices
from sbth._diagonal_blocks.partition import is_coupled, partition_tridiagonal
from sbth._diagonal_blocks.vectors import EigenPairs, Part
from sbth._divide_and_conquer.merge_tree import MATRICES, require_memory, solve_tridiagonal
from sbth._inverse_iteration.selected_pairs import is_suitable, solve_selected
from sbth._lapack import drivers
from sbth._lapack.choice import band_driver, tridiagonal_driver
from sbth._request import Request
from sbth._selection import Selection
from sbth.band_storage import host_workspace, is_plainly_safe, order_and_dtype, unscale
from sbth.tridiagonalization import (
    MAX_GPU_BANDWIDTH,
    ReductionOptions,
    choose_method,
    choose_scale,
    load_tridiagonal,
    order_and_bandwidth,
    reduce_band,
)


def solve_parts(
    d: np.ndarray, e: np.ndarray, request: Request, space: Workspace, factor: float = 1.0
) -> EigenPairs:
    """Compute eigenvalues and eigenvectors of a tridiagonal matrix, block by block.

    `d` and `e` are NumPy arrays of the matrix multiplied by a power of two, `factor`; the selection
    and the results refer to the matrix itself. The work is done in the workspace.
    """
    selection = request.selection
    d, e = d.astype(float, copy=False), e.astype(float, copy=False)
    few = solve_selected(d, e, request, space, factor)
    if few is not None:
        return few
    require_memory(d.size, space.device)
    partition = partition_tridiagonal(d, e)
    readers: list[Callable[[], np.ndarray]] = [lambda: d[partition.single] / factor]
    parts = []
    with region("divide and conquer"), np.errstate(over="ignore"):  # `choose` may divide
        for rows in partition.groups:
            couplings = np.where(np.diff(rows) == 1, e[rows[:-1]], 0.0)
            largest = max(np.max(np.abs(d[rows])), np.max(np.abs(couplings), initial=0.0))
            scale = 2.0 ** min(-math.frexp(largest)[1], 1022) if largest > 0.0 else 1.0

            def choose(values: np.ndarray, scale: float = scale) -> tuple[int, int]:
                """Return the range of the selected ones among the scaled eigenvalues."""
                return selection.bounds(values / scale / factor)

            chosen = choose if partition.is_whole and selection.kind != "a" else None
            matrix = d[rows] * scale, couplings * scale
            driver = tridiagonal_driver(
                request.tridiagonal_method, rows.size, selection, vectors=True
            )
            if driver == "lapack":
                scaled, columns = drivers.tridiagonal_vectors(*matrix, chosen)
                read: Callable[[], np.ndarray] = functools.partial(np.asarray, scaled)
                parts.append(Part(rows, np.ascontiguousarray(columns.T), None, rows.size))
            else:
                read, *vectors = solve_tridiagonal(*matrix, space, chosen)
                parts.append(Part(rows, vectors[0], vectors[1], rows.size))
            readers.append(functools.partial(_unscaled, read, scale, factor))
        if partition.is_whole and parts and selection.kind == "a":
            # Powers of two leave the order of the eigenvalues as it is.
            targets = np.arange(d.size)
            return EigenPairs(d.size, readers[1], partition.single, parts, d.size, targets, space)
        everything = np.concatenate([read_values() for read_values in readers])
    order = np.argsort(everything, kind="stable")
    first, stop = selection.bounds(everything[order])
    targets = np.empty(d.size, np.int64)
    targets[order] = np.arange(d.size) - first
    values = everything[order][first:stop]
    read = functools.partial(np.asarray, values)
    return EigenPairs(len(values), read, partition.single, parts, d.size, targets, space)


def _unscaled(read: Callable[[], np.ndarray], scale: float, factor: float) -> np.ndarray:
    """Return eigenvalues of a matrix from those of it multiplied by two powers of two."""
    return unscale(read(), scale, factor)


def solve_coupled_by_lapack(
    d: np.ndarray, e: np.ndarray, request: Request
) -> tuple[np.ndarray, np.ndarray] | None:
    """Compute eigenvalues (m,) and eigenvectors (n, m) of a tridiagonal matrix by LAPACK.

    Returns None if LAPACK is not chosen, if the matrix may fall into blocks, or if it is close to
    over- or underflow, unless all vectors are computed: LAPACK's routine for these scales it.
    """
    selection, n = request.selection, d.size
    if tridiagonal_driver(request.tridiagonal_method, n, selection, vectors=True) != "lapack":
        return None
    count = selection.count_indices() if selection.kind == "i" else 0
    if selection.kind != "a" and request.method == "auto" and is_suitable(n, count, request.device):
        return None
    d, e = d.astype(float, copy=False), e.astype(float, copy=False)
    if not is_coupled(d, e):
        return None
    if selection.kind != "a":
        inside = e.item(0)
        if not (is_plainly_safe(d, inside) and is_plainly_safe(e, inside)):
            return None
    require = functools.partial(require_memory, n, request.device)
    with region("LAPACK"):
        return drivers.selected_tridiagonal_vectors(d, e, selection, require)


def band_eigenvectors(
    xp: ModuleType, name: str, ab: Any, lower: bool, request: Request, factor: float = 1.0
) -> tuple[np.ndarray, Any]:
    """Compute eigenvalues and eigenvectors of a validated band that was multiplied by `factor`.

    Returns
    -------
    values : float64 (m,)
        In host memory; infinite if they overflow.
    vectors : array of `xp` (n, m)
    """
    order, width = order_and_bandwidth(ab)
    if request.device.kind == "cpu":
        driver = band_driver(request.method, order, width, ab.dtype, vectors=True)
        if driver != "sbth":
            return _lapack_band(name, ab, lower, request.selection, factor, driver)
        if width <= 1 and factor == 1.0:
            solution = solve_coupled_by_lapack(*load_tridiagonal(ab, lower, name), request)
            if solution is not None:
                return solution[0], solution[1].astype(ab.dtype, copy=False)
    _, dtype = order_and_dtype(ab)
    space = Workspace(request.device, ab)
    inner = host_workspace(space)
    _, options = choose_method(ab, ReductionOptions(keep_reflectors=True), request.device)
    is_on_gpu = request.device.kind == "cuda"
    gpu_width = width if is_on_gpu else MAX_GPU_BANDWIDTH
    if width > 1:  # a few vectors of a tridiagonal matrix need no (n, n) matrices
        require_memory(order, space.device, band_memory(dtype, options.stages or 1, gpu_width))
    bar = loop_progress("band to tridiagonal", enabled=request.progress)
    with region("band to tridiagonal"), bar:
        matrix = reduce_band(ab, lower, options, space, name)
        d, e = matrix.diagonals(scaled=True)
    tridiagonal = d, e, factor * matrix.factor
    read, vectors = tridiagonal_eigenvectors(xp, tridiagonal, request, inner, matrix.dtype)
    if vectors.size:
        with region("back-transformation"):
            for stage in reversed(matrix.stages):
                vectors = apply_stage(xp, stage.layout, xp.asarray(stage.vectors), vectors)
    return read(), vectors


def tridiagonal_eigenvectors(
    xp: ModuleType,
    tridiagonal: tuple[np.ndarray, np.ndarray, float],
    request: Request,
    space: Workspace,
    dtype: DTypeLike,
) -> tuple[Callable[[], np.ndarray], Any]:
    """Compute eigenvalues and eigenvectors of the tridiagonal matrix that a reduction leaves.

    `tridiagonal` is the diagonal and the subdiagonal in host memory, and the power of two by which
    the matrix was multiplied. Returns the vectors of `band_eigenvectors`, and the function
    `read_values` of `EigenPairs`, before which the back-transformation can be launched.
    """
    d, e, factor = tridiagonal
    pairs = solve_parts(d, e, request, space, factor)
    shape = pairs.selected, d.size
    if not pairs.selected:
        return pairs.read_values, xp.zeros(shape[::-1], dtype)
    memory = None if xp is np else xp.empty(math.prod(shape), dtype)
    rows = pairs.place(space, dtype, memory)
    return pairs.read_values, xp.ascontiguousarray(xp.asarray(rows).reshape(shape).T)


def _lapack_band(
    name: str, ab: np.ndarray, lower: bool, selection: Selection, factor: float, driver: str
) -> tuple[np.ndarray, np.ndarray]:
    """Compute what `band_eigenvectors` does by LAPACK, as a band or as a full matrix."""
    order = ab.shape[1]
    if order == 0:
        return np.zeros(0), np.zeros((0, 0), ab.dtype)
    require_memory(order, CPU, LAPACK_MATRICES * ab.dtype.itemsize)
    scale = choose_scale(ab, lower, name)
    scaled = ab if scale == 1.0 else ab * ab.real.dtype.type(scale)
    with region("LAPACK"):
        if driver == "dense" or (
            selection.kind == "i" and drivers.are_few(selection.count_indices(), order)
        ):
            full = drivers.expand(scaled, lower)
            values, vectors = drivers.full_vectors(full, lower, selection, factor * scale)
            return unscale(values, scale, factor), vectors
        values, vectors = drivers.band_vectors(scaled, lower)
    values = unscale(values, scale, factor)
    if selection.kind == "a":
        return values, vectors
    chosen = slice(*selection.bounds(values))
    return values[chosen], vectors[:, chosen]


LAPACK_MATRICES = 5
"""Number of (n, n) matrices that LAPACK's drivers need with their workspace and the results."""


def band_memory(dtype: DTypeLike, stages: int, bandwidth: int = MAX_GPU_BANDWIDTH) -> int:
    """Return the bytes for each element of an (n, n) matrix that `band_eigenvectors` needs.

    `bandwidth` is that of a band on a GPU, whose reflections are applied as diamonds.
    """
    item = np.dtype(dtype).itemsize
    transforming = wave_matrices(bandwidth) * item if bandwidth > 1 else 0
    return stages * item + max(MATRICES * 8 + item, transforming)


def full_memory(dtype: DTypeLike) -> int:
    """Return the same for eigenvectors of a full matrix by way of a band.

    They are the matrix and a copy of it, then the panels, which take as much as the matrix.
    """
    item = np.dtype(dtype).itemsize
    return max(3 * item, item + band_memory(dtype, stages=1))
