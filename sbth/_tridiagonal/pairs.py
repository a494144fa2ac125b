"""Eigenvalues and eigenvectors of real tridiagonal matrices, block by block."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from sbth._problem.arrays import real_dtype
from sbth._problem.blocks import partition_tridiagonal
from sbth._problem.inspection import is_coupled, is_plainly_safe, unscale
from sbth._problem.problem import Problem, Reduced
from sbth._tridiagonal.bisection.eigenvalues import scale_for
from sbth._tridiagonal.divide_and_conquer.merge_tree import require_memory, solve_tridiagonal
from sbth._tridiagonal.inverse_iteration.selected_pairs import is_suitable, solve_selected
from sbth._tridiagonal.placed_pairs import EigenPairs, Part
from sbth._vendor import drivers


def solve_pairs(
    xp: ModuleType, problem: Problem, reduced: Reduced, least_order: int
) -> tuple[Callable[[], np.ndarray], Any]:
    """Compute the selected eigenpairs of the matrix that a reduction leaves.

    LAPACK solves matrices and blocks below the order `least_order`.

    Returns a function that returns the eigenvalues, before which the back-transformation can be
    launched, and the eigenvectors (n, m) of `reduced`, a C-contiguous array of `xp`.
    """
    pairs = None if reduced.was_reduced else solve_by_lapack(problem, reduced, least_order)
    if pairs is not None:
        values, vectors = pairs
        return lambda: values, vectors.astype(problem.dtype, copy=False)
    dtype = real_dtype(problem.dtype)
    space = Workspace(problem.device)
    if xp is not np:
        space.stream = Workspace(problem.device, xp.empty(1)).stream
    placed = solve_parts(problem, reduced, least_order, space)
    shape = placed.selected, problem.order
    if not placed.selected:
        return placed.read_values, xp.zeros(shape[::-1], dtype)
    memory = None if xp is np else xp.empty(math.prod(shape), dtype)
    rows = placed.place_rows(space, dtype, memory)
    return placed.read_values, xp.ascontiguousarray(xp.asarray(rows).reshape(shape).T)


def solve_by_lapack(
    problem: Problem, reduced: Reduced, least_order: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Compute eigenvalues (m,) and eigenvectors (n, m) of a tridiagonal matrix by LAPACK.

    Returns None if LAPACK is not chosen, if the matrix may fall into blocks, or if it is close to
    over- or underflow, unless all vectors are computed: LAPACK's routine for these scales it.
    """
    selection, n, device = problem.selection, problem.order, problem.device
    if device.kind != "cpu" or n >= least_order:
        return None
    count = selection.count_indices() if selection.kind == "i" else 0
    if selection.kind != "a" and problem.method == "auto" and is_suitable(n, count, device):
        return None
    d, e, *_ = reduced.in_double()
    if not is_coupled(reduced.sizes):
        return None
    if selection.kind != "a":
        inside = e.item(0)
        if not (is_plainly_safe(d, inside) and is_plainly_safe(e, inside)):
            return None
    require = functools.partial(require_memory, n, device)
    with region("LAPACK"):
        return drivers.selected_tridiagonal_vectors(d, e, selection, require)


def solve_parts(
    problem: Problem, reduced: Reduced, least_order: int, space: Workspace
) -> EigenPairs:
    """Compute the selected eigenpairs of a tridiagonal matrix, block by block.

    The selection and the results refer to the matrix without the factor. The work is done in the
    workspace.
    """
    selection, reduced = problem.selection, reduced.in_double()
    if (few := solve_selected(problem, reduced, space)) is not None:
        return few
    d, e, factor, *_ = reduced
    require_memory(d.size, space.device)
    partition = partition_tridiagonal(d, e)
    readers: list[Callable[[], np.ndarray]] = [lambda: d[partition.single] / factor]
    parts = []
    with region("divide and conquer"), np.errstate(over="ignore"):  # `choose` may divide
        for rows in partition.groups:
            couplings = np.where(np.diff(rows) == 1, e[rows[:-1]], 0.0)
            scale = scale_for(d[rows], couplings)

            def choose(values: np.ndarray, scale: float = scale) -> tuple[int, int]:
                """Return the range of the selected ones among the scaled eigenvalues."""
                return selection.bounds(values / scale / factor)

            chosen = choose if partition.is_whole and selection.kind != "a" else None
            matrix = d[rows] * scale, couplings * scale
            if rows.size < least_order:
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
